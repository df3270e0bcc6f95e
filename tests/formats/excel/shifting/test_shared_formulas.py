"""Shared formulas after a shift: every cell reads what it would read if it had held its formula alone."""

from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.edits.edit_grid import EditGrid, Rows
from officeplane.formats.excel.cells.addresses import Address, address, letters
from officeplane.formats.excel.formulas.references import shift as copied
from officeplane.formats.excel.formulas.shared import formula_of, place_of
from officeplane.formats.excel.shifting.formulas import FormulaShift
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.excel.workbook import Workbook
from tests.fixtures.documents import excel
from tests.formats.excel.books import assert_sound, occasion, opened, written

TEXTS = st.sampled_from([
    "A1*2", "F6+1", "F4+F5", "SUM(F$1:F5)", "SUM($A$1:$B$9)", "Sheet1!E6&Other!E6", "SUM(E7:G12)", "F7:F9+$H$8",
    "Other!F6", "$A6+A$6", "SUM(6:6)", "SUM(F:F)", 'IF(F5>3,F4,"F5")',
])  # fmt: skip


def shared(text: str, rows: int, columns: int, *, elsewhere: bool) -> bytes:
    """A workbook in which F6 and those right of it and below share a formula, on the first or the second sheet."""
    cells: dict[int, str] = {}
    for row in range(6, 6 + rows):
        for column in range(6, 6 + columns):
            name = f"{letters(column)}{row}"
            is_first = (row, column) == (6, 6)
            reach = f"F6:{letters(5 + columns)}{5 + rows}"
            held = f'<f t="shared" ref="{reach}" si="3">{text}</f>' if is_first else '<f t="shared" si="3"/>'
            cells[row] = cells.get(row, "") + f'<c r="{name}">{held.replace("&O", "&amp;O").replace(">3", "&gt;3")}</c>'
    lines = "".join(f'<row r="{row}">{content}</row>' for row, content in cells.items())
    return excel.small(lines, names=("Other", "Sheet1") if elsewhere else ("Sheet1", "Other"))


def held(book: Workbook, sheet: str) -> dict[Address, str]:
    """Return the formula of each cell, as that cell reads it."""
    parts = book._parts  # pyright: ignore[reportPrivateUsage] - reading shows no address of a formula
    grid = parts.grid(parts.sheets.get(sheet))
    return {place_of(cell): formula_of(grid, cell) or "" for _, cell in grid.cells() if len(cell)}


SHIFTS = st.builds(Shift, st.sampled_from(Axis), st.integers(1, 14), st.integers(1, 4), st.booleans())


def edit_of(shift: Shift) -> EditGrid:
    kind = f"{'insert' if shift.inserts else 'delete'}{shift.axis.value.capitalize()}"
    at = shift.at if shift.axis is Axis.ROWS else letters(shift.at)
    return EditGrid.model_validate({"sheet": "Sheet1", kind: {"at": at, "count": shift.count}})


@given(TEXTS, st.integers(1, 6), st.integers(1, 4), SHIFTS, st.booleans())
@settings(deadline=None, max_examples=250)
def test_each_cell_reads_what_it_would_read_alone(
    text: str, rows: int, columns: int, shift: Shift, elsewhere: bool
) -> None:
    data = shared(text, rows, columns, elsewhere=elsewhere)
    sheet = "Other" if elsewhere else "Sheet1"
    book = opened(data)
    before = held(book, sheet)

    edit_of(shift).apply(book, occasion())

    alone = FormulaShift(shift, "Sheet1", ["Sheet1", "Other"])
    wanted = {
        seat: alone.plain(formula, is_own=not elsewhere)
        for place, formula in before.items()
        if (seat := place if elsewhere else shift.cell(place)) is not None
    }
    assert held(book, sheet) == wanted
    assert held(opened(written(book)), sheet) == wanted
    assert_sound(written(book))


def test_a_shared_formula_that_all_cells_read_alike_stays_one() -> None:
    data = shared("A6*2", 6, 1, elsewhere=False)
    book = opened(data)

    EditGrid(sheet="Sheet1", insert_rows=Rows(at=8)).apply(book, occasion())

    content = written(book)
    assert b'<f t="shared" ref="F6:F12" si="3">A6*2</f>' in opened(content).package.content("xl/worksheets/sheet1.xml")
    assert held(opened(content), "Sheet1")[Address(12, 6)] == copied("A6*2", 6, 0)


def test_a_running_total_comes_in_three_parts_around_a_new_row() -> None:
    book = opened(shared("F5+A6", 6, 1, elsewhere=False))

    EditGrid(sheet="Sheet1", insert_rows=Rows(at=9)).apply(book, occasion())

    content = book.package.content("xl/worksheets/sheet1.xml")
    assert content.count(b"F5+A6") == 1
    assert b'<c r="F10"><f>F8+A10</f></c>' in content
    assert held(book, "Sheet1")[address("F12") or Address(1, 1)] == "F11+A12"
