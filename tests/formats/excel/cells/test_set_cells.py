import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from officeplane.domain.document import InvalidEditError
from officeplane.edits.set_cells import FormulaCell, SetCells
from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.cells.values import shown
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.parts import Parts
from officeplane.formats.xml import is_storable
from tests.fixtures.documents import excel
from tests.formats.excel.books import (
    MAIN,
    applied,
    assert_sound,
    differing,
    formulas,
    opened,
    part,
    parts,
    reopened,
    value,
    with_cells,
    written,
    xml_of_cell,
)

SHEET1 = "xl/worksheets/sheet1.xml"
SHEET5 = "xl/worksheets/sheet5.xml"


@pytest.mark.parametrize(
    "held", ["Hello", "  spaces kept ", "two\nlines", 42, -7, 1.25, 1e300, True, False, "", "007", "TRUE"]
)
def test_a_value_is_read_by_others_as_it_was_given(held: str | float) -> None:
    after = with_cells(excel.hard(), "Last", {"B2": held})

    read = value(after, "Last", "B2")

    assert read == (held or read)
    assert type(read) is type(held) or held == ""


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1"])
def test_text_that_looks_like_a_formula_stays_text_and_is_marked_as_text(text: str) -> None:
    after = with_cells(excel.hard(), "Last", {"B2": text})

    cell = reopened(after)["Last"]["B2"]

    assert cell.data_type in {"s", "inlineStr"} or cell.value == text
    assert cell.quotePrefix
    assert formulas(after, SHEET5) == {}


def test_the_mark_of_text_goes_when_a_number_comes_and_no_format_is_added_twice() -> None:
    book = opened(excel.hard())
    book.set_cells("Last", {"A1": "=1", "B1": "=2", "C1": "=3"})
    book.set_cells("Last", {"A1": 1, "B1": "=4"})

    after = written(book)

    assert not reopened(after)["Last"]["A1"].quotePrefix
    assert reopened(after)["Last"]["B1"].quotePrefix
    assert part(after, "xl/styles.xml").find(f"{MAIN}cellXfs").get("count") == "5"


@given(st.text(max_size=60))
@example("_x0041_")
@example("_x005F_x0041_")
@example("\r\n \t")
@example("]]>&<'\"")
@settings(deadline=None, max_examples=150)
def test_any_text_survives_or_is_refused(text: str) -> None:
    if not is_storable(text):
        with pytest.raises(ValidationError):
            SetCells(sheet="Sheet1", cells={"C3": text})
        return

    _, after = applied(excel.plain(), SetCells(sheet="Sheet1", cells={"C3": text}))

    parts_after = Parts(opened(after).package)
    cell = parts_after.grid(parts_after.sheets.all[0]).cell(at=_C3)
    assert cell is not None
    assert shown(cell, parts_after.strings) == text
    if "_x" not in text and "\r" not in text and text:
        assert value(after, "Sheet1", "C3") == text


_C3 = Address(3, 3)


@given(st.dictionaries(st.tuples(st.integers(1, 40), st.integers(1, 30)), st.integers(), min_size=1, max_size=40))
@settings(deadline=None, max_examples=60)
def test_any_cells_find_their_place(cells: dict[tuple[int, int], int]) -> None:
    names = {
        f"{chr(64 + column) if column <= 26 else 'A' + chr(38 + column)}{row}": held
        for (row, column), held in cells.items()
    }

    after = with_cells(excel.unnamed(), "Sheet1", {name: held % 1000 for name, held in names.items()})

    assert_sound(after)
    sheet = reopened(after)["Sheet1"]
    assert {name: sheet[name].value for name in names} == {name: held % 1000 for name, held in names.items()}
    if "A1" not in names:
        assert sheet["A1"].value == 1
    if "D5" not in names:
        assert sheet["D5"].value == 4


def test_formats_of_cells_stay_and_new_cells_take_those_of_their_row_or_column() -> None:
    after = with_cells(excel.hard(), "Data", {"B2": 9, "C8": 46000, "G20": 5, "G21": 6, "H20": None})

    sheet = reopened(after)["Data"]
    assert sheet["B2"].number_format == "#,##0.00"
    assert sheet["C8"].is_date
    assert sheet["G21"].number_format == "#,##0.00"
    assert sheet["H20"].font.b


def test_an_emptied_cell_keeps_its_format_and_one_without_a_format_goes() -> None:
    after = with_cells(excel.hard(), "Data", {"B4": None, "D8": None, "Z99": None})

    assert xml_of_cell(after, SHEET1, "B4") == ""
    assert reopened(after)["Data"]["B4"].number_format == "#,##0.00"
    assert b'r="D8"' not in parts(after)[SHEET1]
    assert b"Z99" not in parts(after)[SHEET1]


def test_dimension_and_spans_grow() -> None:
    after = with_cells(excel.hard(), "Data", {"K2": 1, "A40": 2})

    root = part(after, SHEET1)
    assert root.find(f"{MAIN}dimension").get("ref") == "A1:K40"
    assert root.find(f"{MAIN}sheetData/{MAIN}row[@r='2']").get("spans") == "1:11"


def test_a_value_has_everything_calculated_anew() -> None:
    after = with_cells(excel.hard(), "Last", {"A1": 1})

    assert part(after, "xl/workbook.xml").find(f"{MAIN}calcPr").get("fullCalcOnLoad") == "1"
    assert "xl/calcChain.xml" in parts(after)


@pytest.mark.parametrize("cells", [{"A1": Formula("B1*2")}, {"A1": 5}])
def test_a_formula_that_comes_or_goes_takes_the_calculation_chain_along(cells: dict[str, Formula | int]) -> None:
    after = with_cells(excel.hard(), "Q1 'Plan'", cells)

    assert "xl/calcChain.xml" not in parts(after)
    assert b"calcChain" not in parts(after)["xl/_rels/workbook.xml.rels"] + parts(after)["[Content_Types].xml"]
    assert_sound(after)


def test_everything_around_the_cells_stays_as_it_is() -> None:
    data = excel.hard()

    after = with_cells(data, "Data", {"B9": 100})

    assert differing(data, after) == {SHEET1, "xl/workbook.xml"}
    before, now = parts(data)[SHEET1].decode(), parts(after)[SHEET1].decode()
    assert now.split("<sheetData>", 1)[1] == before.split("<sheetData>", 1)[1].replace(
        '<row r="10">', '<row r="9"><c r="B9"><v>100</v></c></row><row r="10">'
    )


def test_a_covered_cell_is_refused_and_the_merge_named() -> None:
    with pytest.raises(InvalidEditError, match="B11 is covered by the merged cells A10:C11: write to A10"):
        with_cells(excel.hard(), "Data", {"B11": 1})

    after = with_cells(excel.hard(), "Data", {"A10": "Other title"})

    assert value(after, "Data", "A10") == "Other title"


def test_the_others_of_a_shared_formula_go_on_when_the_first_is_overwritten() -> None:
    after = with_cells(excel.hard(), "Data", {"C2": 1, "C4": 2})

    read = reopened(after)["Data"]
    assert read["C2"].value == 1
    assert read["C3"].value == "=B3*2+Data!$B$2"
    assert read["C4"].value == 2
    assert read["C5"].value == "=B5*2+Data!$B$2"


def test_all_of_a_shared_formula_may_be_overwritten_one_by_one() -> None:
    book = opened(excel.hard())
    for cell in ("C2", "C3", "C5", "C4"):
        book.set_cells("Data", {cell: 0})

    assert [each for each in formulas(written(book), SHEET1) if each.startswith("C")] == []


def test_a_part_of_an_array_formula_is_refused_the_whole_is_not() -> None:
    for cell in ("E2", "E3"):
        with pytest.raises(InvalidEditError, match=f"{cell} is part of the array formula in E2:E4"):
            with_cells(excel.hard(), "Data", {cell: 1})

    after = with_cells(excel.hard(), "Data", {"E2": 1, "E3": 2, "E4": 3})

    assert "E2" not in formulas(after, SHEET1)
    assert value(after, "Data", "E3") == 2


def test_a_formula_that_spills_takes_its_results_back() -> None:
    data = excel.small(
        "<row r='1'><c r='A1' cm='1'><f t='array' ref='A1:A3'>_xlfn.SEQUENCE(3)</f><v>1</v></c></row>"
        "<row r='2'><c r='A2'><v>2</v></c></row><row r='3'><c r='A3'><v>3</v></c></row>"
    )
    with pytest.raises(InvalidEditError, match="A2 is part of the array formula"):
        with_cells(data, "Sheet1", {"A2": 9})

    after = with_cells(data, "Sheet1", {"A1": 9})

    assert [value(after, "Sheet1", cell) for cell in ("A1", "A2", "A3")] == [9, None, None]
    assert 'cm="1"' not in parts(after)[SHEET1].decode()


def test_a_data_table_is_refused() -> None:
    data = excel.small("<row r='2'><c r='B2'><f t='dataTable' ref='B2:B3' dt2D='0' dtr='0' r1='A1'/><v>1</v></c></row>")

    with pytest.raises(InvalidEditError, match="B3 is in the data table B2:B3"):
        with_cells(data, "Sheet1", {"B3": 9})


def test_the_name_of_a_column_follows_its_header_and_formulas_follow_the_name() -> None:
    after = with_cells(excel.hard(), "Data", {"B1": "Net [EUR]"})

    columns = [each.get("name") for each in part(after, "xl/tables/table1.xml").iter(f"{MAIN}tableColumn")]
    assert columns == ["Region", "Net [EUR]", "Double"]
    assert formulas(after, "xl/worksheets/sheet2.xml")["A2"].startswith("SUM(Sales[Net '[EUR']])+")
    assert formulas(after, "xl/worksheets/sheet2.xml")["B3"] == "SUM(Sales[[#All],[Net '[EUR']]])"
    assert reopened(after)["Data"].tables["Sales"].column_names == ["Region", "Net [EUR]", "Double"]


@pytest.mark.parametrize("held", [1, None, "", "region"])
def test_a_header_that_names_no_column_is_refused(held: str | int | None) -> None:
    with pytest.raises(InvalidEditError, match="table Sales"):
        with_cells(excel.hard(), "Data", {"B1": held})


@pytest.mark.parametrize("cell", ["XFE1", "A1048577", "ZZZ1"])
def test_a_cell_beyond_the_sheet_is_refused(cell: str) -> None:
    with pytest.raises(InvalidEditError, match="a sheet ends at XFD1048576"):
        with_cells(excel.plain(), "Sheet1", {cell: 1})


@pytest.mark.parametrize("number", [10**400, math.inf])
def test_a_number_without_room_is_refused(number: float) -> None:
    with pytest.raises(InvalidEditError, match="too large"):
        with_cells(excel.plain(), "Sheet1", {"A1": number})


def test_a_sheet_that_is_not_there_is_refused_and_those_there_are_named() -> None:
    with pytest.raises(InvalidEditError, match="there is no sheet 'Nope'; the sheets are 'Data'"):
        with_cells(excel.hard(), "Nope", {"A1": 1})


def test_a_sheet_without_cells_is_refused() -> None:
    with pytest.raises(InvalidEditError, match="'Chart1' has no cells"):
        with_cells(excel.hard(), "Chart1", {"A1": 1})


def test_a_sheet_is_found_by_its_id_and_in_letters_of_any_case() -> None:
    book = opened(excel.hard())

    assert book.set_cells("sheet-9", {"B1": 1}) == ("sheet-9", 1)
    assert book.set_cells("LAST", {"B2": 2}) == ("sheet-9", 1)


def test_a_formula_may_have_its_equals_sign() -> None:
    _, after = applied(excel.hard(), SetCells(sheet="Last", cells={"B2": FormulaCell(formula="=SUM(Data!B2:B5)")}))

    assert formulas(after, SHEET5) == {"B2": "SUM(Data!B2:B5)"}


def test_cells_over_many_edits_stay_right_in_a_parsed_sheet() -> None:
    book = opened(excel.big(300))
    for at in range(300, 0, -7):
        book.set_cells("Big", {f"C{at}": at, f"C{at + 300}": -at})
        book.package.write()

    sheet = reopened(written(book))["Big"]

    assert all(sheet[f"C{at}"].value == at and sheet[f"C{at + 300}"].value == -at for at in range(300, 0, -7))
    assert sheet["C2"].value == 4.5
