"""Editing: what is asked for of a table, done in one go."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.insets import Insets
from officeplane.formats.powerpoint.looks.sizes import fit_frame
from officeplane.formats.powerpoint.names import a, alone, under
from officeplane.formats.powerpoint.node_texts import NodeText, says
from officeplane.formats.powerpoint.nodes import SlideNode
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH
from officeplane.formats.powerpoint.shape_removal import drop_parts
from officeplane.formats.powerpoint.shapes import table as table_in
from officeplane.formats.powerpoint.table_edits.columns import delete_columns, insert_columns
from officeplane.formats.powerpoint.table_edits.merged import merged_areas
from officeplane.formats.powerpoint.table_edits.merging import merge, split
from officeplane.formats.powerpoint.table_edits.rows import delete_rows, insert_rows
from officeplane.formats.powerpoint.table_grid import TableGrid
from officeplane.formats.table_change import Lines, TableChange, in_order
from officeplane.formats.xml import Element

_PROPERTIES: Final = a("tblPr")
_STYLES: Final = ("tableStyle", "tableStyleId")


@dataclass(frozen=True, slots=True)
class EditedTable:
    """How large a table is now, and what went: with cells that say something else, and with rows and columns."""

    rows: int
    columns: int
    replaced: list[Loss]
    deleted: list[Loss]


def edit_table(package: Package, node: SlideNode, room: Room, change: TableChange, style: str | None) -> EditedTable:
    """Change a table; `style` is the number of the style that it takes."""
    frame = node.shape
    table = None if frame is None else table_in(frame)
    if frame is None or table is None:
        parent = node.parent
        inner = f", such as {parent.id!r} around it" if parent is not None and parent.kind == "table" else ""
        raise InvalidEditError(f"{node.id!r} is a {node.detail.kind}; give the id of a table{inner}")
    grid = TableGrid(table)
    _check(node.id, grid)
    change.check(len(grid.rows), grid.columns)
    deleted = list(_losses_of_lines(package, node, grid, change))
    replaced = _write_cells(package, node, room, grid, change)
    for at in change.split:
        split(table, at)
    for area in change.merge:
        merge(table, area)
    for is_new, lines in in_order(change.insert_rows, change.delete_rows):
        (insert_rows if is_new else delete_rows)(table, lines)
    for is_new, lines in in_order(change.insert_columns, change.delete_columns):
        (insert_columns if is_new else delete_columns)(table, lines)
    if style is not None:
        _set_style(table, style)
    if change.header_row is not None:
        _properties(table).set("firstRow", "1" if change.header_row else "0")
    if change.insert_rows or change.delete_rows:
        fit_frame(frame, table, "cy")
    if change.insert_columns or change.delete_columns:
        fit_frame(frame, table, "cx")
    # What was taken out is put together, so that the slide is looked through once.
    gone = alone(a("tbl"))
    gone.extend(each for each in (*grid.rows, *chain(*grid.lines)) if each.getparent() is None)
    drop_parts(package, node.slide, gone)
    package.changed(node.slide.part)
    grid = TableGrid(table)
    return EditedTable(len(grid.rows), grid.columns, replaced, deleted)


def _check(node_id: str, grid: TableGrid) -> None:
    columns = len(grid.table.findall(f"{a('tblGrid')}/{a('gridCol')}"))
    for number, line in enumerate(grid.lines, 1):
        if len(line) != columns:
            raise InvalidEditError(
                f"row {number} of the table {node_id!r} has {len(line)} cells, and the table {columns} columns: "
                "edit_slide and edit_page write the table anew"
            )


def _write_cells(package: Package, node: SlideNode, room: Room, grid: TableGrid, change: TableChange) -> list[Loss]:
    """Have cells say what they are to say; return what is lost with that."""
    if not change.cells:
        return []
    areas = merged_areas(grid)
    lost: list[Loss] = []
    for at, text in change.cells.items():
        whole = next((area for area in areas if at in area), None)
        if whole is not None and at != Address(whole.top, whole.left):
            raise InvalidEditError(f"{at} is covered by the merged cell {whole}: name its first cell, or split it")
        cell = node._replace(detail=node.reader.tree.by_id[f"{node.id}.r{at.row}.c{at.column}"])
        if not says(cell, text):
            lost += NodeText(package, cell, room).write(text, keep_format=True)
    return lost


def _losses_of_lines(package: Package, node: SlideNode, grid: TableGrid, change: TableChange) -> Iterator[Loss]:
    """Yield what goes with rows and columns besides text; what a merged cell holds that stays does not go."""
    insets = Insets(package, node.slide.part)
    wholes = {Address(area.top, area.left): area for area in merged_areas(grid)}
    for row, line in enumerate(grid.lines, 1):
        for column, cell in enumerate(line, 1):
            whole = wholes.get(Address(row, column), Area(row, column, row, column))
            gone = _holds(change.delete_rows, whole.top, whole.bottom)
            if gone or _holds(change.delete_columns, whole.left, whole.right):
                yield from (Loss(one.kind, node.id, one.name) for one in insets.in_text(cell.iter(PARAGRAPH)))


def _holds(lines: Lines | None, first: int, last: int) -> bool:
    return lines is not None and lines.at <= first and last < lines.at + lines.count


def _set_style(table: Element, style: str) -> None:
    properties = _properties(table)
    for name in _STYLES:
        for known in properties.findall(a(name)):
            properties.remove(known)
    made = alone(a("tableStyleId"))
    made.text = style
    extensions = properties.find(a("extLst"))
    if extensions is None:
        properties.append(made)
    else:
        extensions.addprevious(made)


def _properties(table: Element) -> Element:
    found = table.find(_PROPERTIES)
    if found is None:
        found = under(table, _PROPERTIES)
        table.insert(0, found)
    return found
