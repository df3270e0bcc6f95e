"""Content is put at the end of texts, on slides and beside them."""

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Edit
from officeplane.edits.edit_node import EditNode
from officeplane.edits.insert_content import InsertContent
from officeplane.formats.powerpoint.presentation import Presentation
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import applied, opened, reopened, titles, written

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"


def said(deck: Presentation, node_id: str) -> str | None:
    reader = deck.reader()
    return reader.content(reader.tree.by_id[node_id])


def areas(data: bytes, slide: int) -> list[tuple[int, int, int, int]]:
    shapes = [shape for shape in reopened(data).slides[slide].shapes if shape.has_table or shape.text_frame.text]
    return [(each.left, each.top, each.left + each.width, each.top + each.height) for each in shapes]


def test_a_text_goes_on_in_the_way_in_which_it_ends() -> None:
    deck = opened(powerpoint.plain())
    before = written(deck)

    result = applied(deck, InsertContent(content="- Hardware **too**\n\nSee below", into="slide-257.3"))

    assert result == {"id": "slide-257.3"}
    assert said(deck, "slide-257.3") == "- Up by a third\n- Mostly services\n- Hardware **too**\n\nSee below"
    paragraphs = reopened(written(deck)).slides[1].placeholders[1].text_frame.paragraphs
    assert paragraphs[0]._p.xml == reopened(before).slides[1].placeholders[1].text_frame.paragraphs[0]._p.xml


def test_an_empty_text_begins_with_what_is_inserted() -> None:
    deck = opened(powerpoint.plain())
    applied(deck, EditNode(node_id="slide-257.3", text=""), InsertContent(content="First", into="slide-257.3"))

    assert [p.text for p in reopened(written(deck)).slides[1].placeholders[1].text_frame.paragraphs] == ["First"]


def test_notes_and_cells_go_on() -> None:
    deck = opened(powerpoint.tables())

    applied(deck, InsertContent(content="more", into="slide-256.4.r3.c1"))
    applied(deck, InsertContent(content="Say this", into="slide-256.notes"))
    applied(deck, InsertContent(content="and *that*", into="slide-256.notes"))

    assert said(deck, "slide-256.4.r3.c1") == "**r2c0**\n\nmore"
    assert said(deck, "slide-256.notes") == "Say this\n\nand *that*"
    assert written(deck)


def test_on_a_slide_content_becomes_a_box_and_tables_clear_of_what_lies_there() -> None:
    deck = opened(powerpoint.without_placeholders())

    result = applied(deck, InsertContent(content=f"A line\n\n- an item\n\n{TABLE}", into="slide-256"))

    found = areas(written(deck), 0)
    assert "warnings" not in result
    assert said(deck, result["id"]) == "A line\n\n- an item"
    assert len(found) == 3
    for place, (left, top, right, bottom) in enumerate(found):
        assert 0 <= left < right <= 9_144_000
        assert 0 <= top < bottom <= 6_858_000
        assert all(bottom <= other[1] or other[3] <= top for other in found[place + 1 :])


def test_where_nothing_is_free_that_is_told() -> None:
    deck = opened(powerpoint.plain())

    result = applied(deck, InsertContent(content="Over it", into="slide-257"))

    assert [(warning["code"], warning["nodeId"]) for warning in result["warnings"]] == [("overflow", "slide-257")]
    assert "lies over others" in result["warnings"][0]["detail"]
    assert said(opened(written(deck)), result["id"]) == "Over it"


def test_what_has_no_room_in_its_box_is_told() -> None:
    result = applied(
        opened(powerpoint.without_placeholders()), InsertContent(content="a story " * 4_000, into="slide-256")
    )

    assert {warning["code"] for warning in result["warnings"]} == {"overflow"}


def test_beside_a_slide_and_in_a_chapter_content_is_a_slide() -> None:
    deck = opened(powerpoint.sectioned())
    chapter = deck.outline()[1].id

    applied(
        deck,
        InsertContent(content="# After\n\nBody", after="slide-256"),
        InsertContent(content=f"# Before\n\n{TABLE}", before="slide-256", style="Light Style 1"),
        InsertContent(content="# Inside", into=chapter),
    )

    assert titles(opened(written(deck))) == [
        "Before", "Slide 0", "After", "Slide 1", "Inside", "Slide 2", "Slide 3", "Slide 4",
    ]  # fmt: skip
    assert [len(each.children) for each in deck.outline()] == [4, 1, 3]


@pytest.mark.parametrize(
    ("make", "edit", "reason"),
    [
        (powerpoint.plain, InsertContent(content="x", after="slide-257.3"), "with into, content goes to the end"),
        (powerpoint.plain, InsertContent(content=TABLE, into="slide-257.3"), "a table cannot stand in the text of"),
        (powerpoint.plain, InsertContent(content="x", into="slide-257", style="Quote"), "is for tables"),
        (powerpoint.plain, InsertContent(content=TABLE, into="slide-257", style="None"), "there is no table style"),
        (powerpoint.plain, InsertContent(content="x", into="slide-9"), "there is no node 'slide-9'"),
        (powerpoint.illustrated, InsertContent(content="x", into="slide-257.3"), "is a picture, which has no text"),
    ],
)
def test_what_has_no_place_is_refused_with_a_reason(make: powerpoint.Maker, edit: Edit, reason: str) -> None:
    with pytest.raises(InvalidEditError) as refused:
        applied(opened(make()), edit)

    assert reason in str(refused.value)


@pytest.mark.parametrize("places", [{}, {"into": "slide-256", "after": "slide-256"}])
def test_exactly_one_place_has_to_be_given(places: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="give exactly one of before, after and into"):
        InsertContent.model_validate({"content": "x", **places})
