"""Blocks: cells of a chart as programs lay them out, names above and categories on the left, and others put there."""

from collections.abc import Sequence
from typing import NamedTuple

from officeplane.formats.charts.data import Point
from officeplane.formats.excel.cells.addresses import Address, Area, area
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.places import unquoted
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.tables import Table
from officeplane.formats.excel.shifting.editing import edit_grid
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.excel.tags import main

Formulas = tuple[str | None, str | None, str | None]
"""What names the cells of a series: its name, its categories and its values."""


class CellBlock(NamedTuple):
    """Cells of a sheet, the first row with the names, the first column with the categories."""

    sheet: str
    area: Area


def block_of(parts: Parts, formulas: Sequence[Formulas]) -> CellBlock | None:
    """Return the block that series lie in, None if they lie otherwise."""
    names: set[str] = set()
    columns: list[int] = []
    rows: set[tuple[int, int]] = set()
    left: set[int] = set()
    for name, categories, values in formulas:
        found = [_cells(each) for each in (name, categories, values)]
        title, across, upwards = found
        if title is None or across is None or upwards is None:
            return None
        names |= {sheet for sheet, _ in (title, across, upwards)}
        if title[1].size != 1 or across[1].left != across[1].right or upwards[1].left != upwards[1].right:
            return None
        if (across[1].top, across[1].bottom) != (upwards[1].top, upwards[1].bottom):
            return None
        if title[1].first != Address(upwards[1].top - 1, upwards[1].left):
            return None
        rows.add((upwards[1].top, upwards[1].bottom))
        left.add(across[1].left)
        columns.append(upwards[1].left)
    if len(names) != 1 or len(rows) != 1 or len(left) != 1:
        return None
    (sheet,), ((top, bottom),), (first,) = names, rows, left
    if sorted(columns) != list(range(first + 1, first + 1 + len(columns))) or parts.sheets.find(sheet) is None:
        return None
    return CellBlock(sheet, Area(top - 1, first, bottom, first + len(columns)))


def write_block(parts: Parts, old: CellBlock, rows: Sequence[Sequence[Point]]) -> CellBlock | None:
    """Put rows in place of a block; None, if there is no room for them beside what else is there.

    What stands below or to the right is pushed away, such as a note on how to go on.
    """
    sheet = parts.sheets.with_cells(old.sheet)
    new = Area(old.area.top, old.area.left, old.area.top + len(rows) - 1, old.area.left + len(rows[0]) - 1)
    if not _is_free(parts, sheet, old.area, new):
        _make_room(parts, sheet, old.area, new)
        if not _is_free(parts, sheet, old.area, new):
            return None
    tables = [table for table in parts.tables(sheet) if table.area.meets(new) or table.area.meets(old.area)]
    if any(table.area != old.area or not _can_take(table, rows[0]) for table in tables):
        return None
    for table in tables:
        table.stretch(new, [*table.column_names[:1], *map(str, rows[0][1:])])
    writer = SheetWriter(parts, sheet, frozenset((*old.area.cells(), *new.cells())))
    for place in old.area.without(new):
        for cell in place.cells():
            writer.set(cell, None)
    for number, row in enumerate(rows, new.top):
        for column, value in enumerate(row, new.left):
            at = Address(number, column)
            if at == new.first:
                continue  # PowerPoint writes a space there, or the name of a table's column
            writer.set(at, value)
    writer.finish()
    return CellBlock(old.sheet, new)


def _cells(formula: str | None) -> tuple[str, Area] | None:
    sheet, mark, place = (formula or "").rpartition("!")
    found = area(place)
    return None if not mark or found is None else (unquoted(sheet), found)


def _is_free(parts: Parts, sheet: Sheet, old: Area, new: Area) -> bool:
    grid = parts.grid(sheet)
    for place in new.without(old):
        if any(len(cell) for cell in grid.cells_in(place)):
            return False
    both = old.with_cell(new.first).with_cell(Address(new.bottom, new.right))
    merged = any(merge.meets(both) for row in range(both.top, both.bottom + 1) for merge in grid.merges.in_row(row))
    return not merged and not any(joint.meets(both) for joint in grid.joint)


def _make_room(parts: Parts, sheet: Sheet, old: Area, new: Area) -> None:
    if new.bottom > old.bottom:
        edit_grid(parts, sheet.name, Shift(Axis.ROWS, old.bottom + 1, new.bottom - old.bottom, inserts=True))
    if new.right > old.right:
        edit_grid(parts, sheet.name, Shift(Axis.COLUMNS, old.right + 1, new.right - old.right, inserts=True))


def _can_take(table: Table, header: Sequence[Point]) -> bool:
    """Tell whether the columns of a table may be called so: each has a name, and none that another has."""
    names = [str(name).casefold() for name in header[1:]]
    first = table.column_names[:1]
    is_filtered = next(table.root.iter(main("filterColumn"), main("sortState")), None) is not None
    plain = table.has_header and not (table.has_totals or table.calculated_columns() or is_filtered)
    return plain and all(names) and len({*names, *(name.casefold() for name in first)}) == len(names) + len(first)
