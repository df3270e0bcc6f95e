"""Cells that become one, and merged cells that are taken apart."""

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.powerpoint.table_edits.cells import take_in
from officeplane.formats.powerpoint.table_edits.merged import merged_areas, set_areas
from officeplane.formats.powerpoint.table_grid import TableGrid
from officeplane.formats.xml import Element


def merge(table: Element, area: Area) -> None:
    """Make one cell of all in an area; it says what they said, row by row."""
    grid = TableGrid(table)
    areas = merged_areas(grid)
    if area in areas or (area.top == area.bottom and area.left == area.right):
        raise InvalidEditError(f"{area} is one cell already")
    for known in areas:
        inside = [at in area for at in known.cells()]
        if any(inside) and not all(inside):
            raise InvalidEditError(
                f"{area} holds only part of the merged cell {known}: name all of it, or split it first"
            )
    first, *others = [grid.lines[at.row - 1][at.column - 1] for at in area.cells()]
    for cell in others:
        take_in(first, cell)
    set_areas(table, [*(known for known in areas if not all(at in area for at in known.cells())), area])


def split(table: Element, at: Address) -> None:
    """Take a merged cell apart; its first part keeps what it says."""
    areas = merged_areas(TableGrid(table))
    known = next((area for area in areas if at in area), None)
    if known is None:
        raise InvalidEditError(f"{at} is no merged cell: there is nothing to split")
    if at != Address(known.top, known.left):
        raise InvalidEditError(f"{at} is covered by the merged cell {known}: name its first cell")
    set_areas(table, [area for area in areas if area != known])
