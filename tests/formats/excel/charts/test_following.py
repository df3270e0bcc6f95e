"""Charts follow what edits do to the cells that they show: values anew, and nothing where a result is yesterday's."""

import io
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from officeplane.domain.document import Format, InvalidEditError
from officeplane.edits.append_rows import AppendRows
from officeplane.edits.chart import EditChart
from officeplane.edits.contract import Edit
from officeplane.edits.define_name import DefineName
from officeplane.edits.delete_sheet import DeleteSheet
from officeplane.edits.edit_grid import EditGrid, Rows
from officeplane.edits.rename_sheet import RenameSheet
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.set_cells import FormulaCell, SetCells
from officeplane.edits.set_properties import SetProperties
from officeplane.formats.blank import blank
from officeplane.formats.charts.data import point_text
from officeplane.formats.package import Package
from tests.formats.charts.parts import C, caches
from tests.formats.excel.books import (
    Cells,
    applied,
    differing,
    occasion,
    opened,
    part,
    parts,
    with_cells,
    written,
)

CHART = "xl/charts/chart1.xml"
TABLE: Cells = {"A1:B3": [["", "North"], ["Q1", 1], ["Q2", 3]]}
MADE = EditChart.model_validate(
    {"create": {"kind": "column", "range": "Sheet1!A1:B3", "at": "Sheet1!E2"}}, by_alias=True, by_name=False
)
VALUES = "Sheet1!$B$2:$B$3"
NAMES = "Sheet1!$A$2:$A$3"


def charted(cells: Cells = TABLE) -> bytes:
    """Return a workbook with a chart; nothing in it has to be calculated."""
    _, data = applied(with_cells(blank(Format.XLSX, None), "Sheet1", cells), MADE)
    package = Package.read(data)
    package.put("xl/workbook.xml", package.content("xl/workbook.xml").replace(b'<calcPr fullCalcOnLoad="1"/>', b""))
    return package.write().content()


def with_result(formula: str = "TEXT(B2,0)*3") -> bytes:
    """Return it with a result in B3 that some program has calculated, which the chart remembers."""
    package = Package.read(charted())
    name = "xl/worksheets/sheet1.xml"
    package.put(name, package.content(name).replace(b"<v>3</v>", f"<f>{formula}</f><v>3</v>".encode()))
    return package.write().content()


def shown(data: bytes) -> dict[str, list[str | None]]:
    return caches(part(data, CHART))


def after(data: bytes, *edits: Edit) -> dict[str, list[str | None]]:
    return shown(applied(data, *edits)[1])


def test_a_chart_shows_the_new_value_of_a_cell() -> None:
    found = after(charted(), SetCells(sheet="Sheet1", cells={"B2": 9.5, "A3": "Q2 2026", "B1": "West"}))

    assert found == {"Sheet1!$B$1": ["West"], NAMES: ["Q1", "Q2 2026"], VALUES: ["9.5", "3"]}


def test_a_chart_shows_nothing_where_a_cell_is_emptied_or_holds_a_text() -> None:
    assert after(charted(), SetCells(sheet="Sheet1", cells={"B2": None, "B3": "none"}))[VALUES] == [None, None]


def test_a_chart_forgets_a_result_that_depends_on_what_changed() -> None:
    data = with_result()

    found = after(data, SetCells(sheet="Sheet1", cells={"B2": 9}))

    assert shown(data)[VALUES] == ["1", "3"]
    assert found[VALUES] == ["9", None]


def test_a_chart_shows_a_result_that_is_calculated_anew() -> None:
    assert after(with_result("B2*3"), SetCells(sheet="Sheet1", cells={"B2": 9}))[VALUES] == ["9", "27"]


@pytest.mark.parametrize(("formula", "shows"), [("=B2", "1"), ("=TEXT(B2,0)", None)])
def test_a_chart_shows_of_a_value_that_becomes_a_formula_what_is_known(formula: str, shows: str | None) -> None:
    found = after(charted(), SetCells(sheet="Sheet1", cells={"B3": FormulaCell(formula=formula)}))

    assert found[VALUES] == ["1", shows]


def test_categories_that_become_numbers_or_texts_are_remembered_as_what_they_are() -> None:
    numbers = after(charted(), SetCells(sheet="Sheet1", cells={"A2": 2025, "A3": 2026}))
    years = charted({"A1:B3": [["", "North"], ["Q1", 1], ["Q2", 3]]})

    assert numbers[NAMES] == ["2025", "2026"]
    assert after(years, SetCells(sheet="Sheet1", cells={"A2": 2025}))[NAMES] == ["2025", "Q2"]


def test_a_row_between_makes_a_chart_show_it_too() -> None:
    found = after(
        charted(), EditGrid(sheet="Sheet1", insert_rows=Rows(at=3)), SetCells(sheet="Sheet1", cells={"B3": 2})
    )

    assert found["Sheet1!$B$2:$B$4"] == ["1", "2", "3"]
    assert found["Sheet1!$A$2:$A$4"] == ["Q1", None, "Q2"]


def test_a_row_that_goes_goes_from_a_chart() -> None:
    found = after(charted(), EditGrid(sheet="Sheet1", delete_rows=Rows(at=2)))

    assert (found["Sheet1!$B$2:$B$2"], found["Sheet1!$A$2:$A$2"]) == (["3"], ["Q2"])


def test_a_text_that_is_replaced_is_replaced_in_a_chart() -> None:
    assert after(charted(), ReplaceText(find="Q", replace="Quarter "))[NAMES] == ["Quarter 1", "Quarter 2"]


def test_a_sheet_that_goes_leaves_nothing_in_a_chart_of_another() -> None:
    _, found = applied(_apart(), DeleteSheet(sheet="Sheet1"))

    assert caches(part(found, "xl/charts/chart2.xml")) == {"#REF!": []}


def test_what_a_chart_does_not_show_leaves_it_byte_for_byte() -> None:
    data = charted()
    edits: list[Edit] = [
        SetCells(sheet="Sheet1", cells={"C9": 4}),
        AppendRows(sheet="Sheet1", rows=[["Q3", 4]]),
        SetProperties(title="Other"),
        DefineName(name="Rate", refers_to="=0.2"),
    ]

    for edit in edits:
        assert CHART not in differing(data, applied(data, edit)[1])


def test_a_name_that_means_other_cells_makes_a_chart_show_those() -> None:
    data = applied(charted(), DefineName(name="Sales", refers_to="=Sheet1!$B$2:$B$3"))[1]
    data = _changed(data, VALUES, "Sheet1!Sales")

    found = after(data, DefineName(name="Sales", refers_to="=Sheet1!$B$3"))

    assert found["Sheet1!Sales"] == ["3"]


def test_hidden_rows_are_not_shown_where_a_chart_leaves_them_out() -> None:
    package = Package.read(charted())
    name = "xl/worksheets/sheet1.xml"
    package.put(name, package.content(name).replace(b'<row r="2">', b'<row r="2" hidden="1">'))

    assert after(package.write().content(), SetCells(sheet="Sheet1", cells={"B3": 8}))[VALUES] == ["8"]


@pytest.mark.parametrize("formula", ["[1]Sheet1!$B$2:$B$3", "OFFSET(Sheet1!$B$2,0,0,2)"])
def test_what_names_cells_in_a_way_that_is_not_followed_is_kept_only_where_it_cannot_change(formula: str) -> None:
    data = _changed(charted(), VALUES, formula)

    found = after(data, SetCells(sheet="Sheet1", cells={"B2": 5}))

    assert found[formula] == (["1", "3"] if "[" in formula else [])


def test_numbers_that_a_chart_writes_as_text_keep_their_looks_while_their_cells_stay() -> None:
    data = charted({"A1:B3": [["", "North"], ["Q1", 1], [46027, 3]]})
    data = _changed(data, "<c:v>46027</c:v>", "<c:v>5 Jan</c:v>")

    assert after(data, SetCells(sheet="Sheet1", cells={"A2": "Quarter"}))[NAMES] == ["Quarter", "5 Jan"]


def test_a_sheet_that_is_called_otherwise_changes_only_what_names_it() -> None:
    assert after(charted(), RenameSheet(sheet="Sheet1", name="Plan"))["Plan!$B$2:$B$3"] == ["1", "3"]


def test_cells_in_several_stretches_are_followed_in_each() -> None:
    data = _changed(charted(), VALUES, "(Sheet1!$B$3,Sheet1!$B$2)")

    assert after(data, SetCells(sheet="Sheet1", cells={"B2": 5}))["(Sheet1!$B$3,Sheet1!$B$2)"] == ["3", "5"]


def test_levels_of_categories_and_labels_from_cells_are_forgotten_when_they_change() -> None:
    cache = "<c:multiLvlStrCache><c:ptCount val='2'/></c:multiLvlStrCache>"
    levels = f"<c:multiLvlStrRef><c:f>Sheet1!$A$2:$B$3</c:f>{cache}</c:multiLvlStrRef>"
    labels = (
        "<c15:datalabelsRange xmlns:c15='http://schemas.microsoft.com/office/drawing/2012/chart'>"
        "<c15:f>Sheet1!$A$2</c15:f><c15:dlblRangeCache><c:ptCount val='1'/></c15:dlblRangeCache></c15:datalabelsRange>"
    )
    held = f"<c:extLst><c:ext uri='x'>{levels}{labels}</c:ext></c:extLst></c:ser>"
    data = _changed(charted(), "</c:ser>", held)

    unchanged = parts(applied(data, SetCells(sheet="Sheet1", cells={"D9": 1}))[1])[CHART]
    changed = parts(applied(data, SetCells(sheet="Sheet1", cells={"A2": "x"}))[1])[CHART]

    assert (b"multiLvlStrCache" in unchanged, b"dlblRangeCache" in unchanged) == (True, True)
    assert (b"multiLvlStrCache" in changed, b"dlblRangeCache" in changed) == (False, False)


_CELL = st.tuples(st.sampled_from("ABC"), st.integers(1, 8)).map(lambda place: f"{place[0]}{place[1]}")
_VALUE = st.integers(-9, 9) | st.floats(-9, 9) | st.sampled_from(["x", "Q"]) | st.none()
_FORMULA = st.sampled_from([FormulaCell(formula="=1+1"), FormulaCell(formula='=INDIRECT("B2")')])
_EDITS: st.SearchStrategy[Edit] = st.one_of(
    st.builds(
        SetCells, sheet=st.just("Sheet1"), cells=st.dictionaries(_CELL, _VALUE | _FORMULA, min_size=1, max_size=4)
    ),
    st.builds(EditGrid, sheet=st.just("Sheet1"), insert_rows=st.builds(Rows, at=st.integers(1, 6))),
    st.builds(EditGrid, sheet=st.just("Sheet1"), delete_rows=st.builds(Rows, at=st.integers(1, 6))),
    st.builds(ReplaceText, find=st.just("Q"), replace=st.sampled_from(["", "R"])),
    st.builds(AppendRows, sheet=st.just("Sheet1"), rows=st.just([["Q9", 9]])),
)


@given(st.lists(_EDITS, max_size=6))
@example([SetCells(sheet="Sheet1", cells={"A2": "Q"}), ReplaceText(find="Q", replace="")])
@settings(deadline=None, max_examples=60)
def test_whatever_is_edited_a_chart_remembers_what_a_stranger_reads_in_its_cells(edits: list[Edit]) -> None:
    book = opened(charted())
    for edit in edits:
        try:
            edit.apply(book, occasion())
            book.package.write()
        except InvalidEditError:
            book.package.rollback()
    data = written(book)

    sheet: Any = openpyxl.load_workbook(io.BytesIO(data), data_only=True)["Sheet1"]
    for reference in part(data, CHART).iter(f"{C}numRef", f"{C}strRef"):
        formula = reference.findtext(f"{C}f")
        if formula == "#REF!":
            assert not caches(reference)[formula]
            continue
        found: Any = sheet[formula.partition("!")[2]]
        cells = _flat(found)
        assert caches(reference)[formula] == [
            _expected(cell, as_text=reference.tag.endswith("strRef")) for cell in cells
        ]


def _flat(found: Any) -> list[Any]:
    """Return the cells of a range, or the one that it is."""
    rows: Any = found if hasattr(found, "__len__") else ((found,),)
    return [cell for row in rows for cell in row]


def _expected(cell: Any, *, as_text: bool) -> str | None:
    # A chart shows an empty text as it shows nothing.
    if cell.value in {None, ""} or (isinstance(cell.value, str) and not as_text):
        return None
    return cell.value if isinstance(cell.value, str) else point_text(cell.value)


def test_edits_one_after_another_give_the_same_as_edits_with_the_file_read_in_between() -> None:
    edits: list[Edit] = [
        SetCells(sheet="Sheet1", cells={"B2": 4}),
        EditGrid(sheet="Sheet1", insert_rows=Rows(at=3)),
        SetCells(sheet="Sheet1", cells={"B3": FormulaCell(formula="=B2*2")}),
    ]
    warm, cold = opened(charted()), charted()

    for edit in edits:
        edit.apply(warm, occasion())
        cold = applied(cold, edit)[1]

    assert written(warm) == cold


def _apart() -> bytes:
    book = opened(charted())
    book.add_sheet("Other", None, [])
    fields: dict[str, Any] = {"kind": "line", "range": "Sheet1!A1:B3", "at": "Other!B2"}
    made = EditChart.model_validate({"create": fields}, by_alias=True, by_name=False).apply(book, occasion())
    assert made["id"] == "chart-chart2"
    return written(book)


def _changed(data: bytes, before: str, now: str) -> bytes:
    package = Package.read(data)
    package.put(CHART, parts(data)[CHART].replace(before.encode(), now.encode()))
    return package.write().content()
