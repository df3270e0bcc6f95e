"""Uploads that were written by another program: their nodes are read and edited by the ids that they had."""

import asyncio
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from officeplane.formats.document_names import named
from officeplane.formats.naming.names import Names
from officeplane.formats.opening import read_document
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.services.edits import matching
from tests.fixtures.documents import powerpoint, word
from tests.services.documents.uploading import put, upload_of
from tests.services.editing import content, edited, ran
from tests.support import eventually
from tests.workbench import Workbench

_DECK = powerpoint.HARD["plain"]()
_TEXT = word.HARD["paragraph_ids"]()


def _written_elsewhere(kind: Format, data: bytes) -> bytes:
    """Return a file as a program writes it that numbers all nodes anew."""
    return named(read_document(kind, data), Names(seed="elsewhere")).package.write().content()


async def _uploaded(bench: Workbench, data: bytes, if_match: int) -> None:
    before = await upload_of(bench)

    async def its_task() -> Task | None:
        found = await upload_of(bench)
        return None if found is None or (before is not None and found.id == before.id) else found

    request = asyncio.create_task(put(bench, data, if_match=if_match))
    try:
        await ran(bench, await eventually(its_task, what="the upload's task"))
        await request
    finally:
        request.cancel()
        await asyncio.wait({request})


async def _ids(bench: Workbench, revision: int, document_id: str = "plan") -> list[str]:
    wanted = OutlineWanted(kinds=("slide", "text", "title", "chapter", "section", "heading", "paragraph", "item"))
    return [*_walk((await bench.runtime.reading.outline(LOCAL, document_id, revision, wanted)).items)]


def _walk(nodes: list[dict[str, Any]]) -> list[str]:
    return [found for node in nodes for found in (node["id"], *_walk(node.get("children", [])))]


async def _kept(bench: Workbench) -> list[bool]:
    """Tell of each revision whether names are kept with it."""
    rows = await bench.execute("SELECT names IS NOT NULL AS kept FROM revisions ORDER BY revision")
    return [row["kept"] for row in rows]


@pytest.mark.parametrize(("kind", "data"), [(Format.PPTX, _DECK), (Format.DOCX, _TEXT)], ids=["deck", "text"])
async def test_nodes_keep_their_ids_and_the_file_stays_as_it_came(bench: Workbench, kind: Format, data: bytes) -> None:
    await put(bench, data)
    other = _written_elsewhere(kind, data)

    await _uploaded(bench, other, 1)

    assert await _ids(bench, 2) == await _ids(bench, 1)
    assert await content(bench) == other
    assert await _kept(bench) == [False, True]


async def test_an_edit_names_a_node_by_the_id_that_it_had_and_writes_the_ids_into_the_file(bench: Workbench) -> None:
    await put(bench, _DECK)
    ids = await _ids(bench, 1)
    await _uploaded(bench, _written_elsewhere(Format.PPTX, _DECK), 1)
    text = next(one for one in ids if one.endswith(".3"))

    await edited(bench, "edit_node", payload={"nodeId": text, "text": "another text"})

    assert await _ids(bench, 3) == ids
    assert await _kept(bench) == [False, True, False]
    document = read_document(Format.PPTX, await content(bench))
    assert document.reader().tree.by_id[text].text == "another text"


async def test_an_edit_that_was_based_on_what_was_there_before_is_compared_with_the_same_nodes(
    bench: Workbench,
) -> None:
    await put(bench, _DECK)
    text = next(one for one in await _ids(bench, 1) if one.endswith(".3"))
    await _uploaded(bench, _written_elsewhere(Format.PPTX, _DECK), 1)

    result = await edited(
        bench, "edit_node", payload={"nodeId": text, "text": "on the first"}, base_revision=1, on_conflict="rebase"
    )

    assert result["revision"] == 3


async def test_an_upload_that_follows_another_one_keeps_the_ids_of_the_first(bench: Workbench) -> None:
    await put(bench, _DECK)
    other = _written_elsewhere(Format.PPTX, _DECK)
    await _uploaded(bench, other, 1)

    await _uploaded(bench, _DECK, 2)

    assert await _ids(bench, 3) == await _ids(bench, 1)


async def test_a_revision_that_is_returned_to_calls_its_nodes_what_it_called_them(bench: Workbench) -> None:
    await put(bench, _DECK)
    ids = await _ids(bench, 1)
    await _uploaded(bench, _written_elsewhere(Format.PPTX, _DECK), 1)
    await edited(bench, "delete_slide", payload={"slideId": ids[0]})

    task = (await bench.runtime.documents.revert(LOCAL, "plan", 2, None)).task
    await ran(bench, task)

    assert await _ids(bench, 4) == ids


async def test_an_upload_that_is_too_large_to_be_compared_gets_new_ids(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(bench, _DECK)
    monkeypatch.setattr(matching, "BYTES_MAX", 1)

    await _uploaded(bench, _written_elsewhere(Format.PPTX, _DECK), 1)

    ids = await _ids(bench, 2)
    assert len(ids) == len(await _ids(bench, 1))
    assert not {*ids} & {*await _ids(bench, 1)}
