"""Documents: made, listed, read, compared and deleted."""

import hashlib
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.errors import (
    DocumentExistsError,
    DocumentNotFoundError,
    OutsideError,
    RevisionNotFoundError,
)
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import TaskRequest
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.telling import TextWanted
from tests.callers import a_caller
from tests.services.documents.uploading import put
from tests.services.editing import a_claimed_edit, a_document, an_edit, content, edited
from tests.workbench import Workbench


async def test_an_empty_document_is_made_at_revision_1(bench: Workbench) -> None:
    for kind in Format:
        made = await bench.runtime.documents.create(LOCAL, f"new-{kind}", kind, "A title", None)

        assert (made.id, made.format, made.revision, made.title) == (f"new-{kind}", kind, 1, "A title")
        data = await content(bench, document_id=made.id)
        assert (made.sha256, made.size) == (hashlib.sha256(data).hexdigest(), len(data))


async def test_a_document_without_an_id_is_given_one(bench: Workbench) -> None:
    one = await bench.runtime.documents.create(LOCAL, None, Format.DOCX, None, None)
    other = await bench.runtime.documents.create(LOCAL, None, Format.DOCX, None, None)

    assert one.id != other.id


async def test_a_document_is_made_once(bench: Workbench) -> None:
    await a_document(bench)

    with pytest.raises(DocumentExistsError):
        await a_document(bench)


async def test_lists_go_from_page_to_page(bench: Workbench) -> None:
    for name in ("a", "b", "c"):
        await a_document(bench, name)

    first = await bench.runtime.documents.page(LOCAL, None, 2)
    second = await bench.runtime.documents.page(LOCAL, first[-1].seq, 2)

    assert [one.id for one in (*first, *second)] == ["c", "b", "a"]


async def test_a_history_goes_from_page_to_page(bench: Workbench) -> None:
    await a_document(bench)
    for _ in range(3):
        await edited(bench)

    newest = await bench.runtime.documents.history(LOCAL, "plan", None, 2)
    older = await bench.runtime.documents.history(LOCAL, "plan", newest[-1].revision, 9)

    assert [one.revision for one in (*newest, *older)] == [4, 3, 2, 1]


async def test_two_revisions_are_compared_in_text_and_in_nodes(bench: Workbench) -> None:
    await a_document(bench)
    result = await edited(bench)

    found = await bench.runtime.documents.difference(LOCAL, "plan", 1, 2)
    back = await bench.runtime.documents.difference(LOCAL, "plan", 2, 1)
    same = await bench.runtime.documents.difference(LOCAL, "plan", 2, 2)

    assert [node["id"] for node in found["nodes"]["added"]] == [result["id"]]
    assert any(line.startswith("+") and "One" in line for line in found["text"])
    assert [node["id"] for node in back["nodes"]["removed"]] == [result["id"]]
    assert same["text"] == []
    assert not any(same["nodes"].values())


async def test_what_is_not_there_is_not_found(bench: Workbench) -> None:
    documents = bench.runtime.documents
    for action in (
        documents.show(LOCAL, "no"),
        documents.file(LOCAL, "no", None),
        documents.number(LOCAL, "no", None),
        bench.runtime.reading.text(LOCAL, "no", 1, TextWanted()),
        bench.runtime.reading.outline(LOCAL, "no", 1, OutlineWanted()),
        documents.history(LOCAL, "no", None, 9),
        documents.difference(LOCAL, "no", 1, 2),
        documents.delete(LOCAL, "no"),
        documents.revert(LOCAL, "no", 1, None),
        documents.preview(LOCAL, "no", _edit()),
    ):  # fmt: skip
        with pytest.raises(DocumentNotFoundError):
            await action
    await a_document(bench)
    for action in (
        documents.file(LOCAL, "plan", 2), documents.number(LOCAL, "plan", 2), documents.difference(LOCAL, "plan", 1, 2),
        bench.runtime.reading.text(LOCAL, "plan", 2, TextWanted()),
        documents.revert(LOCAL, "plan", 2, None),
    ):  # fmt: skip
        with pytest.raises(RevisionNotFoundError):
            await action


async def test_who_may_not_bring_files_in_neither_makes_nor_deletes_documents(bench: Workbench) -> None:
    await a_document(bench)
    editor = a_caller(task_types=("add_chapter",))

    with pytest.raises(OutsideError):
        await bench.runtime.documents.delete(editor, "plan")
    with pytest.raises(OutsideError):
        await bench.runtime.documents.create(editor, "other", Format.DOCX, None, None)

    assert (await bench.runtime.documents.show(editor, "plan")).revision == 1
    await bench.runtime.documents.delete(a_caller(task_types=("upload",)), "plan")


async def test_deleting_cancels_what_waits_and_asks_what_runs_to_stop(bench: Workbench) -> None:
    await a_document(bench)
    running = await a_claimed_edit(bench)
    waiting = await an_edit(bench)
    _, child = await bench.a_batch({"task_type": "add_chapter", "payload": {"title": "x"}}, document_id="plan")

    await bench.runtime.documents.delete(LOCAL, "plan")

    assert await bench.states(waiting, child) == ["CANCELLED"] * 2
    assert (await bench.details(running.id)).task.cancel_requested_at is not None
    with pytest.raises(DocumentNotFoundError):
        await bench.runtime.documents.show(LOCAL, "plan")


async def test_a_number_never_comes_back(bench: Workbench) -> None:
    await a_document(bench)
    await edited(bench)
    await bench.runtime.documents.delete(LOCAL, "plan")

    done = await put(bench)

    assert done.document is not None
    assert (done.was_made, done.document.revision) == (True, 3)
    with pytest.raises(RevisionNotFoundError):
        await bench.runtime.documents.file(LOCAL, "plan", 2)


def _edit(**fields: Any) -> TaskRequest:
    given = {"task_type": "add_chapter", "payload": {"title": "One"}, **fields}
    return TaskRequest.from_python(given)
