"""Claiming: a hint leads to the head of a lane, and one worker at a time is in it."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import pytest

from officeplane.dispatch.locks import Hold, LockRequest
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import ClaimId, DocumentId, HoldId
from officeplane.domain.outcome import Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.priority import Tier
from officeplane.domain.task import ClaimedTask, Task
from officeplane.failpoints import arm
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.store import claims
from officeplane.store.claims import Claimant
from tests.fault_proxy import Direction, FaultProxy
from tests.services.conftest import AnotherBench
from tests.support import eventually
from tests.workbench import Workbench

YIELD, BLOCK = {"on_retry": "yield"}, {"on_retry": "block"}


def ids(claimed: list[ClaimedTask]) -> list[str]:
    return [task.id for task in claimed]


async def lock_of(bench: Workbench, document_id: str) -> str | None:
    (value,) = await bench.runtime.doorbell.locks.holders([document_id])
    return value


async def in_lane_order(bench: Workbench, hint: Task, count: int) -> list[str]:
    """Claim and complete what a hint leads to, again and again."""
    order: list[str] = []
    for _ in range(count):
        claimed = await bench.claim_next(hint)
        order.append(claimed.id)
        await bench.complete(claimed)
    return order


async def test_a_claim_is_an_attempt_under_a_lease(bench: Workbench) -> None:
    claimed = await bench.a_running_task("test.note", payload={"text": "hello"})

    (row,) = await bench.execute("SELECT state, attempt, worker_id, lease_until > now() AS leased FROM tasks")
    assert row == {"state": "RUNNING", "attempt": 1, "worker_id": bench.worker.worker_id, "leased": True}
    assert claimed.payload_json == '{"text": "hello"}'
    assert await bench.events(claimed) == ["task.queued", "task.running"]


async def test_a_task_is_claimed_once(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.claim(task)

    assert await bench.claim(task, task) == []


async def test_a_hint_that_is_rung_twice_is_one_attempt(bench: Workbench) -> None:
    task = await bench.a_task()

    assert ids(await bench.claim(task, task, task)) == [task.id]


async def test_a_hint_that_leads_nowhere_is_dropped(bench: Workbench) -> None:
    assert await bench.worker.desk.claim(["01890000-0000-7000-8000-000000000000"]) == []


async def test_a_final_or_scheduled_task_is_not_claimed(bench: Workbench) -> None:
    done, later = await bench.a_running_task(), await bench.a_task(run_at="2999-01-01T00:00:00Z")
    await bench.complete(done)

    assert await bench.worker.desk.claim([done.id, later.id]) == []


async def test_a_batch_is_not_claimed_but_begins_with_its_first_child(bench: Workbench) -> None:
    parent, inner, leaf = await bench.a_batch({"children": [{"task_type": "noop"}]})

    assert await bench.claim(parent, inner) == []
    assert ids(await bench.claim(leaf)) == [leaf.id]
    assert await bench.states(parent, inner, leaf) == ["RUNNING", "RUNNING", "RUNNING"]


async def test_a_task_of_a_type_this_worker_does_not_know_is_left_alone(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    free, in_lane = await bench.a_task("test.patient"), await bench.a_task("test.patient", document_id="d")
    behind = await bench.a_task(document_id="d")

    async with another_bench(handlers=()) as ignorant:
        assert await ignorant.claim(free, in_lane, behind) == []

    assert await bench.states(free, in_lane, behind) == ["QUEUED", "QUEUED", "QUEUED"]
    assert sorted(ids(await bench.claim(free, in_lane))) == sorted([free.id, in_lane.id])


async def test_whatever_was_popped_the_head_of_its_lane_is_claimed(bench: Workbench) -> None:
    first, second, third = [await bench.a_task(document_id="d") for _ in range(3)]

    assert (await bench.claim_next(third)).id == first.id
    assert await bench.states(first, second, third) == ["RUNNING", "QUEUED", "QUEUED"]


async def test_a_lane_goes_by_priority_and_then_by_arrival(bench: Workbench) -> None:
    given = [await bench.a_task(document_id="d", priority=priority) for priority in (50, 90, 50, 0, 20)]

    order = await in_lane_order(bench, given[0], 5)

    assert order == [given[at].id for at in (3, 4, 0, 2, 1)]


async def test_older_work_rises_against_newer(bench: Workbench) -> None:
    old, new = await bench.a_task(document_id="d", priority="LOW"), await bench.a_task(document_id="d")
    # A LOW task is 20 behind a NORMAL one, which ageing makes up in 200 minutes.
    await bench.execute("UPDATE tasks SET rank = rank - 0.1 * 201 WHERE id = $1::uuid", old.id)

    assert await in_lane_order(bench, new, 2) == [old.id, new.id]


async def test_a_head_that_waits_for_its_retry_blocks_its_lane(bench: Workbench) -> None:
    head, behind = await bench.a_task(document_id="d", **BLOCK), await bench.a_task(document_id="d")
    await bench.fail(await bench.claim_next(head))

    assert await bench.claim(behind) == []

    await bench.make_due()
    assert (await bench.claim_next(behind)).id == head.id


async def test_a_head_that_yields_is_overtaken_while_it_waits(bench: Workbench) -> None:
    head, behind = await bench.a_task(document_id="d", **YIELD), await bench.a_task(document_id="d")
    await bench.fail(await bench.claim_next(head))

    assert (await bench.claim_next(head)).id == behind.id


async def test_more_urgent_work_overtakes_a_head_that_waits(bench: Workbench) -> None:
    head = await bench.a_task(document_id="d", **BLOCK)
    await bench.fail(await bench.claim_next(head))
    urgent = await bench.a_task(document_id="d", priority="CRITICAL")

    assert (await bench.claim_next(urgent)).id == urgent.id


async def test_an_occupied_lane_gives_nothing(bench: Workbench) -> None:
    first, second = await bench.a_task(document_id="d"), await bench.a_task(document_id="d")
    await bench.claim(first)

    assert await bench.claim(second) == []
    assert await bench.another_worker().claim(second) == []


async def test_lanes_are_claimed_together_and_each_has_its_own_lock(bench: Workbench) -> None:
    tasks = [await bench.a_task(document_id=f"d{number}") for number in range(20)]

    claimed = await bench.claim(*tasks)

    assert sorted(ids(claimed)) == sorted(task.id for task in tasks)
    for task in claimed:
        assert await lock_of(bench, str(task.document_id)) == f"{bench.worker.worker_id}:{task.hold_id}"
    assert len({task.hold_id for task in claimed}) == 20


async def test_a_worker_knows_the_locks_it_has_to_renew(bench: Workbench) -> None:
    claimed = await bench.a_running_task(document_id="d")

    assert bench.worker.desk.holds == [Hold("d", bench.worker.worker_id, str(claimed.hold_id))]

    await bench.complete(claimed)
    assert bench.worker.desk.holds == []


async def test_a_lock_that_led_to_no_claim_is_given_back(bench: Workbench) -> None:
    blocked = await bench.a_task(document_id="d")
    await bench.fail(await bench.claim_next(blocked))

    assert await bench.claim(blocked) == []

    assert await lock_of(bench, "d") is None
    assert bench.worker.desk.holds == []


async def test_a_hint_refused_by_a_lock_comes_back_when_it_is_given_back(bench: Workbench) -> None:
    first, second = await bench.a_task(document_id="d"), await bench.a_task(document_id="d")
    running = await bench.claim_next(first)
    await bench.hush()
    await bench.another_worker().claim(second)
    assert await bench.rung() == []

    await bench.complete(running)

    assert set(await bench.rung()) == {second.id}


async def test_the_more_urgent_of_two_refused_hints_stays_parked(bench: Workbench) -> None:
    other = Hold("d", "other", "hold")
    low, high = await bench.a_task(document_id="d", priority="LOW"), await bench.a_task(document_id="d", priority=20)
    await bench.runtime.doorbell.locks.acquire([LockRequest(other, "", Tier.LOW)])
    await bench.hush()

    await bench.claim(low, high)
    await bench.runtime.doorbell.locks.release([other])

    assert await bench.redis("LRANGE", "officeplane:high", "0", "-1") == [high.id]


async def test_two_workers_at_one_lane_without_locks_are_told_apart_by_the_ledger(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    async with another_bench(redis_url="") as one, another_bench(redis_url="") as two:
        for round_ in range(15):
            task = await bench.a_task(document_id=f"d{round_}")

            claimed = await asyncio.gather(one.claim(task), two.claim(task))

            assert sorted(map(len, claimed)) == [0, 1]


async def test_the_unique_index_lets_one_of_two_into_a_lane_and_nothing_is_lost(bench: Workbench) -> None:
    """The second claims while the first has not committed: it has seen a free lane, and another head."""
    contested = [await bench.a_task(document_id="d", priority=priority) for priority in ("NORMAL", "CRITICAL")]
    elsewhere = await bench.a_task(document_id="e")
    normal, critical = contested
    await bench.execute("UPDATE tasks SET state = 'PENDING' WHERE id = $1::uuid", critical.id)
    who = Claimant(bench.worker.worker_id, 30, ["noop"], may_take_suspect=True)
    rival = bench.another_worker()
    claim, hold = ClaimId("01890000-0000-7000-8000-000000000001"), HoldId("01890000-0000-7000-8000-000000000002")

    async with bench.runtime.ledger.transaction() as connection:
        taken = await claims.claim_lanes(connection, who, [(DocumentId("d"), claim, hold)])
        await bench.execute("UPDATE tasks SET state = 'QUEUED' WHERE id = $1::uuid", critical.id)
        racing = asyncio.create_task(rival.claim(critical, elsewhere))
        await bench.somebody_waits_for_a_lock()

    assert ids(taken) == [normal.id]
    assert ids(await racing) == [elsewhere.id]
    assert await bench.states(normal, critical) == ["RUNNING", "QUEUED"]
    assert await lock_of(bench, "d") is None


async def test_claims_of_many_workers_take_every_task_once(bench: Workbench) -> None:
    tasks = [await bench.a_task(**({"document_id": f"d{n % 7}"} if n % 2 else {})) for n in range(60)]
    workers = [bench.another_worker() for _ in range(4)]
    done: list[str] = []

    async def work(worker: Workbench) -> None:
        for task in await worker.claim(*tasks):
            done.append(task.id)
            await worker.complete(task)

    async def all_done() -> bool:
        await asyncio.gather(*map(work, workers))
        return len(done) >= len(tasks)

    await eventually(all_done)

    assert sorted(done) == sorted(task.id for task in tasks)


async def test_without_an_answer_from_redis_a_lane_is_claimed_all_the_same(
    bench: Workbench, polling: Workbench
) -> None:
    task = await bench.a_task(document_id="d")

    claimed = await polling.claim_next(task)

    assert claimed.id == task.id
    assert await lock_of(bench, "d") is None


async def test_a_worker_takes_one_suspect_at_a_time(bench: Workbench) -> None:
    tasks = [await bench.a_task(), await bench.a_task(), await bench.a_task(document_id="d")]
    innocent = await bench.a_task()
    await bench.execute("UPDATE tasks SET suspect = true WHERE id <> $1::uuid", innocent.id)

    claimed = await bench.claim(innocent, *tasks)
    suspects = [task for task in claimed if task.suspect]

    assert innocent.id in ids(claimed)
    assert len(suspects) == 1
    assert await bench.claim(*tasks) == []
    assert len(await bench.another_worker().claim(*tasks)) == 1

    await bench.complete(suspects[0])
    bench.worker.desk.forget_suspects([suspects[0]])
    assert len(await bench.claim(*tasks)) == 1


SLEEP: Final[Mapping[str, Any]] = {"task_type": "sleep", "payload": {"seconds": 0}}


async def test_a_suspect_that_was_cancelled_does_not_keep_the_others_from_being_taken(bench: Workbench) -> None:
    await leave_no_gaps(bench)
    cancelled, other = await bench.a_task(), await bench.a_task()
    await bench.execute("UPDATE tasks SET suspect = true")
    await bench.end(cancelled, "CANCELLED")
    # What is written anew comes to stand behind.
    while not await stands_first(bench, cancelled, other):
        await bench.execute("UPDATE tasks SET queued_at = now() WHERE id = $1::uuid", other.id)

    assert ids(await bench.claim(cancelled, other)) == [other.id]


@pytest.mark.parametrize("lanes", [{}, {"document_id": True}], ids=["without lanes", "in lanes"])
async def test_a_suspect_that_is_held_does_not_keep_the_others_from_being_taken(
    bench: Workbench, lanes: Mapping[str, bool]
) -> None:
    await leave_no_gaps(bench)
    held = await bench.a_task(**SLEEP, **({"document_id": "a"} if lanes else {}))
    other = await bench.a_task(**({"document_id": "b"} if lanes else {}))
    await bench.execute("UPDATE tasks SET suspect = true")
    await bench.runtime.valves.pause_type(LOCAL, "sleep")
    assert await stands_first(bench, held, other)

    assert ids(await bench.claim(held, other)) == [other.id]


async def test_a_suspect_that_is_held_does_not_keep_another_from_following(bench: Workbench) -> None:
    await leave_no_gaps(bench)
    running = [await bench.a_running_task(document_id="a"), await bench.a_running_task(document_id="b")]
    held, other = await bench.a_task(**SLEEP, document_id="a"), await bench.a_task(document_id="b")
    await bench.execute("UPDATE tasks SET suspect = true WHERE state = 'QUEUED'")
    await bench.runtime.valves.pause_type(LOCAL, "sleep")
    assert await stands_first(bench, held, other)
    continuation = bench.worker.desk.continuation([DocumentId("a"), DocumentId("b")])
    assert continuation is not None

    await bench.runtime.settlements.write(
        [EndedAttempt(task, Succeeded(None)) for task in running], continuation, counted_by=bench.worker.worker_id
    )

    assert ids(continuation.claimed) == [other.id]


async def leave_no_gaps(bench: Workbench) -> None:
    """Have rows stand in the order in which they are written: what earlier tests have left are gaps to put one in."""
    await bench.execute("TRUNCATE tasks CASCADE")


async def stands_first(bench: Workbench, one: Task, other: Task) -> bool:
    """Tell whether a task stands before another in the table: of suspects, the first is taken."""
    (row,) = await bench.execute(
        "SELECT a.ctid < b.ctid AS first FROM tasks a, tasks b WHERE a.id = $1::uuid AND b.id = $2::uuid",
        one.id,
        other.id,
    )
    return bool(row["first"])


async def test_claims_at_the_same_time_take_one_suspect_between_them(bench: Workbench) -> None:
    tasks = [await bench.a_task() for _ in range(6)]
    await bench.execute("UPDATE tasks SET suspect = true")

    claimed = await asyncio.gather(*(bench.claim(task) for task in tasks))

    assert sum(map(len, claimed)) == 1


@pytest.mark.parametrize("point", ["after_claim", "after_continue"])
async def test_who_loses_the_database_right_after_a_claim_runs_what_it_claimed(bench: Workbench, point: str) -> None:
    first, second = await bench.a_task(document_id="d"), await bench.a_task(document_id="d")
    await bench.execute("UPDATE tasks SET suspect = true")
    claiming = bench.worker.desk

    try:
        arm(f"{point}=raise", 0)
        claimed = await bench.claim(first)
        await bench.settle_together([EndedAttempt(claimed[0], Succeeded("{}"))])
        claiming.forget_suspects([claimed[0]])
        following = await claiming.continue_lanes([DocumentId("d")])
    finally:
        arm("", 0)

    assert (ids(claimed), ids(following)) == ([first.id], [second.id])


async def test_a_claim_that_was_not_heard_of_is_found_again_once(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    async with another_bench(database_url=postgres_proxy.url(database_url)) as cut_off:
        # The statement is known to the connection, so that all of it is sent at once.
        await cut_off.a_running_task()
        task = await bench.a_task()
        postgres_proxy.drop(Direction.REPLIES)
        claiming = asyncio.create_task(cut_off.claim(task))

        async def is_running() -> bool:
            return await bench.states(task) == ["RUNNING"]

        await eventually(is_running)
        postgres_proxy.cut()
        with pytest.raises(DatabaseUnavailableError):
            await claiming
        await postgres_proxy.heal()

        found = await asyncio.gather(cut_off.claim(), cut_off.claim())

    assert [one.id for claimed in found for one in claimed] == [task.id]


async def test_an_attempt_handed_back_may_be_claimed_at_once(bench: Workbench) -> None:
    running = await bench.a_running_task(document_id="d")
    await bench.hand_back(running)

    again = await bench.worker.desk.claim([running.id])

    assert [(task.id, task.attempt, task.attempts_charged) for task in again] == [(running.id, 2, 0)]
    assert again[0].claim_id != running.claim_id


async def test_an_uncharged_failure_leaves_the_charge_as_it_was(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.fail(running, FailureKind.INFRASTRUCTURE)
    await bench.make_due()

    (again,) = await bench.worker.desk.claim([running.id])

    assert (again.attempt, again.attempts_charged) == (2, 0)


async def test_a_suspect_that_was_claimed_unheard_is_the_only_one_in_hand(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    async with another_bench(database_url=postgres_proxy.url(database_url)) as cut_off:
        # The statement is known to the connection, so that all of it is sent at once.
        await cut_off.a_running_task()
        suspect, other = await bench.a_task(), await bench.a_task()
        await bench.execute("UPDATE tasks SET suspect = true WHERE state = 'QUEUED'")
        postgres_proxy.cut_after(Direction.REPLIES, 1)
        with pytest.raises(DatabaseUnavailableError):
            await cut_off.claim(suspect)

        await postgres_proxy.heal()
        claimed = await cut_off.claim(other)

        assert ids(claimed) == [suspect.id]
