"""Rows of a table that come and go."""

from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.powerpoint.names import a
from officeplane.formats.powerpoint.table_edits.cells import alike, checked, take_over
from officeplane.formats.powerpoint.table_edits.merged import merged_areas, set_areas
from officeplane.formats.powerpoint.table_grid import TableGrid
from officeplane.formats.powerpoint.tables import ROWS_MAX
from officeplane.formats.table_change import Lines
from officeplane.formats.xml import Element

_PROPERTIES: Final = a("tblPr")
_CELL: Final = a("tc")


def insert_rows(table: Element, lines: Lines) -> None:
    """Put new rows before one, or at the end; each looks like the row that it pushes down, or the last."""
    grid = TableGrid(table)
    if len(grid.rows) + lines.count > ROWS_MAX:
        raise InvalidEditError(f"the table would have {len(grid.rows) + lines.count} rows; a slide takes {ROWS_MAX}")
    areas = merged_areas(grid)
    shift = Shift(Axis.ROWS, lines.at, lines.count, inserts=True)
    number = min(lines.at, len(grid.rows))
    if number == 1 and len(grid.rows) > 1 and _has_header(table):
        number = 2
    wide = [area for area in areas if area.top <= number <= area.bottom and area.left < area.right]
    wide = [area for area in wide if not shift.cuts(area)]
    covered = {column for area in areas if shift.cuts(area) for column in range(area.left, area.right + 1)}
    covered |= {column for area in wide for column in range(area.left + 1, area.right + 1)}
    model = grid.lines[number - 1]
    new = [Area(row, area.left, row, area.right) for row in range(lines.at, shift.end) for area in wide]
    place = None if lines.at > len(grid.rows) else grid.rows[lines.at - 1]
    for turn in range(lines.count):
        texts = [*(lines.texts[turn] if turn < len(lines.texts) else ())]
        checked(len(texts), len(model) - len(covered), "row")
        made = _row_like(grid.rows[number - 1])
        for column, cell in enumerate(model, 1):
            made.append(alike(cell, texts.pop(0) if texts and column not in covered else ""))
        if place is not None:
            place.addprevious(made)
        else:
            _last_row(table).addnext(made)
    set_areas(table, [*(moved for area in areas if (moved := shift.area(area)) is not None), *new])


def delete_rows(table: Element, lines: Lines) -> None:
    """Take rows out; what a merged cell says that goes on below them stays."""
    grid = TableGrid(table)
    shift = Shift(Axis.ROWS, lines.at, lines.count, inserts=False)
    left: list[Area] = []
    for area in merged_areas(grid):
        after = shift.area(area)
        if after is None:
            continue
        left.append(after)
        if shift.point(area.top) is None:
            take_over(grid.lines[shift.end - 1][area.left - 1], grid.lines[area.top - 1][area.left - 1])
    for row in grid.rows[lines.at - 1 : shift.end - 1]:
        table.remove(row)
    set_areas(table, left)


def _row_like(row: Element) -> Element:
    """Return a row without cells, as high as another one."""
    made = deepcopy(row)
    made.tail = None
    for child in list(made):
        # By the numbers among the extensions PowerPoint tells rows apart.
        made.remove(child)
    return made


def _last_row(table: Element) -> Element:
    return table.findall(a("tr"))[-1]


def _has_header(table: Element) -> bool:
    properties = table.find(_PROPERTIES)
    return properties is not None and properties.get("firstRow") in {"1", "true"}
