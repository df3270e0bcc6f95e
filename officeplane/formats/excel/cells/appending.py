"""Appending rows to a sheet, and to the table they stand under."""

from collections.abc import Sequence

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.implied_addresses import column_of
from officeplane.formats.excel.cells.values import Value
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.formulas.references import shift
from officeplane.formats.excel.formulas.shared import formula_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.filters import grow_filter
from officeplane.formats.excel.sheets.tables import Table


def append_rows(parts: Parts, sheet_name: str, rows: Sequence[Sequence[Value]]) -> tuple[str, int]:
    """Write rows below the last one that holds anything; return the sheet's node id and the first row's number."""
    sheet = parts.sheets.with_cells(sheet_name)
    grid = parts.grid(sheet)
    width = max(map(len, rows), default=0)
    first = _last_row(grid) + 1
    last = first + len(rows) - 1
    if last > ROWS_MAX or width > COLUMNS_MAX:
        raise InvalidEditError(f"{len(rows)} rows below row {first - 1} do not fit: a sheet has {ROWS_MAX} rows")
    writer = SheetWriter(parts, sheet)
    table = next((each for each in writer.tables if each.would_take(first, last, width)), None)
    if table is not None:
        # Before the cells, so that none of them is taken for one outside the table.
        table.take_rows(last)
    looks = _looks(grid, table, first, width)
    continued = {} if table is None else _continued(grid, table, first)
    for number, row in enumerate(rows, first):
        for column, value in enumerate(row, 1):
            writer.set(Address(number, column), value, looks.get(column))
        for column, formula in continued.items():
            if column > len(row) or row[column - 1] is None:
                text = shift(formula, number - first + 1, 0)
                writer.set(Address(number, column), Formula(text), looks.get(column), is_copied=True)
    grow_filter(parts, sheet, first, last)
    writer.finish()
    return sheet.id, first


def _last_row(grid: Grid) -> int:
    """Return the last row that holds anything, a merged cell down to its end."""
    last = grid.last_content()
    while (lower := max((merge.bottom for merge in grid.merges.in_row(last)), default=last)) > last:
        last = lower
    return last


def _looks(grid: Grid, table: Table | None, first: int, width: int) -> dict[int, str]:
    """Return the formats that new rows take over, by column.

    As in Excel these are the ones of a table's last row, elsewhere those that three of the
    five rows above have, so that nothing looks like a heading under a lonely one.
    """
    if table is None:
        columns, rows, needed = range(1, width + 1), range(first - 1, max(first - 6, 0), -1), 3
    else:
        columns = range(1, max(width, table.area.right) + 1)
        rows, needed = range(first - 1, table.area.top, -1)[:1], 1
    looks: dict[int, str] = {}
    cells = [{column_of(cell): cell.get("s") for cell in grid.row_cells(row)} for row in rows]
    for column in columns:
        styles = [row.get(column) for row in cells]
        style = styles[0] if styles else None
        if style is not None and styles.count(style) >= needed:
            looks[column] = style
    return looks


def _continued(grid: Grid, table: Table, first: int) -> dict[int, str]:
    """Return the formulas of a table's last row that its columns go on with, by column."""
    found: dict[int, str] = {}
    for column in table.calculated_columns() if first - 1 > table.area.top else ():
        cell = grid.cell(Address(first - 1, column))
        formula = None if cell is None else formula_of(grid, cell)
        if formula:
            found[column] = formula
    return found
