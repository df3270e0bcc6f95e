"""Painting: cells, rows and columns of a sheet get their formats changed.

A cell that is not there shows the format of its row, or else that of its column.
Where a row and a column meet whose formats would now say different things, or in a
range of few cells, such a cell is made; never one for each place of whole lines.
"""

from bisect import bisect_left, bisect_right
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area, letters
from officeplane.formats.excel.cells.grid import Row
from officeplane.formats.excel.looks.cell_formats import CellFormats
from officeplane.formats.excel.looks.change import FormatChange
from officeplane.formats.excel.looks.columns import Columns
from officeplane.formats.excel.looks.rich_texts import RichTexts
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import FORMULA
from officeplane.formats.xml import Element

MADE_MAX: Final = 100_000
"""So many cells and rows are made at most to hold nothing but a format."""

_YES: Final = frozenset(("1", "true"))
_TEXTS: Final = frozenset(("s", "str", "inlineStr"))


class Painter:
    """Changes the formats of one sheet."""

    def __init__(self, parts: Parts, sheet: Sheet, usual_width: float) -> None:
        self._grid = parts.grid(sheet)
        self._formats = CellFormats(parts.package, parts.workbook)
        self._texts = RichTexts(parts)
        self._columns = Columns(self._grid.root, self._grid.data)
        self._column_styles: dict[int, str | None] | None = None
        self._usual_width = usual_width
        self._rows: dict[int, Row] = {}
        self._made = 0
        self.touched = False
        """Whether anything is other than it was."""
        self.texts = 0
        """How many of the cells hold a text."""
        self.numbers = 0
        """How many hold anything else."""

    def paint(self, area: Area, change: FormatChange) -> None:
        """Change the formats of an area."""
        if change.is_empty:
            return
        if area.top == 1 and area.bottom == ROWS_MAX:
            self._paint_columns(area, change)
        elif area.left == 1 and area.right == COLUMNS_MAX:
            self._paint_rows(area, change)
        else:
            self._paint_cells(area, change)

    def set_width(self, area: Area, width: float) -> None:
        """Give the columns of an area a width."""
        for stretch in self._columns.between(area.left, area.right, self._usual_width):
            stretch.set("width", f"{width:.10g}")
            stretch.set("customWidth", "1")
            stretch.attrib.pop("bestFit", None)
        self.touched = True

    def set_height(self, area: Area, points: float) -> None:
        """Give the rows of an area a height."""
        self._check_room(area.bottom - area.top + 1, self._rows_in(area), area)
        for number in range(area.top, area.bottom + 1):
            row = self._row(number) or self._add_row(number)
            row.element.set("ht", f"{points:g}")
            row.element.set("customHeight", "1")
        self.touched = True

    def _paint_cells(self, area: Area, change: FormatChange) -> None:
        if area.size > MADE_MAX:
            self._check_room(area.size, sum(1 for _ in self._grid.cells_in(area)), area)
        for number in range(area.top, area.bottom + 1):
            for column in range(area.left, area.right + 1):
                row = self._row(number)
                cell = None if row is None else row.find(column)
                if cell is not None:
                    self._restyle(cell, change)
                else:
                    self._make(number, column, self._shown(row, column), change)

    def _paint_columns(self, area: Area, change: FormatChange) -> None:
        is_whole = area.left == 1 and area.right == COLUMNS_MAX
        rows = [
            row for number in self._grid.numbers if _has_format(self._grid.row(number)) and (row := self._row(number))
        ]
        for cell in self._grid.cells_in(area):
            self._restyle(cell, change)
        for row in rows:
            style = row.element.get("s")
            if is_whole:
                self._set(row.element, "s", self._formats.changed(style, change))
                continue
            for column in range(area.left, area.right + 1):
                if row.find(column) is None:
                    self._make(row.number, column, style, change)
        if all(self._formats.changed(style, change) == style for style in self._columns.styles(area.left, area.right)):
            return
        for stretch in self._columns.between(area.left, area.right, self._usual_width):
            self._set(stretch, "style", self._formats.changed(stretch.get("style"), change))
        self._column_styles = None

    def _paint_rows(self, area: Area, change: FormatChange) -> None:
        usual = self._columns.usual_style()
        others = [column for column in range(1, COLUMNS_MAX + 1) if self._style_of(column) != usual]
        style = self._formats.changed(usual, change)
        self._check_room(area.bottom - area.top + 1, self._rows_in(area), area)
        for number in range(area.top, area.bottom + 1):
            for cell in self._grid.row_cells(number):
                self._restyle(cell, change)
            known = self._row(number)
            if known is not None and _has_format(known.element):
                self._set(known.element, "s", self._formats.changed(known.element.get("s"), change))
                continue
            row = known
            for column in others:
                if row is None or row.find(column) is None:
                    self._make(number, column, self._style_of(column), change)
                    row = self._row(number)
            if style != usual and style is not None:
                row = row or self._add_row(number)
                self._set(row.element, "s", style)
                row.element.set("customFormat", "1")

    def _restyle(self, cell: Element, change: FormatChange) -> None:
        self._set(cell, "s", self._formats.changed(cell.get("s"), change))
        if change.is_of_fonts and self._texts.follow(cell, change):
            self.touched = True
        if len(cell) == 0:
            return
        if cell.get("t") in _TEXTS and cell.find(FORMULA) is None:
            self.texts += 1
        else:
            self.numbers += 1
        if change.is_of_heights:
            _measure_anew(cell.getparent())

    def _set(self, element: Element, attribute: str, style: str | None) -> None:
        if style is not None and style != element.get(attribute):
            element.set(attribute, style)
            self.touched = True

    def _make(self, number: int, column: int, shown: str | None, change: FormatChange) -> None:
        style = self._formats.changed(shown, change)
        if style is None or style == shown:
            return
        self._made += 1
        if self._made > MADE_MAX:
            raise self._refusal(f"{letters(column)}{number} would be one of more than {MADE_MAX} cells")
        row = self._row(number) or self._add_row(number)
        row.add(column).set("s", style)
        self.touched = True

    def _shown(self, row: Row | None, column: int) -> str | None:
        return row.element.get("s") if row is not None and _has_format(row.element) else self._style_of(column)

    def _style_of(self, column: int) -> str | None:
        if self._column_styles is None:
            self._column_styles = {
                at: stretch.get("style")
                for first, last, stretch in self._columns.stretches()
                for at in range(first, min(last, COLUMNS_MAX) + 1)
            }
        return self._column_styles.get(column)

    def _rows_in(self, area: Area) -> int:
        numbers = self._grid.numbers
        return bisect_right(numbers, area.bottom) - bisect_left(numbers, area.top)

    def _check_room(self, places: int, there: int, area: Area) -> None:
        if places - there > MADE_MAX:
            raise self._refusal(f"{area} has {places - there} places")

    def _refusal(self, what: str) -> InvalidEditError:
        used = self._grid.used_range()
        return InvalidEditError(
            f"{what} that hold nothing, and {MADE_MAX} at most are given a format one by one: name whole columns (B:D) "
            f"or rows (2:5), or a range that ends where the cells do{'' if used is None else f' (in use are {used})'}"
        )

    def _row(self, number: int) -> Row | None:
        known = self._rows.get(number)
        if known is None and (element := self._grid.row(number)) is not None:
            known = self._rows[number] = Row(element, number)
        return known

    def _add_row(self, number: int) -> Row:
        made = self._rows[number] = Row(self._grid.add_row(number), number)
        return made


def _has_format(row: Element | None) -> bool:
    return row is not None and row.get("customFormat") in _YES


def _measure_anew(row: Element | None) -> None:
    """Take away a height that was right for what the row was; Excel measures it when it opens the file."""
    if row is not None and row.get("customHeight") not in _YES and row.get("hidden") not in _YES:
        row.attrib.pop("ht", None)
