"""Pictures put on slides, and others put in their place."""

from typing import Any

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Edit
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.insert_image import InsertImage
from officeplane.edits.replace_image import ReplaceImage
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.reading.listing import ListWanted, listed
from tests.fixtures.documents import powerpoint
from tests.fixtures.pictures import as_text, gif, jpeg, png
from tests.formats.powerpoint.decks import applied, assert_consistent, opened, parts, reopened, slides_of, written

GREY = as_text(png(400, 200))


def images(deck: Presentation) -> list[dict[str, Any]]:
    return listed(deck.reader(), ListWanted("images")).items


def picture(deck: Presentation, node_id: str) -> bytes | None:
    reader = deck.reader()
    return reader.picture(reader.tree.by_id[node_id])


def test_a_picture_lies_in_the_middle_of_its_slide_or_where_it_is_put() -> None:
    deck = opened(powerpoint.plain())
    slide = slides_of(deck)[0].id

    middle = applied(deck, InsertImage(into=slide, base64=GREY, alt="In the middle"))["id"]
    corner = applied(deck, InsertImage(into=slide, base64=GREY, alt="In a corner", left=10.5, top=0, width=100))["id"]
    large = applied(deck, InsertImage(into=slide, base64=as_text(png(4_000, 1_000)), alt="Large"))["id"]

    found = {item["id"]: item for item in images(deck)}
    assert [*found] == [middle, corner, large]
    assert [found[middle][name] for name in ("x", "y", "width", "height")] == [210, 195, 300, 150]
    assert [found[corner][name] for name in ("x", "y", "width", "height")] == [10.5, 0, 100, 50]
    assert [found[large][name] for name in ("x", "y", "width", "height")] == [0, 180, 720, 180]
    assert picture(deck, corner) == png(400, 200)
    assert_consistent(written(deck))
    shown = [shape for shape in reopened(written(deck)).slides[0].shapes if shape.shape_type == 13]
    assert [shape.image.size for shape in shown] == [(400, 200), (400, 200), (4_000, 1_000)]


@pytest.mark.parametrize("content", [jpeg(40, 20), gif(40, 20)])
def test_pictures_of_every_kind_are_declared(content: bytes) -> None:
    deck = opened(powerpoint.plain())

    made = applied(deck, InsertImage(into=slides_of(deck)[0].id, base64=as_text(content), alt="x"))["id"]

    assert picture(deck, made) == content
    assert_consistent(written(deck))


def test_another_picture_keeps_place_and_width_and_others_keep_theirs() -> None:
    deck = opened(powerpoint.illustrated())
    slide = slides_of(deck)[0].id
    before = images(deck)
    old = {name for name in parts(written(deck)) if "media/" in name}
    prints = {item["id"]: deck.fingerprint(item["id"]) for item in before}

    applied(deck, ReplaceImage(node_id=before[0]["id"], base64=GREY, alt="Another"))

    after = images(deck)
    assert [item["id"] for item in after] == [item["id"] for item in before]
    assert [after[0][name] for name in ("x", "y", "width")] == [before[0][name] for name in ("x", "y", "width")]
    assert after[0]["height"] == pytest.approx(after[0]["width"] / 2, abs=0.01)
    assert after[0]["alt"] == "Another"
    assert after[1:] == before[1:]
    assert {one for one, said in prints.items() if deck.fingerprint(one) != said} == {before[0]["id"]}
    assert_consistent(written(deck))
    applied(deck, InsertImage(into=slide, base64=GREY, alt="Twice"))
    assert len({name for name in parts(written(deck)) if "media/" in name} - old) == 1


def test_bytes_that_nobody_shows_any_more_are_dropped() -> None:
    deck = opened(powerpoint.plain())
    first, second = (slides_of(deck)[place].id for place in (0, 1))
    one = applied(deck, InsertImage(into=first, base64=GREY, alt="x"))["id"]
    two = applied(deck, InsertImage(into=second, base64=GREY, alt="x"))["id"]

    def kept() -> list[str]:
        return [name for name in parts(written(deck)) if name.startswith("ppt/media/")]

    assert kept() == ["ppt/media/image1.png"]
    applied(deck, ReplaceImage(node_id=one, base64=as_text(jpeg(4, 4))))
    assert kept() == ["ppt/media/image1.png", "ppt/media/image2.jpeg"]
    applied(deck, ReplaceImage(node_id=two, base64=as_text(jpeg(4, 4))))
    assert kept() == ["ppt/media/image2.jpeg"]
    applied(deck, DeleteSlide(slide_id=first), DeleteSlide(slide_id=second))
    assert kept() == []


def test_a_picture_in_a_group_is_replaced_and_keeps_the_width_of_its_own() -> None:
    deck = opened(powerpoint.grouped())
    (item,) = images(deck)

    applied(deck, ReplaceImage(node_id=item["id"], base64=GREY))

    assert images(deck)[0]["width"] == item["width"]
    with pytest.raises(InvalidEditError, match="is in a group"):
        applied(deck, ReplaceImage(node_id=item["id"], base64=GREY, width=10))


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (InsertImage(after="slide-256", base64=GREY, alt="x"), "'after' says nothing in such a document"),
        (InsertImage(into="slide-256.2", base64=GREY, alt="x"), "there is no slide 'slide-256.2'|the id of a slide"),
        (InsertImage(into="slide-999", base64=GREY, alt="x"), "there is no slide 'slide-999'"),
        (InsertImage(into="slide-256", base64=as_text(png(1, 100)), alt="x", width=100), "4032 on a side"),
        (ReplaceImage(node_id="slide-256.2", base64=GREY), "there is no picture 'slide-256.2'"),
        (ReplaceImage(node_id="slide-256", base64=GREY), "there is no picture 'slide-256'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(edit: Edit, sentence: str) -> None:
    deck = opened(powerpoint.plain())
    before = written(deck)

    with pytest.raises(InvalidEditError, match=sentence):
        applied(deck, edit)
    deck.package.rollback()

    assert written(deck) == before
