"""Edits of tables of sheets: what is named changes, formulas follow, and nothing beside a table is torn."""

import io
from typing import Any, Final

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.worksheet.table import Table, TableColumn, TableFormula, TableStyleInfo

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import Result
from officeplane.edits.edit_table import EditTable
from officeplane.edits.set_cells import FormulaCell, SetCells
from tests.fixtures.documents import excel
from tests.formats.excel.books import applied, assert_sound, differing, occasion, opened, part, reopened, written

TABLE: Final = "table-1"
PART: Final = "xl/tables/table1.xml"
ROWS: Final[list[list[Any]]] = [
    ["Name", "Amount", "Double"],
    ["North", 1, "=B5*2"],
    ["South", 2, "=B6*2"],
    ["West", 3, "=B7*2"],
]


def book(*, totals: bool = False, beside: str | None = None, header: bool = True) -> bytes:
    """Return a title, a table in A4:C7 with a calculated column, a sum of it elsewhere, and something beside it."""
    made = openpyxl.Workbook()
    sheet: Any = made.active
    sheet.title = "Data"
    sheet["A1"] = "Title"
    for number, row in enumerate(ROWS if header else ROWS[1:], 4 if header else 5):
        for column, value in enumerate(row, 1):
            sheet.cell(number, column, value)
    last = 7
    if totals:
        last = 8
        sheet["A8"], sheet["B8"] = "All", "=SUBTOTAL(109,T[Amount])"
    if beside is not None:
        sheet[beside] = "beside"
    table = Table(displayName="T", ref=f"A{4 if header else 5}:C{last}", headerRowCount=None if header else 0)
    table.tableStyleInfo = TableStyleInfo(name="TableStyleLight1", showRowStripes=True)
    columns = [TableColumn(id=number, name=str(name)) for number, name in enumerate(ROWS[0], 1)]
    columns[2].calculatedColumnFormula = TableFormula(attr_text="T[[#This Row],[Amount]]*2")
    table.tableColumns = columns
    if totals:
        table.totalsRowCount = 1
        columns[0].totalsRowLabel = "All"
        columns[1].totalsRowFunction = "sum"
    sheet.add_table(table)
    other: Any = made.create_sheet("Other")
    other["A1"], other["A2"], other["A3"] = "=SUM(Data!B5:B7)", "=SUM(T[Amount])", "=Data!C7"
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()


def edited(data: bytes, **payload: Any) -> tuple[Result, bytes]:
    (told,), after = applied(data, EditTable.model_validate({"tableId": TABLE, **payload}))
    (_,), again = applied(data, EditTable.model_validate({"tableId": TABLE, **payload}))
    assert_sound(after)
    assert again == after
    check_table(after)
    area = opened(after).place_of(TABLE).area
    assert (told["id"], told["rows"], told["columns"]) == (
        TABLE, area.bottom - area.top + 1, area.right - area.left + 1,
    )  # fmt: skip
    return told, after


def check_table(data: bytes) -> None:
    """The names of columns are unique and stand in the header; the filter is of what is neither header nor totals."""
    root = part(data, PART)
    area = opened(data).place_of(TABLE).area
    names = [each.get("name") for each in root.iter("{*}tableColumn")]
    assert len({name.casefold() for name in names}) == len(names) == area.right - area.left + 1
    assert len({each.get("id") for each in root.iter("{*}tableColumn")}) == len(names)
    assert root.find("{*}tableColumns").get("count") == str(len(names))
    found = root.find("{*}autoFilter")
    if root.get("headerRowCount") != "0":
        sheet = reopened(data)["Data"]
        assert [sheet.cell(area.top, column).value for column in range(area.left, area.right + 1)] == names
    if found is not None:
        bottom = area.bottom - int(root.get("totalsRowCount", "0"))
        assert found.get("ref").rpartition(":")[2].strip("ABCDEFGH") == str(bottom)


def cells(data: bytes, range: str, sheet: str = "Data") -> list[list[Any]]:
    return [[cell.value for cell in row] for row in reopened(data)[sheet][range]]


def test_cells_are_named_by_their_places_in_the_table() -> None:
    told, after = edited(book(), cells={"A2": "East", "A4": "", "B1": "Sum"})

    assert cells(after, "A4:A7") == [["Name"], ["East"], ["South"], [None]]
    assert [each.get("name") for each in part(after, PART).iter("{*}tableColumn")] == ["Name", "Sum", "Double"]
    assert cells(after, "A2:A2", "Other") == [["=SUM(T[Sum])"]]
    assert "warnings" not in told


def test_texts_that_read_as_numbers_are_told_of() -> None:
    told, after = edited(book(), cells={"B2": "1,200"}, insertRows={"at": 3, "texts": [["x", "=1+1"]]})

    assert cells(after, "B5:B6") == [["1,200"], ["=1+1"]]
    assert [(each["code"], each["nodeId"]) for each in told["warnings"]] == [("not_a_number", TABLE)]
    assert told["warnings"][0]["detail"].startswith("2 cells hold texts that read as numbers or formulas")


def test_new_rows_have_the_formulas_of_calculated_columns_and_references_follow() -> None:
    _, after = edited(book(), insertRows={"at": 3, "count": 2, "texts": [["East"]]})

    assert cells(after, "A4:C9") == [
        ["Name", "Amount", "Double"], ["North", 1, "=B5*2"], ["East", None, "=B6*2"], [None, None, "=B7*2"],
        ["South", 2, "=B8*2"], ["West", 3, "=B9*2"],
    ]  # fmt: skip
    assert cells(after, "A1:A3", "Other") == [["=SUM(Data!B5:B9)"], ["=SUM(T[Amount])"], ["=Data!C9"]]
    assert str(opened(after).place_of(TABLE)) == "Data!A4:C9"


def test_a_table_grows_at_its_end_without_moving_what_stands_beside_it() -> None:
    data = book(beside="E8")

    _, after = edited(data, insertRows={"at": 5, "texts": [["East"]]}, insertColumns={"at": "D"})

    assert cells(after, "A8:E8") == [["East", None, "=B8*2", None, "beside"]]
    assert cells(after, "A4:E4") == [["Name", "Amount", "Double", "Column1", None]]
    assert str(opened(after).place_of(TABLE)) == "Data!A4:D8"


def test_what_stands_below_a_table_moves_down_when_rows_come() -> None:
    _, after = edited(book(beside="B8"), insertRows={"at": 5})

    assert cells(after, "B8:B9") == [[None], ["beside"]]


def test_totals_stay_the_last_row() -> None:
    _, after = edited(book(totals=True), insertRows={"at": 5, "texts": [["East"]]})

    assert cells(after, "A7:B9") == [["West", 3], ["East", None], ["All", "=SUBTOTAL(109,T[Amount])"]]
    with pytest.raises(InvalidEditError, match="the last row of the table T holds its totals: insert before it, at 5"):
        edited(book(totals=True), insertRows={"at": 6})


def test_totals_can_be_deleted() -> None:
    _, after = edited(book(totals=True), deleteRows={"at": 5})

    assert part(after, PART).get("totalsRowCount") is None
    assert str(opened(after).place_of(TABLE)) == "Data!A4:C7"


def test_rows_go_and_references_follow() -> None:
    told, after = edited(book(), deleteRows={"at": 3, "count": 2})

    assert cells(after, "A4:C5") == [["Name", "Amount", "Double"], ["North", 1, "=B5*2"]]
    assert cells(after, "A1:A3", "Other") == [["=SUM(Data!B5:B5)"], ["=SUM(T[Amount])"], ["=Data!#REF!"]]
    assert [each["code"] for each in told["warnings"]] == ["reference_lost"]


def test_new_columns_have_names_of_their_own() -> None:
    _, after = edited(book(), insertColumns={"at": "B", "count": 2, "texts": [["Region", "x", "y"]]})

    assert cells(after, "A4:E6") == [
        ["Name", "Region", "Column2", "Amount", "Double"], ["North", "x", None, 1, "=D5*2"],
        ["South", "y", None, 2, "=D6*2"],
    ]  # fmt: skip
    with pytest.raises(InvalidEditError, match="the table T has a column 'amount' already"):
        edited(book(), insertColumns={"at": "D", "texts": [["amount"]]})


def test_a_column_may_come_before_the_first_and_go() -> None:
    _, after = edited(without_title(), insertColumns={"at": "A", "texts": [["No", "1"]]})

    assert cells(after, "A4:D5") == [["No", "Name", "Amount", "Double"], ["1", "North", 1, "=C5*2"]]
    _, after = edited(after, deleteColumns={"at": "B"})
    assert cells(after, "A4:C4") == [["No", "Amount", "Double"]]


def without_title() -> bytes:
    made = reopened(book())
    made["Data"]["A1"] = None
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()


def test_names_are_those_of_the_table_as_it_was_read() -> None:
    _, after = edited(
        without_title(),
        cells={"A4": "last"},
        deleteRows={"at": 2},
        insertRows={"at": 4, "texts": [["new"]]},
        deleteColumns={"at": "B"},
        insertColumns={"at": "D", "texts": [["More"]]},
    )

    assert [[row[0], row[2]] for row in cells(after, "A4:C7")] == [
        ["Name", "More"], ["South", None], ["new", None], ["last", None],
    ]  # fmt: skip


def test_a_table_without_a_header_grows_before_its_first_row() -> None:
    _, after = edited(book(header=False), insertRows={"at": 1, "texts": [["first"]]})

    assert cells(after, "A5:A6") == [["first"], ["North"]]
    assert str(opened(after).place_of(TABLE)) == "Data!A5:C8"


def test_a_header_goes_and_comes_with_the_names_of_the_columns() -> None:
    data = book()

    _, without = edited(data, headerRow=False)
    _, again = edited(without, headerRow=True)

    assert cells(without, "A4:C4") == [[None, None, None]]
    assert str(opened(without).place_of(TABLE)) == "Data!A5:C7"
    assert part(without, PART).get("headerRowCount") == "0"
    assert cells(again, "A4:C4") == [["Name", "Amount", "Double"]]
    assert str(opened(again).place_of(TABLE)) == "Data!A4:C7"


@pytest.mark.parametrize(("name", "stored"), [("TableStyleMedium2", "TableStyleMedium2"),
                                              ("tablestyledark11", "TableStyleDark11")])  # fmt: skip
def test_a_table_takes_a_style_by_its_name_and_nothing_else_changes(name: str, stored: str) -> None:
    data = book()

    _, after = edited(data, style=name)

    style = part(after, PART).find("{*}tableStyleInfo")
    assert (style.get("name"), style.get("showRowStripes")) == (stored, "1")
    assert differing(data, after) == {PART}


@pytest.mark.parametrize(
    ("make", "payload", "said"),
    [
        (book, {"tableId": "table-9", "headerRow": True}, "has no table 'table-9'; there are 'table-1' (T on 'Data')"),
        (book, {"merge": ["A1:B1"]}, "tables of Excel have no merged cells"),
        (book, {"style": "TableStyleMedium29"}, "there is no table style 'TableStyleMedium29'; the workbook has none"),
        (book, {"cells": {"D1": "x"}}, "there is no cell D1: the table has 4 rows and 3 columns"),
        (book, {"cells": {"A1": ""}}, "A4 names a column of the table T: it needs a text"),
        (book, {"cells": {"A1": "Amount"}}, "has a column 'Amount' already"),
        (book, {"insertRows": {"at": 1}}, "row 1 of the table T is its header"),
        (book, {"deleteRows": {"at": 1}}, "row 1 of the table T is its header"),
        (book, {"deleteRows": {"at": 2, "count": 3}}, "needs a row under its header"),
        (book, {"deleteColumns": {"at": "A", "count": 3}}, "edit_grid deletes whole columns"),
        (lambda: book(beside="E6"), {"insertRows": {"at": 3}}, "E6 stands beside the table T (A4:C7) and would move"),
        (lambda: book(beside="E7"), {"deleteRows": {"at": 3}}, "edit_grid inserts and deletes whole rows"),
        (lambda: book(beside="B9"), {"insertColumns": {"at": "B"}}, "B9 stands above or below the table T"),
        (lambda: book(beside="C1"), {"deleteColumns": {"at": "B"}}, "edit_grid inserts and deletes whole columns"),
        (lambda: book(beside="A3", header=False), {"insertRows": {"at": 9}}, "nothing can come before row 9"),
        (lambda: book(beside="A4", header=False), {"headerRow": True}, "is no room for a header"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(make: Any, payload: dict[str, Any], said: str) -> None:
    data = make()
    workbook = opened(data)

    with pytest.raises(InvalidEditError) as refused:
        EditTable.model_validate({"tableId": TABLE, **payload}).apply(workbook, occasion())

    workbook.package.rollback()
    assert said in str(refused.value)
    assert workbook.package.write().content() == opened(data).package.write().content()


def test_the_table_of_a_workbook_with_everything_grows_and_keeps_the_rest() -> None:
    data = excel.hard()

    _, after = edited(data, insertRows={"at": 6, "texts": [["East"]]}, style="TableStyleLight9")

    assert cells(after, "A6:C6")[0][0] == "East"
    assert cells(after, "C6:C6") == [["=B6*2+Data!$B$2"]]
    with pytest.raises(InvalidEditError, match="E2 stands beside the table Sales"):
        edited(data, insertRows={"at": 2})


@settings(max_examples=30)
@given(data=st.data())
def test_whatever_is_asked_for_leaves_a_table_and_what_is_not_named(data: st.DataObject) -> None:
    file = book(totals=data.draw(st.booleans()), beside=data.draw(st.sampled_from([None, "E6", "B10", "E12"])))
    for _ in range(data.draw(st.integers(1, 2))):
        area = opened(file).place_of(TABLE).area
        row = data.draw(st.integers(1, area.bottom - area.top + 2))
        column = chr(64 + data.draw(st.integers(1, area.right - area.left + 2)))
        change: dict[str, Any] = data.draw(
            st.sampled_from(
                [
                    {"insertRows": {"at": row, "count": 2}},
                    {"deleteRows": {"at": row}},
                    {"insertColumns": {"at": column}},
                    {"deleteColumns": {"at": column}},
                    {"headerRow": False},
                    {"headerRow": True},
                ]
            )
        )
        before = said(file)
        try:
            _, file = edited(file, **change)
        except InvalidEditError:
            continue
        after = said(file)
        if next(iter(change)).startswith("insert"):
            assert before - after == set()
        assert after - before <= {"Column1", "Column2", "Name", "Amount", "Double"}


def said(data: bytes) -> set[str]:
    """Return every text of the sheet that is no formula."""
    held = (cell.value for row in reopened(data)["Data"] for cell in row)
    return {each for each in held if isinstance(each, str) and not each.startswith("=")}


@pytest.mark.parametrize(
    ("formula", "payload", "result"),
    [
        ("=COUNTBLANK(T[Name])", {"insertRows": {"at": 5, "count": 2}}, 2),
        ("=COUNTBLANK(T[Name])", {"insertRows": {"at": 3, "count": 1}}, 1),
        ("=COUNTBLANK(T[Name])", {"deleteRows": {"at": 3}}, 0),
        ("=COUNTA(T[#All])", {"headerRow": False}, 9),
    ],
)
def test_results_that_count_a_table_are_those_of_its_cells_now(
    formula: str, payload: dict[str, Any], result: int
) -> None:
    workbook = opened(book())
    for edit in (SetCells(sheet="Other", cells={"D1": FormulaCell(formula=formula)}), a_change(**payload)):
        edit.apply(workbook, occasion())
        workbook.package.write()

    told = openpyxl.load_workbook(io.BytesIO(written(workbook)), data_only=True)["Other"]["D1"].value

    assert told == result


def a_change(**payload: Any) -> EditTable:
    return EditTable.model_validate({"tableId": TABLE, **payload})
