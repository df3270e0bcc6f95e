"""Reading: one task with all that belongs to it, or a page of them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from officeplane.domain.errors import TaskNotFoundError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from officeplane.store.tasks import TaskFilter
from tests.workbench import Workbench


async def page(bench: Workbench, *, before: int | None = None, limit: int = 50, **wanted: Any) -> list[str]:
    found, _ = await bench.runtime.tasks.page(LOCAL, TaskFilter(**wanted), before, limit)
    return [details.task.id for details in found]


def ids(*tasks: Task) -> list[str]:
    return [task.id for task in tasks]


async def test_a_task_that_is_not_there_is_not_found(bench: Workbench) -> None:
    with pytest.raises(TaskNotFoundError):
        await bench.details(TaskId("01890000-0000-7000-8000-000000000000"))


async def test_a_parent_is_shown_with_its_children_in_order(bench: Workbench) -> None:
    parent, *children = await bench.a_batch(
        {"task_type": "noop", "key": "a"}, {"task_type": "sleep", "payload": {"seconds": 0}}
    )

    details = await bench.details(parent.id)

    assert details.children is not None
    assert [(child.id, child.task_type, child.state, child.key) for child in details.children] == [
        (children[0].id, "noop", "QUEUED", "a"),
        (children[1].id, "sleep", "PENDING", None),
    ]
    assert (await bench.details(children[0].id)).children is None


async def test_pages_go_from_the_newest_to_the_oldest_without_a_gap(bench: Workbench) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * 7)
    newest_first = ids(*reversed(tasks))

    assert await page(bench, limit=3) == newest_first[:3]
    assert await page(bench, limit=3, before=tasks[4].seq) == newest_first[3:6]
    assert await page(bench, limit=3, before=tasks[0].seq) == []


async def test_each_filter_shows_what_fits(bench: Workbench) -> None:
    plain = await bench.a_task()
    sleep = await bench.a_task("sleep", payload={"seconds": 0}, document_id="d", tags=["a", "b"], priority="HIGH")
    parent, child = await bench.a_batch({"task_type": "noop"})
    await bench.runtime.cancellation.cancel(LOCAL, plain.id, None)

    assert await page(bench, states=(TaskState.CANCELLED,)) == ids(plain)
    assert await page(bench, states=(TaskState.CANCELLED, TaskState.RUNNING)) == ids(plain)
    assert await page(bench, document_id="d") == ids(sleep)
    assert await page(bench, task_type="batch_edit") == ids(parent)
    assert await page(bench, priorities=(10, 29)) == ids(sleep)
    assert await page(bench, parent_id=parent.id) == ids(child)
    assert await page(bench, tag="b") == ids(sleep)
    assert await page(bench, tag="b", document_id="e") == []


FAIL_OFTEN = """
INSERT INTO task_failures (task_id, attempt, kind, message, duration_seconds)
SELECT id, n, 'error', repeat('x', 8192), 0 FROM tasks, generate_series(1, 30) n
"""


async def test_of_failed_attempts_the_latest_are_shown_in_order(bench: Workbench) -> None:
    task, other = await bench.submit_many([{"task_type": "noop"}] * 2)
    await bench.execute(FAIL_OFTEN)
    await bench.execute("UPDATE tasks SET attempt = 30")

    shown, others = [(await bench.details(one.id)).failures for one in (task, other)]

    assert [failure.attempt for failure in shown] == list(range(6, 31))
    assert [failure.attempt for failure in others] == list(range(6, 31))


async def test_a_page_of_tasks_that_failed_often_ends_early(bench: Workbench) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * 300)
    await bench.execute("UPDATE tasks SET attempt = 30")

    found, goes_on = await bench.runtime.tasks.page(LOCAL, TaskFilter(), None, 500)

    assert 0 < len(found) < len(tasks)
    assert goes_on


async def test_a_list_shows_what_somebody_asked_for(bench: Workbench) -> None:
    anns = await bench.submit_many([{"task_type": "noop", "created_by": "ann"}] * 2)
    await bench.submit_many([{"task_type": "noop", "created_by": "bob"}, {"task_type": "noop"}])

    assert await page(bench, on_behalf_of="ann") == ids(*reversed(anns))
    assert await page(bench, on_behalf_of="Ann") == []
    assert len(await page(bench, created_by=LOCAL.id)) == 4
    assert await page(bench, created_by="ann") == []


async def test_a_list_shows_what_was_created_in_a_time(bench: Workbench) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * 40)
    first = datetime(2026, 1, 5, tzinfo=UTC)
    for hours, task in enumerate(tasks):
        await bench.execute(
            "UPDATE tasks SET created_at = $1 WHERE id = $2", first + timedelta(hours=hours), UUID(task.id)
        )

    assert await page(bench, since=hours_after(first, 37)) == ids(*reversed(tasks[37:]))
    assert await page(bench, until=hours_after(first, 3)) == ids(*reversed(tasks[:3]))
    assert await page(bench, since=hours_after(first, 10), until=hours_after(first, 12)) == ids(tasks[11], tasks[10])
    assert await page(
        bench, since=hours_after(first, 10), until=hours_after(first, 13), before=tasks[12].seq, limit=1
    ) == ids(tasks[11])
    assert await page(bench, since=hours_after(first, 40)) == []
    assert await page(bench, until=first) == []


async def test_a_time_beyond_all_times_selects_all_or_nothing(bench: Workbench) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * 2)
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

    assert await page(bench, since=first, until=last) == ids(*reversed(tasks))
    assert await page(bench, since=last) == []
    assert await page(bench, until=first) == []


async def test_a_task_whose_number_and_time_are_out_of_order_is_found_by_its_time(bench: Workbench) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * 9)
    moment = datetime(2026, 1, 5, tzinfo=UTC)
    for place, task in enumerate(tasks):
        # Every other was numbered after, and created before, the one before it.
        seconds = 60 * place - (90 if place % 2 else 0)
        await bench.execute(
            "UPDATE tasks SET created_at = $1 WHERE id = $2", moment + timedelta(seconds=seconds), UUID(task.id)
        )

    assert await page(bench, since=moment + timedelta(minutes=4)) == ids(tasks[8], tasks[7], tasks[6], tasks[4])


def hours_after(first: datetime, hours: int) -> datetime:
    return first + timedelta(hours=hours)


async def test_a_page_of_tasks_with_much_to_say_of_their_failures_ends_early(bench: Workbench) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * 12)
    error = {"kind": "edit_conflict", "message": "no", "changed": ["x" * 900_000]}
    await bench.execute("UPDATE tasks SET error = $1::text::jsonb", json.dumps(error))

    found, goes_on = await bench.runtime.tasks.page(LOCAL, TaskFilter(), None, 50)

    assert 0 < len(found) < len(tasks)
    assert goes_on
