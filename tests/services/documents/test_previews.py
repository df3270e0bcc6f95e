"""Previews: what edits would do to a document is told, and nothing is stored."""

from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.domain.errors import (
    InvalidRequestError,
    StaleRevisionError,
)
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import TaskRequest
from tests.services.editing import a_document, edited, text
from tests.workbench import Workbench


def _edit(**fields: Any) -> TaskRequest:
    given = {"task_type": "add_chapter", "payload": {"title": "One"}, **fields}
    return TaskRequest.from_python(given)


async def test_a_preview_tells_what_an_edit_would_do_and_stores_nothing(bench: Workbench) -> None:
    await a_document(bench)
    stored = await _rows(bench)

    seen = await bench.runtime.documents.preview(LOCAL, "plan", _edit())

    assert [node["text"] for node in seen["diff"]["nodes"]["added"]] == ["One"]
    assert await _rows(bench) == stored
    assert "One" not in await text(bench)
    assert (await edited(bench))["revision"] == 2


async def test_a_preview_of_several_edits_tells_of_each(bench: Workbench) -> None:
    await a_document(bench)
    batch = TaskRequest.from_python(
        {"children": [{"task_type": "add_chapter", "payload": {"title": title}} for title in ("One", "Two")]}
    )

    seen = await bench.runtime.documents.preview(LOCAL, "plan", batch)

    assert len(seen["result"]["results"]) == 2
    assert [node["text"] for node in seen["diff"]["nodes"]["added"]] == ["One", "Two"]


@pytest.mark.parametrize("count", [1, 2])
async def test_a_preview_of_a_batch_has_its_results_where_the_batch_has_them(bench: Workbench, count: int) -> None:
    await a_document(bench)
    children = [{"task_type": "add_chapter", "payload": {"title": "One"}}] * count

    seen = await bench.runtime.documents.preview(LOCAL, "plan", TaskRequest.from_python({"children": children}))

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

    seen = await bench.runtime.documents.preview(LOCAL, "plan", batch)

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
            await bench.runtime.documents.preview(LOCAL, "plan", TaskRequest.from_python(request))


async def test_a_preview_refuses_what_is_no_edit_or_cannot_work(bench: Workbench) -> None:
    await a_document(bench)
    documents = bench.runtime.documents

    with pytest.raises(InvalidRequestError, match="Only edits"):
        await documents.preview(LOCAL, "plan", TaskRequest.from_python({"task_type": "noop"}))
    with pytest.raises(InvalidRequestError, match="Only edits"):
        await documents.preview(LOCAL, "plan", _edit(task_type="revert", payload={"toRevision": 1}))
    with pytest.raises(InvalidEditError):
        await documents.preview(LOCAL, "plan", _edit(task_type="delete_page", payload={"pageId": "no"}))
    with pytest.raises(InvalidRequestError, match="xlsx"):
        await documents.preview(LOCAL, "plan", _edit(task_type="add_sheet", payload={"name": "S"}))
    assert await text(bench) == ""


async def test_a_preview_of_an_edit_that_would_be_in_conflict_says_so(bench: Workbench) -> None:
    await a_document(bench)
    await edited(bench, created_by="ann")
    documents = bench.runtime.documents

    with pytest.raises(StaleRevisionError, match="based on revision 1") as refused:
        await documents.preview(LOCAL, "plan", _edit(base_revision=1))

    (since,) = (await documents.history(LOCAL, "plan", None, 9))[:1]
    assert refused.value.facts == {"expected": 1, "actual": 2, "revisions": [since.made]}
    assert (since.author, since.task_type) == ("ann", "add_chapter")
    for options in ({"base_revision": 2}, {"base_revision": 1, "on_conflict": "rebase"}):
        assert "diff" in await documents.preview(LOCAL, "plan", _edit(**options))


async def _rows(bench: Workbench) -> list[dict[str, Any]]:
    return await bench.execute(
        "SELECT (SELECT count(*) FROM revisions) AS revisions, (SELECT count(*) FROM pieces) AS pieces, "
        "(SELECT count(*) FROM tasks) AS tasks, (SELECT count(*) FROM events) AS events"
    )
