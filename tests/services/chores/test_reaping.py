"""Reaping: a lease that ran out ends its attempt, and a killer is told from its cellmates."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import pytest

from officeplane.domain.failure import FailureKind
from officeplane.domain.outcome import Lapsed
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Fenced
from officeplane.store import workers
from officeplane.store.workers import Heartbeat
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

NOOP: Final[Mapping[str, Any]] = {"task_type": "noop"}
LOCK: Final = "officeplane:doclock:d"


async def renew(bench: Workbench, *tasks: ClaimedTask) -> None:
    await bench.worker.leases.renew([(task.id, task.claim_id) for task in tasks], 30)


async def let_lapse(bench: Workbench, task: ClaimedTask, seconds: float) -> None:
    """Let the lease of one task have run out that long ago."""
    await bench.execute(
        "UPDATE tasks SET lease_until = now() - make_interval(secs => $2::float8) WHERE id = $1::uuid", task.id, seconds
    )


async def reap_all(bench: Workbench) -> int:
    await bench.let_leases_lapse()
    return await bench.worker.redelivery.reap()


async def suspicion(bench: Workbench, task: ClaimedTask) -> tuple[bool, int]:
    """Return whether a task is a suspect, and of how many deaths it is guilty."""
    (row,) = await bench.execute("SELECT suspect, crashes FROM tasks WHERE id = $1::uuid", task.id)
    return row["suspect"], row["crashes"]


async def test_a_lease_that_runs_is_left_alone(bench: Workbench) -> None:
    running = await bench.a_running_task()

    assert await bench.worker.redelivery.reap() == 0

    assert await bench.states(running) == ["RUNNING"]


async def test_a_lapsed_attempt_ends_as_a_crash_and_is_retried_at_once(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.hush()

    assert await reap_all(bench) == 1

    details = await bench.details(running.id)
    assert details.task.state == "RETRYING"
    assert [(row.kind, row.worker_id) for row in details.failures] == [("crash", bench.worker.worker_id)]
    assert await bench.rung() == [running.id]
    assert (await bench.claim(details.task))[0].attempt == 2


async def test_what_a_worker_had_in_hand_that_was_seen_to_end_is_reaped_at_once(bench: Workbench) -> None:
    dead, other = bench.another_worker(), bench.another_worker()
    await dead.worker.leases.beat(Heartbeat(dead.worker.worker_id, "host", 1, 3, 1, ["noop"], ()))
    await other.worker.leases.beat(Heartbeat(other.worker.worker_id, "host", 2, 3, 1, ["noop"], ()))
    lost, kept = await dead.a_running_task(), await other.a_running_task()
    ledger = bench.runtime.ledger
    assert await workers.lead(ledger, dead.worker.worker_id, ["sweeper"], 3_600) == {"sweeper"}

    assert await workers.died(ledger, "host", 1)

    assert await bench.worker.redelivery.reap() == 1
    assert await bench.states(lost, kept) == ["RETRYING", "RUNNING"]
    assert [worker.id for worker in await workers.alive(ledger, 3_600)] == [other.worker.worker_id]
    assert await workers.lead(ledger, other.worker.worker_id, ["sweeper"], 3_600) == {"sweeper"}
    assert isinstance(await dead.complete(lost), Fenced)


async def test_a_worker_that_is_not_on_the_list_cannot_be_taken_off_it(bench: Workbench) -> None:
    running = await bench.a_running_task()

    assert not await workers.died(bench.runtime.ledger, "host", 1)

    assert await bench.worker.redelivery.reap() == 0
    assert await bench.states(running) == ["RUNNING"]


async def test_a_crash_before_the_handler_was_seen_is_not_charged(bench: Workbench) -> None:
    running = await bench.a_running_task()

    await reap_all(bench)

    assert (await bench.details(running.id)).task.attempts_charged == 0


async def test_a_crash_in_the_handler_is_charged(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await renew(bench, running)

    await reap_all(bench)

    assert (await bench.details(running.id)).task.attempts_charged == 1


async def test_a_crash_without_retries_left_fails_the_task(bench: Workbench) -> None:
    alone, other = await bench.a_running_task(max_retries=0), await bench.a_running_task()
    await renew(bench, alone, other)

    await reap_all(bench)

    details = await bench.details(alone.id)
    assert (details.task.state, details.task.poison_pill) == ("FAILED", False)
    assert details.task.error == {"kind": "crash", "message": "its worker stopped answering before the attempt ended"}


async def test_the_one_task_of_a_dead_worker_is_guilty_and_poison_after_two(bench: Workbench) -> None:
    task = await bench.a_task(max_retries=20)
    killer = await bench.claim_next(task)
    await reap_all(bench)
    assert await suspicion(bench, killer) == (True, 1)

    await bench.another_worker().claim(task)
    await reap_all(bench)

    details = await bench.details(task.id)
    assert (details.task.state, details.task.poison_pill) == ("FAILED", True)
    assert "poison pill" in details.failures[-1].message


async def test_of_several_tasks_of_a_dead_worker_none_is_guilty_and_all_are_suspects(bench: Workbench) -> None:
    tasks = [await bench.a_running_task() for _ in range(3)]

    await reap_all(bench)

    assert [await suspicion(bench, task) for task in tasks] == [(True, 0)] * 3


async def test_the_one_suspect_of_a_dead_worker_is_guilty_and_its_cellmates_are_not(bench: Workbench) -> None:
    tasks = [await bench.a_task() for _ in range(2)]
    await bench.claim(*tasks)
    await reap_all(bench)
    second = bench.another_worker()
    (suspect,) = [task for task in await second.claim(*tasks) if task.suspect]
    innocent = await second.a_running_task()

    await reap_all(bench)

    assert await suspicion(bench, suspect) == (True, 1)
    assert await suspicion(bench, innocent) == (True, 0)


@pytest.mark.parametrize("ended", ["completed", "failed", "handed back"])
async def test_an_attempt_that_ends_by_itself_clears_a_suspect(bench: Workbench, ended: str) -> None:
    task = await bench.a_task()
    await bench.claim(task)
    await reap_all(bench)
    suspect = await bench.claim_next(task)
    assert suspect.suspect

    match ended:
        case "completed":
            await bench.complete(suspect)
        case "failed":
            await bench.fail(suspect)
        case _:
            await bench.hand_back(suspect)

    assert (await suspicion(bench, suspect))[0] is False


async def test_a_worker_that_lives_but_lost_one_lease_loses_that_task_after_one_more_heartbeat(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    lost, kept = await bench.a_running_task(), await bench.a_running_task()
    async with another_bench(heartbeat_seconds=100) as reaper:
        await let_lapse(bench, lost, 80)
        assert await reaper.worker.redelivery.reap() == 0

        await let_lapse(bench, lost, 101)
        assert await reaper.worker.redelivery.reap() == 1

    assert await bench.states(lost, kept) == ["RETRYING", "RUNNING"]
    assert await suspicion(bench, lost) == (True, 0)


async def test_leases_of_one_death_that_end_apart_are_judged_together(bench: Workbench) -> None:
    early, late = await bench.a_running_task(), await bench.a_running_task()
    await let_lapse(bench, early, 1)
    assert await bench.worker.redelivery.reap() == 0

    await let_lapse(bench, late, 0)

    assert await bench.worker.redelivery.reap() == 2
    assert [await suspicion(bench, task) for task in (early, late)] == [(True, 0)] * 2


async def test_each_dead_worker_is_judged_by_itself(bench: Workbench) -> None:
    alone = await bench.another_worker().a_running_task()
    together = [await bench.a_running_task() for _ in range(2)]

    await reap_all(bench)

    assert await suspicion(bench, alone) == (True, 1)
    assert [await suspicion(bench, task) for task in together] == [(True, 0)] * 2


async def test_the_lock_of_a_dead_worker_is_freed_and_its_lane_rung(bench: Workbench) -> None:
    dead = await bench.a_running_task(document_id="d")
    await bench.a_task(document_id="d")
    await bench.hush()

    await reap_all(bench)

    assert await bench.redis("EXISTS", LOCK) == 0
    assert set(await bench.rung()) == {dead.id}


async def test_a_hint_parked_behind_a_dead_worker_comes_back(bench: Workbench) -> None:
    await bench.a_running_task(document_id="d")
    urgent = await bench.a_task(document_id="d", priority="CRITICAL")
    await bench.another_worker().claim(urgent)
    await bench.hush()

    await reap_all(bench)

    assert urgent.id in await bench.rung()


async def test_the_lock_that_another_took_meanwhile_stays(bench: Workbench) -> None:
    await bench.a_running_task(document_id="d")
    await bench.redis("SET", LOCK, "other:hold", "PX", "600000")

    await reap_all(bench)

    assert await bench.redis("GET", LOCK) == "other:hold"


async def test_without_redis_the_dead_are_reaped_all_the_same(bench: Workbench, polling: Workbench) -> None:
    dead = await bench.a_running_task(document_id="d")
    await bench.let_leases_lapse()

    assert await polling.worker.redelivery.reap() == 1

    assert await bench.states(dead) == ["RETRYING"]


async def test_a_task_that_was_asked_to_stop_ends_cancelled_with_its_worker(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, running.id, None)

    await reap_all(bench)

    assert await bench.states(running) == ["CANCELLED"]
    assert (await bench.details(running.id)).failures == ()


async def test_a_child_whose_worker_died_for_good_ends_its_batch(bench: Workbench) -> None:
    parent, child, later = await bench.a_batch({**NOOP, "max_retries": 0}, NOOP)
    running = await bench.claim_next(child)
    await renew(bench, running)

    await reap_all(bench)

    assert await bench.states(parent, child, later) == ["FAILED", "FAILED", "CANCELLED"]


async def test_two_reapers_at_once_end_an_attempt_once(bench: Workbench) -> None:
    tasks = [await bench.a_running_task() for _ in range(10)]
    await bench.let_leases_lapse()

    reaped = await asyncio.gather(bench.worker.redelivery.reap(), bench.another_worker().worker.redelivery.reap())

    assert sum(reaped) == 10
    assert (await bench.events(*tasks)).count("task.retrying") == 10


async def test_a_lease_that_was_renewed_after_it_was_read_is_not_reaped(bench: Workbench) -> None:
    """What the reaper has read is old: by the ledger's clock the lease runs."""
    running = await bench.a_running_task()
    await renew(bench, running)

    (settled,) = await bench.settle_together([EndedAttempt(running, Lapsed(True, True))], only_lapsed=True)

    assert isinstance(settled, Fenced)
    assert await bench.states(running) == ["RUNNING"]


async def test_an_attempt_that_ended_after_it_was_read_is_not_reaped(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.complete(running)

    (settled,) = await bench.settle_together([EndedAttempt(running, Lapsed(True, True))], only_lapsed=True)

    assert isinstance(settled, Fenced)
    assert await bench.states(running) == ["COMPLETED"]


async def test_a_child_process_that_dies_twice_poisons_its_task_too(bench: Workbench) -> None:
    task = await bench.a_task(max_retries=20)
    for _ in range(2):
        await bench.crash(await bench.claim_next(task))

    details = await bench.details(task.id)
    assert (details.task.state, details.task.poison_pill) == ("FAILED", True)
    assert [row.kind for row in details.failures] == [FailureKind.CRASH, FailureKind.CRASH]
