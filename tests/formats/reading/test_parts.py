"""Reading in parts: whatever the format, parts put together are the whole, and no part is larger than it may be."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.errors import NodeNotFoundError
from officeplane.edits.all_edits import all_edits
from officeplane.formats.opening import read_document
from officeplane.formats.reading.finding import FindWanted, find
from officeplane.formats.reading.outlining import OutlineWanted, outline
from officeplane.formats.reading.reader import Reader
from officeplane.formats.reading.room import TOKEN_BYTES, Part
from officeplane.formats.reading.showing import NodeWanted, node
from officeplane.formats.reading.telling import TextWanted, text_under, told
from tests.fixtures.documents import excel, powerpoint, word
from tests.formats.reading.contracts import contract

assert all_edits()

MAKERS: Mapping[str, tuple[Format, Callable[[], bytes]]] = {
    **{f"docx {name}": (Format.DOCX, maker) for name, maker in word.HARD.items()},
    **{f"pptx {name}": (Format.PPTX, maker) for name, maker in powerpoint.HARD.items()},
    **{f"xlsx {name}": (Format.XLSX, maker) for name, maker in excel.HARD.items() if name != "big"},
    "docx contract": (Format.DOCX, contract),
}


@pytest.fixture(params=MAKERS)
def reader(request: pytest.FixtureRequest) -> Reader:
    kind, maker = MAKERS[request.param]
    return read_document(kind, maker()).reader()


def flat(items: list[dict[str, Any]], parent: str | None = None) -> Iterator[tuple[str | None, dict[str, Any]]]:
    for item in items:
        yield item.get("parent", parent), {k: v for k, v in item.items() if k not in {"children", "parent"}}
        yield from flat(item.get("children", []), item["id"])


def parts(read: Callable[[int], Part]) -> Iterator[Part]:
    begin: int | None = 0
    while begin is not None:
        part = read(begin)
        yield part
        begin = part.next


def test_parts_of_an_outline_are_the_outline(reader: Reader) -> None:
    whole = [*flat(outline(reader, OutlineWanted(texts=True)).items)]

    read = [*parts(lambda begin: outline(reader, OutlineWanted(texts=True, begin=begin, tokens_max=200)))]

    assert [node for part in read for node in flat(part.items)] == whole


def test_parts_of_what_is_found_are_all_that_is_found(reader: Reader) -> None:
    whole = find(reader, FindWanted("e", limit=100_000)).items

    read = [*parts(lambda begin: find(reader, FindWanted("e", limit=7, begin=begin, tokens_max=300)))]

    assert [item for part in read for item in part.items] == whole
    assert all(len(part.items) <= 7 for part in read)


def test_an_answer_is_no_larger_than_it_may_be(reader: Reader) -> None:
    for tokens in (100, 500):
        items = outline(reader, OutlineWanted(tokens_max=tokens)).items
        places = find(reader, FindWanted("e", tokens_max=tokens)).items

        for read in (items, places):
            told = json.dumps(read, ensure_ascii=False, separators=(",", ":")).encode()
            assert len(read) <= 1 or len(told) <= tokens * TOKEN_BYTES


def test_each_node_has_an_id_of_its_own_and_can_be_shown(reader: Reader) -> None:
    for node_id, detail in reader.tree.by_id.items():
        shown = node(reader, NodeWanted(node_id, form=True, tokens_max=2_000)).node

        assert (shown["id"], shown["kind"]) == (node_id, detail.kind)
        assert json.dumps(shown)


def test_neighbours_lead_from_one_node_to_the_next_and_back(reader: Reader) -> None:
    for detail in reader.tree.by_id.values():
        shown = node(reader, NodeWanted(detail.id, depth=0, tokens_max=500)).node

        if "following" in shown:
            after = node(reader, NodeWanted(shown["following"]["id"], depth=0, tokens_max=500)).node
            assert after["previous"]["id"] == detail.id
        for child in detail.children:
            inner = node(reader, NodeWanted(child.id, depth=0, tokens_max=500)).node
            assert inner["parent"]["id"] == detail.id


def test_parts_of_a_text_are_the_text(reader: Reader) -> None:
    for top in reader.tree.top:
        whole = text_under(reader, top.id)

        read: list[str] = []
        begin: int | None = 0
        while begin is not None:
            part = told(whole, TextWanted(begin=begin, tokens_max=60))
            read.append(part.text)
            begin = part.next

        assert "".join(read) == whole
        assert all(len(part.encode()) <= 240 or len(part) == 1 for part in read)


def test_what_is_found_stands_where_it_is_said_to(reader: Reader) -> None:
    texts = {searched.id: searched.text for searched in reader.searched(None)}

    for item in find(reader, FindWanted("THE", limit=500)).items:
        # A cell with a formula says two things.
        said = texts[item["id"]]
        if item["kind"] not in {"formula", "cell"}:
            assert said[item["position"] : item["position"] + 3].lower() == "the"


def test_reading_twice_tells_the_same_ids(reader: Reader, request: pytest.FixtureRequest) -> None:
    kind, maker = MAKERS[request.node.callspec.params["reader"]]

    again = read_document(kind, maker()).reader()

    # The makers draw no lots, but for the libraries' own clocks, which no id depends on.
    assert [*again.tree.by_id] == [*reader.tree.by_id]


def test_a_depth_of_one_lists_what_is_at_the_top(reader: Reader) -> None:
    shallow = outline(reader, OutlineWanted(depth=1)).items

    assert not any("children" in item for item in shallow)
    whole = [item["id"] for item in outline(reader, OutlineWanted()).items]
    assert [item["id"] for item in shallow] == whole


def test_marks_of_what_is_left_out_are_told_by_what_is_around_it(reader: Reader) -> None:
    for top in reader.tree.top:
        if top.is_coarse:
            (item,) = outline(reader, OutlineWanted(depth=1, under=top.id)).items

            assert item.get("marks", {}) == {mark: count for mark, count in top.marks.items() if count}


def test_a_node_that_is_not_there_is_refused_with_the_one_that_was_meant(reader: Reader) -> None:
    some = next(iter(reader.tree.by_id), None)
    if some is None:
        return

    with pytest.raises(NodeNotFoundError) as refused:
        node(reader, NodeWanted(f"{some}x"))

    assert refused.value.nearest is not None
    assert "find?text=" in str(refused.value)
    for wanted in (OutlineWanted(under="nowhere-1"), FindWanted("e", under="nowhere-1")):
        with pytest.raises(NodeNotFoundError):
            outline(reader, wanted) if isinstance(wanted, OutlineWanted) else find(reader, wanted)


def test_parts_of_a_nodes_content_are_its_content(reader: Reader) -> None:
    for top in reader.tree.top:
        whole = node(reader, NodeWanted(top.id, depth=0)).node.get("content", "")

        read: list[str] = []
        begin: int | None = 0
        while begin is not None:
            part = node(reader, NodeWanted(top.id, depth=0, begin=begin, tokens_max=100))
            read.append(part.node.get("content", ""))
            begin = part.next

        assert "".join(read) == whole
