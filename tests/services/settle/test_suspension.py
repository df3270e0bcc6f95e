"""Suspension: a task that waits for what it has spawned gives everything back, and goes on exactly once."""

import asyncio
from typing import Any

import pytest

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Succeeded, Waiting
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from officeplane.failpoints import arm
from officeplane.handlers.contract import PermanentFailure
from officeplane.handlers.spawning import Spawned, spawn_request
from officeplane.services.claims.leases import ClaimLostError
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Fenced
from officeplane.store.settlements import Settled
from tests.services.dags.test_dags import a_dag
from tests.workbench import Workbench


async def spawn(bench: Workbench, spawner: ClaimedTask, key: str = "it", **options: Any) -> Spawned:
    return await bench.worker.spawner.spawn(spawner, spawn_request("noop", None, options), key)


async def task_of(bench: Workbench, task: Spawned | ClaimedTask) -> Task:
    task_id = task.task_id if isinstance(task, Spawned) else task.id
    return (await bench.details(task_id)).task


async def wait(bench: Workbench, spawner: ClaimedTask, **options: Any) -> Task:
    """Spawn a task as a handler does that waits for it, end the attempt, and return the spawned task."""
    request = spawn_request("noop", None, options)
    spawned = await bench.worker.spawner.spawn(spawner, request, "it", wait=True)
    await bench.settle(spawner, Waiting(spawned.task_id))
    return await task_of(bench, spawned)


async def a_waiting_task(bench: Workbench, **options: Any) -> tuple[ClaimedTask, Task]:
    """Return a task that waits for another, and that other one."""
    spawner = await bench.a_running_task(**options)
    return spawner, await wait(bench, spawner)


async def again(bench: Workbench, task: ClaimedTask) -> ClaimedTask:
    """Claim a task once more."""
    (claimed,) = await bench.worker.desk.claim([task.id])
    assert claimed.id == task.id
    return claimed


async def reasons(bench: Workbench, task: ClaimedTask) -> list[str]:
    await bench.beat()
    return [reason.code for reason in (await bench.runtime.explanations.explain(LOCAL, task.id)).reasons]


async def test_a_task_that_waits_is_pending_and_was_not_charged(bench: Workbench) -> None:
    spawner, spawned = await a_waiting_task(bench)

    task = await task_of(bench, spawner)
    assert (task.state, task.blockers, task.attempt, task.attempts_charged) == ("PENDING", 1, 1, 0)
    assert (task.depends_on, task.error, (await bench.details(task.id)).failures) == ((spawned.id,), None, ())
    assert await reasons(bench, spawner) == ["dependency"]
    assert await bench.state(spawned) is TaskState.QUEUED
    assert (await bench.counters())["noop", "pending", ""] == 1


async def test_it_goes_on_when_the_other_completes_and_finds_the_result(bench: Workbench) -> None:
    spawner, spawned = await a_waiting_task(bench)
    await bench.hush()

    await bench.complete(await bench.claim_next(spawned), '{"chapters": 3}')

    assert await bench.rung() == [spawner.id]
    resumed = await again(bench, spawner)
    assert await spawn(bench, resumed) == Spawned(spawned.id, is_completed=True, result={"chapters": 3})
    await bench.complete(resumed)
    assert await bench.events(spawner) == [
        "task.queued", "task.running", "task.pending", "task.queued", "task.running", "task.completed",
    ]  # fmt: skip
    task = await task_of(bench, spawner)
    assert (task.attempt, task.attempts_charged) == (2, 0)


async def test_what_has_completed_before_the_wait_was_settled_is_not_waited_for(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    spawned = await spawn(bench, spawner)
    await bench.complete(await bench.claim_next(await task_of(bench, spawned)))
    await bench.hush()

    await bench.settle(spawner, Waiting(spawned.task_id))

    task = await task_of(bench, spawner)
    assert (task.state, task.blockers, task.attempts_charged) == ("QUEUED", 0, 0)
    assert await bench.rung() == [spawner.id]


async def test_a_lane_goes_on_while_its_task_waits(bench: Workbench) -> None:
    spawner = await bench.a_running_task(document_id="plan")

    spawned = await wait(bench, spawner, document_id="plan")

    claimed = await bench.claim_next(spawned)
    assert claimed.id == spawned.id
    await bench.complete(claimed)
    assert (await again(bench, spawner)).document_id == "plan"


async def test_a_failure_keeps_the_other_waiting_behind_its_dead_letter(bench: Workbench) -> None:
    spawner, spawned = await a_waiting_task(bench)
    await bench.exhaust(spawned)

    assert await bench.state(spawner) is TaskState.PENDING
    assert await reasons(bench, spawner) == ["dependency_failed"]

    await bench.runtime.reopening.retry(LOCAL, spawned.id)
    await bench.complete(await bench.claim_next(spawned))
    assert await bench.state(spawner) is TaskState.QUEUED


async def test_who_waits_for_what_has_failed_already_waits_behind_its_dead_letter(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    spawned = await spawn(bench, spawner)
    await bench.exhaust(await task_of(bench, spawned))

    await bench.settle(spawner, Waiting(spawned.task_id))

    assert await bench.state(spawner) is TaskState.PENDING
    assert await reasons(bench, spawner) == ["dependency_failed"]


async def test_a_letter_that_is_resolved_by_cancelling_cancels_who_waits(bench: Workbench) -> None:
    spawner, spawned = await a_waiting_task(bench)
    await bench.exhaust(spawned)

    await bench.runtime.dead_letters.resolve(LOCAL, spawned.id, Ruling(Decision.CANCEL, "Ann"))

    assert await bench.state(spawner) is TaskState.CANCELLED


async def test_what_was_given_up_for_good_is_not_waited_for_and_spawned_anew_by_a_retry(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    spawned = await spawn(bench, spawner)
    await bench.exhaust(await task_of(bench, spawned))
    await bench.runtime.dead_letters.resolve(LOCAL, spawned.task_id, Ruling(Decision.CANCEL, "Ann"))

    await bench.settle(spawner, Waiting(spawned.task_id))

    assert await bench.state(spawner) is TaskState.CANCELLED
    await bench.runtime.reopening.retry(LOCAL, spawner.id)
    second = await spawn(bench, await again(bench, spawner))

    assert second.task_id != spawned.task_id


@pytest.mark.parametrize("is_settled", [True, False])
async def test_a_cancelled_task_cancels_who_waits_for_it(bench: Workbench, is_settled: bool) -> None:
    spawner = await bench.a_running_task()
    spawned = await spawn(bench, spawner)
    if is_settled:
        await bench.settle(spawner, Waiting(spawned.task_id))

    await bench.runtime.cancellation.cancel(LOCAL, spawned.task_id, None)
    if not is_settled:
        await bench.settle(spawner, Waiting(spawned.task_id))

    task = await task_of(bench, spawner)
    assert (task.state, task.cancel_reason) == ("CANCELLED", "a task that it depends on was cancelled")


async def test_who_is_cancelled_while_it_waits_takes_along_what_it_waits_for_and_nothing_else(
    bench: Workbench,
) -> None:
    spawner = await bench.a_running_task()
    forgotten = await spawn(bench, spawner, "forgotten")
    spawned = await wait(bench, spawner)

    await bench.runtime.cancellation.cancel(LOCAL, spawner.id, "no longer wanted")

    assert await bench.states(spawner, spawned) == ["CANCELLED", "CANCELLED"]
    assert (await task_of(bench, forgotten)).state is TaskState.QUEUED
    reason = (await bench.details(spawned.id)).task.cancel_reason
    assert reason == "the task that spawned it, and waited for it, was cancelled"


async def test_what_runs_while_who_waits_for_it_is_cancelled_is_asked_to_stop(bench: Workbench) -> None:
    spawner, spawned = await a_waiting_task(bench)
    running = await bench.claim_next(spawned)

    await bench.runtime.cancellation.cancel(LOCAL, spawner.id, None)

    assert await bench.worker.leases.cancelled([(running.id, running.claim_id)]) == [running.id]
    await bench.complete(running)
    assert await bench.states(spawner, spawned) == ["CANCELLED", "CANCELLED"]


async def test_a_wait_within_a_wait_is_cancelled_as_a_whole(bench: Workbench) -> None:
    outer, middle = await a_waiting_task(bench)
    inner = await wait(bench, await bench.claim_next(middle))

    await bench.runtime.cancellation.cancel(LOCAL, outer.id, None)

    assert await bench.states(outer, middle, inner) == ["CANCELLED", "CANCELLED", "CANCELLED"]


async def test_who_was_asked_to_stop_before_its_wait_was_settled_is_cancelled_with_what_it_wanted(
    bench: Workbench,
) -> None:
    spawner = await bench.a_running_task()
    spawned = await spawn(bench, spawner)
    await bench.runtime.cancellation.cancel(LOCAL, spawner.id, None)

    await bench.settle(spawner, Waiting(spawned.task_id))

    assert await bench.state(spawner) is TaskState.CANCELLED
    assert (await task_of(bench, spawned)).state is TaskState.CANCELLED


async def test_a_stale_attempt_cannot_wait(bench: Workbench) -> None:
    stale = await bench.a_running_task()
    spawned = await spawn(bench, stale)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    current = await again(bench, stale)

    assert await bench.settle(stale, Waiting(spawned.task_id)) == Fenced(stale.id)

    assert await bench.state(current) is TaskState.RUNNING
    assert (await task_of(bench, current)).depends_on == ()


async def test_a_wait_whose_answer_was_lost_is_settled_once(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    spawned = await spawn(bench, spawner)
    await bench.settle(spawner, Waiting(spawned.task_id))

    settled = await bench.settle(spawner, Waiting(spawned.task_id))

    assert isinstance(settled, Settled)
    assert settled.state is TaskState.PENDING
    assert (await bench.events(spawner)).count("task.pending") == 1


async def test_waits_are_settled_together_with_other_ends(bench: Workbench) -> None:
    done, spawner, failed = [await bench.a_running_task() for _ in range(3)]
    spawned = await spawn(bench, spawner)

    settled = await bench.settle_together(
        [
            EndedAttempt(done, Succeeded(None)),
            EndedAttempt(spawner, Waiting(spawned.task_id)),
            EndedAttempt(failed, Succeeded(None)),
        ]
    )

    assert [one.state for one in settled if isinstance(one, Settled)] == ["COMPLETED", "PENDING", "COMPLETED"]


async def test_dependents_wait_for_who_waits(bench: Workbench) -> None:
    first = await bench.a_task()
    last = await bench.a_task(depends_on=[first.id])
    spawner = await bench.claim_next(first)
    spawned = await wait(bench, spawner)

    await bench.complete(await bench.claim_next(spawned))
    assert await bench.states(spawner, last) == ["QUEUED", "PENDING"]
    await bench.complete(await again(bench, spawner))

    assert await bench.state(last) is TaskState.QUEUED


async def test_a_batch_waits_with_its_child(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch({"task_type": "noop"}, {"task_type": "noop"})
    spawner = await bench.claim_next(first)
    spawned = await wait(bench, spawner)
    assert await bench.states(parent, first, second) == ["RUNNING", "PENDING", "PENDING"]

    await bench.complete(await bench.claim_next(spawned))
    assert await bench.states(parent, first, second) == ["RUNNING", "QUEUED", "PENDING"]
    await bench.complete(await again(bench, spawner))

    assert await bench.states(parent, first, second) == ["RUNNING", "COMPLETED", "QUEUED"]


async def test_a_batch_that_is_cancelled_takes_along_what_its_child_waits_for(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch({"task_type": "noop"}, {"task_type": "noop"})
    spawned = await wait(bench, await bench.claim_next(first))

    await bench.runtime.cancellation.cancel(LOCAL, parent.id, None)

    assert await bench.states(parent, first, second, spawned) == ["CANCELLED"] * 4


async def test_a_batch_can_be_waited_for(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    request = spawn_request("batch_edit", None, {"children": [{"task_type": "noop"}]})
    spawned = await bench.worker.spawner.spawn(spawner, request, "it")
    await bench.settle(spawner, Waiting(spawned.task_id))
    batch = await bench.details(spawned.task_id)

    await bench.complete((await bench.worker.desk.claim([child.id for child in batch.children or ()]))[0])

    assert await bench.state(spawner) is TaskState.QUEUED


async def test_a_retry_after_a_cancel_waits_for_a_new_one(bench: Workbench) -> None:
    spawner, first = await a_waiting_task(bench)
    await bench.runtime.cancellation.cancel(LOCAL, spawner.id, None)

    await bench.runtime.reopening.retry(LOCAL, spawner.id)

    assert await bench.state(spawner) is TaskState.QUEUED
    second = await wait(bench, await again(bench, spawner))
    assert second.id != first.id
    await bench.complete(await bench.claim_next(second))
    assert await bench.state(spawner) is TaskState.QUEUED


async def test_a_retry_after_a_failure_finds_what_has_completed(bench: Workbench) -> None:
    spawner, spawned = await a_waiting_task(bench)
    await bench.complete(await bench.claim_next(spawned), '{"kept": true}')
    await bench.fail(await again(bench, spawner), FailureKind.PERMANENT)

    await bench.runtime.reopening.retry(LOCAL, spawner.id)

    assert (await spawn(bench, await again(bench, spawner))).result == {"kept": True}


async def test_a_task_that_needs_who_waits_for_it_is_refused_in_words(bench: Workbench) -> None:
    """It may well be spawned, to run afterwards; only waiting for it has no end."""
    first = await bench.a_task()
    between = await bench.a_task(depends_on=[first.id])
    spawner = await bench.claim_next(first)
    spawned = await spawn(bench, spawner, "afterwards", depends_on=[between.id])

    for circle in ({"depends_on": [spawner.id]}, {"depends_on": [spawned.task_id]}, {"depends_on": [between.id]}):
        with pytest.raises(PermanentFailure, match="which it is to wait for, waits for it in its turn"):
            await wait(bench, spawner, **circle)
        await bench.execute("DELETE FROM spawns WHERE key = 'it'")

    batch = {"children": [{"task_type": "noop"}, {"task_type": "noop", "depends_on": [spawner.id]}]}
    with pytest.raises(PermanentFailure, match="which it is to wait for, waits for it in its turn"):
        await bench.worker.spawner.spawn(spawner, spawn_request("batch_edit", None, batch), "batch", wait=True)


async def test_who_waits_in_a_dag_keeps_it_running_and_its_end_is_the_dags(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=("a",))
    spawner = await bench.claim_next(await dag.task("a"))

    spawned = await wait(bench, spawner, max_retries=0)

    assert (spawned.dag_id, await dag.status()) == (dag.id, "running")
    await bench.complete(await bench.claim_next(spawned))
    assert await dag.status() == "running"
    await bench.complete(await again(bench, spawner))
    await dag.end("COMPLETED", "b")
    assert await dag.status() == "completed"


@pytest.mark.parametrize("is_settled", [True, False])
async def test_a_dag_fails_whose_task_waits_for_what_has_failed_and_is_reopened_with_that(
    bench: Workbench, is_settled: bool
) -> None:
    dag = await a_dag(bench, a=(), b=("a",))
    spawner = await bench.claim_next(await dag.task("a"))
    spawned = await spawn(bench, spawner, max_retries=0)
    if is_settled:
        await bench.settle(spawner, Waiting(spawned.task_id))
    await bench.exhaust(await task_of(bench, spawned))
    if not is_settled:
        await bench.settle(spawner, Waiting(spawned.task_id))

    assert (await dag.states("a", "b"), await dag.status()) == ("PENDING PENDING", "failed")

    await bench.runtime.reopening.retry(LOCAL, spawned.task_id)
    assert await dag.status() == "running"
    await bench.complete(await bench.claim_next(await task_of(bench, spawned)))
    await dag.end("COMPLETED", "a", "b")
    assert await dag.status() == "completed"


async def test_a_dag_that_is_cancelled_takes_along_who_waits_and_what_was_spawned(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=("a",))
    spawner = await bench.claim_next(await dag.task("a"))
    forgotten = await spawn(bench, spawner, "forgotten")
    spawned = await wait(bench, spawner)

    await bench.runtime.dags.cancel(LOCAL, dag.id, None)

    assert await dag.states("a", "b") == "CANCELLED CANCELLED"
    assert await bench.states(spawned, await task_of(bench, forgotten)) == ["CANCELLED", "CANCELLED"]
    assert await dag.status() == "cancelled"


async def test_what_was_to_be_waited_for_ends_also_if_the_worker_dies_before_it_ends_the_cancelled_attempt(
    bench: Workbench,
) -> None:
    spawner = await bench.a_running_task()
    spawned = await spawn(bench, spawner)
    await bench.runtime.cancellation.cancel(LOCAL, spawner.id, None)
    try:
        arm("before_commit=raise", 0)
        with pytest.raises(DatabaseUnavailableError):
            await bench.settle(spawner, Waiting(spawned.task_id))
    finally:
        arm("", 0)

    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()

    assert await bench.states(spawner, await task_of(bench, spawned)) == ["CANCELLED", "CANCELLED"]


async def test_a_dag_that_is_cancelled_meanwhile_gets_no_new_task(bench: Workbench) -> None:
    dag = await a_dag(bench, a=())
    spawner = await bench.claim_next(await dag.task("a"))
    async with bench.runtime.ledger.transaction() as locked:
        await locked.execute("SELECT FROM dags WHERE id = $1::uuid FOR NO KEY UPDATE", dag.id)
        asking = asyncio.ensure_future(spawn(bench, spawner))
        await bench.somebody_waits_for_a_lock()
        cancelling = asyncio.ensure_future(bench.runtime.dags.cancel(LOCAL, dag.id, None))
    await cancelling

    # Whoever came first: it was refused, or it is cancelled.
    try:
        assert (await task_of(bench, await asking)).state is TaskState.CANCELLED
    except ClaimLostError:
        assert len(await bench.execute("SELECT FROM tasks")) == 1


async def crossed(bench: Workbench) -> tuple[tuple[ClaimedTask, Spawned], tuple[ClaimedTask, Spawned]]:
    """Return two attempts that are both about to wait for a task which needs the other."""
    ann, bob = await bench.a_running_task(), await bench.a_running_task()
    whats = [spawn_request("noop", None, {"depends_on": [other.id]}) for other in (bob, ann)]
    first, second = [
        await bench.worker.spawner.spawn(spawner, what, "it", wait=True)
        for spawner, what in zip((ann, bob), whats, strict=True)
    ]
    return (ann, first), (bob, second)


async def test_of_two_that_would_wait_for_each_other_one_waits_and_the_other_is_told(bench: Workbench) -> None:
    workers = bench, bench.another_worker()
    for _ in range(20):
        both = await crossed(bench)

        await asyncio.gather(
            *(
                worker.settle(spawner, Waiting(spawned.task_id))
                for worker, (spawner, spawned) in zip(workers, both, strict=True)
            )
        )

        by_state = {await bench.state(spawner): spawner for spawner, _ in both}
        assert by_state.keys() == {TaskState.PENDING, TaskState.QUEUED}
        refused = await again(bench, by_state[TaskState.QUEUED])
        with pytest.raises(PermanentFailure, match="which it is to wait for, waits for it in its turn"):
            await wait(bench, refused, depends_on=[by_state[TaskState.PENDING].id])
        await bench.complete(refused)


async def test_who_would_wait_for_what_has_come_to_wait_for_it_is_told_and_does_not_run_for_ever(
    bench: Workbench,
) -> None:
    above = await bench.a_running_task()
    spawned = await spawn(bench, above)
    below = await bench.claim_next(await task_of(bench, spawned))
    await wait(bench, below, depends_on=[above.id])

    await bench.settle(above, Waiting(spawned.task_id))
    refused = await again(bench, above)

    with pytest.raises(PermanentFailure, match="which it is to wait for, waits for it in its turn"):
        await wait(bench, refused)
