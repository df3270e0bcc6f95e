"""Slides of other presentations: what comes along, and what they look like where they come to."""

from collections.abc import Callable

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.contract import Result
from officeplane.edits.copy_slide import CopySlide, SlideOrigin
from officeplane.edits.edit_node import EditNode
from officeplane.formats.gate import admit
from officeplane.formats.powerpoint.presentation import Presentation
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import assert_consistent, occasion, opened, parts, reopened, slides_of, written

DOCUMENTS = {**powerpoint.HARD}


def copied(origin: Presentation, slide_id: str, deck: Presentation, position: int | None = None) -> Result:
    """Copy a slide from one presentation to another, as the child of that is told to."""
    taken = origin.take_slide(slide_id)
    admit(taken)
    when = occasion()
    when.source = taken
    return CopySlide(origin=SlideOrigin(document_id="other", slide_id=slide_id), position=position).apply(deck, when)


def content(deck: Presentation, node_id: str) -> str:
    reader = deck.reader()
    return reader.content(reader.tree.by_id[node_id]) or ""


def notes(deck: Presentation, slide_id: str) -> str:
    reader = deck.reader()
    found = reader.tree.by_id.get(f"{slide_id}.notes")
    return "" if found is None else reader.said(found)


@pytest.mark.parametrize("make", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("target", [powerpoint.plain, powerpoint.two_masters, powerpoint.localised])
def test_every_slide_says_the_same_in_another_presentation(
    make: Callable[[], bytes], target: Callable[[], bytes]
) -> None:
    origin = opened(make())
    before = origin.package.write().content()
    said = {slide.id: origin.fingerprint(slide.id) for slide in slides_of(opened(target()))}
    for slide in slides_of(origin)[:3]:
        deck, again = opened(target()), opened(target())

        result = copied(origin, slide.id, deck)

        assert copied(origin, slide.id, again) == result
        assert written(again) == written(deck)
        assert_consistent(written(deck))
        assert [text.split("](node:")[0] for text in content(deck, result["id"]).split("\n")] == [
            text.split("](node:")[0] for text in content(origin, slide.id).split("\n")
        ]
        assert notes(deck, result["id"]) == notes(origin, slide.id)
        assert result["id"] not in said
        assert len(reopened(written(deck)).slides) == len(said) + 1
    assert origin.package.write().content() == before


def test_pictures_charts_and_media_come_along_and_equal_pictures_are_kept_once() -> None:
    origin = opened(powerpoint.illustrated())
    deck = opened(powerpoint.illustrated())
    media = {name for name in parts(written(deck)) if name.startswith("ppt/media/")}
    charts = {name for name in parts(written(deck)) if name.startswith("ppt/charts/chart")}

    for slide in slides_of(origin):
        copied(origin, slide.id, deck)

    after = parts(written(deck))
    assert {name for name in after if name.startswith("ppt/media/")} == media
    assert len([name for name in after if name.startswith("ppt/charts/chart")]) == 2 * len(charts)


def test_a_copy_is_edited_without_the_original() -> None:
    origin, deck = opened(powerpoint.with_notes()), opened(powerpoint.with_notes())
    first = slides_of(origin)[0].id

    made = copied(origin, first, deck)["id"]
    EditNode(node_id=f"{made}.notes", text="Other notes", discard=True).apply(deck, occasion(2))

    assert notes(deck, made) == "Other notes"
    assert notes(deck, first) == notes(origin, first)


@pytest.mark.parametrize("position", [0, 1, 99, None])
def test_a_slide_comes_where_it_is_to(position: int | None) -> None:
    deck = opened(powerpoint.sectioned())
    count = len(slides_of(deck))

    made = copied(opened(powerpoint.plain()), "slide-256", deck, position)["id"]

    order = [slide.id for slide in slides_of(deck)]
    assert order.index(made) == (count if position in {99, None} else position)
    assert_consistent(written(deck))


def test_the_layout_is_the_one_of_its_name_or_else_the_closest_and_that_is_said() -> None:
    origin = opened(powerpoint.plain())
    made = AddSlide(title="Sales", layout="Two Content").apply(origin, occasion())["id"]
    same, other = opened(powerpoint.plain()), opened(powerpoint.custom_layouts())

    one, two = copied(origin, made, same), copied(origin, made, other)

    shown = reopened(written(same)).slides[-1]
    assert shown.slide_layout.name == "Two Content"
    assert "warnings" not in one
    assert [warning["code"] for warning in two["warnings"]][:1] == ["other_layout"]
    assert "'Two Content'" in two["warnings"][0]["detail"]


def test_comments_and_links_to_other_slides_stay_behind_and_that_is_said() -> None:
    for make, what in ((powerpoint.commented, "comments"), (powerpoint.linked, "links to other slides")):
        origin, deck = opened(make()), opened(powerpoint.plain())
        told = [
            warning["detail"]
            for slide in slides_of(origin)
            for warning in copied(origin, slide.id, deck).get("warnings", [])
            if warning["code"] == "not_copied"
        ]
        assert any(what in detail for detail in told), told
        assert_consistent(written(deck))


def test_a_file_of_one_slide_holds_nothing_of_the_others() -> None:
    origin = opened(powerpoint.illustrated())
    slides = slides_of(origin)

    taken = parts(origin.take_slide(slides[0].id))

    assert sum(name.startswith("ppt/slides/slide") for name in taken) == 1
    assert sum(name.startswith("ppt/slideLayouts/slideLayout") for name in taken) == 1
    assert "docProps/core.xml" not in taken
    assert len(taken) < len(parts(written(origin)))


def test_a_slide_that_is_not_there_and_a_copy_without_a_file_are_refused() -> None:
    deck = opened(powerpoint.plain())
    without = occasion()
    without.source = None

    with pytest.raises(InvalidEditError, match="there is no slide 'slide-999'"):
        deck.take_slide("slide-999")
    with pytest.raises(InvalidEditError, match="a handler cannot ask for it"):
        CopySlide(origin=SlideOrigin(document_id="other", slide_id="slide-256")).apply(deck, without)
