"""What does not fit on its slide is told."""

import pytest

from officeplane.edits.add_section import AddSection
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.contract import Edit
from officeplane.edits.edit_page import EditPage
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.fill_template import FillTemplate
from officeplane.edits.insert_table import InsertTable
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.write_page import WritePage
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import applied, opened, reopened, written

LONG = "a story without an end " * 1_000
ROWS = "\n".join(["|a|", "|-|", *("|b|" for _ in range(40))])
TITLE = "A title of far more words than any slide has room for at its top, " * 3


def test_a_table_of_more_rows_than_its_slide_has_room_for_is_told() -> None:
    deck = opened(powerpoint.plain())

    result = applied(deck, InsertTable(rows=[[number] for number in range(40)]))

    (warning,) = result["warnings"]
    slide = reopened(written(deck)).slides[3]
    (frame,) = [shape for shape in slide.shapes if shape.has_table]
    fitting = (6_858_000 - frame.top) // frame.table.rows[0].height
    assert (warning["code"], warning["nodeId"]) == ("overflow", result["id"])
    assert warning["detail"] == f"the table of 40 rows runs off the slide, which has room for {fitting} of them"
    assert "warnings" not in applied(deck, InsertTable(rows=[[number] for number in range(fitting)]))


def test_the_text_of_a_table_that_makes_it_run_off_its_slide_is_told() -> None:
    result = applied(opened(powerpoint.plain()), InsertTable(rows=[["word " * 300, "x"], ["word " * 300, "y"]]))

    assert [warning["detail"] for warning in result["warnings"]] == [
        "the text of a table of 2 rows probably makes it run off the slide"
    ]


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (AddSlide(title="x", body=LONG), ["text 'a story"]),
        (AddSlide(title=TITLE), ["title 'A title"]),
        (AddSection(title="x", content=LONG), ["text 'a story"]),
        (WritePage(content=f"# {TITLE}\n\n{LONG}"), ["title 'A title", "text 'a story"]),
        (WritePage(content=ROWS), ["table of 41 rows"]),
        (EditPage(page_id="slide-257", content=LONG), ["text 'a story"]),
        (EditSlide(slide_id="slide-257", title=TITLE), ["title 'A title"]),
        (EditSlide(slide_id="slide-257", body=ROWS), ["table of 41 rows"]),
        (ReplaceText(find="Mostly", replace=LONG), ["text 'Up by a third a story"]),
        (FillTemplate(values={"name": LONG}), ["text 'Dear a story"]),
    ],
)
def test_what_has_no_room_on_its_slide_is_told_by_every_edit(edit: Edit, told: list[str]) -> None:
    make = powerpoint.split_runs if isinstance(edit, FillTemplate) else powerpoint.plain

    result = applied(opened(make()), edit)

    assert {(warning["code"], warning["nodeId"]) for warning in result["warnings"]} == {("overflow", result["id"])}
    assert [one in warning["detail"] for one, warning in zip(told, result["warnings"], strict=True)] == [True] * len(
        told
    )


def test_a_text_that_only_gets_more_lines_is_told_too() -> None:
    deck = opened(powerpoint.plain())
    points = applied(deck, AddSlide(title="x", body=f"a{' b' * 200}"))

    assert "warnings" not in points
    (warning,) = applied(deck, ReplaceText(find=" b", replace="\nb"))["warnings"]
    assert (warning["code"], warning["nodeId"]) == ("overflow", points["id"])


def test_what_fits_and_what_was_so_before_is_not_told() -> None:
    deck = opened(powerpoint.plain())
    points = "\n".join(f"- a point of some length that is number {number}" for number in range(30))

    assert "warnings" not in applied(deck, WritePage(content=f"# A title of one line\n\n{points}"))
    assert "warnings" not in applied(deck, InsertTable(rows=[["Name", "Count"], ["x", 1]]))
    full = applied(deck, AddSlide(title="x", body=LONG))
    assert full["warnings"]
    assert "warnings" not in applied(deck, EditSlide(slide_id=full["id"], title="y"))


def test_slides_as_people_make_them_are_not_told_of() -> None:
    for name, make in powerpoint.HARD.items():
        deck = opened(make())
        assert (name, deck.overflows({f"slide-{number}" for number in range(256, 400)})) == (name, [])
