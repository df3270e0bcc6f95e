"""Columns of a table that come and go."""

from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Area, letters
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.powerpoint.looks.sizes import share
from officeplane.formats.powerpoint.names import a, attribute_number
from officeplane.formats.powerpoint.table_edits.cells import alike, checked, take_over
from officeplane.formats.powerpoint.table_edits.merged import merged_areas, set_areas
from officeplane.formats.powerpoint.table_grid import TableGrid
from officeplane.formats.powerpoint.tables import COLUMNS_MAX
from officeplane.formats.table_change import Lines
from officeplane.formats.xml import Element

_GRID: Final = a("tblGrid")
_COLUMN: Final = a("gridCol")


def insert_columns(table: Element, lines: Lines) -> None:
    """Put new columns before one, or at the end; the table stays as wide as it is."""
    grid = TableGrid(table)
    if grid.columns + lines.count > COLUMNS_MAX:
        raise InvalidEditError(
            f"the table would have {grid.columns + lines.count} columns; a slide takes {COLUMNS_MAX}"
        )
    areas = merged_areas(grid)
    shift = Shift(Axis.COLUMNS, lines.at, lines.count, inserts=True)
    inside = {row: area for area in areas if shift.cuts(area) for row in range(area.top, area.bottom + 1)}
    for texts in lines.texts:
        checked(len(texts), len(grid.lines), "column")
        for row, text in enumerate(texts, 1):
            if text and row in inside:
                raise InvalidEditError(
                    f"the merged cell {inside[row]} reaches over column {letters(lines.at)}, so a new one has no cell "
                    f"in row {row}: split it, or leave its text empty"
                )
    for row, line in enumerate(grid.lines):
        model = line[max(lines.at - 2, 0)]
        for turn in reversed(range(lines.count)):
            texts = lines.texts[turn] if turn < len(lines.texts) else ()
            made = alike(model, texts[row] if row < len(texts) else "")
            if lines.at > 1:
                model.addnext(made)
            else:
                model.addprevious(made)
                model = made
    _widen(table, lines)
    set_areas(table, [moved for area in areas if (moved := shift.area(area)) is not None])


def delete_columns(table: Element, lines: Lines) -> None:
    """Take columns out; a cell that reaches beyond them becomes narrower and keeps what it says."""
    grid = TableGrid(table)
    shift = Shift(Axis.COLUMNS, lines.at, lines.count, inserts=False)
    left: list[Area] = []
    for area in merged_areas(grid):
        after = shift.area(area)
        if after is None:
            continue
        left.append(after)
        if shift.point(area.left) is None:
            line = grid.lines[area.top - 1]
            take_over(line[shift.end - 1], line[area.left - 1])
    for row, line in zip(grid.rows, grid.lines, strict=True):
        for cell in line[lines.at - 1 : shift.end - 1]:
            row.remove(cell)
    columns = table.findall(f"{_GRID}/{_COLUMN}")
    for column in columns[lines.at - 1 : shift.end - 1]:
        _parent(column).remove(column)
    set_areas(table, left)


def _widen(table: Element, lines: Lines) -> None:
    columns = table.findall(f"{_GRID}/{_COLUMN}")
    before = sum(max(attribute_number(column, "w", 0), 0) for column in columns)
    model = columns[max(lines.at - 2, 0)]
    for _ in range(lines.count):
        made = deepcopy(model)
        for child in list(made):
            made.remove(child)
        if lines.at > 1:
            model.addnext(made)
        else:
            model.addprevious(made)
    share(table.findall(f"{_GRID}/{_COLUMN}"), "w", before)


def _parent(column: Element) -> Element:
    found = column.getparent()
    if found is None:
        raise InvalidEditError("a column of the table has no grid around it")
    return found
