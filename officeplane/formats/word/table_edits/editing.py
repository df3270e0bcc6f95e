"""Editing: what is asked for of a table, done in one go."""

from collections.abc import Sequence
from dataclasses import dataclass

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.table_change import TableChange, in_order
from officeplane.formats.word.block import inside
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.looks.properties import properties_of, put
from officeplane.formats.word.names import TBL, TR
from officeplane.formats.word.styles import Styles
from officeplane.formats.word.table_edits.cells import losses_in, says, write
from officeplane.formats.word.table_edits.columns import delete_columns, insert_columns
from officeplane.formats.word.table_edits.grid import Grid
from officeplane.formats.word.table_edits.merging import merge, split
from officeplane.formats.word.table_edits.rows import delete_rows, insert_rows, set_header
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class Done:
    """What the table is now, and what went: with cells that say something else, and with rows and columns."""

    id: str
    rows: int
    columns: int
    replaced: Sequence[Loss]
    deleted: Sequence[Loss]


def edit_table(finder: Finder, node_id: str, change: TableChange, maker: str) -> Done:
    """Change a table; `maker` is the task that does it, in whose name new rows are."""
    found = finder.find(node_id)
    if found.kind != "table" or found.element.tag != TBL:
        tables = [element for element in found.elements if element.tag == TBL]
        inner = f", such as 't-{found.story.ids.of(next(inside(tables[0], TR)))}' in it" if tables else ""
        raise InvalidEditError(f"{node_id!r} is a {found.kind}; give the id of a table{inner}")
    table = found.element
    grid = Grid(table)
    change.check(len(grid.rows), grid.columns)
    deleted = _losses_of_lines(grid, node_id, change)
    finder.stories.stamp(found.story)
    tops = [block.element for block in found.story.blocks[found.begin : found.end]]
    replaced = _change(table, node_id, change, finder.stories.styles)
    found.story.reread(tops)
    found.story.name(maker)
    grid = Grid(table)
    own_id = node_id if found.place is not None else f"t-{found.story.ids.of(grid.rows[0])}"
    return Done(own_id, len(grid.rows), grid.columns, replaced, deleted)


def _change(table: Element, node_id: str, change: TableChange, styles: Styles) -> list[Loss]:
    """Do what is asked for, in order; return what the cells lost that say something else."""
    lost: list[Loss] = []
    grid = Grid(table)
    cells = {grid.named(at).element: text for at, text in change.cells.items()}
    for cell, text in cells.items():
        if says(cell) != text:
            lost += losses_in(cell, node_id)
            write(cell, text)
    for at in change.split:
        split(table, at)
    for area in change.merge:
        merge(table, area)
    for is_new, lines in in_order(change.insert_rows, change.delete_rows):
        (insert_rows if is_new else delete_rows)(table, lines)
    for is_new, lines in in_order(change.insert_columns, change.delete_columns):
        (insert_columns if is_new else delete_columns)(table, lines)
    if change.style is not None:
        set_style(table, styles.table(change.style))
    if change.header_row is not None:
        set_header(table, is_header=change.header_row)
    return lost


def _losses_of_lines(grid: Grid, node_id: str, change: TableChange) -> list[Loss]:
    rows, columns = change.delete_rows, change.delete_columns
    found: list[Loss] = []
    for line in grid.lines:
        for cell in line:
            in_row = rows is not None and rows.at <= cell.row < rows.at + rows.count
            in_column = columns is not None and columns.at <= cell.column and cell.end <= columns.at + columns.count
            if in_row or in_column:
                found += losses_in(cell.element, node_id)
    return found


def set_style(table: Element, style_id: str) -> None:
    """Give a table a style."""
    put(properties_of(table, "tblPr"), "tblPr", "tblStyle", val=style_id)
