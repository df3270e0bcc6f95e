"""Cells that become one, and merged cells that are taken apart."""

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.word.names import w
from officeplane.formats.word.table_edits.cells import alike, take_in
from officeplane.formats.word.table_edits.grid import CELL_PR, Cell, Grid, set_merge, set_span
from officeplane.formats.xml import Element

_WIDTH = f"{CELL_PR}/{w('tcW')}"


def merge(table: Element, area: Area) -> None:
    """Make one cell of all in an area; it says what they said, row by row."""
    grid = Grid(table)
    lines = [_cells_in(grid, area, row) for row in range(area.top, area.bottom + 1)]
    first = lines[0][0]
    if all(len(line) == 1 for line in lines) and grid.area(first) == area:
        raise InvalidEditError(f"{area} is one cell already")
    for line in lines:
        for cell in line:
            if cell is not first:
                take_in(first.element, cell.element)
    for number, line in enumerate(lines):
        widths = [width for cell in line if (width := cell.element.find(_WIDTH)) is not None]
        if len(widths) == len(line) and len({width.get(w("type")) for width in widths}) == 1:
            said = [width.get(w("w"), "") for width in widths]
            if all(one.isdecimal() for one in said):
                widths[0].set(w("w"), str(sum(map(int, said))))
        set_span(line[0].element, area.right - area.left + 1)
        below = "restart" if number == 0 else "continue"
        set_merge(line[0].element, below if len(lines) > 1 else None)
        for cell in line[1:]:
            parent = cell.element.getparent()
            if parent is not None:
                parent.remove(cell.element)


def split(table: Element, at: Address) -> None:
    """Take a merged cell apart; its first part keeps what it says."""
    grid = Grid(table)
    cell = grid.named(at)
    parts = grid.parts(cell)
    if len(parts) == 1 and cell.span == 1:
        raise InvalidEditError(f"{at} is no merged cell: there is nothing to split")
    for part in parts:
        set_merge(part.element, None)
        set_span(part.element, 1)
        width = part.element.find(_WIDTH)
        if width is not None and (said := width.get(w("w"), "")).isdecimal():
            width.set(w("w"), str(int(said) // part.span))
        for _ in range(part.span - 1):
            part.element.addnext(alike(part.element, ""))


def _cells_in(grid: Grid, area: Area, row: int) -> list[Cell]:
    """Return the cells of a row that lie in an area, whole."""
    found = [cell for cell in grid.lines[row - 1] if cell.column <= area.right and cell.end > area.left]
    for cell in found:
        whole = grid.area(cell)
        if Address(whole.top, whole.left) not in area or Address(whole.bottom, whole.right) not in area:
            raise InvalidEditError(
                f"{area} holds only part of the merged cell {whole}: name all of it, or split it first"
            )
    if not found or found[0].column != area.left or found[-1].end != area.right + 1:
        raise InvalidEditError(f"row {row} has no cells in part of {area}")
    return found
