"""Slides take other layouts and backgrounds, and are hidden."""

from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.edit_slide import EditSlide
from officeplane.formats.powerpoint.presentation import Presentation
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import P, applied, differing, opened, parts, reopened, slides_of, written


def slide_of(deck: Presentation, number: int) -> Any:
    return reopened(written(deck)).slides[number]


def test_placeholders_take_the_places_of_their_kind_in_the_new_layout() -> None:
    deck = opened(powerpoint.plain())

    result = applied(deck, EditSlide(slide_id="slide-257", layout="Two Content"))

    slide = slide_of(deck, 1)
    assert result == {"id": "slide-257"}
    assert slide.slide_layout.name == "Two Content"
    body, other = [each for each in slide.placeholders if each.placeholder_format.idx in {1, 2}]
    (left,) = [each for each in slide.slide_layout.placeholders if each.placeholder_format.idx == 1]
    assert (body.left, body.width, body.text_frame.text) == (left.left, left.width, "Up by a third\nMostly services")
    assert (other.placeholder_format.idx, other.text_frame.text) == (2, "")
    assert slide.shapes.title.text == "Revenue"


def test_what_the_layout_has_no_place_for_stays_where_it_was_and_is_told() -> None:
    deck = opened(powerpoint.plain())
    was = slide_of(deck, 1)
    before = [(each.left, each.top, each.width, each.height) for each in was.placeholders]

    result = applied(deck, EditSlide(slide_id="slide-257", layout="Blank"))

    assert [(warning["code"], warning["nodeId"]) for warning in result["warnings"]] == [
        ("unplaced", "slide-257.2"),
        ("unplaced", "slide-257.3"),
    ]
    assert "has no place for 'Up by a third Mostly services'" in result["warnings"][1]["detail"]
    slide = slide_of(deck, 1)
    assert [(each.left, each.top, each.width, each.height) for each in slide.placeholders] == before
    assert {each.placeholder_format.idx for each in slide.placeholders} == {4_294_967_295}
    assert slides_of(deck)[1].text == "Revenue"


def test_a_layout_and_back_leaves_a_slide_as_it_was() -> None:
    deck = opened(powerpoint.plain())
    before = deck.text()

    for layout in ("Blank", "Title Slide", "Two Content", "Title and Content"):
        applied(deck, EditSlide(slide_id="slide-257", layout=layout))

    slide = slide_of(deck, 1)
    assert deck.text() == before
    assert [each.placeholder_format.idx for each in slide.placeholders] == [0, 1]


def test_empty_placeholders_go_with_their_layout() -> None:
    deck = opened(powerpoint.plain())
    applied(deck, EditSlide(slide_id="slide-257", layout="Comparison"))
    assert len(list(slide_of(deck, 1).placeholders)) == 5

    applied(deck, EditSlide(slide_id="slide-257", layout="Title and Content"))

    assert [each.text_frame.text for each in slide_of(deck, 1).placeholders] == [
        "Revenue", "Up by a third\nMostly services",
    ]  # fmt: skip


def test_a_layout_is_named_by_its_part_where_two_have_one_name() -> None:
    deck = opened(powerpoint.two_masters())

    applied(deck, EditSlide(slide_id="slide-256", layout="slideLayout13"), EditSlide(slide_id="slide-256", title="x"))

    assert slide_of(deck, 0).slide_layout.part.partname == "/ppt/slideLayouts/slideLayout13.xml"


def test_a_slide_in_the_layout_of_a_section_header_is_a_section() -> None:
    deck = opened(powerpoint.plain())
    assert [slide.kind for slide in slides_of(deck)] == ["slide"] * 3

    applied(deck, EditSlide(slide_id="slide-257", layout="Section Header"))

    assert [slide.kind for slide in slides_of(deck)] == ["slide", "section", "slide"]


@pytest.mark.parametrize("edit", [
    EditSlide(slide_id="slide-257", layout="title and content"),
    EditSlide(slide_id="slide-257", hidden=False),
    EditSlide(slide_id="slide-257", background=None),
])  # fmt: skip
def test_what_is_so_already_changes_nothing(edit: EditSlide) -> None:
    original = opened(powerpoint.plain()).package.write().content()
    deck = opened(original)

    applied(deck, edit)

    assert written(deck) == original


def test_an_unknown_layout_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidEditError, match="there is no layout 'Fancy'; there are 'Title Slide', "):
        applied(opened(powerpoint.plain()), EditSlide(slide_id="slide-257", layout="Fancy"))


def test_a_slide_is_hidden_and_shown() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, EditSlide(slide_id="slide-257", hidden=True))
    assert deck.reader().tree.by_id["slide-257"].facts == {"hidden": True}
    applied(deck, EditSlide(slide_id="slide-257", hidden=False))

    assert deck.reader().tree.by_id["slide-257"].facts == {}


def test_a_background_is_put_behind_a_slide_and_taken_away() -> None:
    original = powerpoint.plain()
    deck = opened(original)

    applied(deck, EditSlide(slide_id="slide-257", background="ff8800"))

    fill = slide_of(deck, 1).background.fill
    assert str(fill.fore_color.rgb) == "FF8800"
    assert {name for name in differing(original, written(deck)) if name.startswith("ppt/")} == {"ppt/slides/slide2.xml"}
    applied(deck, EditSlide(slide_id="slide-257", background=None))
    assert slide_of(deck, 1).follow_master_background


def test_a_picture_behind_a_slide_goes_with_its_part_and_is_told() -> None:
    deck = opened(powerpoint.illustrated())
    applied(deck, EditSlide(slide_id="slide-257", background="000000"))
    root = deck.package.tree("ppt/slides/slide2.xml")
    look = root.find(f"{P}cSld/{P}bg/{P}bgPr")
    assert look is not None
    blip = next(root.iter("{*}blipFill"))
    look.replace(look[0], look.makeelement("{http://schemas.openxmlformats.org/drawingml/2006/main}blipFill"))
    look[0].append(blip[0])

    result = applied(deck, EditSlide(slide_id="slide-257", background="FFFFFF"))

    assert result["warnings"] == [{"code": "lost", "nodeId": "slide-257", "detail": "picture 'background'"}]
    assert "image" not in parts(deck.package.write().content())["ppt/slides/_rels/slide2.xml.rels"].decode()


@pytest.mark.parametrize("colour", ["red", "#FFFFFF", "FFFFF", ""])
def test_a_colour_has_six_digits(colour: str) -> None:
    with pytest.raises(ValueError, match="background"):
        EditSlide(slide_id="slide-257", background=colour)


def test_a_background_that_is_left_out_is_not_one_that_is_null() -> None:
    left_out = EditSlide(slide_id="slide-257", title="x")

    assert EditSlide.model_validate_json(left_out.model_dump_json(exclude_unset=True)) == left_out
    with pytest.raises(ValueError, match="give a title, a body, a layout, hidden or a background"):
        EditSlide(slide_id="slide-257")
