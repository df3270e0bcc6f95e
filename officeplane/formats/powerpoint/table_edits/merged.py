"""Merged cells: the areas that they cover, read from a table and written into it again."""

from collections.abc import Iterable, Iterator
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.powerpoint.table_grid import TableGrid, is_covered, span
from officeplane.formats.xml import Element

_ATTRIBUTES: Final = ("rowSpan", "gridSpan", "hMerge", "vMerge")
_REPAIR: Final = "edit_slide and edit_page write the table anew"


def merged_areas(grid: TableGrid) -> list[Area]:
    """Return the areas of merged cells; a table that contradicts itself there is refused."""
    found: list[Area] = []
    taken: set[Address] = set()
    for row, line in enumerate(grid.lines, 1):
        for column, cell in enumerate(line, 1):
            at = Address(row, column)
            if is_covered(cell):
                if at not in taken:
                    raise InvalidEditError(f"the cell {at} is covered by a merged cell that is not there: {_REPAIR}")
                continue
            area = Area(row, column, row + span(cell, "rowSpan") - 1, column + span(cell, "gridSpan") - 1)
            if area.bottom > len(grid.lines) or area.right > grid.columns or not taken.isdisjoint(area.cells()):
                raise InvalidEditError(f"the merged cell {area} reaches over others or out of the table: {_REPAIR}")
            if area.top < area.bottom or area.left < area.right:
                if not all(is_covered(grid.lines[each.row - 1][each.column - 1]) for each in list(area.cells())[1:]):
                    raise InvalidEditError(f"the merged cell {area} reaches over others: {_REPAIR}")
                found.append(area)
                taken.update(area.cells())
    return found


def set_areas(table: Element, areas: Iterable[Area]) -> None:
    """Have these areas be merged cells, and no others."""
    grid = TableGrid(table)
    wanted = {at: said for area in areas for at, said in _said_in(area)}
    for row, line in enumerate(grid.lines, 1):
        for column, cell in enumerate(line, 1):
            said = wanted.get(Address(row, column), {})
            if {name: cell.get(name) for name in _ATTRIBUTES if cell.get(name) is not None} == said:
                continue
            for name in _ATTRIBUTES:
                cell.attrib.pop(name, None)
            cell.attrib.update(said)


def _said_in(area: Area) -> Iterator[tuple[Address, dict[str, str]]]:
    """Yield what each cell of an area says of it, as PowerPoint writes it."""
    rows, columns = area.bottom - area.top + 1, area.right - area.left + 1
    for at in area.cells():
        said: dict[str, str] = {}
        if rows > 1 and at.row == area.top:
            said["rowSpan"] = str(rows)
        if columns > 1 and at.column == area.left:
            said["gridSpan"] = str(columns)
        if at.column > area.left:
            said["hMerge"] = "1"
        if at.row > area.top:
            said["vMerge"] = "1"
        if said:
            yield at, said
