"""Merges of presentations: shapes of a file by another program come onto what others have made of its slides."""

import base64
import io
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pptx
import pytest
from pptx.util import Inches

from officeplane.domain.document import Format
from officeplane.edits.contract import Edit, Occasion
from officeplane.edits.delete_node import DeleteNode
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.edit_node import EditNode
from officeplane.edits.image_fields import ONE_PIXEL
from officeplane.formats.merging.unit import MergeConflictError
from officeplane.formats.opening import Document
from tests.formats.merging.merges import conflicts_of, merged, opened, written

TEXTS = ("The plan for the coming year in short", "What it costs and who is going to pay for it")


def a_show() -> bytes:
    show: Any = pptx.Presentation()
    for number, text in enumerate(TEXTS):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number} has a title of its own"
        slide.placeholders[1].text = text
    return saved(show)


def saved(show: Any) -> bytes:
    file = io.BytesIO()
    show.save(file)
    return file.getvalue()


def offline(data: bytes, *changes: Callable[[Any], object]) -> bytes:
    """Return a file as python-pptx saves it after changes."""
    show: Any = pptx.Presentation(io.BytesIO(data))
    for change in changes:
        change(show)
    return saved(show)


def edited(data: bytes, *edits: Edit) -> bytes:
    """Return a file after edits of ours."""
    document = opened(Format.PPTX, data)
    for number, edit in enumerate(edits):
        edit.apply(document, Occasion(f"others-{number}", "ben", datetime(2026, 1, 5, tzinfo=UTC)))
    return written(document)


def says(slide: int, text: str) -> Callable[[Any], object]:
    return lambda show: setattr(show.slides[slide].placeholders[1], "text", text)


def _read(document: Document) -> Any:
    return pptx.Presentation(io.BytesIO(written(document)))


def texts_of(document: Document) -> list[list[str]]:
    show = _read(document)
    return [[shape.text_frame.text for shape in slide.shapes if shape.has_text_frame] for slide in show.slides]


def test_shapes_that_each_has_changed_are_both_there() -> None:
    base = a_show()
    head = edited(base, EditNode(node_id="slide-256.2", text="Another title"))

    document, made = merged(
        Format.PPTX, base, offline(base, says(0, "The plan for the coming year in long")), head
    )  # fmt: skip

    assert texts_of(document)[0] == ["Another title", "The plan for the coming year in long"]
    assert (made.changed, made.warnings) == (["slide-256.3"], [])


def test_a_shape_that_both_have_changed_is_in_conflict() -> None:
    base = a_show()
    head = edited(base, EditNode(node_id="slide-256.3", text="No plan at all"))

    with pytest.raises(MergeConflictError) as refused:
        merged(Format.PPTX, base, offline(base, says(0, "The plan for the coming year in long")), head)

    assert refused.value.facts["conflicts"] == [
        {
            "nodeId": "slide-256.3", "base": TEXTS[0], "head": "No plan at all",
            "upload": "The plan for the coming year in long", "detail": "both have changed it",
        }
    ]  # fmt: skip


def test_a_new_picture_and_a_link_come_along() -> None:
    base = a_show()

    def add(show: Any) -> None:
        shapes = show.slides[1].shapes
        shapes.add_picture(io.BytesIO(base64.b64decode(ONE_PIXEL)), Inches(1), Inches(1))
        box = shapes.add_textbox(Inches(1), Inches(2), Inches(3), Inches(1))
        run = box.text_frame.paragraphs[0].add_run()
        run.text = "the site"
        run.hyperlink.address = "https://example.com/"

    head = edited(base, EditNode(node_id="slide-257.2", text="Another title"))

    document, made = merged(Format.PPTX, base, offline(base, add), head)

    slide = _read(document).slides[1]
    assert [shape.shape_type for shape in slide.shapes][-2] == 13
    (run,) = list(slide.shapes)[-1].text_frame.paragraphs[0].runs
    assert (run.text, run.hyperlink.address) == ("the site", "https://example.com/")
    assert made.added == ["slide-257.4", "slide-257.5"]


def test_a_new_shape_never_gets_the_number_of_one_that_others_have_added() -> None:
    base = a_show()

    def add(text: str) -> Callable[[Any], object]:
        def do(show: Any) -> None:
            show.slides[0].shapes.add_textbox(Inches(1), Inches(2), Inches(3), Inches(1)).text_frame.text = text

        return do

    document, _ = merged(
        Format.PPTX, base, offline(base, add("by the upload")), offline(base, add("by others")), head_is_uploaded=True
    )

    shapes = _read(document).slides[0].shapes
    assert {shape.text_frame.text for shape in shapes} >= {"by the upload", "by others"}
    assert len({shape.shape_id for shape in shapes}) == len(shapes)


def test_a_shape_that_was_deleted_offline_goes() -> None:
    base = a_show()

    def delete(show: Any) -> None:
        element = show.slides[0].placeholders[1]._element
        element.getparent().remove(element)

    head = edited(base, EditNode(node_id="slide-257.2", text="Another title"))

    document, made = merged(Format.PPTX, base, offline(base, delete), head)

    assert made.removed == ["slide-256.3"]
    assert [len(texts) for texts in texts_of(document)] == [1, 2]


def test_what_one_deletes_and_the_other_changes_is_a_conflict() -> None:
    base = a_show()
    head = edited(base, DeleteNode(node_id="slide-256.3"))

    with pytest.raises(MergeConflictError) as refused:
        merged(Format.PPTX, base, offline(base, says(0, "The plan for the coming year in long")), head)

    assert conflicts_of(refused.value) == ["slide-256.3"]


def test_a_slide_that_others_have_deleted_is_not_changed_in_silence() -> None:
    base = a_show()
    head = edited(base, DeleteSlide(slide_id="slide-257"))

    with pytest.raises(MergeConflictError, match="has it no more"):
        merged(Format.PPTX, base, offline(base, says(1, "What it costs and who is never going to pay")), head)


def _with_new_slide(show: Any) -> None:
    show.slides.add_slide(show.slide_layouts[1])


def _without_the_first(show: Any) -> None:
    listed = show.slides._sldIdLst
    listed.remove(listed[0])


def _in_another_order(show: Any) -> None:
    listed = show.slides._sldIdLst
    listed.append(listed[0])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_with_new_slide, "new slide"),
        (_without_the_first, "deleted a slide"),
        (_in_another_order, "another order"),
    ],
)
def test_slides_that_came_went_or_moved_are_refused_by_name(change: Callable[[Any], object], why: str) -> None:
    base = a_show()

    with pytest.raises(MergeConflictError, match=why):
        merged(Format.PPTX, base, offline(base, change), edited(base, EditNode(node_id="slide-256.2", text="Another")))


def test_notes_stay_and_that_is_told() -> None:
    base = a_show()
    upload = offline(base, lambda show: setattr(show.slides[0].notes_slide.notes_text_frame, "text", "Say hello"))

    _, made = merged(Format.PPTX, base, upload, base)

    assert [(warning.code, warning.node_id) for warning in made.warnings] == [("not_merged", "slide-256")]
