"""Handlers that wait for what they have spawned: slot and document are really given back."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from tests import contents
from tests.support import eventually
from tests.workbench import Workbench
from tests.workers.hosting import a_worker
from tests.workers.marks import Marks

BOTH = pytest.mark.parametrize("task_type", ["test.wait", "test.wait_def"])


def is_in(bench: Workbench, task: Task, state: TaskState) -> Callable[[], Awaitable[bool]]:
    """Return the question whether a task is in a state now."""

    async def ask() -> bool:
        return await bench.state(task) is state

    return ask


async def completed(bench: Workbench, task: Task, *, within: float = 30) -> Task:
    """Return a task once it has completed."""
    await eventually(is_in(bench, task, TaskState.COMPLETED), within=within)
    return (await bench.details(task.id)).task


async def spawned_by(bench: Workbench, task: Task) -> list[Task]:
    """Return what a task has spawned, in order."""
    rows = await bench.execute("SELECT id FROM tasks WHERE spawned_by = $1::uuid ORDER BY seq", task.id)
    return [(await bench.details(TaskId(str(row["id"])))).task for row in rows]


@BOTH
async def test_with_one_slot_the_spawned_task_runs_while_the_other_waits(bench: Workbench, task_type: str) -> None:
    asked = {"task_type": "test.say", "payload": {"said": "hello"}}
    async with a_worker(bench, concurrency=1):
        task = await bench.a_task(task_type, payload=asked)
        done = await completed(bench, task)

    assert done.result == {"results": [{"said": "hello"}], "attempt": 2, "saved": None}
    assert (done.attempt, done.attempts_charged, done.error) == (2, 0, None)


@BOTH
async def test_the_spawned_task_runs_in_the_lane_of_who_waits_for_it(bench: Workbench, task_type: str) -> None:
    async with a_worker(bench):
        task = await bench.a_task(task_type, document_id="plan", payload={"document_id": "plan"})
        await completed(bench, task)

    (spawned,) = await spawned_by(bench, task)
    assert (spawned.document_id, spawned.state) == ("plan", "COMPLETED")


@BOTH
async def test_a_handler_waits_for_fifty_in_turn(bench: Workbench, task_type: str) -> None:
    asked: dict[str, Any] = {"keys": [None] * 50}
    async with a_worker(bench, concurrency=2):
        task = await bench.a_task(task_type, document_id="plan", payload={**asked, "document_id": "plan"})
        done = await completed(bench, task, within=40)

    assert (done.attempt, done.attempts_charged) == (51, 0)
    assert done.result == {"results": [None] * 50, "attempt": 51, "saved": None}
    assert [one.state.value for one in await spawned_by(bench, task)] == ["COMPLETED"] * 50


async def test_a_wait_within_a_group_of_the_loops_tasks_is_one(bench: Workbench) -> None:
    asked = {"task_type": "test.say", "payload": {"said": 1}, "keys": ["a", "b", "c"]}
    async with a_worker(bench, concurrency=1):
        task = await bench.a_task("test.wait_in_group", payload=asked)
        done = await completed(bench, task)

    assert done.result == {"results": [{"said": 1}] * 3}
    assert done.attempts_charged == 0


async def test_who_goes_on_sees_the_document_as_it_is_then_and_edits_follow_it(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    async with a_worker(bench):
        task = await bench.a_task("test.read_and_wait", document_id="plan")
        await completed(bench, task)

    chapters = await contents.outline(bench.runtime, "plan")
    assert [chapter["text"] for chapter in chapters] == ["Theirs", "1 chapters"]


@BOTH
async def test_a_worker_drains_at_once_while_its_task_waits(bench: Workbench, marks: Marks, task_type: str) -> None:
    asked = {"task_type": "test.mark", "payload": {"folder": str(marks.folder), "gated": True}}
    await bench.runtime.valves.pause_type(LOCAL, "test.mark")
    async with a_worker(bench, concurrency=1, drain_seconds=30) as worker:
        task = await bench.a_task(task_type, payload=asked)
        await eventually(is_in(bench, task, TaskState.PENDING))

        worker.signals.heard()
        async with asyncio.timeout(20):
            await worker.running

    assert await bench.state(task) is TaskState.PENDING
    await bench.runtime.valves.resume_type(LOCAL, "test.mark")
    marks.open_gate("it")
    async with a_worker(bench, concurrency=1):
        done = await completed(bench, task)

    assert (done.attempt, done.attempts_charged) == (2, 0)
    assert marks.of("it") == ["begin", "end"]


@BOTH
async def test_a_cancel_of_who_waits_stops_what_runs_for_it(bench: Workbench, marks: Marks, task_type: str) -> None:
    asked = {"task_type": "test.mark", "payload": {"folder": str(marks.folder), "gated": True}}
    async with a_worker(bench, concurrency=1):
        task = await bench.a_task(task_type, payload=asked)
        await marks.seen("begin", "it")
        (spawned,) = await spawned_by(bench, task)

        await bench.runtime.cancellation.cancel(LOCAL, task.id, None)

        await eventually(is_in(bench, spawned, TaskState.CANCELLED))
    assert await bench.states(task, spawned) == ["CANCELLED", "CANCELLED"]
    assert marks.of("it") == ["begin", "stopped"]


@BOTH
async def test_what_is_spawned_with_other_things_under_one_key_fails_for_good(bench: Workbench, task_type: str) -> None:
    task = await bench.a_task(task_type, payload={"keys": ["it"]})
    await bench.runtime.valves.pause_type(LOCAL, "noop")
    async with a_worker(bench) as worker:
        await eventually(is_in(bench, task, TaskState.PENDING))
        await bench.execute(
            "UPDATE tasks SET payload = jsonb_set(payload, '{task_type}', '\"test.say\"') WHERE id = $1::uuid", task.id
        )
        await bench.runtime.valves.resume_type(LOCAL, "noop")
        await eventually(is_in(bench, task, TaskState.FAILED))
        assert not worker.running.done()

    (failure,) = (await bench.details(task.id)).failures
    assert failure.kind == "permanent"
    assert "under this key it has spawned a task of another type" in failure.message
