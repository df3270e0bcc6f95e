"""Merges of workbooks: cells of a file by another program come into what others have made of it."""

import io
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import openpyxl
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from openpyxl.styles import Font, PatternFill

from officeplane.domain.document import Format
from officeplane.edits.append_rows import AppendRows
from officeplane.edits.cell_values import FormulaCell
from officeplane.edits.contract import Edit, Occasion
from officeplane.edits.edit_grid import EditGrid, Rows
from officeplane.edits.rename_sheet import RenameSheet
from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.merging.unit import MergeConflictError
from officeplane.formats.opening import Document
from tests.formats.merging.merges import conflicts_of, merged, opened, written

ROWS: Final[Sequence[Sequence[Any]]] = (
    ("Name", "Cost", "Twice"), ("Rent", 100, "=B2*2"), ("Light", 20, "=B3*2"), ("Water", 30, "=B4*2"),
    ("All", "=SUM(B2:B4)", None),
)  # fmt: skip


def a_book() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Plan"
    for row in ROWS:
        sheet.append(list(row))
    other = book.create_sheet("Other")
    other["A1"] = "=Plan!B5"
    return saved(book)


def saved(book: openpyxl.Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def offline(data: bytes, *changes: Callable[[Any], object]) -> bytes:
    """Return a file as openpyxl saves it after changes of its first sheet."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    for change in changes:
        change(book.worksheets[0])
    return saved(book)


def edited(data: bytes, *edits: Edit) -> bytes:
    """Return a file after edits of ours."""
    document = opened(Format.XLSX, data)
    for number, edit in enumerate(edits):
        edit.apply(document, Occasion(f"others-{number}", "ben", datetime(2026, 1, 5, tzinfo=UTC)))
    return written(document)


def put(**cells: object) -> Callable[[Any], object]:
    def write(sheet: Any) -> None:
        for name, value in cells.items():
            sheet[name] = value

    return write


def cells_of(document: Document, sheet: str = "Plan") -> Mapping[str, object]:
    assert isinstance(document, Workbook)
    return {
        one["cell"]: one.get("formula", one["value"]) for one in document.cells(CellsWanted(sheet=sheet)).items
    }  # fmt: skip


def test_cells_that_each_has_changed_are_both_there_and_what_depends_on_them_is_calculated() -> None:
    base = a_book()
    head = edited(base, SetCells(sheet="Plan", cells={"B3": 25}))

    document, made = merged(Format.XLSX, base, offline(base, put(B2=150)), head)

    assert made.changed == ["Plan!B2"]
    assert isinstance(document, Workbook)
    values = {one["cell"]: one["value"] for one in document.cells(CellsWanted(sheet="Plan")).items}
    assert [values[name] for name in ("B2", "B3", "C2", "C3", "B5")] == [150, 25, 300, 50, 205]


def test_a_cell_that_both_have_changed_is_in_conflict() -> None:
    base = a_book()
    head = edited(base, SetCells(sheet="Plan", cells={"B2": 125}))

    with pytest.raises(MergeConflictError) as refused:
        merged(Format.XLSX, base, offline(base, put(B2=150, B3=7)), head)

    assert refused.value.facts["conflicts"] == [
        {"nodeId": "Plan!B2", "base": "100", "head": "125", "upload": "150", "detail": "both have changed it"}
    ]


def test_what_both_have_changed_alike_is_no_conflict() -> None:
    base = a_book()

    document, made = merged(
        Format.XLSX, base, offline(base, put(B2=150)), edited(base, SetCells(sheet="Plan", cells={"B2": 150}))
    )

    assert made.is_nothing
    assert cells_of(document)["B2"] == 150


def test_formulas_texts_and_formats_come_along() -> None:
    base = a_book()

    def change(sheet: Any) -> None:
        sheet["D1"] = "Thrice"
        sheet["D2"] = "=B2*3"
        sheet["A2"].font = Font(bold=True, color="FF0000")
        sheet["B2"].number_format = "0.00%"
        sheet["E9"].fill = PatternFill("solid", fgColor="00FF00")

    document, _ = merged(
        Format.XLSX, base, offline(base, change), edited(base, SetCells(sheet="Plan", cells={"A4": "Wasser"}))
    )

    sheet = openpyxl.load_workbook(io.BytesIO(written(document)))["Plan"]
    assert [sheet[name].value for name in ("D1", "D2", "A4")] == ["Thrice", "=B2*3", "Wasser"]
    assert (sheet["A2"].font.b, sheet["A2"].font.color.rgb) == (True, "00FF0000")
    assert sheet["B2"].number_format == "0.00%"
    assert sheet["E9"].fill.fgColor.rgb == "0000FF00"


def test_results_of_formulas_are_no_changes() -> None:
    base = a_book()
    calculated = edited(base, SetCells(sheet="Plan", cells={"Z9": 1}), SetCells(sheet="Plan", cells={"Z9": None}))

    _, made = merged(Format.XLSX, base, calculated, base)

    assert made.is_nothing


def test_rows_appended_offline_stand_where_they_were_put() -> None:
    base = a_book()
    head = edited(base, SetCells(sheet="Plan", cells={"B2": 125}))

    document, made = merged(Format.XLSX, base, offline(base, put(A6="Later", B6=5)), head)

    assert made.added == ["Plan!A6", "Plan!B6"]
    assert (cells_of(document)["A6"], cells_of(document)["B2"]) == ("Later", 125)


def test_rows_inserted_offline_come_into_a_sheet_that_nobody_else_has_changed_and_references_follow() -> None:
    base = a_book()

    def insert(sheet: Any) -> None:
        sheet.insert_rows(3)
        put(A3="Heat", B3=70, C3="=B3*2", C4="=B4*2", C5="=B5*2", B6="=SUM(B2:B5)")(sheet)

    upload = offline(base, insert)
    book = openpyxl.load_workbook(io.BytesIO(upload))
    book["Other"]["A1"] = "=Plan!B6"
    head = edited(base, SetCells(sheet="Other", cells={"B1": FormulaCell(formula="=Plan!B4")}))

    document, _ = merged(Format.XLSX, base, saved(book), head)

    cells = cells_of(document)
    assert [cells[f"A{row}"] for row in range(1, 7)] == ["Name", "Rent", "Heat", "Light", "Water", "All"]
    assert cells["B6"] == "=SUM(B2:B5)"
    assert cells_of(document, "Other") == {"A1": "=Plan!B6", "B1": "=Plan!B5"}


@pytest.mark.parametrize(
    "edit",
    [
        SetCells(sheet="Plan", cells={"B4": 31}),
        AppendRows(sheet="Plan", rows=[["More", 1]]),
    ],
)
def test_rows_inserted_offline_are_refused_where_others_have_changed_the_sheet(edit: Edit) -> None:
    base = a_book()

    with pytest.raises(MergeConflictError, match="rows or columns") as refused:
        merged(Format.XLSX, base, offline(base, lambda sheet: sheet.insert_rows(3)), edited(base, edit))

    assert conflicts_of(refused.value) == ["sheet-1"]


def test_cells_are_refused_where_others_have_inserted_rows() -> None:
    base = a_book()
    head = edited(base, EditGrid(sheet="Plan", insert_rows=Rows(at=3, count=1)))

    with pytest.raises(MergeConflictError, match="rows or columns"):
        merged(Format.XLSX, base, offline(base, put(B4=31)), head)


def test_a_formula_that_names_what_others_have_renamed_is_refused() -> None:
    base = a_book()
    book = openpyxl.load_workbook(io.BytesIO(base))
    book["Other"]["A2"] = "=Plan!B2+1"
    head = edited(base, RenameSheet(sheet="Plan", name="Budget"))

    with pytest.raises(MergeConflictError, match="'Plan'"):
        merged(Format.XLSX, base, saved(book), head)


def _with_new_sheet(book: Any) -> None:
    book.create_sheet("New")


def _without_other(book: Any) -> None:
    book.remove(book["Other"])


def _with_another_name(book: Any) -> None:
    book["Other"].title = "Another"


def _in_another_order(book: Any) -> None:
    book.move_sheet("Other", -1)


def _with_merged_cells(book: Any) -> None:
    book["Plan"].merge_cells("A1:B1")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_with_new_sheet, "new sheet"),
        (_without_other, "deleted a sheet"),
        (_with_another_name, "sheet"),
        (_in_another_order, "another order"),
        (_with_merged_cells, "merged or parted"),
    ],
)
def test_what_is_no_change_of_cells_is_refused_by_name(change: Callable[[Any], object], why: str) -> None:
    base = a_book()
    book = openpyxl.load_workbook(io.BytesIO(base))
    change(book)

    with pytest.raises(MergeConflictError, match=why):
        merged(Format.XLSX, base, saved(book), edited(base, SetCells(sheet="Plan", cells={"B2": 125})))


def test_what_a_sheet_has_besides_its_cells_stays_and_that_is_told() -> None:
    base = a_book()
    upload = offline(base, lambda sheet: setattr(sheet.column_dimensions["A"], "width", 44))

    _, made = merged(Format.XLSX, base, upload, base)

    assert [warning.detail for warning in made.warnings] == [
        "the upload has changed widths of columns on 'Plan', which is not merged: it stays as it is in the document"
    ]


_VALUES: Final = st.dictionaries(
    st.sampled_from(["A1", "B2", "C3", "D4", "E5"]), st.sampled_from([None, 1, 2, "text", "=1+1"]), max_size=4
)


@settings(max_examples=40, deadline=None)
@given(_VALUES, _VALUES, _VALUES)
def test_every_cell_is_as_who_has_changed_it_has_it(
    before: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    base = offline(a_book(), put(**{f"{name}9": value for name, value in before.items()}))
    head, upload = (
        offline(base, put(**{f"{name}9": value for name, value in side.items()})) for side in (ours, theirs)
    )
    was, here, now = (_said(data) for data in (base, head, upload))
    names = {*was, *here, *now}
    clashes = {
        name for name in names if len({was.get(name), here.get(name), now.get(name)}) == len(("was", "here", "now"))
    }

    if clashes:
        with pytest.raises(MergeConflictError):
            merged(Format.XLSX, base, upload, head, head_is_uploaded=True)
        return
    try:
        document, _ = merged(Format.XLSX, base, upload, head, head_is_uploaded=True)
    except MergeConflictError as error:
        # Rows that say the same may have moved.
        refused = conflicts_of(error)
        event(f"refused {refused}")
        return

    wanted = {name: now.get(name) if now.get(name) != was.get(name) else here.get(name) for name in names}
    assert cells_of(document) == {name: value for name, value in wanted.items() if value is not None}


def _said(data: bytes) -> Mapping[str, object]:
    return cells_of(opened(Format.XLSX, data))


def test_a_format_is_refused_where_others_have_inserted_rows() -> None:
    base = offline(a_book(), put(A7="same", A8="same", A9="same"))
    upload = offline(base, lambda sheet: setattr(sheet["A8"], "font", Font(bold=True)))
    head = edited(base, EditGrid(sheet="Plan", insert_rows=Rows(at=7, count=1)))

    with pytest.raises(MergeConflictError, match="rows or columns"):
        merged(Format.XLSX, base, upload, head)
