"""Dependencies: a task waits until all of what it depends on is COMPLETED, and goes on exactly once."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from officeplane.domain.errors import IllegalStateError, InvalidReferenceError
from officeplane.domain.outcome import Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import TaskRequest
from officeplane.domain.task import Task
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.submit import submission
from officeplane.store import tasks as ledger_tasks
from officeplane.store.connection import Executor
from tests.services.conftest import AnotherBench
from tests.support import eventually
from tests.workbench import Workbench

NOOP = {"task_type": "noop"}
TOMORROW = datetime.now(UTC) + timedelta(days=1)


async def after(bench: Workbench, *dependencies: Task, **options: Any) -> Task:
    """Submit a task that depends on others."""
    return await bench.a_task(depends_on=[task.id for task in dependencies], **options)


async def cancel(bench: Workbench, task: Task) -> None:
    await bench.runtime.cancellation.cancel(LOCAL, task.id, None)


async def retry(bench: Workbench, task: Task) -> None:
    await bench.runtime.reopening.retry(LOCAL, task.id)


async def reasons(bench: Workbench, task: Task) -> list[str]:
    await bench.beat()
    return [reason.code for reason in (await bench.runtime.explanations.explain(LOCAL, task.id)).reasons]


async def test_a_task_waits_for_all_it_depends_on_and_is_rung_then(bench: Workbench) -> None:
    one, other = [await bench.a_task() for _ in range(2)]
    last = await after(bench, one, other)
    await bench.hush()

    await bench.end(one, "COMPLETED")
    waiting = await bench.state(last)
    assert await bench.rung() == []
    await bench.end(other, "COMPLETED")

    assert (waiting, await bench.state(last)) == ("PENDING", "QUEUED")
    assert await bench.rung() == [last.id]
    assert await bench.events(last) == ["task.pending", "task.queued"]
    await bench.end(last, "COMPLETED")


async def test_a_task_shows_what_it_depends_on_and_what_still_blocks_it(bench: Workbench) -> None:
    done, waited_for = [await bench.a_task() for _ in range(2)]
    await bench.end(done, "COMPLETED")

    task = await after(bench, done, waited_for, waited_for)

    details = await bench.details(task.id)
    assert details.task.depends_on == (done.id, waited_for.id)
    assert details.blocked_by == (waited_for.id,)
    assert await reasons(bench, task) == ["dependency"]


async def test_a_dependency_that_is_completed_already_is_no_blocker(bench: Workbench) -> None:
    done = await bench.a_task()
    await bench.end(done, "COMPLETED")

    task = await after(bench, done)

    assert await bench.state(task) == "QUEUED"


@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT"])
async def test_dependents_of_a_failure_stay_pending_and_say_so(bench: Workbench, state: str) -> None:
    failed = await bench.a_task(max_retries=0)
    before = await after(bench, failed)
    await bench.end(failed, state)
    behind = await after(bench, failed)

    assert await bench.states(before, behind) == ["PENDING", "PENDING"]
    assert await reasons(bench, before) == await reasons(bench, behind) == ["dependency_failed"]

    await retry(bench, failed)
    await bench.end(failed, "COMPLETED")

    assert await bench.states(before, behind) == ["QUEUED", "QUEUED"]


async def test_an_edge_to_an_unknown_task_is_refused(bench: Workbench) -> None:
    for name in (str(uuid4()), "research", "../x"):
        with pytest.raises(InvalidReferenceError):
            await bench.a_task(depends_on=[name])

    assert await bench.execute("SELECT FROM tasks") == []


async def test_an_edge_to_a_cancelled_task_is_refused_and_its_neighbours_are_stored(bench: Workbench) -> None:
    gone = await bench.a_task()
    await cancel(bench, gone)

    refused, *stored = await asyncio.gather(
        after(bench, gone), *(bench.a_task() for _ in range(3)), return_exceptions=True
    )

    assert isinstance(refused, InvalidReferenceError)
    assert [error.field for error in refused.errors] == ["dependsOn.0"]
    assert all(isinstance(task, Task) for task in stored)


async def test_a_bulk_with_one_bad_dependency_stores_nothing(bench: Workbench) -> None:
    good = await bench.a_task()

    with pytest.raises(InvalidReferenceError):
        await bench.submit_many([{**NOOP, "depends_on": [good.id]}, {**NOOP, "depends_on": [str(uuid4())]}])

    assert len(await bench.execute("SELECT FROM tasks")) == 1
    assert await bench.execute("SELECT FROM task_edges") == []


async def test_a_bulk_of_dependents_waits(bench: Workbench) -> None:
    first = await bench.a_task()

    tasks = await bench.submit_many([{**NOOP, "depends_on": [first.id]}] * 200)
    await bench.end(first, "COMPLETED")

    assert set(await bench.states(*tasks[:3], tasks[-1])) == {"QUEUED"}
    assert len(await bench.execute("SELECT FROM tasks WHERE state = 'QUEUED'")) == 200


async def test_dependents_of_a_cancelled_task_are_cancelled_transitively(bench: Workbench) -> None:
    first = await bench.a_task()
    second = await after(bench, first)
    third = await after(bench, second)
    batch, *children = await bench.a_batch(NOOP, NOOP, depends_on=[third.id])
    beside = await after(bench, await bench.a_task())

    await cancel(bench, first)

    assert await bench.states(first, second, third, batch, *children) == ["CANCELLED"] * 6
    assert await bench.state(beside) == "PENDING"
    assert (await bench.details(third.id)).task.cancel_reason == "a task that it depends on was cancelled"
    assert (await bench.counters())[("noop", "cancelled", "")] == 5


async def test_dependents_of_a_task_cancelled_while_it_runs_are_cancelled_with_it(bench: Workbench) -> None:
    first = await bench.a_task()
    second = await after(bench, first)
    running = await bench.claim_next(first)

    await cancel(bench, first)
    assert await bench.states(first, second) == ["RUNNING", "PENDING"]
    await bench.complete(running)

    assert await bench.states(first, second) == ["CANCELLED", "CANCELLED"]


async def test_a_cancelled_dependent_ends_the_batch_it_is_in(bench: Workbench) -> None:
    first = await bench.a_task()
    batch, child, last = await bench.a_batch({**NOOP, "depends_on": [first.id]}, NOOP)

    await cancel(bench, first)

    assert await bench.states(batch, child, last) == ["FAILED", "CANCELLED", "CANCELLED"]


async def test_what_a_batch_cancels_takes_its_own_dependents_along(bench: Workbench) -> None:
    _, first, second = await bench.a_batch({**NOOP, "max_retries": 0}, NOOP)
    outside = await after(bench, second)

    await bench.exhaust(first)

    assert await bench.states(second, outside) == ["CANCELLED", "CANCELLED"]


async def test_a_batch_waits_as_a_whole(bench: Workbench) -> None:
    first = await bench.a_task()
    batch, *children = await bench.a_batch({"children": [NOOP]}, NOOP, depends_on=[first.id])
    assert await bench.states(batch, *children) == ["PENDING"] * 4
    assert await reasons(bench, batch) == ["dependency"]
    await bench.hush()

    await bench.end(first, "COMPLETED")

    assert await bench.states(batch, *children) == ["QUEUED", "QUEUED", "QUEUED", "PENDING"]
    assert await bench.rung() == [children[1].id]
    await bench.end(children[1], "COMPLETED")
    await bench.end(children[2], "COMPLETED")
    assert await bench.state(batch) == "COMPLETED"


async def test_what_depends_on_a_batch_goes_on_when_the_last_child_is_done(bench: Workbench) -> None:
    batch, one, other = await bench.a_batch(NOOP, NOOP)
    last = await after(bench, batch)

    await bench.end(one, "COMPLETED")
    assert await bench.state(last) == "PENDING"
    await bench.end(other, "COMPLETED")

    assert await bench.states(batch, last) == ["COMPLETED", "QUEUED"]


async def test_a_child_waits_for_its_turn_and_for_its_dependency(bench: Workbench) -> None:
    outside = await bench.a_task()
    batch, first, second, third = await bench.a_batch(NOOP, {**NOOP, "depends_on": [outside.id]}, NOOP)

    await bench.end(first, "COMPLETED")
    assert await bench.states(second, third) == ["PENDING", "PENDING"]
    assert await reasons(bench, second) == ["dependency"]
    await cancel(bench, third)
    assert await bench.states(batch, second) == ["RUNNING", "PENDING"]
    await bench.end(outside, "COMPLETED")

    assert await bench.states(batch, second, third) == ["RUNNING", "QUEUED", "CANCELLED"]


async def test_a_dependency_that_completes_before_the_turn_leaves_the_turn(bench: Workbench) -> None:
    outside = await bench.a_task()
    _, first, second = await bench.a_batch(NOOP, {**NOOP, "depends_on": [outside.id]})

    await bench.end(outside, "COMPLETED")
    assert await bench.state(second) == "PENDING"
    await bench.end(first, "COMPLETED")

    assert await bench.state(second) == "QUEUED"


async def test_a_task_that_may_run_later_is_not_queued_by_its_dependency(bench: Workbench) -> None:
    first = await bench.a_task()
    later = await after(bench, first, run_at=TOMORROW)

    await bench.end(first, "COMPLETED")
    assert await bench.state(later) == "PENDING"
    assert await reasons(bench, later) == ["scheduled"]
    await bench.make_due()
    await bench.worker.redelivery.promote()

    assert await bench.state(later) == "QUEUED"


async def test_a_retry_counts_blockers_anew(bench: Workbench) -> None:
    first = await bench.a_task(max_retries=0)
    second = await after(bench, first)
    await cancel(bench, second)

    await retry(bench, second)
    assert await bench.state(second) == "PENDING"
    await bench.end(first, "COMPLETED")
    assert await bench.state(second) == "QUEUED"

    await cancel(bench, second)
    await retry(bench, second)
    assert await bench.state(second) == "QUEUED"


async def test_a_batch_that_is_retried_behind_a_dependency_waits_with_its_children(bench: Workbench) -> None:
    first = await bench.a_task()
    batch, one, other = await bench.a_batch(NOOP, NOOP, depends_on=[first.id])
    await cancel(bench, batch)

    await retry(bench, batch)
    assert await bench.states(batch, one, other) == ["PENDING"] * 3
    await bench.end(first, "COMPLETED")

    assert await bench.states(batch, one, other) == ["QUEUED", "QUEUED", "PENDING"]


async def test_a_task_whose_dependency_is_cancelled_cannot_be_retried(bench: Workbench) -> None:
    first = await bench.a_task()
    second = await after(bench, first)
    await cancel(bench, first)

    with pytest.raises(IllegalStateError, match=f"task {first.id}, which it depends on, is CANCELLED"):
        await retry(bench, second)

    await retry(bench, first)
    assert await bench.state(second) == "CANCELLED"
    await retry(bench, second)
    assert await bench.state(second) == "PENDING"


async def test_a_settlement_that_did_not_know_of_a_new_dependent_wakes_it_all_the_same(bench: Workbench) -> None:
    first = await bench.a_task()
    running = await bench.claim_next(first)
    second = await after(bench, first)

    await bench.complete(running)

    assert not running.has_dependents
    assert await bench.states(first, second) == ["COMPLETED", "QUEUED"]


async def test_fan_in_with_all_predecessors_ending_at_once_makes_the_successor_ready_exactly_once(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    tasks = [await bench.a_task() for _ in range(50)]
    last = await after(bench, *tasks)
    async with another_bench() as second, another_bench() as third:
        benches = [bench, second, third]
        claimed = [(benches[n % 3], await benches[n % 3].claim_next(task)) for n, task in enumerate(tasks)]

        await asyncio.gather(*(who.settle_together([EndedAttempt(task, Succeeded(None))]) for who, task in claimed))

    assert await bench.state(last) == "QUEUED"
    assert await bench.events(last) == ["task.pending", "task.queued"]
    rows = await bench.execute("SELECT kind FROM events ORDER BY xid, id")
    assert rows[-1]["kind"] == "task.queued"


@pytest.mark.parametrize("settles_first", [True, False])
async def test_the_wake_up_is_not_lost_when_an_edge_meets_the_end_of_its_dependency(
    bench: Workbench, another_bench: AnotherBench, settles_first: bool
) -> None:
    first = await bench.a_task()
    running = await bench.claim_next(first)
    async with another_bench() as other:
        async with bench.runtime.ledger.transaction() as keeper:
            # Both wait inside their statements, which have looked around already.
            await keeper.fetch("SELECT FROM tasks WHERE id = $1::uuid FOR UPDATE", first.id)
            actions = [lambda: other.complete(running), lambda: after(bench, first)]
            tasks: list[asyncio.Task[Any]] = []
            for action in actions if settles_first else reversed(actions):
                tasks.append(asyncio.ensure_future(action()))
                await bench.somebody_waits_for_a_lock()
        await asyncio.gather(*tasks)

    rows = await bench.execute("SELECT state FROM tasks ORDER BY seq")
    assert [row["state"] for row in rows] == ["COMPLETED", "QUEUED"]


async def test_an_edge_waits_for_its_dependency_as_long_as_it_takes(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds: list[str] = []
    bound_lock_wait = ledger_tasks.bound_lock_wait

    async def impatient_at_first(executor: Executor, wait: str) -> str:
        bounds.append(wait)
        return await bound_lock_wait(executor, "20ms" if len(bounds) == 1 else "5s")

    monkeypatch.setattr(ledger_tasks, "bound_lock_wait", impatient_at_first)
    first = await bench.a_task()
    async with bench.runtime.ledger.transaction() as keeper:
        await keeper.fetch("SELECT FROM tasks WHERE id = $1::uuid FOR UPDATE", first.id)
        inserting = asyncio.ensure_future(after(bench, first))
        await eventually(lambda: len(bounds) == 2, what="another try")
        await bench.somebody_waits_for_a_lock()

    assert await bench.state(await inserting) == "PENDING"
    assert bounds == [submission.DEPENDENCY_WAIT] * 2


async def test_who_depends_on_nothing_does_not_wait_for_what_others_depend_on(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "DEPENDENCY_WAIT", "5s")
    first = await bench.a_task()
    async with bench.runtime.ledger.transaction() as keeper:
        await keeper.fetch("SELECT FROM tasks WHERE id = $1::uuid FOR UPDATE", first.id)
        inserting = asyncio.ensure_future(after(bench, first))
        at_once = asyncio.ensure_future(bench.a_task())
        await bench.somebody_waits_for_a_lock()
        later = await bench.a_task()

        assert await bench.states(await at_once, later) == ["QUEUED", "QUEUED"]
        assert not inserting.done()

    assert await bench.state(await inserting) == "PENDING"


async def test_tasks_that_wait_for_nothing_are_found_by_a_recount(bench: Workbench) -> None:
    first, second = [await bench.a_task() for _ in range(2)]
    missed, waiting = await after(bench, first), await after(bench, second)
    await bench.execute("UPDATE tasks SET has_dependents = false")
    await bench.end(first, "COMPLETED")
    assert await bench.state(missed) == "PENDING"

    while await bench.worker.redelivery.recount():
        pass

    assert await bench.states(missed, waiting) == ["QUEUED", "PENDING"]


async def test_a_task_that_somebody_may_still_wait_for_is_not_pruned(bench: Workbench) -> None:
    done = await bench.a_task()
    await bench.end(done, "COMPLETED")
    dependent = await after(bench, done)
    await bench.let_days_pass(8, done)

    while await bench.worker.retention.prune():
        pass
    kept = await bench.execute("SELECT FROM tasks WHERE id = $1::uuid", done.id)
    await bench.end(dependent, "COMPLETED")
    while await bench.worker.retention.prune():
        pass

    assert kept
    assert not await bench.execute("SELECT FROM tasks WHERE id = $1::uuid", done.id)


async def test_an_end_that_is_told_once_more_counts_once(bench: Workbench) -> None:
    """Its answer was lost on the way, and its worker asks again."""
    first, second = await bench.a_task(), await bench.a_task()
    waiting = await after(bench, first, second)
    running = await bench.claim_next(first)

    settled = [await bench.complete(running) for _ in range(2)]

    assert settled[0] == settled[1]
    assert await bench.states(waiting) == ["PENDING"]


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_who_was_told_to_wait_is_told_of_the_end_of_that_afterwards(
    bench: Workbench, *, is_cancelled: bool
) -> None:
    """The end has its transaction number already when somebody comes who is to wait for it."""
    several = [await bench.a_task() for _ in range(3)]
    for task in several:
        await after(bench, task)
    claimed = [await bench.claim_next(task) for task in several]
    if is_cancelled:
        for task in several:
            await cancel(bench, task)
    ledger = bench.runtime.ledger
    async with ledger.transaction() as late:
        async with ledger.transaction() as held:
            await held.fetch("SELECT FROM tasks WHERE id = $1 FOR UPDATE", several[1].id)
            attempts = [EndedAttempt(one, Succeeded(None)) for one in claimed]
            settling = asyncio.create_task(bench.settle_together(attempts))
            await bench.waiter_for(held.get_server_pid())
            request = TaskRequest.from_python({**NOOP, "depends_on": [several[2].id]})
            waiting = (await bench.runtime.submission.submit_within(LOCAL, late, request)).task
        await bench.waiter_for(late.get_server_pid())
    await settling

    assert await bench.events(waiting) == ["task.pending", "task.cancelled" if is_cancelled else "task.queued"]
