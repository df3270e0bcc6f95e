"""Handlers that read their document and return edits: one path to settlement, in the loop and in a child."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.failure import FailureKind
from officeplane.domain.outcome import Edited, Failed
from officeplane.domain.principal import LOCAL
from tests import contents
from tests.workbench import Workbench
from tests.workers.hosting import HANDLERS
from tests.workers.test_runner import a_runner
from workers.children import Children
from workers.runner import Runner

BOTH = pytest.mark.parametrize("task_type", ["test.edit", "test.edit_def"])


@pytest.fixture(scope="module")
async def children() -> AsyncIterator[Children]:
    made = Children([HANDLERS])
    yield made
    await made.close()


@pytest.fixture
async def runner(bench: Workbench, children: Children) -> Runner:
    """A runner, and an empty document."""
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    return a_runner(bench, children)


@BOTH
async def test_what_a_handler_returns_after_reading_is_one_revision(
    bench: Workbench, runner: Runner, task_type: str
) -> None:
    task = await bench.a_running_task(task_type, document_id="plan")

    await bench.settle(task, await runner.run(task))

    (chapter,) = await contents.outline(bench.runtime, "plan")
    assert chapter["text"] == "Read"
    assert [below["text"] for below in chapter["children"]] == ["0 nodes, PK, ''"]
    result: Any = (await bench.details(task.id)).task.result
    assert result["revision"] == 2
    assert [one["id"] for one in result["results"]] == [chapter["id"], chapter["children"][0]["id"]]
    newest = (await bench.runtime.documents.history(LOCAL, "plan", None, 1))[0]
    assert (newest.revision, newest.task_id, newest.task_type) == (2, task.id, task_type)


@BOTH
async def test_a_handlers_edits_follow_the_revision_that_it_read(
    bench: Workbench, runner: Runner, task_type: str
) -> None:
    task = await bench.a_running_task(task_type, document_id="plan")

    outcome = await runner.run(task)

    assert isinstance(outcome, Edited)
    assert outcome.revision.base == 1


@BOTH
async def test_a_handler_whose_document_is_not_there_fails_for_good(
    bench: Workbench, runner: Runner, task_type: str
) -> None:
    outcome = await runner.run(await bench.a_running_task(task_type, document_id="nobody-has-this"))

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.PERMANENT
    assert "nobody-has-this" in outcome.failure.message


@BOTH
async def test_a_handler_without_a_document_has_nothing_to_read(
    bench: Workbench, runner: Runner, task_type: str
) -> None:
    outcome = await runner.run(await bench.a_running_task(task_type))

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.PERMANENT
    assert "names no document" in outcome.failure.message


async def test_a_handlers_edits_are_all_made_or_none(bench: Workbench, runner: Runner) -> None:
    task = await bench.a_running_task("test.bad_edit", document_id="plan")

    outcome = await runner.run(task)

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.INVALID_EDIT
    await bench.settle(task, outcome)
    assert (await bench.runtime.documents.show(LOCAL, "plan")).revision == 1
    assert await contents.outline(bench.runtime, "plan") == []
