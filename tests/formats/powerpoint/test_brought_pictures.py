"""Pictures that content brings lie on its slide, beside its text."""

from itertools import combinations
from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.edit_node import EditNode
from officeplane.edits.edit_page import EditPage
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.insert_content import InsertContent
from officeplane.edits.write_page import WritePage
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.reading.listing import ListWanted, listed
from tests.fixtures.documents import powerpoint
from tests.fixtures.pictures import as_text, png
from tests.formats.powerpoint.decks import applied, assert_consistent, occasion, opened, reopened, slides_of, written

GREY = f"data:image/png;base64,{as_text(png(400, 200))}"
TEXT = "# Sales\n\n- up\n- down\n"


def images(deck: Presentation, slide: str) -> list[dict[str, Any]]:
    return [item for item in listed(deck.reader(), ListWanted("images")).items if item["id"].startswith(f"{slide}.")]


def content(deck: Presentation, node_id: str) -> str:
    reader = deck.reader()
    return reader.content(reader.tree.by_id[node_id]) or ""


def assert_nothing_overlaps(deck: Presentation, slide_id: str) -> None:
    number = [slide.id for slide in slides_of(deck)].index(slide_id)
    shapes = [
        shape
        for shape in reopened(written(deck)).slides[number].shapes
        if not shape.has_text_frame or shape.text_frame.text.strip()
    ]
    for one, other in combinations(shapes, 2):
        assert (
            one.left + one.width <= other.left
            or other.left + other.width <= one.left
            or one.top + one.height <= other.top
            or other.top + other.height <= one.top
        ), (one.name, other.name)


@pytest.mark.parametrize(
    "said",
    [
        f"{TEXT}\n![grey]({GREY})",
        f"# Sales ![grey]({GREY})\n\nup",
        f"{TEXT}\n![grey]({GREY}) ![other]({GREY})\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        f"# Sales\n\n![grey]({GREY})",
        f"![grey]({GREY})",
    ],
)
def test_pictures_of_a_new_slide_lie_beside_its_text(said: str) -> None:
    deck = opened(powerpoint.plain())

    result = WritePage(content=said).apply(deck, occasion())

    assert len(images(deck, result["id"])) == said.count("![")
    assert "warnings" not in result
    assert_nothing_overlaps(deck, result["id"])
    assert_consistent(written(deck))
    assert "![grey](node:" in content(deck, result["id"])


def test_a_page_that_is_written_as_it_was_read_keeps_its_pictures_once() -> None:
    deck = opened(powerpoint.plain())
    slide = applied(deck, WritePage(content=f"{TEXT}\n![grey]({GREY})"))["id"]
    said, before = content(deck, slide), images(deck, slide)

    result = EditPage(page_id=slide, content=said).apply(deck, occasion(2))

    assert content(deck, slide) == said
    assert images(deck, slide) == before
    assert "warnings" not in result
    assert_nothing_overlaps(deck, slide)


def test_a_new_body_leaves_room_for_the_pictures_that_lie_beside_it() -> None:
    deck = opened(powerpoint.plain())
    slide = applied(deck, AddSlide(title="Sales", body=f"up\n\n![grey]({GREY})"))["id"]

    applied(deck, EditSlide(slide_id=slide, body="Another body\n\nof two paragraphs"))

    assert_nothing_overlaps(deck, slide)
    assert len(images(deck, slide)) == 1


def test_a_picture_of_another_slide_is_copied_and_told_as_the_content_tells_it() -> None:
    deck = opened(powerpoint.plain())
    first = applied(deck, WritePage(content=f"{TEXT}\n![grey]({GREY})"))["id"]
    (picture,) = images(deck, first)

    second = applied(deck, WritePage(content=f"{TEXT}\n![the same](node:{picture['id']})"))["id"]

    assert [item["alt"] for item in images(deck, second)] == ["the same"]
    assert [item["alt"] for item in images(deck, first)] == ["grey"]
    assert_consistent(written(deck))
    assert_nothing_overlaps(deck, second)


def test_content_put_on_a_slide_brings_pictures_where_there_is_room() -> None:
    deck = opened(powerpoint.plain())
    slide = applied(deck, AddSlide(title="Sales"))["id"]

    made = applied(deck, InsertContent(content=f"A word\n\n![grey]({GREY})", into=slide))["id"]
    alone = applied(deck, InsertContent(content=f"![alone]({GREY})", into=slide))["id"]

    assert [item["alt"] for item in images(deck, slide)] == ["grey", "alone"]
    assert made not in {item["id"] for item in images(deck, slide)}
    assert alone == images(deck, slide)[1]["id"]
    assert_nothing_overlaps(deck, slide)
    assert_consistent(written(deck))


def test_in_a_text_of_a_slide_a_picture_is_its_alternative_text() -> None:
    deck = opened(powerpoint.plain())
    applied(deck, AddSlide(title="Sales", body="up"))
    reader = deck.reader()
    text = next(one.id for one in reader.tree.by_id.values() if one.text == "up")

    result = EditNode(node_id=text, content=f"![grey]({GREY}) up[^1]").apply(deck, occasion(2))

    assert [warning["code"] for warning in result["warnings"]] == ["not_kept", "not_kept"]
    assert content(deck, text) == "grey up\\[^1\\]"


@pytest.mark.parametrize(
    ("said", "why"),
    [("![x](node:slide-999.1)", "slide-999"), ("![x](node:{title})", "is a title"), ("![x](data:,a)", "is no picture")],
)
def test_what_is_no_picture_is_refused(said: str, why: str) -> None:
    deck = opened(powerpoint.plain())
    slide = applied(deck, AddSlide(title="Sales"))["id"]
    title = next(one.id for one in deck.reader().tree.by_id.values() if one.text == "Sales" and one.kind == "title")

    with pytest.raises(InvalidEditError, match=why):
        EditPage(page_id=slide, content=said.format(title=title)).apply(deck, occasion(2))
