"""Sizes: how wide tables and their columns are, and how high their rows."""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.block import inside
from officeplane.formats.word.looks.properties import have, properties_of, put
from officeplane.formats.word.names import TBL, TC, TR, w
from officeplane.formats.word.table_edits.grid import Cell, Grid
from officeplane.formats.xml import Element

_TWENTIETHS: Final = 20
_WIDTH: Final = w("w")
_KIND: Final = w("type")
_DXA: Final = "dxa"
_COLUMN: Final = f"{w('tblGrid')}/{w('gridCol')}"


def set_width(node: Element, points: float, node_id: str) -> None:
    """Give a table a width, its columns in the same proportion, or the column of a cell one."""
    width = round(points * _TWENTIETHS)
    if node.tag == TBL:
        _set_table(node, width)
    elif node.tag == TC:
        table = next(node.iterancestors(TBL))
        grid = Grid(table)
        cell = next(cell for line in grid.lines for cell in line if cell.element is node)
        if cell.span > 1:
            raise InvalidEditError(
                f"{node_id!r} covers {cell.span} columns: give the width of a cell that stands in one, or of the table"
            )
        _set_column(grid, cell.column, width)
    else:
        raise InvalidEditError(f"{node_id!r} is a row, which is as wide as its table: name that, or a cell")


def set_height(node: Element, points: float, node_id: str) -> None:
    """Give the rows of a table, a row, or the row of a cell a height; what needs more room has it."""
    rows: Sequence[Element] = [node]
    if node.tag == TBL:
        rows = [*inside(node, TR)]
    elif node.tag == TC:
        grid = Grid(next(node.iterancestors(TBL)))
        cell = next(cell for line in grid.lines for cell in line if cell.element is node)
        if len(grid.parts(cell)) > 1:
            raise InvalidEditError(f"{node_id!r} is merged over several rows: give the height of each of them")
        rows = [grid.rows[cell.row - 1]]
    for row in rows:
        put(properties_of(row, "trPr"), "trPr", "trHeight", val=str(round(points * _TWENTIETHS)), hRule="atLeast")


def _set_table(table: Element, width: int) -> None:
    columns = table.findall(_COLUMN)
    before = sum(map(_whole, columns))
    for column in columns:
        now = _whole(column) * width / before if before else width / len(columns)
        column.set(_WIDTH, str(max(round(now), 1)))
    for cell in [cell.element for line in Grid(table).lines for cell in line]:
        own = cell.find(f"{w('tcPr')}/{w('tcW')}")
        if own is not None and own.get(_KIND, _DXA) == _DXA and before:
            own.set(_WIDTH, str(max(round(_whole(own) * width / before), 1)))
    put(properties_of(table, "tblPr"), "tblPr", "tblW", w=str(width), type=_DXA)


def _set_column(grid: Grid, column: int, width: int) -> None:
    covering = [cell for line in grid.lines for cell in line if cell.column <= column < cell.end]
    columns = grid.table.findall(_COLUMN)
    own = columns[column - 1] if column <= len(columns) else None
    before = _whole(own) if own is not None else _said(covering)
    if own is not None:
        own.set(_WIDTH, str(width))
    for cell in covering:
        said = have(properties_of(cell.element, "tcPr"), "tcPr", "tcW")
        if cell.span == 1:
            said.set(_WIDTH, str(width))
            said.set(_KIND, _DXA)
        elif said.get(_KIND, _DXA) == _DXA and _whole(said):
            said.set(_WIDTH, str(max(_whole(said) + width - before, 1)))
    whole = grid.table.find(f"{w('tblPr')}/{w('tblW')}")
    if whole is not None and whole.get(_KIND, _DXA) == _DXA and _whole(whole):
        whole.set(_WIDTH, str(max(_whole(whole) + width - before, 1)))


def _said(cells: Sequence[Cell]) -> int:
    widths = (cell.element.find(f"{w('tcPr')}/{w('tcW')}") for cell in cells if cell.span == 1)
    return next((_whole(width) for width in widths if width is not None and width.get(_KIND, _DXA) == _DXA), 0)


def _whole(said: Element) -> int:
    text = said.get(_WIDTH, "")
    return int(text) if text.isascii() and text.isdecimal() else 0
