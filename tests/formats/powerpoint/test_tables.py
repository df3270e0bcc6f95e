import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.edit_page import EditPage
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.insert_table import InsertTable
from officeplane.edits.write_page import WritePage
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import applied, opened, parts, reopened, slides_of, written

TABLE = "| a | b |\n|---|---|\n| 1 | **2** |\n"


def test_a_table_is_a_slide_with_all_its_cells() -> None:
    deck = opened(powerpoint.plain())

    result = applied(deck, InsertTable(rows=[["x", 1], [2.5], ["a\nb", "c"]], header=["Name", "Count"]))

    slide = reopened(written(deck)).slides[3]
    (frame,) = [shape for shape in slide.shapes if shape.has_table]
    rows = [[cell.text for cell in row.cells] for row in frame.table.rows]
    assert rows == [["Name", "Count"], ["x", "1"], ["2.5", ""], ["a\vb", "c"]]
    assert frame.table.first_row is True
    assert result["id"] == "slide-259"
    assert slides_of(deck)[3].children[0].text == "Name\tCount\nx\t1\n2.5\t\na b\tc"


def test_a_table_has_the_style_asked_for_by_name() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, InsertTable(rows=[["x"]], style="medium style 4 - accent 2"))

    assert b"{8A107856-5554-42FB-B03E-39F5DBC370BA}" in parts(written(deck))["ppt/slides/slide4.xml"]


def test_an_unknown_table_style_is_an_error_that_names_the_known_ones() -> None:
    deck = opened(powerpoint.plain())

    with pytest.raises(InvalidEditError, match=r"no table style 'Loud'; there are 'No Style, No Grid'"):
        applied(deck, InsertTable(rows=[["x"]], style="Loud"))


@pytest.mark.parametrize(
    ("row", "count", "message"), [([], 2, "no cells"), (["x"] * 76, 1, "too large"), (["x"], 1001, "too large")]
)
def test_a_table_that_no_slide_takes_is_an_error(row: list[str | int | float], count: int, message: str) -> None:
    deck = opened(powerpoint.plain())

    with pytest.raises(InvalidEditError, match=message):
        applied(deck, InsertTable(rows=[row] * count))


def test_a_long_table_stays_on_its_slide_in_smaller_letters() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, InsertTable(rows=[[str(number)] for number in range(20)]))

    again = reopened(written(deck))
    (frame,) = [shape for shape in again.slides[3].shapes if shape.has_table]
    assert frame.top + frame.height <= again.slide_height
    assert frame.table.cell(0, 0).text_frame.paragraphs[0].runs[0].font.size.pt < 18


def test_text_and_table_of_a_page_share_the_room_of_the_body() -> None:
    deck = opened(powerpoint.plain())

    applied(deck, WritePage(content=f"# Both\n\n- one\n- two\n\n{TABLE}"))

    slide = reopened(written(deck)).slides[3]
    body = slide.placeholders[1]
    (frame,) = [shape for shape in slide.shapes if shape.has_table]
    assert body.text_frame.text == "one\ntwo"
    assert body.top + body.height <= frame.top
    assert frame.table.cell(1, 1).text_frame.paragraphs[0].runs[0].font.bold is True


def test_the_table_of_a_page_goes_and_comes_with_its_content() -> None:
    deck = opened(powerpoint.plain())
    page = applied(deck, WritePage(content=f"# Page\n\ntext\n\n{TABLE}"))["id"]

    applied(deck, EditPage(page_id=page, content="# Page\n\nonly text"))

    slide = reopened(written(deck)).slides[3]
    assert [shape.has_table for shape in slide.shapes] == [False, False]
    assert slide.placeholders[1].top == slide.slide_layout.placeholders[1].top
    applied(deck, EditPage(page_id=page, content=TABLE), EditPage(page_id=page, content=TABLE.replace("1", "9")))
    assert [child.text for child in slides_of(deck)[3].children] == ["a\tb\n9\t2"]
    applied(deck, EditPage(page_id=page, content="back"))
    assert [child.text for child in slides_of(deck)[3].children] == ["back"]


def test_a_table_that_somebody_else_made_stays_unless_another_takes_its_place() -> None:
    deck = opened(powerpoint.tables())
    before = deck.text()

    applied(deck, EditSlide(slide_id="slide-256", body="Other"))

    assert deck.text() == before.replace("See below", "Other")
    applied(deck, EditSlide(slide_id="slide-256", body=TABLE, discard=True))
    slide = reopened(written(deck)).slides[0]
    (frame,) = [shape for shape in slide.shapes if shape.has_table]
    assert (frame.shape_id, frame.top, len(frame.table.columns)) == (4, 2743200, 2)
    assert sum(column.width for column in frame.table.columns) == frame.width
