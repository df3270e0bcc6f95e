"""Borders: lines around paragraphs, and around and between cells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.formats.word.block import inside
from officeplane.formats.word.looks.properties import have, properties_of, put, take
from officeplane.formats.word.names import P_PR, TBL, TC, value, w
from officeplane.formats.word.styles import Styles
from officeplane.formats.word.table_edits.grid import Cell, Grid
from officeplane.formats.xml import Element

_LINES: Final = {
    "hair": ("single", "2"), "dotted": ("dotted", "4"), "dashed": ("dashed", "4"), "thin": ("single", "4"),
    "medium": ("single", "12"), "thick": ("single", "24"), "double": ("double", "4"),
}  # fmt: skip
"""How Word calls each kind of line, and how wide it is, in eighths of a point."""

_SIDES: Final = ("top", "left", "bottom", "right")
_FACING: Final = {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}
_OTHER_NAMES: Final = {"left": "start", "right": "end"}
_ROOM: Final = {"top": "1", "bottom": "1", "between": "1", "left": "4", "right": "4"}


@dataclass(frozen=True, slots=True)
class Borders:
    """Which lines to draw: a style or `none`, the sides, and a colour, or the one that there is."""

    style: str
    sides: frozenset[str]
    color: str | None = None

    def around_paragraphs(self, paragraphs: Sequence[Element], styles: Styles) -> None:
        """Draw lines around paragraphs; those that stand together are one box, which Word makes of equal lines."""
        wanted = {side for side in _SIDES if self.sides & {side, "all", "outline"}}
        if self.sides & {"all", "inside"} and (len(paragraphs) > 1 or self.style == "none"):
            wanted.add("between")
        for paragraph in paragraphs:
            properties = properties_of(paragraph, "pPr")
            lines = have(properties, "pPr", "pBdr")
            of_style = value(properties, "pStyle") or styles.default("paragraph") or ""
            for side in wanted:
                if self.style != "none":
                    self._draw(lines, "pBdr", side, _ROOM[side])
                elif any(one.find(f"{P_PR}/{w('pBdr')}/{w(side)}") is not None for one in styles.chain(of_style)):
                    put(lines, "pBdr", side, val="nil")
                else:
                    take(lines, side)
            if not len(lines):
                properties.remove(lines)

    def around_cells(self, node: Element) -> None:
        """Draw lines around and between the cells of a table, a row or a cell."""
        table = node if node.tag == TBL else next(node.iterancestors(TBL))
        grid = Grid(table)
        chosen = [*_chosen(grid, node)]
        rows, columns = [cell.row for cell in chosen], [cell.column for cell in chosen]
        top, bottom, left, right = min(rows), max(rows), min(columns), max(cell.end for cell in chosen)
        has_gaps = table.find(f"{w('tblPr')}/{w('tblCellSpacing')}") is not None
        for cell in chosen:
            ends = {"top": cell.row == top, "bottom": cell.row == bottom,
                    "left": cell.column == left, "right": cell.end == right}  # fmt: skip
            for side, is_end in ends.items():
                beside = [*_beside(grid, cell, side)]
                is_merged = any(_is_one(grid, cell, other) for other in beside)
                if is_merged or not self._is_meant(side, is_end=is_end):
                    continue
                self._draw_at(cell, side)
                # The line between two cells is one: Word shows the heavier of what both say.
                for other in () if has_gaps else beside:
                    if side in {"left", "right"} or (left <= other.column and other.end <= right):
                        self._draw_at(other, _FACING[side])

    def _is_meant(self, side: str, *, is_end: bool) -> bool:
        return bool(self.sides & ({"all", "outline", side} if is_end else {"all", "inside"}))

    def _draw_at(self, cell: Cell, side: str) -> None:
        lines = have(properties_of(cell.element, "tcPr"), "tcPr", "tcBorders")
        if self.style == "none":
            put(lines, "tcBorders", side, val="nil")
        else:
            self._draw(lines, "tcBorders", side, "0")
        take(lines, *filter(None, [_OTHER_NAMES.get(side)]))

    def _draw(self, lines: Element, kind: str, side: str, room: str) -> None:
        known = lines.find(w(side))
        color = self.color or (None if known is None else known.get(w("color"))) or "auto"
        style, width = _LINES[self.style]
        put(lines, kind, side, val=style, sz=width, space=room, color=color)


def _is_one(grid: Grid, cell: Cell, other: Cell) -> bool:
    return any(part.element is other.element for part in grid.parts(cell))


def _chosen(grid: Grid, node: Element) -> Iterator[Cell]:
    """Yield the cells of a table, a row or a cell, with all parts of the merged ones."""
    if node.tag == TBL:
        own = [cell.element for line in grid.lines for cell in line]
    else:
        own = [node] if node.tag == TC else [*inside(node, TC)]
    cells = [part for line in grid.lines for cell in line if cell.element in own for part in grid.parts(cell)]
    yield from {cell.element: cell for cell in cells}.values()


def _beside(grid: Grid, cell: Cell, side: str) -> Iterator[Cell]:
    """Yield the cells at one side of a cell."""
    if side in {"left", "right"}:
        yield from (
            one
            for one in grid.lines[cell.row - 1]
            if (one.end == cell.column if side == "left" else one.column == cell.end)
        )
        return
    row = cell.row - 1 if side == "top" else cell.row + 1
    if 1 <= row <= len(grid.lines):
        yield from (one for one in grid.lines[row - 1] if one.column < cell.end and cell.column < one.end)
