"""Cancellation: at once while a task waits, by asking while it runs, with everything below it."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import pytest

from officeplane.dispatch import Announcement
from officeplane.domain.errors import IllegalStateError, TaskNotFoundError
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from tests.workbench import Workbench

NOOP: Final[Mapping[str, Any]] = {"task_type": "noop"}
STRANGER: Final = TaskId("01890000-0000-7000-8000-000000000000")


async def cancel(bench: Workbench, task: Task | ClaimedTask, reason: str | None = None) -> None:
    await bench.runtime.cancellation.cancel(LOCAL, task.id, reason)


async def a_retrying_task(bench: Workbench) -> Task:
    task = await bench.a_task()
    await bench.fail(await bench.claim_next(task))
    return task


async def test_a_queued_task_is_cancelled_at_once(bench: Workbench) -> None:
    task = await bench.a_task()

    await cancel(bench, task, "changed my mind")

    now = (await bench.details(task.id)).task
    assert (now.state, now.cancel_reason) == ("CANCELLED", "changed my mind")
    assert now.cancel_requested_at is not None
    assert await bench.events(task) == ["task.queued", "task.cancelled"]
    assert await bench.counters() == {("noop", "cancelled", ""): 1}
    assert await bench.claim(task) == []


async def test_a_reason_that_cannot_be_stored_is_stored_as_well_as_it_can_be(bench: Workbench) -> None:
    task = await bench.a_task()

    await cancel(bench, task, "a\x00b\ud800c")

    assert (await bench.details(task.id)).task.cancel_reason == "a\ufffdb?c"


async def test_a_scheduled_task_is_cancelled_at_once(bench: Workbench) -> None:
    task = await bench.a_task(run_at="2999-01-01T00:00:00Z")

    await cancel(bench, task)

    assert await bench.states(task) == ["CANCELLED"]


async def test_a_task_that_waits_for_its_retry_is_cancelled_at_once(bench: Workbench) -> None:
    task = await a_retrying_task(bench)

    await cancel(bench, task)

    assert await bench.states(task) == ["CANCELLED"]


async def test_a_running_task_is_asked_and_ends_with_its_attempt(bench: Workbench) -> None:
    running = await bench.a_running_task()

    await cancel(bench, running, "enough")
    asked = (await bench.details(running.id)).task
    assert (asked.state, asked.cancel_reason) == ("RUNNING", "enough")
    assert await bench.worker.leases.cancelled([(running.id, running.claim_id)]) == [running.id]

    await bench.fail(running, FailureKind.CANCELLED)
    assert await bench.states(running) == ["CANCELLED"]


async def test_asking_again_changes_nothing(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await cancel(bench, running, "first")
    asked = (await bench.details(running.id)).task

    await cancel(bench, running, "second")

    assert (await bench.details(running.id)).task == asked


async def test_workers_are_told_at_once_who_is_to_stop(bench: Workbench) -> None:
    running, waiting = await bench.a_running_task(), await bench.a_task()
    async with bench.runtime.doorbell.announcements.listen_control() as listener:
        await anext(listener)

        await cancel(bench, waiting)
        await cancel(bench, running)

        async with asyncio.timeout(20):
            assert await anext(listener) == Announcement(kind="stop", ids=(running.id,))


@pytest.mark.parametrize("state", FINAL)
async def test_a_final_task_cannot_be_cancelled(bench: Workbench, state: str) -> None:
    task = await bench.a_task(max_retries=0)
    await bench.end(task, state)
    before = (await bench.details(task.id), await bench.events(task))

    with pytest.raises(IllegalStateError) as refused:
        await cancel(bench, task)

    assert (refused.value.task_id, refused.value.state) == (task.id, state)
    assert str(refused.value) == f"Task {task.id} is {state}; it cannot be cancelled."
    assert (await bench.details(task.id), await bench.events(task)) == before


async def test_a_task_that_is_not_there_cannot_be_cancelled(bench: Workbench) -> None:
    with pytest.raises(TaskNotFoundError):
        await bench.runtime.cancellation.cancel(LOCAL, STRANGER, None)


async def test_a_batch_that_waits_goes_with_everything_below_it(bench: Workbench) -> None:
    tree = await bench.a_batch(NOOP, {"children": [NOOP, NOOP]}, NOOP)

    await cancel(bench, tree[0], "all of it")

    assert await bench.states(*tree) == ["CANCELLED"] * 6
    for task in tree:
        assert (await bench.details(task.id)).task.cancel_reason == "all of it"
        assert (await bench.events(task))[-1] == "task.cancelled"


async def test_a_batch_that_runs_ends_when_its_running_child_has(bench: Workbench) -> None:
    parent, done, inner, leaf, later = await bench.a_batch(NOOP, {"children": [NOOP]}, NOOP)
    await bench.complete(await bench.claim_next(done))
    running = await bench.claim_next(leaf)

    await cancel(bench, parent)
    assert await bench.states(parent, done, inner, leaf, later) == [
        "RUNNING", "COMPLETED", "RUNNING", "RUNNING", "CANCELLED",
    ]  # fmt: skip
    assert (await bench.details(parent.id)).task.cancel_requested_at is not None

    await bench.complete(running)
    assert await bench.states(parent, inner, leaf) == ["CANCELLED", "CANCELLED", "CANCELLED"]


async def test_a_cancelled_child_fails_its_batch(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(NOOP, NOOP)

    await cancel(bench, first)

    assert await bench.states(parent, first, second) == ["FAILED", "CANCELLED", "CANCELLED"]


async def test_a_cancelled_child_lets_a_batch_that_continues_go_on(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(NOOP, NOOP, on_child_failure="continue")
    await bench.hush()

    await cancel(bench, first)

    assert await bench.states(parent, first, second) == ["QUEUED", "CANCELLED", "QUEUED"]
    assert await bench.rung() == [second.id]


async def test_a_child_that_had_not_its_turn_is_cancelled_beside_a_running_one(bench: Workbench) -> None:
    parent, first, second, third = await bench.a_batch(NOOP, NOOP, NOOP, on_child_failure="continue")
    running = await bench.claim_next(first)

    await cancel(bench, second)
    assert await bench.states(parent, first, second, third) == ["RUNNING", "RUNNING", "CANCELLED", "PENDING"]

    await bench.complete(running)
    assert await bench.states(third) == ["QUEUED"]


async def test_a_child_of_a_batch_that_has_not_its_turn_gives_no_turn_to_others(bench: Workbench) -> None:
    root, first, inner, one, two = await bench.a_batch(
        NOOP, {"children": [NOOP, NOOP], "on_child_failure": "continue"}, on_child_failure="continue"
    )

    await cancel(bench, one)
    assert await bench.states(root, first, inner, one, two) == [
        "QUEUED", "QUEUED", "PENDING", "CANCELLED", "PENDING",
    ]  # fmt: skip

    await bench.complete(await bench.claim_next(first))
    assert await bench.states(inner, two) == ["QUEUED", "QUEUED"]


async def test_the_last_waiting_child_ends_its_batch_at_once(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(NOOP, NOOP, on_child_failure="continue")
    await bench.complete(await bench.claim_next(first))

    await cancel(bench, second)

    assert await bench.states(parent) == ["FAILED"]


async def test_a_lane_whose_head_is_cancelled_goes_on(bench: Workbench) -> None:
    head, behind = await bench.a_task(document_id="d"), await bench.a_task(document_id="d")
    await bench.hush()

    await cancel(bench, head)

    assert await bench.rung() == [behind.id]


async def test_a_lane_blocked_by_a_retry_goes_on_when_that_is_cancelled(bench: Workbench) -> None:
    head, behind = await bench.a_task(document_id="d"), await bench.a_task(document_id="d")
    await bench.fail(await bench.claim_next(head))
    await bench.hush()

    await cancel(bench, head)

    assert await bench.rung() == [behind.id]
    assert (await bench.claim_next(behind)).id == behind.id


async def test_a_cancellation_and_a_claim_at_once_agree(bench: Workbench) -> None:
    for _ in range(20):
        task = await bench.a_task()

        claimed, _ = await asyncio.gather(bench.claim(task), bench.runtime.cancellation.cancel(LOCAL, task.id, None))

        assert await bench.states(task) == ["RUNNING" if claimed else "CANCELLED"]
        for one in claimed:
            await bench.complete(one)
            assert await bench.states(task) == ["CANCELLED"]


async def test_of_a_cancellation_and_a_completion_at_once_one_wins_and_the_other_knows(bench: Workbench) -> None:
    for _ in range(20):
        running = await bench.a_running_task()

        _, answer = await asyncio.gather(
            bench.complete(running), bench.runtime.cancellation.cancel(LOCAL, running.id, None), return_exceptions=True
        )

        assert await bench.states(running) == ["COMPLETED" if isinstance(answer, IllegalStateError) else "CANCELLED"]
