"""Declared limits: no more of a type at once, and no faster, than was said, over all workers."""

import asyncio
from datetime import timedelta

import pytest

from officeplane.domain.errors import UnknownTaskTypeError
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.outcome import Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.space import QualifiedType
from officeplane.domain.task import ClaimedTask, Task
from officeplane.domain.valve import Contender, Limits, Room, admitted
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import RUNG_SECONDS
from tests.workbench import Workbench


async def limit(bench: Workbench, *, rate: float | None = None, concurrency: int | None = None) -> None:
    await bench.runtime.valves.set_limits(LOCAL, "noop", Limits(rate, concurrency))


async def let_seconds_pass(bench: Workbench, seconds: float) -> None:
    """Let buckets fill as if time had passed."""
    await bench.execute("UPDATE valves SET tokens_at = tokens_at - $1::interval", timedelta(seconds=seconds))


async def some(bench: Workbench, count: int, **options: object) -> list[Task]:
    return await bench.submit_many([{"task_type": "noop", **options}] * count)


async def claimed_by(workers: list[Workbench], tasks: list[Task]) -> list[ClaimedTask]:
    found = await asyncio.gather(*(worker.claim(*tasks) for worker in workers))
    return [task for of_worker in found for task in of_worker]


def test_who_comes_first_comes_in_first_as_long_as_there_is_room() -> None:
    ids = [TaskId(str(n)) for n in range(5)]
    a, b = QualifiedType("a"), QualifiedType("acme/a")
    contenders = [Contender(one, None, b if n == 1 else a) for n, one in enumerate(ids)]

    assert [one.task_id for one in admitted(contenders, {a: Room(2)})] == [ids[0], ids[2]]
    assert [one.task_id for one in admitted(contenders, {a: Room(0), b: Room(1)})] == [ids[1]]
    assert [one.task_id for one in admitted(contenders, {a: Room(4, only=ids[3])})] == [ids[3]]


async def test_no_more_are_claimed_at_once_than_was_said_whoever_claims(bench: Workbench) -> None:
    await limit(bench, concurrency=2)
    tasks = await some(bench, 20)
    workers = [bench.another_worker() for _ in range(4)]

    # Whoever was in the way at one moment is not at the next.
    claimed = [*await claimed_by(workers, tasks), *await claimed_by(workers, tasks)]

    # Two workers may have got one each, and either may stand first.
    assert {task.id for task in claimed} == {task.id for task in tasks[:2]}
    assert len(claimed) == 2
    assert await claimed_by(workers, tasks) == []
    await bench.complete(claimed[0])
    assert [task.id for task in await claimed_by(workers, tasks)] == [tasks[2].id]


async def test_heads_of_lanes_are_counted_with_the_rest(bench: Workbench) -> None:
    await limit(bench, concurrency=3)
    tasks = [*await some(bench, 2), *[t for n in range(4) for t in await some(bench, 2, document_id=f"d{n}")]]

    claimed = await claimed_by([bench.another_worker() for _ in range(3)], tasks)

    assert len(claimed) == 3
    assert len({task.document_id for task in claimed if task.document_id}) == sum(
        task.document_id is not None for task in claimed
    )


async def test_other_types_are_not_limited(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    tasks = [*await some(bench, 3), *[await bench.a_task("sleep", payload={"seconds": 0}) for _ in range(3)]]

    claimed = await bench.claim(*tasks)

    assert sorted(task.task_type for task in claimed) == ["noop", "sleep", "sleep", "sleep"]


async def test_what_ran_before_a_limit_was_declared_counts(bench: Workbench) -> None:
    tasks = await some(bench, 4)
    running = await bench.claim(*tasks[:2])
    await limit(bench, concurrency=2)

    assert await bench.claim(*tasks) == []

    await bench.complete(running[0])
    assert len(await bench.claim(*tasks)) == 1


async def test_a_rate_admits_as_many_as_its_bucket_holds(bench: Workbench) -> None:
    await limit(bench, rate=0.1)
    tasks = await some(bench, 30)
    assert len(await bench.claim(*tasks)) == 1, "a bucket that is new holds one"

    await limit(bench, rate=5)
    await let_seconds_pass(bench, 0.6)
    (bucket,) = await bench.execute("SELECT tokens, tokens_at FROM valves")
    count = len(await claimed_by([bench, bench.another_worker()], tasks))
    assert 3 <= count <= bucket["tokens"] + 5 * (await bench.clock() - bucket["tokens_at"]).total_seconds()

    await let_seconds_pass(bench, 3600)
    assert len(await bench.claim(*tasks)) == 5, "it never holds more than a second's worth"


async def test_a_slow_rate_admits_one_at_a_time(bench: Workbench) -> None:
    await limit(bench, rate=0.1)
    tasks = await some(bench, 3)
    assert len(await bench.claim(*tasks)) == 1
    await let_seconds_pass(bench, 5)
    assert await bench.claim(*tasks) == []

    await let_seconds_pass(bench, 5)

    assert len(await bench.claim(*tasks)) == 1


async def test_a_limit_that_is_declared_again_does_not_fill_the_bucket(bench: Workbench) -> None:
    await limit(bench, rate=0.1)
    tasks = await some(bench, 2)
    assert len(await bench.claim(*tasks)) == 1

    await limit(bench, rate=0.1)

    assert await bench.claim(*tasks) == []


async def test_limits_that_are_lifted_let_everything_go_on(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    tasks = await some(bench, 5)
    await bench.claim(*tasks)
    await bench.hush()

    await bench.runtime.valves.set_limits(LOCAL, "noop", Limits())

    assert await bench.rung() == [task.id for task in tasks[1:]]
    assert len(await bench.claim(*tasks)) == 4


async def test_a_worker_that_does_not_know_of_limits_yet_claims_none_of_the_type(bench: Workbench) -> None:
    running = await bench.a_running_task("sleep", document_id="d", payload={"seconds": 0})
    behind = await bench.a_task(document_id="d")
    await limit(bench, concurrency=1)

    assert await bench.worker.desk.continue_lanes([DocumentId("d")]) == []

    await bench.complete(running)
    assert (await bench.claim_next(behind)).id == behind.id


async def test_a_lane_is_continued_within_its_limits(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    first, second = await some(bench, 2, document_id="d")
    head = await bench.claim_next(first)

    await bench.settle_together([_done(head)])
    (following,) = await bench.worker.desk.continue_lanes([DocumentId("d")])

    assert following.id == second.id


async def test_a_limited_head_that_yields_lets_others_pass(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    await bench.a_running_task()
    head = await bench.a_task(document_id="d", on_retry="yield")
    behind = await bench.a_task("sleep", document_id="d", payload={"seconds": 0})

    assert (await bench.claim_next(head)).id == behind.id


@pytest.mark.parametrize("held_by", ["its limit", "a pause", "an open breaker"])
async def test_a_limited_head_that_yields_lets_others_pass_that_are_limited_too(bench: Workbench, held_by: str) -> None:
    await limit(bench, concurrency=1)
    await bench.runtime.valves.set_limits(LOCAL, "sleep", Limits(None, 1))
    if held_by == "its limit":
        await bench.a_running_task()
    elif held_by == "a pause":
        await bench.runtime.valves.pause_type(LOCAL, "noop")
    else:
        await bench.runtime.valves.open_breaker(LOCAL, "noop")
    head = await bench.a_task(document_id="d", on_retry="yield")
    behind = await bench.a_task("sleep", document_id="d", payload={"seconds": 0})

    assert (await bench.claim_next(head)).id == behind.id


async def test_a_limited_head_that_yields_has_its_turn_while_there_is_room(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    head = await bench.a_task(document_id="d", on_retry="yield")
    behind = await bench.a_task("sleep", document_id="d", payload={"seconds": 0})

    claimed = await bench.claim_next(behind)
    await bench.settle_together([_done(claimed)])
    (following,) = await bench.worker.desk.continue_lanes([DocumentId("d")])

    assert [claimed.id, following.id] == [head.id, behind.id]


async def test_a_paused_or_slowed_type_is_not_admitted(bench: Workbench) -> None:
    await limit(bench, concurrency=5)
    tasks = await some(bench, 3)
    await bench.runtime.valves.pause_type(LOCAL, "noop")
    assert await bench.claim(*tasks) == []
    await bench.runtime.valves.resume_type(LOCAL, "noop")
    await bench.runtime.valves.open_breaker(LOCAL, "noop")
    assert await bench.claim(*tasks) == []

    await bench.runtime.valves.reset_breaker(LOCAL, "noop")
    assert len(await bench.claim(*tasks)) == 3


async def test_a_limited_type_is_probed_with_one_task(bench: Workbench) -> None:
    await limit(bench, concurrency=5)
    tasks = await some(bench, 5)
    await bench.runtime.valves.open_breaker(LOCAL, "noop")
    await bench.execute("UPDATE valves SET retry_at = now()")
    for _ in range(2):
        await bench.worker.valve_timers.tend()

    assert len(await claimed_by([bench, bench.another_worker()], tasks)) == 1


async def test_a_worker_without_redis_keeps_to_limits_and_is_not_held_up_by_them(polling: Workbench) -> None:
    await limit(polling, concurrency=2)
    await some(polling, 20, priority="CRITICAL")
    others = [await polling.a_task("sleep", payload={"seconds": 0}, priority="LOW") for _ in range(3)]

    first = await polling.worker.desk.claim_from_ledger(4)
    second = await polling.worker.desk.claim_from_ledger(4)

    assert sorted(task.task_type for task in first) == ["noop", "noop", "sleep", "sleep"]
    assert [task.id for task in second] == [others[2].id]


async def test_whoever_leaves_a_place_rings_for_the_next(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    tasks = await some(bench, 3)
    (running,) = await bench.claim(*tasks)
    await bench.hush()
    await bench.execute("UPDATE tasks SET rung_at = rung_at - $1::interval", timedelta(seconds=2 * RUNG_SECONDS))

    _, news = await bench.runtime.settlements.write([_done(running)], counted_by=bench.worker.worker_id)
    assert bench.worker.desk.freed([running]) == ["noop"]
    news[0].freed.append(QualifiedType("noop"))
    await bench.runtime.settlements.tell(news)

    assert await bench.rung() == [tasks[1].id]
    assert bench.worker.desk.freed([running]) == []


async def test_the_leader_rings_for_what_a_bucket_holds_and_for_no_more(bench: Workbench) -> None:
    await limit(bench, rate=0.1)
    tasks = await some(bench, 10)
    await bench.claim(*tasks)
    await bench.hush()
    await bench.let_rings_age()
    await bench.worker.valve_timers.tend()
    assert await bench.rung() == []

    await limit(bench, rate=2)
    await let_seconds_pass(bench, 1)
    await bench.worker.valve_timers.tend()

    assert await bench.rung() == [task.id for task in tasks[1:3]]


async def test_the_sweeper_does_not_ring_for_what_limits_keep(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    tasks = await some(bench, 5)
    await bench.claim(*tasks)
    await bench.hush()
    await bench.let_rings_age()

    await bench.worker.redelivery.sweep()

    assert await bench.rung() == []


async def test_a_failed_attempt_gives_its_place_back(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    tasks = await some(bench, 2)
    (running,) = await bench.claim(*tasks)

    await bench.fail(running, FailureKind.PERMANENT)

    assert len(await bench.claim(*tasks)) == 1


async def test_a_worker_that_dies_gives_its_places_back(bench: Workbench) -> None:
    await limit(bench, concurrency=2)
    tasks = await some(bench, 4)
    assert len(await bench.claim(*tasks)) == 2
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()

    assert len(await bench.another_worker().claim(*tasks[2:])) == 2


async def test_a_task_says_that_its_limit_is_reached(bench: Workbench) -> None:
    await limit(bench, concurrency=1)
    _, waiting = await some(bench, 2)
    assert "limit_reached" not in [
        r.code for r in (await bench.runtime.explanations.explain(LOCAL, waiting.id)).reasons
    ]
    await bench.claim(waiting)
    later = await bench.a_task()

    (reason, *_) = (await bench.runtime.explanations.explain(LOCAL, later.id)).reasons

    assert (reason.code, reason.facts["concurrency"]) == ("limit_reached", 1)


async def test_limits_of_a_type_that_nobody_knows_are_refused(bench: Workbench) -> None:
    with pytest.raises(UnknownTaskTypeError):
        await bench.runtime.valves.set_limits(LOCAL, "nobody.knows", Limits(concurrency=1))
    with pytest.raises(UnknownTaskTypeError):
        await bench.runtime.valves.limits(LOCAL, "nobody.knows")


async def test_a_pause_and_a_claim_that_meet_leave_no_task_half_claimed(bench: Workbench) -> None:
    tasks = await some(bench, 30)
    workers = [bench.another_worker() for _ in range(3)]

    pausing = [bench.runtime.valves.pause_type(LOCAL, "noop"), bench.runtime.valves.resume_type(LOCAL, "noop")] * 5
    claims = [worker.claim(*tasks[n::3]) for n, worker in enumerate(workers)]
    await asyncio.gather(*pausing, *claims)
    await bench.runtime.valves.pause_type(LOCAL, "noop")

    assert await claimed_by(workers, tasks) == []
    rows = await bench.execute("SELECT state, claim_id IS NOT NULL AS claimed FROM tasks")
    assert {(row["state"], row["claimed"]) for row in rows} <= {("QUEUED", False), ("RUNNING", True)}


def _done(task: ClaimedTask) -> EndedAttempt:
    return EndedAttempt(task, Succeeded(None))


async def test_what_a_limit_has_room_for_is_rung_only_if_somebody_alive_can_take_it(bench: Workbench) -> None:
    await limit(bench, concurrency=2)
    (task,) = await some(bench, 1)
    await bench.execute("UPDATE tasks SET task_type = 'nobody.knows'")
    await bench.execute("UPDATE valves SET task_type = 'nobody.knows'")
    await bench.hush()
    await bench.let_rings_age()
    await bench.worker.valve_timers.tend()
    assert await bench.rung() == []

    await bench.another_worker().beat(task_types=["nobody.knows"])
    await bench.worker.valve_timers.tend()

    assert await bench.rung() == [task.id]
