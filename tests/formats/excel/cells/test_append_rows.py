import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.append_rows import AppendRows
from officeplane.edits.set_cells import FormulaCell
from tests.fixtures.documents import excel
from tests.formats.excel.books import MAIN, applied, assert_sound, part, parts, reopened, with_cells

TABLE = "xl/tables/table1.xml"
ONLY_TABLE = {
    "A8": None,
    "B8": None,
    "D8": None,
    "E8": None,
    "F8": None,
    "A10": None,
    "A12": None,
    "B12": None,
    "C12": None,
}


def test_rows_go_below_the_last_that_holds_anything_into_rows_that_are_only_formatted() -> None:
    (told,), after = applied(excel.hard(), AppendRows(sheet="Data", rows=[["x", 1], [], ["=y", None, True]]))

    warned = told.pop("warnings")
    assert told == {"id": "sheet-1", "firstRow": 13, "lastRow": 15}
    assert [(one["code"], one["detail"][:25]) for one in warned] == [("formula_as_text", "A15 holds the text '=y'; ")]
    rows = list(reopened(after)["Data"].iter_rows(13, 15, 1, 3, values_only=True))
    assert rows == [("x", 1, None), (None, None, None), ("=y", None, True)]
    assert_sound(after)


def test_rows_of_an_empty_sheet_begin_at_the_first() -> None:
    (told,), after = applied(excel.small(""), AppendRows(sheet="Sheet1", rows=[[1]]))

    assert told["firstRow"] == 1
    assert reopened(after)["Sheet1"]["A1"].value == 1


def test_rows_right_under_a_table_belong_to_it_and_look_like_it() -> None:
    data = with_cells(excel.hard(), "Data", ONLY_TABLE)

    (told,), after = applied(
        data, AppendRows(sheet="Data", rows=[["West", 5, FormulaCell(formula="=B6*2")], ["Top", 6]])
    )

    assert told["firstRow"] == 6
    assert part(after, TABLE).get("ref") == "A1:C7"
    assert part(after, TABLE).find(f"{MAIN}autoFilter").get("ref") == "A1:C7"
    sheet = reopened(after)["Data"]
    assert sheet.tables["Sales"].ref == "A1:C7"
    assert sheet["B7"].number_format == "#,##0.00"
    assert_sound(after)


def test_rows_that_are_not_right_under_a_table_do_not_belong_to_it() -> None:
    _, after = applied(excel.hard(), AppendRows(sheet="Data", rows=[["West", 5]]))

    assert part(after, TABLE).get("ref") == "A1:C5"


def test_rows_go_below_what_is_merged() -> None:
    data = with_cells(excel.hard(), "Data", {"A12": None, "B12": None, "C12": None})

    (told,), after = applied(data, AppendRows(sheet="Data", rows=[["x"]]))

    assert told["firstRow"] == 12
    assert_sound(after)


def test_a_filter_reaches_over_rows_right_under_it() -> None:
    data = excel.small(
        "<row r='1'><c r='A1'><v>1</v></c></row><row r='2'><c r='A2'><v>2</v></c></row>",
        around='<autoFilter ref="A1:B2"/>',
    )

    _, after = applied(data, AppendRows(sheet="Sheet1", rows=[[3], [4]]))

    assert b'<autoFilter ref="A1:B4"/>' in parts(after)["xl/worksheets/sheet1.xml"]


def test_rows_beyond_the_end_are_refused() -> None:
    data = excel.small("<row r='1048575'><c r='A1048575'><v>1</v></c></row>")
    applied(data, AppendRows(sheet="Sheet1", rows=[[1]]))

    with pytest.raises(InvalidEditError, match="do not fit"):
        applied(data, AppendRows(sheet="Sheet1", rows=[[1], [2]]))


def test_columns_of_a_table_that_are_calculated_go_on() -> None:
    data = with_cells(excel.hard(), "Data", ONLY_TABLE)

    _, after = applied(data, AppendRows(sheet="Data", rows=[["West", 5], ["Top", 6, 7]]))

    sheet = reopened(after)["Data"]
    assert sheet["C6"].value == "=B6*2+Data!$B$2"
    assert sheet["C7"].value == 7


def test_rows_look_like_the_rows_above_but_not_like_a_heading() -> None:
    (_,), after = applied(excel.big(5), AppendRows(sheet="Big", rows=[["x", 1]]))
    heading = with_cells(excel.hard(), "Last", {"A1": "=bold"})
    (_,), below = applied(heading, AppendRows(sheet="Last", rows=[["x"]]))

    assert reopened(after)["Big"]["B6"].number_format == "#,##0.00"
    assert reopened(below)["Last"]["A2"].quotePrefix is False
