"""Reading presentations in parts: shapes with their places, cells of tables, notes and comments."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import pptx
import pytest
from pptx.util import Emu

from officeplane.domain.document import Format, Node
from officeplane.edits.add_slide import AddSlide
from officeplane.formats.opening import read_document
from officeplane.formats.reading.finding import FindWanted, find
from officeplane.formats.reading.listing import ListWanted, listed
from officeplane.formats.reading.outlining import OutlineWanted, outline
from officeplane.formats.reading.reader import Reader
from officeplane.formats.reading.showing import NodeWanted, node
from tests.fixtures.documents import powerpoint
from tests.formats.word.texts import occasion


def reader(data: bytes) -> Reader:
    return read_document(Format.PPTX, data).reader()


def flat(nodes: Sequence[Node]) -> list[str]:
    return [one for node in nodes for one in (node.id, *flat(node.children))]


def ids(items: Sequence[dict[str, Any]]) -> list[str]:
    return [one for item in items for one in (item["id"], *ids(item.get("children", ())))]


@pytest.mark.parametrize("make", powerpoint.HARD.values(), ids=powerpoint.HARD)
def test_an_outline_lists_the_nodes_that_edits_name(make: Callable[[], bytes]) -> None:
    deck = read_document(Format.PPTX, make())

    listed_ids = ids(outline(deck.reader(), OutlineWanted()).items)

    assert listed_ids == flat(deck.outline())


def test_a_slide_is_told_with_its_shapes_and_their_places() -> None:
    deck = reader(powerpoint.plain())
    slide = deck.tree.top[0]

    shown = node(deck, NodeWanted(slide.id, form=True)).node

    title = next(child for child in shown["children"] if child["kind"] == "title")
    assert title["text"] == shown["text"] == slide.text
    assert title["format"]["placeholder"] in {"title", "ctrTitle"}
    assert {"x", "y", "width", "height"} <= {*title["format"]}
    assert shown["content"].startswith(f"# {slide.text}")


def test_a_list_on_a_slide_is_read_as_the_list_that_was_written() -> None:
    deck = read_document(Format.PPTX, powerpoint.plain())
    body = "- one\n  - **deep**\n- two"
    made = AddSlide(title="A list", body=body).apply(deck, occasion())

    shown = node(deck.reader(), NodeWanted(str(made["id"]))).node

    assert shown["content"] == f"# A list\n\n{body}"


def test_cells_of_a_table_are_nodes() -> None:
    deck = reader(powerpoint.tables())

    tables = [detail for detail in deck.tree.by_id.values() if detail.kind == "table"]

    shown = node(deck, NodeWanted(tables[0].id, depth=2)).node
    assert shown["facts"]["rows"] == len(shown["children"])
    cell = shown["children"][0]["children"][0]
    assert cell["id"] == f"{tables[0].id}.r1.c1"
    said = " ".join(cell["text"].split())
    assert shown["content"].startswith(f"| {said} |")
    assert find(deck, FindWanted(cell["text"].split()[0], kinds=("cell",))).items[0]["id"] == cell["id"]


def test_notes_are_searched_and_a_title_is_found_once() -> None:
    deck = reader(powerpoint.with_notes())
    notes = next(detail for detail in deck.tree.by_id.values() if detail.kind == "notes")
    slide = deck.tree.parents[notes.id]

    found = find(deck, FindWanted(notes.text.split()[0], under=notes.id)).items
    titles = [item for item in find(deck, FindWanted(slide.text)).items if item["kind"] in {"slide", "title"}]

    assert found[0]["id"] == notes.id
    assert found[0]["page"] == slide.id
    assert {item["kind"] for item in titles} == {"slide"}


def test_comments_and_pictures_are_listed() -> None:
    comments = listed(reader(powerpoint.commented()), ListWanted("comments")).items
    pictures = listed(reader(powerpoint.illustrated()), ListWanted("images")).items

    assert comments
    assert all(item["parent"].startswith("slide-") and item["text"] for item in comments)
    assert pictures
    assert all(item["width"] > 0 and item["height"] > 0 for item in pictures)


def test_what_has_no_room_on_a_slide_is_told() -> None:
    deck = read_document(Format.PPTX, powerpoint.plain())
    body = "\n\n".join(["A sentence that goes on and on. " * 8] * 30)
    made = AddSlide(title="Much", body=body).apply(deck, occasion())

    shown = node(deck.reader(), NodeWanted(str(made["id"]), form=True)).node

    assert shown["format"]["overflow"]


def test_a_hidden_slide_says_so() -> None:
    deck = reader(powerpoint.hidden())

    assert any(detail.facts.get("hidden") for detail in deck.tree.by_id.values() if detail.kind == "slide")


def test_what_somebody_wrote_in_bold_and_with_a_link_is_told_so() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    frame = slide.shapes.add_textbox(Emu(0), Emu(0), Emu(914_400), Emu(914_400)).text_frame
    bold, link = frame.paragraphs[0].add_run(), frame.paragraphs[0].add_run()
    bold.text, bold.font.bold = "Read", True
    link.text, link.hyperlink.address = " this", "https://example.org/"
    file = io.BytesIO()
    deck.save(file)

    (box,) = [detail for detail in reader(file.getvalue()).tree.by_id.values() if detail.kind == "text"]

    assert reader(file.getvalue()).content(box) == "**Read** [this](https://example.org/)"
