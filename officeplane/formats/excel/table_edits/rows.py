"""Rows of a table that come and go; new ones have the formulas of calculated columns."""

from collections.abc import Mapping
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.formats.excel.cells.addresses import ROWS_MAX, Address, Area
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.formulas.references import shift as as_copied
from officeplane.formats.excel.formulas.shared import formula_of
from officeplane.formats.excel.formulas.tokens import Kind, tokens
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.tables import Table
from officeplane.formats.excel.shifting.editing import edit_grid
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.excel.table_edits.found import find_table, set_area
from officeplane.formats.excel.table_edits.room import check_beside, is_free
from officeplane.formats.excel.tags import main
from officeplane.formats.table_change import Lines

_CALCULATED: Final = main("calculatedColumnFormula")


def insert_rows(parts: Parts, table_id: str, lines: Lines) -> list[EditWarning]:
    """Put new rows before one of a table, or at its end; return what to warn of."""
    found = find_table(parts, table_id)
    area, table = found.area, found.table
    shift = Shift(Axis.ROWS, area.top + lines.at - 1, lines.count, inserts=True)
    if lines.at == 1 and table.has_header:
        raise InvalidEditError(f"row 1 of the table {table.name} is its header: the first of its rows is row 2")
    if shift.at > area.bottom and table.has_totals:
        raise InvalidEditError(
            f"the last row of the table {table.name} holds its totals: insert before it, at {found.rows}"
        )
    warnings: list[EditWarning] = []
    after = Area(area.top, area.left, area.bottom + lines.count, area.right)
    at_end = shift.at > area.bottom and after.bottom <= ROWS_MAX
    if not at_end or not is_free(parts, found, Area(shift.at, area.left, shift.end - 1, area.right)):
        check_beside(parts, found, shift)
        _, _, warnings = edit_grid(parts, found.sheet.name, shift)
    found = find_table(parts, table_id)
    if found.area != after:
        set_area(parts, found.table, after)
    grid = parts.grid(found.sheet)
    source = shift.at - 1 if shift.at - 1 >= area.top + table.has_header else shift.end
    looks = {
        column: style
        for column in range(area.left, area.right + 1)
        if (cell := grid.cell(Address(source, column))) is not None and (style := cell.get("s")) is not None
    }
    formulas = _calculated(grid, found.table, shift)
    writer = SheetWriter(parts, found.sheet)
    for turn, row in enumerate(range(shift.at, shift.end)):
        texts = lines.texts[turn] if turn < len(lines.texts) else ()
        for column, text in enumerate(texts, area.left):
            if text:
                writer.set(Address(row, column), text, looks.get(column))
        for column, (origin, formula) in formulas.items():
            if column - area.left >= len(texts) or not texts[column - area.left]:
                copied = Formula(as_copied(formula, row - origin, 0))
                writer.set(Address(row, column), copied, looks.get(column), is_copied=True)
    writer.finish()
    return warnings


def delete_rows(parts: Parts, table_id: str, lines: Lines) -> list[EditWarning]:
    """Take rows out of a table; return what to warn of."""
    found = find_table(parts, table_id)
    shift = Shift(Axis.ROWS, found.area.top + lines.at - 1, lines.count, inserts=False)
    if lines.at == 1 and found.table.has_header:
        raise InvalidEditError(
            f"row 1 of the table {found.table.name} is its header: headerRow takes it away, edit_grid all of its rows"
        )
    check_beside(parts, found, shift)
    return edit_grid(parts, found.sheet.name, shift)[2]


def _calculated(grid: Grid, table: Table, shift: Shift) -> Mapping[int, tuple[int, str]]:
    """Return the formulas of calculated columns with the row in which each reads so, as the nearest rows have them."""
    first, last = table.area.top + table.has_header, table.area.bottom - table.has_totals
    near = [row for row in (shift.at - 1, shift.end) if first <= row <= last]
    columns = [*table.root.iter(main("tableColumn"))]
    found: dict[int, tuple[int, str]] = {}
    for column in table.calculated_columns():
        for row in near:
            cell = grid.cell(Address(row, column))
            formula = None if cell is None else formula_of(grid, cell)
            if formula:
                found.setdefault(column, (row, formula))
        stored = columns[column - table.area.left].findtext(_CALCULATED) or ""
        # One that names cells by their places reads otherwise in each row, and nothing says in which it is written.
        if stored and column not in found and all(token.kind is not Kind.REFERENCE for token in tokens(stored)):
            found[column] = (shift.at, stored)
    return found
