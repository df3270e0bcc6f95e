"""Appending rows to a sheet, and to the table they stand under."""

from collections.abc import Sequence

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.addresses import COLUMNS_MAX, ROWS_MAX, Address
from officeplane.formats.excel.cell_values import Value
from officeplane.formats.excel.filters import grow_filter
from officeplane.formats.excel.grid import Grid
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheet_writer import SheetWriter
from officeplane.formats.excel.tables import Table


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
    like = _formats(grid, table, first)
    for number, row in enumerate(rows, first):
        for column, value in enumerate(row, 1):
            writer.set(Address(number, column), value, like.get(column))
    grow_filter(parts, sheet, first, last)
    writer.finish()
    return sheet.id, first


def _last_row(grid: Grid) -> int:
    """Return the last row that holds anything, a merged cell down to its end."""
    last = grid.last_content()
    while (lower := max((merge.bottom for merge in grid.merges.in_row(last)), default=last)) > last:
        last = lower
    return last


def _formats(grid: Grid, table: Table | None, first: int) -> dict[int, str]:
    """Return the formats of a table's last row, by column: new rows of it look the same."""
    if table is None or first - 1 == table.area.top:
        return {}
    found: dict[int, str] = {}
    for column in range(table.area.left, table.area.right + 1):
        cell = grid.cell(Address(first - 1, column))
        style = None if cell is None else cell.get("s")
        if style is not None:
            found[column] = style
    return found
