"""Reopening: an explicit retry starts a new generation, in a batch as far up as it must."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import pytest

from officeplane.domain.errors import IllegalStateError, TaskNotFoundError
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import TaskId
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from tests.workbench import Workbench

NOOP: Final[Mapping[str, Any]] = {"task_type": "noop"}
HARD: Final[Mapping[str, Any]] = {"task_type": "noop", "max_retries": 0}


async def retry(bench: Workbench, task: Task) -> None:
    await bench.runtime.reopening.retry(LOCAL, task.id)


async def complete(bench: Workbench, *tasks: Task) -> None:
    for task in tasks:
        await bench.complete(await bench.claim_next(task))


@pytest.mark.parametrize("kind", [FailureKind.ERROR, FailureKind.TIMEOUT])
async def test_a_task_that_gave_up_is_queued_again_with_its_retries_restored(
    bench: Workbench, kind: FailureKind
) -> None:
    task = await bench.a_task(max_retries=1)
    for _ in range(2):
        await bench.fail(await bench.claim_next(task), kind)
        await bench.make_due()
    await bench.hush()

    await retry(bench, task)

    now = (await bench.details(task.id)).task
    assert (now.state, now.generation, now.attempt, now.attempts_charged) == ("QUEUED", 2, 2, 0)
    assert now.finished_at is None
    assert await bench.rung() == [task.id]
    assert (await bench.events(task))[-1] == "task.queued"

    await bench.fail(await bench.claim_next(task))
    assert await bench.states(task) == ["RETRYING"]


async def test_earlier_failures_are_remembered(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.exhaust(task)
    await retry(bench, task)
    await bench.exhaust(task)

    assert [row.attempt for row in (await bench.details(task.id)).failures] == [1, 2]


async def test_a_cancelled_task_forgets_its_cancellation(bench: Workbench) -> None:
    task = await bench.a_task(run_at="2999-01-01T00:00:00Z")
    await bench.runtime.cancellation.cancel(LOCAL, task.id, "not now")

    await retry(bench, task)

    now = (await bench.details(task.id)).task
    assert (now.state, now.cancel_requested_at, now.cancel_reason) == ("QUEUED", None, None)
    await complete(bench, task)
    assert await bench.states(task) == ["COMPLETED"]


async def test_a_poisoned_task_gets_another_chance(bench: Workbench) -> None:
    task = await bench.a_task()
    for _ in range(2):
        await bench.claim(task)
        await bench.let_leases_lapse()
        await bench.worker.redelivery.reap()
    assert (await bench.details(task.id)).task.poison_pill

    await retry(bench, task)

    (row,) = await bench.execute("SELECT poison_pill, crashes, suspect FROM tasks")
    assert row == {"poison_pill": False, "crashes": 0, "suspect": False}


@pytest.mark.parametrize("state", ["PENDING", "QUEUED", "RUNNING", "RETRYING", "COMPLETED"])
async def test_a_task_that_has_not_given_up_cannot_be_retried(bench: Workbench, state: str) -> None:
    task = await bench.a_task(**({"run_at": "2999-01-01T00:00:00Z"} if state == "PENDING" else {}))
    if state not in ("PENDING", "QUEUED"):
        running = await bench.claim_next(task)
        if state == "RETRYING":
            await bench.fail(running)
        if state == "COMPLETED":
            await bench.complete(running)
    before = await bench.details(task.id)

    with pytest.raises(IllegalStateError) as refused:
        await retry(bench, task)

    assert str(refused.value) == f"Task {task.id} is {state}; it cannot be retried."
    assert await bench.details(task.id) == before


async def test_a_task_that_is_not_there_cannot_be_retried(bench: Workbench) -> None:
    with pytest.raises(TaskNotFoundError):
        await bench.runtime.reopening.retry(LOCAL, TaskId("01890000-0000-7000-8000-000000000000"))


async def test_of_two_retries_at_once_one_starts_a_generation(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.exhaust(task)

    answers = await asyncio.gather(retry(bench, task), retry(bench, task), return_exceptions=True)

    assert sorted(type(answer).__name__ for answer in answers) == ["IllegalStateError", "NoneType"]
    assert (await bench.details(task.id)).task.generation == 2


async def test_a_child_that_is_retried_reopens_its_batch_and_those_dropped_with_it(bench: Workbench) -> None:
    parent, done, failed, dropped = await bench.a_batch(NOOP, HARD, NOOP)
    await complete(bench, done)
    await bench.exhaust(failed)
    await bench.hush()

    await retry(bench, failed)
    assert await bench.states(parent, done, failed, dropped) == ["RUNNING", "COMPLETED", "QUEUED", "PENDING"]
    assert await bench.rung() == [failed.id]
    assert (await bench.details(parent.id)).task.error is None

    await complete(bench, failed, dropped)
    assert await bench.states(parent) == ["COMPLETED"]


async def test_a_deep_child_that_is_retried_reopens_everything_above(bench: Workbench) -> None:
    root, middle, inner, leaf, cousin, uncle = await bench.a_batch({"children": [{"children": [HARD]}, NOOP]}, NOOP)
    await bench.exhaust(leaf)
    assert await bench.states(root, middle, inner, cousin, uncle) == [
        "FAILED", "FAILED", "FAILED", "CANCELLED", "CANCELLED",
    ]  # fmt: skip

    await retry(bench, leaf)
    assert await bench.states(root, middle, inner, leaf, cousin, uncle) == [
        "RUNNING", "RUNNING", "RUNNING", "QUEUED", "PENDING", "PENDING",
    ]  # fmt: skip

    await complete(bench, leaf, cousin, uncle)
    assert await bench.states(root, middle, inner) == ["COMPLETED", "COMPLETED", "COMPLETED"]


async def test_a_batch_that_is_retried_runs_what_is_not_completed_again(bench: Workbench) -> None:
    parent, done, failed, dropped = await bench.a_batch(NOOP, HARD, NOOP)
    await complete(bench, done)
    await bench.exhaust(failed)

    await retry(bench, parent)

    assert await bench.states(parent, done, failed, dropped) == ["QUEUED", "COMPLETED", "QUEUED", "PENDING"]
    await complete(bench, failed, dropped)
    assert await bench.states(parent) == ["COMPLETED"]


async def test_a_cancelled_batch_that_is_retried_runs_from_where_it_was(bench: Workbench) -> None:
    parent, done, waiting = await bench.a_batch(NOOP, NOOP)
    await complete(bench, done)
    await bench.runtime.cancellation.cancel(LOCAL, parent.id, None)

    await retry(bench, parent)

    assert await bench.states(parent, done, waiting) == ["QUEUED", "COMPLETED", "QUEUED"]
    await complete(bench, waiting)
    assert await bench.states(parent) == ["COMPLETED"]


async def test_a_sibling_that_a_user_cancelled_stays_cancelled(bench: Workbench) -> None:
    parent, failed, cancelled, dropped = await bench.a_batch(HARD, NOOP, NOOP)
    await bench.runtime.cancellation.cancel(LOCAL, cancelled.id, "not this one")
    await bench.exhaust(failed)

    await retry(bench, failed)

    assert await bench.states(parent, failed, cancelled, dropped) == ["RUNNING", "QUEUED", "CANCELLED", "PENDING"]
    assert (await bench.details(cancelled.id)).task.cancel_reason == "not this one"


async def test_a_retried_child_waits_for_the_sibling_that_runs(bench: Workbench) -> None:
    parent, failed, running, last = await bench.a_batch(HARD, NOOP, NOOP, on_child_failure="continue")
    await bench.exhaust(failed)
    claimed = await bench.claim_next(running)

    await retry(bench, failed)
    assert await bench.states(parent, failed, running, last) == ["RUNNING", "PENDING", "RUNNING", "PENDING"]

    await bench.complete(claimed)
    assert await bench.states(failed, last) == ["QUEUED", "PENDING"]


async def test_a_retried_batch_within_a_batch_waits_for_its_turn(bench: Workbench) -> None:
    root, inner, leaf, last = await bench.a_batch({"children": [HARD]}, NOOP, on_child_failure="continue")
    await bench.exhaust(leaf)
    claimed = await bench.claim_next(last)

    await retry(bench, leaf)
    assert await bench.states(root, inner, leaf) == ["RUNNING", "PENDING", "PENDING"]

    await bench.complete(claimed)
    assert await bench.states(root, inner, leaf) == ["RUNNING", "QUEUED", "QUEUED"]
    await complete(bench, leaf)
    assert await bench.states(root, inner) == ["COMPLETED", "COMPLETED"]


async def test_a_child_cancelled_ahead_of_its_batchs_turn_waits_for_it_when_retried(bench: Workbench) -> None:
    root, first, inner, leaf = await bench.a_batch(NOOP, {"children": [NOOP]}, on_child_failure="continue")
    await bench.runtime.cancellation.cancel(LOCAL, leaf.id, None)
    assert await bench.states(root, first, inner, leaf) == ["QUEUED", "QUEUED", "FAILED", "CANCELLED"]

    await retry(bench, leaf)
    assert await bench.states(root, first, inner, leaf) == ["QUEUED", "QUEUED", "PENDING", "PENDING"]

    await complete(bench, first)
    assert await bench.states(inner, leaf) == ["QUEUED", "QUEUED"]


async def test_a_retried_task_keeps_its_place_in_its_lane(bench: Workbench) -> None:
    first, second = await bench.a_task(document_id="d"), await bench.a_task(document_id="d")
    await bench.exhaust(first)

    await retry(bench, first)

    assert (await bench.claim_next(second)).id == first.id
