"""Columns of a table that come and go; each has a name of its own."""

from itertools import count
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, Address, Area
from officeplane.formats.excel.cells.texts import decode
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.tables import Table
from officeplane.formats.excel.shifting.editing import edit_grid
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.excel.shifting.tables import BOUND, free_names
from officeplane.formats.excel.table_edits.found import find_table, set_area
from officeplane.formats.excel.table_edits.room import check_beside, is_free
from officeplane.formats.excel.tags import main
from officeplane.formats.table_change import Lines

_COLUMNS: Final = main("tableColumns")
_COLUMN: Final = main("tableColumn")


def insert_columns(parts: Parts, table_id: str, lines: Lines) -> list[EditWarning]:
    """Put new columns before one of a table, or behind its last; return what to warn of."""
    found = find_table(parts, table_id)
    area = found.area
    if found.table.root.get("tableType") in BOUND:
        raise InvalidEditError(
            f"the table {found.table.name} gets its columns from elsewhere (a query or XML): change them there"
        )
    shift = Shift(Axis.COLUMNS, area.left + lines.at - 1, lines.count, inserts=True)
    after = Area(area.top, area.left, area.bottom, area.right + lines.count)
    warnings: list[EditWarning] = []
    at_end = shift.at > area.right and after.right <= COLUMNS_MAX
    if not at_end or not is_free(parts, found, Area(area.top, shift.at, area.bottom, shift.end - 1)):
        check_beside(parts, found, shift)
        _, _, warnings = edit_grid(parts, found.sheet.name, shift)
    found = find_table(parts, table_id)
    if found.area != after:
        _add_columns(found.table, lines)
        set_area(parts, found.table, after)
    names = [decode(each.get("name", "")) for each in found.table.root.iter(_COLUMN)]
    grid = parts.grid(found.sheet)
    beside = shift.at - 1 if shift.at > area.left else shift.end
    writer = SheetWriter(parts, found.sheet)
    for turn, column in enumerate(range(shift.at, shift.end)):
        texts = [*(lines.texts[turn] if turn < len(lines.texts) else ())]
        if found.table.has_header:
            texts[:1] = [texts[0] if texts and texts[0] else names[column - area.left]]
        for row, text in enumerate(texts, area.top):
            if text:
                like = grid.cell(Address(row, beside))
                writer.set(Address(row, column), text, None if like is None else like.get("s"))
    writer.finish()
    return warnings


def delete_columns(parts: Parts, table_id: str, lines: Lines) -> list[EditWarning]:
    """Take columns out of a table; return what to warn of."""
    found = find_table(parts, table_id)
    shift = Shift(Axis.COLUMNS, found.area.left + lines.at - 1, lines.count, inserts=False)
    check_beside(parts, found, shift)
    return edit_grid(parts, found.sheet.name, shift)[2]


def _add_columns(table: Table, lines: Lines) -> None:
    """Have a table know of columns that came before its first one or behind its last."""
    columns = table.root.find(_COLUMNS)
    if columns is None:
        return
    numbers = count(max((whole(each.get("id"), 0) for each in columns), default=0) + 1)
    names = free_names([decode(each.get("name", "")) for each in columns])
    for place in range(lines.at - 1, lines.at - 1 + lines.count):
        made = etree.Element(_COLUMN)
        made.set("id", str(next(numbers)))
        made.set("name", next(names))
        columns.insert(place, made)
    columns.set("count", str(len(columns)))
