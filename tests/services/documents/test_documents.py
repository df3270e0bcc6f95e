"""Documents: made, uploaded in their lane's turn, read, reverted, previewed and deleted."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from officeplane.domain.document import Format, InvalidEditError, UnsupportedDocumentError
from officeplane.domain.errors import (
    DocumentExistsError,
    DocumentNotFoundError,
    IllegalStateError,
    InvalidPayloadError,
    InvalidRequestError,
    PreconditionRequiredError,
    RevisionNotFoundError,
    StaleRevisionError,
)
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.request import DagRequest, TaskRequest
from officeplane.domain.task import Task
from officeplane.formats.blank import blank
from officeplane.services.documents import documents as service
from officeplane.services.documents.documents import Put
from officeplane.services.files.spool import spooled_bytes
from tests.fixtures.documents import excel
from tests.services.editing import a_claimed_edit, a_document, an_edit, content, edited, head, ran, text
from tests.support import eventually
from tests.workbench import Workbench

FILE = blank(Format.DOCX, "A file")
OTHER = blank(Format.DOCX, "Another file")


async def put(bench: Workbench, data: bytes = FILE, document_id: str = "plan", if_match: service.IfMatch = None) -> Put:
    """Upload a file."""
    async with spooled_bytes(data) as spool:
        return await bench.runtime.documents.put(document_id, spool, if_match, "ann")


@asynccontextmanager
async def uploading(
    bench: Workbench, data: bytes = OTHER, if_match: service.IfMatch = service.ANY
) -> AsyncGenerator[tuple["asyncio.Task[Put]", Task], None]:
    """Upload a file to a document that is there, and give the task that waits for its turn."""
    request = asyncio.create_task(put(bench, data, if_match=if_match))
    try:
        yield request, await eventually(lambda: _upload_of(bench), what="the upload's task")
    finally:
        request.cancel()
        await asyncio.wait({request})


async def _upload_of(bench: Workbench) -> Task | None:
    rows = await bench.execute("SELECT id FROM tasks WHERE task_type = 'upload' ORDER BY seq DESC LIMIT 1")
    return (await bench.details(TaskId(str(rows[0]["id"])))).task if rows else None


async def test_an_empty_document_is_made_at_revision_1(bench: Workbench) -> None:
    for kind in Format:
        made = await bench.runtime.documents.create(f"new-{kind}", kind, "A title", None)

        assert (made.id, made.format, made.revision, made.title) == (f"new-{kind}", kind, 1, "A title")
        data = await content(bench, document_id=made.id)
        assert (made.sha256, made.size) == (hashlib.sha256(data).hexdigest(), len(data))


async def test_a_document_without_an_id_is_given_one(bench: Workbench) -> None:
    one = await bench.runtime.documents.create(None, Format.DOCX, None, None)
    other = await bench.runtime.documents.create(None, Format.DOCX, None, None)

    assert one.id != other.id


async def test_a_document_is_made_once(bench: Workbench) -> None:
    await a_document(bench)

    with pytest.raises(DocumentExistsError):
        await a_document(bench)


async def test_a_first_upload_makes_the_document_without_a_task(bench: Workbench) -> None:
    done = await put(bench)

    assert done.was_made
    assert done.task is None
    assert await content(bench) == FILE
    assert await bench.execute("SELECT FROM tasks") == []
    (first,) = await bench.runtime.documents.history("plan", None, 9)
    assert (first.revision, first.author, first.task_type) == (1, "ann", None)


@pytest.mark.parametrize("data", [excel.hard(), excel.big(3000)], ids=["hard", "big"])
async def test_an_upload_is_kept_as_it_came(bench: Workbench, data: bytes) -> None:
    await put(bench, data)

    assert await content(bench) == data


async def test_two_first_uploads_at_once_make_one_document_and_none_is_covered_up(bench: Workbench) -> None:
    done = await asyncio.gather(*(put(bench, data) for data in (FILE, OTHER)), return_exceptions=True)

    (made,) = [one for one in done if isinstance(one, Put)]
    (refused,) = [one for one in done if isinstance(one, PreconditionRequiredError)]
    assert made.was_made
    assert refused.facts["revision"] == 1
    assert await head(bench) == 1


async def test_an_upload_never_covers_up_what_its_sender_may_not_know_of(bench: Workbench) -> None:
    await put(bench)
    task = await an_edit(bench, created_by="agent")
    await ran(bench, task)

    with pytest.raises(PreconditionRequiredError) as refused:
        await put(bench, OTHER)

    assert refused.value.facts == {
        "revision": 2,
        "revisions": [
            {"revision": 1, "author": "ann", "taskType": None, "taskId": None},
            {"revision": 2, "author": "agent", "taskType": "add_chapter", "taskId": task.id},
        ],
    }
    assert await bench.execute("SELECT FROM uploads") == []
    assert await head(bench) == 2


@pytest.mark.parametrize("if_match", [None, 1, 7])
async def test_what_is_sent_again_after_a_lost_answer_does_no_harm(bench: Workbench, if_match: int | None) -> None:
    await put(bench)

    again = await put(bench, if_match=if_match)

    assert again.document is not None
    assert (again.was_made, again.document.revision) == (False, 1)
    assert await bench.execute("SELECT FROM tasks") == []


async def test_what_is_sent_twice_at_once_becomes_one_revision(bench: Workbench) -> None:
    await put(bench)
    async with uploading(bench, if_match=1) as (one, first), uploading(bench, if_match=1) as (other, _):

        async def another_task() -> Task | None:
            found = await _upload_of(bench)
            return None if found is None or found.id == first.id else found

        # Both have been taken in before either is carried out.
        second = await eventually(another_task, what="the other's task")
        await ran(bench, first)
        details = await ran(bench, second)

        answered = [(await request).document for request in (one, other)]

    now = await bench.runtime.documents.show("plan")
    assert [(it.revision, it.sha256) for it in answered if it is not None] == [(now.revision, now.sha256)] * 2
    assert (details.task.state, details.task.result) == ("COMPLETED", {"revision": 2})
    assert await head(bench) == 2


async def test_who_means_it_covers_up_whatever_is_there_when_the_turn_comes(bench: Workbench) -> None:
    await put(bench)
    holder = await a_claimed_edit(bench)
    async with uploading(bench, FILE, service.ANY) as (request, task):
        await ran(bench, holder)
        await ran(bench, task)

        assert (await request).document is not None

    assert await head(bench) == 3
    assert await content(bench) == FILE


async def test_a_later_upload_waits_for_its_turn_and_becomes_the_next_revision(bench: Workbench) -> None:
    await put(bench)
    async with uploading(bench) as (request, task):
        await ran(bench, task)

        done = await request

    assert done.document is not None
    assert (done.was_made, done.document.revision) == (False, 2)
    assert await content(bench) == OTHER
    assert await content(bench, 1) == FILE


async def test_an_upload_to_a_busy_document_is_answered_with_its_task(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(bench)
    holder = await a_claimed_edit(bench)
    monkeypatch.setattr(service, "LANE_SECONDS", 0.05)

    done = await put(bench, OTHER, if_match=service.ANY)

    assert done.document is None
    assert done.task is not None
    assert done.task.task.state is TaskState.QUEUED
    await ran(bench, holder)
    assert (await ran(bench, done.task.task)).task.state is TaskState.COMPLETED
    assert await content(bench) == OTHER
    assert await head(bench) == 3


async def test_an_upload_that_follows_another_revision_is_refused_when_it_arrives(bench: Workbench) -> None:
    await put(bench)

    with pytest.raises(StaleRevisionError) as refused:
        await put(bench, OTHER, if_match=7)

    assert refused.value.facts == {"expected": 7, "actual": 1, "revisions": []}
    assert await bench.execute("SELECT FROM uploads") == []


async def test_an_upload_that_follows_another_revision_is_refused_when_it_runs(bench: Workbench) -> None:
    await put(bench)
    holder = await a_claimed_edit(bench, created_by="ben")
    async with uploading(bench, if_match=1) as (request, task):
        await ran(bench, holder)
        details = await ran(bench, task)

        with pytest.raises(StaleRevisionError) as refused:
            await request

    since = [{"revision": 2, "author": "ben", "taskType": "add_chapter", "taskId": holder.id}]
    assert refused.value.facts == {"expected": 1, "actual": 2, "revisions": since}
    assert details.task.error == {
        "kind": "edit_conflict",
        "message": "it was to follow revision 1, but the document is at revision 2",
        **refused.value.facts,
    }
    assert [failure.kind for failure in details.failures] == [FailureKind.EDIT_CONFLICT]
    assert await head(bench) == 2


async def test_an_upload_that_follows_the_head_is_taken(bench: Workbench) -> None:
    await put(bench)
    async with uploading(bench, if_match=1) as (request, task):
        await ran(bench, task)

        assert (await request).document is not None


async def test_an_upload_that_is_cancelled_says_so_and_not_that_it_was_stale(bench: Workbench) -> None:
    await put(bench)
    async with uploading(bench, if_match=1) as (request, task):
        await bench.runtime.cancellation.cancel(task.id, None)

        with pytest.raises(IllegalStateError, match="CANCELLED"):
            await request

    assert await head(bench) == 1


@pytest.mark.parametrize("if_match", [1, service.ANY])
async def test_an_upload_to_what_is_not_there_cannot_follow_anything(
    bench: Workbench, if_match: service.IfMatch
) -> None:
    with pytest.raises(DocumentNotFoundError):
        await put(bench, if_match=if_match)


async def test_a_document_keeps_its_format(bench: Workbench) -> None:
    await put(bench)

    with pytest.raises(UnsupportedDocumentError) as refused:
        await put(bench, blank(Format.XLSX, None))

    assert refused.value.reason == "other_format"


async def test_what_is_no_document_is_refused_with_its_reason(bench: Workbench) -> None:
    with pytest.raises(UnsupportedDocumentError) as refused:
        await put(bench, b"no document")

    assert refused.value.reason
    assert await bench.execute("SELECT FROM documents") == []


async def test_lists_go_from_page_to_page(bench: Workbench) -> None:
    for name in ("a", "b", "c"):
        await a_document(bench, name)

    first = await bench.runtime.documents.page(None, 2)
    second = await bench.runtime.documents.page(first[-1].seq, 2)

    assert [one.id for one in (*first, *second)] == ["c", "b", "a"]


async def test_a_history_goes_from_page_to_page(bench: Workbench) -> None:
    await a_document(bench)
    for _ in range(3):
        await edited(bench)

    newest = await bench.runtime.documents.history("plan", None, 2)
    older = await bench.runtime.documents.history("plan", newest[-1].revision, 9)

    assert [one.revision for one in (*newest, *older)] == [4, 3, 2, 1]


async def test_two_revisions_are_compared_in_text_and_in_nodes(bench: Workbench) -> None:
    await a_document(bench)
    result = await edited(bench)

    found = await bench.runtime.documents.difference("plan", 1, 2)
    back = await bench.runtime.documents.difference("plan", 2, 1)
    same = await bench.runtime.documents.difference("plan", 2, 2)

    assert [node["id"] for node in found["nodes"]["added"]] == [result["id"]]
    assert any(line.startswith("+") and "One" in line for line in found["text"])
    assert [node["id"] for node in back["nodes"]["removed"]] == [result["id"]]
    assert same["text"] == []
    assert not any(same["nodes"].values())


async def test_what_is_not_there_is_not_found(bench: Workbench) -> None:
    documents = bench.runtime.documents
    for action in (
        documents.show("no"), documents.file("no", None), documents.text("no", None), documents.outline("no", 1),
        documents.history("no", None, 9), documents.difference("no", 1, 2), documents.delete("no"),
        documents.revert("no", 1, None), documents.preview("no", _edit()),
    ):  # fmt: skip
        with pytest.raises(DocumentNotFoundError):
            await action
    await a_document(bench)
    for action in (
        documents.file("plan", 2), documents.text("plan", 2), documents.difference("plan", 1, 2),
        documents.revert("plan", 2, None),
    ):  # fmt: skip
        with pytest.raises(RevisionNotFoundError):
            await action


async def test_deleting_cancels_what_waits_and_asks_what_runs_to_stop(bench: Workbench) -> None:
    await a_document(bench)
    running = await a_claimed_edit(bench)
    waiting = await an_edit(bench)
    _, child = await bench.a_batch({"task_type": "add_chapter", "payload": {"title": "x"}}, document_id="plan")

    await bench.runtime.documents.delete("plan")

    assert await bench.states(waiting, child) == ["CANCELLED"] * 2
    assert (await bench.details(running.id)).task.cancel_requested_at is not None
    with pytest.raises(DocumentNotFoundError):
        await bench.runtime.documents.show("plan")


async def test_a_number_never_comes_back(bench: Workbench) -> None:
    await a_document(bench)
    await edited(bench)
    await bench.runtime.documents.delete("plan")

    done = await put(bench)

    assert done.document is not None
    assert (done.was_made, done.document.revision) == (True, 3)
    with pytest.raises(RevisionNotFoundError):
        await bench.runtime.documents.file("plan", 2)


def _edit(**fields: Any) -> TaskRequest:
    given = {"task_type": "add_chapter", "payload": {"title": "One"}, **fields}
    return TaskRequest.from_python(given)


async def test_a_preview_tells_what_an_edit_would_do_and_stores_nothing(bench: Workbench) -> None:
    await a_document(bench)
    stored = await _rows(bench)

    seen = await bench.runtime.documents.preview("plan", _edit())

    assert [node["text"] for node in seen["diff"]["nodes"]["added"]] == ["One"]
    assert await _rows(bench) == stored
    assert "One" not in await text(bench)
    assert (await edited(bench))["revision"] == 2


async def test_a_preview_of_several_edits_tells_of_each(bench: Workbench) -> None:
    await a_document(bench)
    batch = TaskRequest.from_python(
        {"children": [{"task_type": "add_chapter", "payload": {"title": title}} for title in ("One", "Two")]}
    )

    seen = await bench.runtime.documents.preview("plan", batch)

    assert len(seen["result"]["results"]) == 2
    assert [node["text"] for node in seen["diff"]["nodes"]["added"]] == ["One", "Two"]


@pytest.mark.parametrize("count", [1, 2])
async def test_a_preview_of_a_batch_has_its_results_where_the_batch_has_them(bench: Workbench, count: int) -> None:
    await a_document(bench)
    children = [{"task_type": "add_chapter", "payload": {"title": "One"}}] * count

    seen = await bench.runtime.documents.preview("plan", TaskRequest.from_python({"children": children}))

    assert set(seen["result"]) == {"results"}
    assert len(seen["result"]["results"]) == count


async def test_a_preview_shows_no_id_that_the_edit_will_not_give(bench: Workbench) -> None:
    await a_document(bench)
    chapter = (await edited(bench))["id"]
    batch = TaskRequest.from_python(
        {
            "children": [
                {
                    "key": "risks",
                    "task_type": "add_section",
                    "payload": {"title": "Risks", "chapterId": chapter},
                },
                {"task_type": "write_page", "payload": {"sectionId": {"$ref": "risks.id"}, "content": "Rain."}},
                {"task_type": "replace_text", "payload": {"find": "One", "replace": "First"}},
            ]
        }
    )

    seen = await bench.runtime.documents.preview("plan", batch)

    assert [node["text"] for node in seen["diff"]["nodes"]["added"]] == ["Risks", "Rain."]
    assert {node.get("id") for node in seen["diff"]["nodes"]["added"]} == {None}
    assert {node["id"] for node in seen["diff"]["nodes"]["changed"]} == {chapter}
    assert [result.get("id") for result in seen["result"]["results"][:2]] == [None, None]


async def test_a_preview_refuses_what_is_about_another_document(bench: Workbench) -> None:
    await a_document(bench)
    await a_document(bench, "other")
    elsewhere = {"task_type": "add_chapter", "payload": {"title": "One"}, "document_id": "other"}

    for request in (elsewhere, {"children": [elsewhere]}):
        with pytest.raises(InvalidRequestError, match="A preview is of one document"):
            await bench.runtime.documents.preview("plan", TaskRequest.from_python(request))


async def test_a_preview_refuses_what_is_no_edit_or_cannot_work(bench: Workbench) -> None:
    await a_document(bench)
    documents = bench.runtime.documents

    with pytest.raises(InvalidRequestError, match="Only edits"):
        await documents.preview("plan", TaskRequest.from_python({"task_type": "noop"}))
    with pytest.raises(InvalidRequestError, match="Only edits"):
        await documents.preview("plan", _edit(task_type="revert", payload={"toRevision": 1}))
    with pytest.raises(InvalidEditError):
        await documents.preview("plan", _edit(task_type="delete_page", payload={"pageId": "no"}))
    with pytest.raises(InvalidRequestError, match="xlsx"):
        await documents.preview("plan", _edit(task_type="add_sheet", payload={"name": "S"}))
    assert await text(bench) == ""


async def test_a_preview_of_an_edit_that_would_be_in_conflict_says_so(bench: Workbench) -> None:
    await a_document(bench)
    await edited(bench, created_by="ann")
    documents = bench.runtime.documents

    with pytest.raises(StaleRevisionError, match="based on revision 1") as refused:
        await documents.preview("plan", _edit(base_revision=1))

    (since,) = (await documents.history("plan", None, 9))[:1]
    assert refused.value.facts == {"expected": 1, "actual": 2, "revisions": [since.made]}
    assert (since.author, since.task_type) == ("ann", "add_chapter")
    for options in ({"base_revision": 2}, {"base_revision": 1, "on_conflict": "rebase"}):
        assert "diff" in await documents.preview("plan", _edit(**options))


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
        ({"task_type": "set_cells", "payload": {"sheet": "S", "cells": {"B2": [1]}}}, "payload.cells.B2"),
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
        await bench.runtime.dags.submit(dag)

    assert [error.field for error in among_many.value.errors] == ["1.taskType"]
    assert [error.field for error in in_a_dag.value.errors] == ["tasks.1.taskType"]


async def _rows(bench: Workbench) -> list[dict[str, Any]]:
    return await bench.execute(
        "SELECT (SELECT count(*) FROM revisions) AS revisions, (SELECT count(*) FROM pieces) AS pieces, "
        "(SELECT count(*) FROM tasks) AS tasks, (SELECT count(*) FROM events) AS events"
    )


async def test_a_repeated_edit_is_answered_with_its_task_though_its_document_is_gone(bench: Workbench) -> None:
    await a_document(bench)
    task = await an_edit(bench, idempotency_key="once")
    await ran(bench, task)
    await bench.runtime.documents.delete("plan")

    again = await an_edit(bench, idempotency_key="once")

    assert (again.id, again.state) == (task.id, TaskState.COMPLETED)
