"""Reading workbooks in parts: sheets and what belongs to them, and cells with types, formulas and formats."""

import datetime as dt
import io
from typing import Any

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName

from officeplane.domain.document import Format
from officeplane.domain.errors import NodeNotFoundError
from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import read_document
from officeplane.formats.package import Package
from officeplane.formats.reading.finding import FindWanted, find
from officeplane.formats.reading.listing import ListWanted, listed
from officeplane.formats.reading.showing import NodeWanted, node
from tests.fixtures.documents import excel
from tests.formats.word.texts import occasion


def a_book() -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Plan"
    sheet["A1"], sheet["B1"], sheet["C1"] = "Item", "Due", "Amount"
    sheet["A2"], sheet["B2"], sheet["C2"] = "Rent", dt.date(2026, 1, 5), 1250.5
    sheet["A3"], sheet["B3"], sheet["C3"] = True, dt.datetime(2026, 1, 5, 9, 30), "=SUM(C2:C2)"  # noqa: DTZ001 - cells have no zone
    sheet["B4"] = dt.time(9, 30)
    sheet["C4"] = 0.25
    sheet["C4"].number_format = "0.00%"
    sheet["D1"] = "=1/0"
    sheet["A2"].comment = Comment("Is that all?", "Ann")
    book.create_sheet("Hidden").sheet_state = "hidden"
    book.defined_names["Rate"] = DefinedName("Rate", attr_text="Plan!$C$2")
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


@pytest.fixture
def book() -> Workbook:
    return Workbook(Package.read(a_book()))


def told(book: Workbook, **wanted: Any) -> dict[str, dict[str, Any]]:
    return {item["cell"]: item for item in book.cells(CellsWanted(**wanted)).items}


def test_values_have_their_types_and_dates_are_dates(book: Workbook) -> None:
    values = {address: item["value"] for address, item in told(book).items()}

    assert values["A2"] == "Rent"
    assert values["B2"] == {"date": "2026-01-05"}
    assert values["C2"] == 1250.5
    assert values["A3"] is True
    assert values["B3"] == {"dateTime": "2026-01-05T09:30:00"}
    assert values["B4"] == {"time": "09:30:00"}


def test_a_formula_without_a_result_has_no_value_and_is_stale(book: Workbook) -> None:
    assert told(book)["C3"] == {"cell": "C3", "value": None, "formula": "=SUM(C2:C2)", "stale": True}


def test_results_that_an_edit_may_have_changed_and_that_are_not_calculated_here_are_stale() -> None:
    workbook = read_document(Format.XLSX, excel.hard())
    assert isinstance(workbook, Workbook)
    sheet = workbook.outline()[0].text
    before = {item["cell"]: item for item in workbook.cells(CellsWanted(sheet=sheet)).items}

    SetCells(sheet=sheet, cells={"B3": 7}).apply(workbook, occasion())

    after = {item["cell"]: item for item in workbook.cells(CellsWanted(sheet=sheet)).items}
    assert not any("stale" in item for item in before.values())
    assert {cell for cell, item in after.items() if item.get("stale")} == {"E2", "E3", "E4"}
    assert all(after[cell]["value"] is None for cell in ("E2", "E3", "E4"))
    assert after["C3"] == {**before["C3"], "value": 15.5}
    assert after["F8"] == before["F8"]


def test_only_what_is_wanted_of_a_cell_is_told(book: Workbook) -> None:
    assert told(book, show=("formats",), range="C4")["C4"] == {"cell": "C4", "format": "0.00%"}
    assert told(book, show=("values",), range="Plan!C2:C3") == {
        "C2": {"cell": "C2", "value": 1250.5}, "C3": {"cell": "C3", "value": None, "stale": True},
    }  # fmt: skip


def test_a_range_tells_its_cells_and_no_others(book: Workbook) -> None:
    assert [*told(book, range="A2:B3")] == ["A2", "B2", "A3", "B3"]
    assert [*told(book, sheet="plan", range="B1")] == ["B1"]
    assert told(book, sheet="Hidden") == {}


def test_parts_of_a_range_are_the_range() -> None:
    workbook = Workbook(Package.read(excel.big(rows=200, columns=4)))
    whole = workbook.cells(CellsWanted()).items

    read: list[dict[str, Any]] = []
    begin: int | None = 0
    while begin is not None:
        part = workbook.cells(CellsWanted(begin=begin, tokens_max=500))
        read += part.items
        begin = part.next

    assert read == whole
    assert len(whole) >= 800


@pytest.mark.parametrize("wanted", [{"sheet": "Nowhere"}, {"range": "Nowhere!A1"}, {"range": "A0"}, {"range": "XYZ"}])
def test_what_no_workbook_has_is_not_found(book: Workbook, wanted: dict[str, str]) -> None:
    with pytest.raises(NodeNotFoundError):
        book.cells(CellsWanted(**wanted))  # type: ignore[arg-type]


def test_sheets_are_told_with_ranges_and_names(book: Workbook) -> None:
    items = listed(book.reader(), ListWanted("sheets")).items

    assert items == [
        {"id": "sheet-1", "kind": "sheet", "text": "Plan", "range": "A1:D4"},
        {"id": "sheet-2", "kind": "sheet", "text": "Hidden", "hidden": True},
        {"id": "name-Rate", "kind": "name", "name": "Rate", "refersTo": "=Plan!$C$2"},
    ]


def test_tables_charts_and_pictures_are_told_with_their_sheets() -> None:
    reader = read_document(Format.XLSX, excel.hard()).reader()

    sheets = listed(reader, ListWanted("sheets")).items

    assert [table["name"] for sheet in sheets for table in sheet.get("tables", ())] == ["Sales"]
    assert [chart["id"] for sheet in sheets for chart in sheet.get("charts", ())]
    assert listed(reader, ListWanted("images")).items


def test_comments_are_told_with_their_cells_and_authors(book: Workbook) -> None:
    (comment,) = listed(book.reader(), ListWanted("comments")).items

    assert (comment["cell"], comment["author"], comment["parent"]) == ("A2", "Ann", "sheet-1")
    assert comment["text"].endswith("Is that all?")


def test_cells_and_formulas_are_found_by_their_addresses(book: Workbook) -> None:
    reader = book.reader()

    (cell,) = find(reader, FindWanted("rent")).items
    (formula,) = find(reader, FindWanted("sum(")).items

    assert (cell["id"], cell["kind"], cell["page"]) == ("Plan!A2", "cell", "sheet-1")
    assert (formula["id"], formula["kind"]) == ("Plan!C3", "formula")
    assert find(reader, FindWanted("rent", under="Plan!B1:C9")).items == []
    assert find(reader, FindWanted("rate", kinds=("name",))).items[0]["id"] == "name-Rate"


def test_a_range_can_be_read_as_a_node(book: Workbook) -> None:
    shown = node(book.reader(), NodeWanted("Plan!A1:A2")).node

    assert shown == {"id": "Plan!A1:A2", "kind": "range", "name": "A1:A2", "content": "| Item |\n| --- |\n| Rent |"}
