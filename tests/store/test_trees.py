from datetime import UTC, datetime, timedelta

import pytest

from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from tests.workbench import Workbench

TOMORROW = datetime.now(UTC) + timedelta(days=1)
A_CHILD = {"task_type": "noop"}


async def cancel(bench: Workbench, task: Task) -> None:
    await bench.runtime.cancellation.cancel(LOCAL, task.id, None)


async def retry(bench: Workbench, task: Task) -> None:
    await bench.runtime.reopening.retry(LOCAL, task.id)


async def states(bench: Workbench, *tasks: Task) -> list[TaskState]:
    return [await bench.state(task) for task in tasks]


async def completed(bench: Workbench, task: Task) -> None:
    (claimed,) = await bench.claim(task)
    await bench.complete(claimed)


@pytest.mark.parametrize("policy", ["abort", "continue"])
async def test_cancelling_a_child_of_a_batch_whose_turn_has_not_come_starts_nothing_of_it(
    bench: Workbench, policy: str
) -> None:
    _, first, inner, x, y = await bench.a_batch(
        A_CHILD, {"children": [A_CHILD, A_CHILD], "on_child_failure": policy}, on_child_failure="continue"
    )

    await cancel(bench, x)

    assert await states(bench, first, x) == [TaskState.QUEUED, TaskState.CANCELLED]
    left = [TaskState.PENDING] * 2 if policy == "continue" else [TaskState.FAILED, TaskState.CANCELLED]
    assert await states(bench, inner, y) == left


async def test_a_batch_goes_on_with_the_children_left_when_its_turn_comes(bench: Workbench) -> None:
    _, first, inner, x, y = await bench.a_batch(
        A_CHILD, {"children": [A_CHILD, A_CHILD], "on_child_failure": "continue"}, on_child_failure="continue"
    )
    await cancel(bench, x)

    await completed(bench, first)

    assert await states(bench, inner, x, y) == [TaskState.QUEUED, TaskState.CANCELLED, TaskState.QUEUED]


async def test_a_child_cancelled_before_its_batch_had_its_turn_waits_for_the_batch_when_it_is_retried(
    bench: Workbench,
) -> None:
    _, first, _, x, _ = await bench.a_batch(A_CHILD, {"children": [A_CHILD, A_CHILD], "on_child_failure": "continue"})
    await cancel(bench, x)

    await retry(bench, x)

    assert await states(bench, first, x) == [TaskState.QUEUED, TaskState.PENDING]


async def test_cancelling_the_first_child_of_a_scheduled_batch_does_not_start_the_second_before_its_time(
    bench: Workbench,
) -> None:
    _, first, second = await bench.a_batch(A_CHILD, A_CHILD, run_at=TOMORROW, on_child_failure="continue")

    await cancel(bench, first)

    assert await bench.state(second) is TaskState.PENDING
    assert (await bench.details(second.id)).task.run_at == TOMORROW


async def test_a_child_that_never_had_its_turn_keeps_its_own_time_when_its_batch_is_reopened(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(A_CHILD, {**A_CHILD, "run_at": TOMORROW})
    await cancel(bench, first)
    assert await states(bench, parent, second) == [TaskState.FAILED, TaskState.CANCELLED]

    await retry(bench, first)
    await completed(bench, first)

    assert await bench.state(second) is TaskState.PENDING
    assert (await bench.details(second.id)).task.run_at == TOMORROW
