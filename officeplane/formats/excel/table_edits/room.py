"""Room: whether a table can grow where it stands, and what would be torn if whole rows or columns moved."""

from collections.abc import Iterator

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area, letters
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.implied_addresses import column_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.table_edits.found import Found


def is_free(parts: Parts, found: Found, area: Area) -> bool:
    """Tell whether nothing stands in an area that a table would take."""
    grid = parts.grid(found.sheet)
    if any(len(cell) for cell in grid.cells_in(area)):
        return False
    rows = range(area.top, area.bottom + 1)
    held = [each for row in rows for areas in (grid.merges, grid.joint_areas) for each in areas.in_row(row)]
    held += [table.area for table in parts.tables(found.sheet)]
    return all(_are_apart(each, area) for each in held)


def check_beside(parts: Parts, found: Found, shift: Shift) -> None:
    """Refuse to move whole rows or columns through what stands beside a table."""
    grid, area = parts.grid(found.sheet), found.area
    first, last = shift.at, max(shift.at, shift.along(area)[1])
    torn = _beside_rows(grid, area, first, last) if shift.is_of_rows else _below_columns(grid, area, first, last)
    cell = next(torn, None)
    if cell is not None:
        where = "beside" if shift.is_of_rows else "above or below"
        raise InvalidEditError(
            f"{cell} stands {where} the table {found.table.name} ({area}) and would move with its "
            f"{shift.axis.value}: edit_grid inserts and deletes whole {shift.axis.value} of the sheet "
            f"{found.sheet.name!r}, here at {shift.at if shift.is_of_rows else letters(shift.at)}"
        )


def _beside_rows(grid: Grid, area: Area, first: int, last: int) -> Iterator[Address]:
    for number in grid.numbers:
        for cell in grid.row_cells(number) if first <= number <= last else ():
            if len(cell) and not area.left <= column_of(cell) <= area.right:
                yield Address(number, column_of(cell))


def _below_columns(grid: Grid, area: Area, first: int, last: int) -> Iterator[Address]:
    for number in grid.numbers:
        for cell in grid.row_cells(number) if not area.top <= number <= area.bottom else ():
            if len(cell) and first <= column_of(cell) <= last:
                yield Address(number, column_of(cell))


def _are_apart(one: Area, other: Area) -> bool:
    return (
        one.bottom < other.top or other.bottom < one.top or one.right < other.left or other.right < one.left
    )  # fmt: skip
