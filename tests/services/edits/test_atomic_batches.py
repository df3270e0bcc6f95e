"""Atomic batches: one claim, every child in memory, one revision that they share, or nothing at all."""

from collections.abc import Mapping
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.errors import IllegalStateError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from tests import contents
from tests.services import editing
from tests.support import eventually
from tests.workbench import Workbench

CHAPTER = {"key": "one", "task_type": "add_chapter", "payload": {"title": "One"}}
SECTION = {"task_type": "add_section", "payload": {"title": "Under it", "chapterId": {"$ref": "one.id"}}}
NOWHERE = {"task_type": "delete_page", "payload": {"pageId": "page-nowhere"}}

AS_OF_1: Mapping[str, Any] = {"document_id": "plan", "atomic": True, "base_revision": 1, "on_conflict": "rebase"}


async def an_atomic_batch(bench: Workbench, *children: dict[str, Any], **options: Any) -> tuple[Task, ...]:
    """Submit an atomic batch for a new document and return it with its children."""
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    return await bench.a_batch(*children, document_id="plan", atomic=True, **options)


async def ran(bench: Workbench, batch: Task) -> ClaimedTask:
    """Claim a batch, run it as a worker does, and settle it."""
    claimed = await bench.claim_next(batch)
    await bench.settle(claimed, await bench.worker.editing.run_batch(claimed))
    return claimed


async def states(bench: Workbench, tasks: tuple[Task, ...]) -> list[TaskState]:
    return [(await bench.details(task.id)).task.state for task in tasks]


async def revision(bench: Workbench) -> int:
    return (await bench.runtime.documents.show(LOCAL, "plan")).revision


async def test_all_children_share_one_revision_and_later_ones_use_what_earlier_ones_made(bench: Workbench) -> None:
    batch, *children = tasks = await an_atomic_batch(bench, CHAPTER, SECTION)

    await ran(bench, batch)

    assert await states(bench, tasks) == [TaskState.COMPLETED] * 3
    assert await revision(bench) == 2
    first, second = [(await bench.details(child.id)).task.result for child in children]
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first["revision"] == second["revision"] == 2
    (chapter,) = await contents.outline(bench.runtime, "plan")
    assert chapter["id"] == first["id"]
    assert [section["id"] for section in chapter["children"]] == [second["id"]]
    (newest, *_) = await bench.runtime.documents.history(LOCAL, "plan", None, 10)
    assert newest.task_id == batch.id


async def test_only_the_batch_is_claimed_and_it_occupies_its_document(bench: Workbench) -> None:
    batch, *_ = await an_atomic_batch(bench, CHAPTER, SECTION)
    behind = await bench.a_task(document_id="plan")

    claimed = await bench.claim_next(behind)

    assert claimed.id == batch.id
    assert await bench.another_worker().claim(behind) == []


async def test_one_child_that_cannot_work_leaves_the_document_as_it_was(bench: Workbench) -> None:
    batch, *_ = tasks = await an_atomic_batch(bench, CHAPTER, NOWHERE, SECTION)

    await ran(bench, batch)

    assert await states(bench, tasks) == [
        TaskState.FAILED, TaskState.CANCELLED, TaskState.FAILED, TaskState.CANCELLED,
    ]  # fmt: skip
    assert await revision(bench) == 1
    error = (await bench.details(tasks[2].id)).task.error
    assert isinstance(error, dict)
    assert error["kind"] == "invalid_edit"
    assert "page-nowhere" in error["message"]


def cells(count: int, value: object) -> dict[str, Any]:
    return {
        "task_type": "set_cells",
        "payload": {"sheet": "Sheet1", "cells": {f"A{row + 1}": value for row in range(count)}},
    }


async def a_batch_of_cells(bench: Workbench, *children: dict[str, Any]) -> tuple[Task, ...]:
    await bench.runtime.documents.create(LOCAL, "book", Format.XLSX, None, None)
    return await bench.a_batch(*children, document_id="book", atomic=True)


async def test_results_that_make_a_childs_payload_too_large_are_not_put_in(bench: Workbench) -> None:
    replaced = {"key": "all", "task_type": "replace_text", "payload": {"find": "x", "replace": "y"}}
    batch, *_, last = tasks = await a_batch_of_cells(
        bench, cells(1_000, "x"), replaced, cells(100, {"$ref": "all.ids"})
    )

    await ran(bench, batch)

    assert await states(bench, tasks) == [
        TaskState.FAILED, TaskState.CANCELLED, TaskState.CANCELLED, TaskState.FAILED,
    ]  # fmt: skip
    error = (await bench.details(last.id)).task.error
    assert isinstance(error, dict)
    assert error["message"] == "with the results that it refers to, the payload has more than 1048576 bytes"


async def test_results_of_edits_have_as_little_room_as_those_of_handlers(bench: Workbench) -> None:
    there, back = (
        {"task_type": "replace_text", "payload": {"find": one, "replace": other}} for one, other in ("xy", "yx")
    )
    batch, *_ = tasks = await a_batch_of_cells(bench, cells(1_200, "x"), *[there, back] * 45)

    await ran(bench, batch)

    assert (await states(bench, tasks))[0] is TaskState.FAILED
    assert "bytes; 1048576 are allowed" in str((await bench.details(batch.id)).task.error)
    assert (await bench.runtime.documents.show(LOCAL, "book")).revision == 1


async def test_each_child_has_the_warnings_of_its_own_edit(bench: Workbench) -> None:
    pictured = {"task_type": "write_page", "payload": {"content": "![Logo](logo.png)"}}
    batch, chapter, page = await an_atomic_batch(bench, CHAPTER, pictured)

    await ran(bench, batch)

    told, warned = [str((await bench.details(child.id)).task.result) for child in (chapter, page)]
    assert "warnings" not in told
    assert "'code': 'not_kept'" in warned


async def test_a_batch_that_was_cancelled_while_it_ran_has_no_revision(bench: Workbench) -> None:
    batch, *_ = tasks = await an_atomic_batch(bench, CHAPTER)
    claimed = await bench.claim_next(batch)
    outcome = await bench.worker.editing.run_batch(claimed)
    await bench.runtime.cancellation.cancel(LOCAL, batch.id, None)

    await bench.settle(claimed, outcome)

    assert await states(bench, tasks) == [TaskState.CANCELLED] * 2
    assert await revision(bench) == 1


async def test_cancelling_a_child_cancels_the_whole(bench: Workbench) -> None:
    _, child = tasks = await an_atomic_batch(bench, CHAPTER)

    await bench.runtime.cancellation.cancel(LOCAL, child.id, None)

    assert await states(bench, tasks) == [TaskState.CANCELLED] * 2


@pytest.mark.parametrize("retried", [0, 1, 2])
async def test_retrying_any_of_it_queues_the_whole_again(bench: Workbench, retried: int) -> None:
    batch, *_ = tasks = await an_atomic_batch(bench, NOWHERE, CHAPTER)
    await ran(bench, batch)

    await bench.runtime.reopening.retry(LOCAL, tasks[retried].id)

    assert await states(bench, tasks) == [TaskState.QUEUED, TaskState.PENDING, TaskState.PENDING]
    await ran(bench, batch)
    assert await states(bench, tasks) == [TaskState.FAILED, TaskState.FAILED, TaskState.CANCELLED]


async def test_a_completed_one_cannot_be_retried(bench: Workbench) -> None:
    batch, child = await an_atomic_batch(bench, CHAPTER)
    await ran(bench, batch)

    with pytest.raises(IllegalStateError):
        await bench.runtime.reopening.retry(LOCAL, child.id)


async def test_an_attempt_that_is_retried_keeps_its_children_waiting(bench: Workbench) -> None:
    batch, *_ = tasks = await an_atomic_batch(bench, CHAPTER, retry={"strategy": "immediate"})

    await bench.crash(await bench.claim_next(batch))

    assert await states(bench, tasks) == [TaskState.RETRYING, TaskState.PENDING]
    await ran(bench, batch)
    assert await states(bench, tasks) == [TaskState.COMPLETED] * 2


async def test_within_a_batch_it_takes_its_turn_and_ends_it(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    outer, first, inner, child = await bench.a_batch(
        {"task_type": "noop"}, {"atomic": True, "children": [CHAPTER]}, document_id="plan"
    )
    await bench.complete(await bench.claim_next(first))

    await ran(bench, inner)

    assert await states(bench, (outer, first, inner, child)) == [TaskState.COMPLETED] * 4


async def test_a_worker_rings_for_it_like_for_any_task(bench: Workbench) -> None:
    batch, *_ = await an_atomic_batch(bench, CHAPTER)

    async def rung() -> bool:
        return TaskId(batch.id) in await bench.runtime.doorbell.bells.take(10)

    assert await eventually(rung, what="the batch's hint")


async def test_a_condition_is_the_whole_batchs(bench: Workbench) -> None:
    batch, *_ = tasks = await an_atomic_batch(bench, CHAPTER, base_revision=7)

    await ran(bench, batch)

    assert await states(bench, tasks) == [TaskState.FAILED, TaskState.CANCELLED]
    error = (await bench.details(batch.id)).task.error
    assert isinstance(error, dict)
    assert error["kind"] == "edit_conflict"


async def test_a_batch_is_rebased_whatever_it_makes_and_uses_itself(bench: Workbench) -> None:
    await editing.a_document(bench)
    await editing.edited(bench, payload={"title": "Another's"})

    batch, *_ = tasks = await bench.a_batch(CHAPTER, SECTION, **AS_OF_1)
    await ran(bench, batch)

    assert await states(bench, tasks) == [TaskState.COMPLETED] * 3
    assert (await editing.text(bench)).split("\n") == ["Another's", "One", "Under it"]


async def test_a_batch_is_not_rebased_over_a_change_of_what_a_child_aims_at(bench: Workbench) -> None:
    await editing.a_document(bench)
    aimed = (await editing.edited(bench, payload={"title": "Another's"}))["id"]
    below = {"task_type": "add_section", "payload": {"title": "Mine", "chapterId": aimed}}

    batch, *_ = tasks = await bench.a_batch(CHAPTER, SECTION, below, **AS_OF_1)
    await ran(bench, batch)

    assert await states(bench, tasks) == [TaskState.FAILED, *[TaskState.CANCELLED] * 3]
    error = (await bench.details(batch.id)).task.error
    assert isinstance(error, dict)
    assert error["changed"] == [aimed]
    assert (await editing.text(bench)).split("\n") == ["Another's"]


async def test_of_a_batch_that_is_rebased_and_cannot_work_the_child_is_told(bench: Workbench) -> None:
    await editing.a_document(bench)
    await editing.edited(bench)

    batch, *_ = tasks = await bench.a_batch(CHAPTER, SECTION, NOWHERE, **AS_OF_1)
    await ran(bench, batch)

    assert await states(bench, tasks) == [TaskState.FAILED, TaskState.CANCELLED, TaskState.CANCELLED, TaskState.FAILED]
