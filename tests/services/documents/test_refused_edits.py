"""Edits that break a rule are refused when they are submitted, and not stored."""

from typing import Any

import pytest

from officeplane.domain.errors import (
    DocumentNotFoundError,
    InvalidPayloadError,
    InvalidRequestError,
)
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import DagRequest, TaskRequest
from tests.services.editing import a_document, an_edit, ran
from tests.workbench import Workbench


async def test_an_edit_of_a_document_that_is_not_there_is_not_found_and_not_stored(bench: Workbench) -> None:
    with pytest.raises(DocumentNotFoundError):
        await an_edit(bench)
    with pytest.raises(DocumentNotFoundError):
        await bench.submit_many([{"task_type": "noop"}, {"task_type": "add_sheet", "document_id": "no",
                                                         "payload": {"name": "S"}}])  # fmt: skip

    assert await bench.execute("SELECT FROM tasks") == []


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"task_type": "add_sheet", "payload": {"name": "S"}}, "taskType"),
        ({"document_id": None}, "documentId"),
        ({"task_type": "noop", "payload": {}, "base_revision": 1}, "baseRevision"),
        ({"on_conflict": "force"}, "onConflict"),
        ({"payload": {"title": "One", "colour": "red"}}, "payload.colour"),
        ({"task_type": "set_cells", "payload": {"sheet": "S", "cells": {"B2": [1]}}}, "payload.cells.B2.0"),
        (
            {"task_type": "set_cells", "payload": {"sheet": "S", "cells": {"B2": {"formula": 1}}}},
            "payload.cells.B2.formula",
        ),
    ],
    ids=[
        "another format",
        "no document",
        "a base for no edit",
        "a conflict without a base",
        "an unknown field",
        "none of several kinds of value",
        "one of several kinds that is not whole",
    ],
)
async def test_an_edit_that_breaks_a_rule_is_refused_and_not_stored(
    bench: Workbench, options: dict[str, Any], field: str
) -> None:
    await a_document(bench)

    with pytest.raises((InvalidRequestError, InvalidPayloadError)) as refused:
        await an_edit(bench, **options)

    assert [error.field for error in refused.value.errors] == [field]
    assert await bench.execute("SELECT FROM tasks") == []


async def test_a_refusal_in_a_batch_names_the_child(bench: Workbench) -> None:
    await a_document(bench)
    children = [{"task_type": "add_chapter", "payload": {"title": "x"}}, {"task_type": "add_sheet",
                                                                          "payload": {"name": "S"}}]  # fmt: skip

    with pytest.raises(InvalidRequestError) as refused:
        await bench.a_batch(*children, document_id="plan")

    assert [error.field for error in refused.value.errors] == ["children.1.taskType"]


async def test_a_refusal_among_many_and_in_a_dag_names_the_task(bench: Workbench) -> None:
    await a_document(bench)
    wrong: dict[str, Any] = {"task_type": "add_sheet", "document_id": "plan", "payload": {"name": "S"}, "key": "b"}
    first = TaskRequest.from_python({"task_type": "noop", "key": "a"})
    dag = DagRequest(title="One", tasks=[first, TaskRequest.from_python(wrong)])

    with pytest.raises(InvalidRequestError) as among_many:
        await bench.submit_many([{"task_type": "noop"}, {name: wrong[name] for name in wrong if name != "key"}])
    with pytest.raises(InvalidRequestError) as in_a_dag:
        await bench.runtime.dags.submit(LOCAL, dag)

    assert [error.field for error in among_many.value.errors] == ["1.taskType"]
    assert [error.field for error in in_a_dag.value.errors] == ["tasks.1.taskType"]


async def test_a_repeated_edit_is_answered_with_its_task_though_its_document_is_gone(bench: Workbench) -> None:
    await a_document(bench)
    task = await an_edit(bench, idempotency_key="once")
    await ran(bench, task)
    await bench.runtime.documents.delete(LOCAL, "plan")

    again = await an_edit(bench, idempotency_key="once")

    assert (again.id, again.state) == (task.id, TaskState.COMPLETED)
