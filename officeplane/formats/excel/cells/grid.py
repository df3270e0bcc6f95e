"""The grid of a sheet: its rows and cells, found without walking the tree."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

from lxml import etree

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, Address, Area, Areas, area, letters
from officeplane.formats.excel.cells.implied_addresses import column_of, name_cells, number_of
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import CELL, FORMULA, ROW, main
from officeplane.formats.xml import Element

_DATA: Final = main("sheetData")


class Row:
    """The cells of one row, in order."""

    def __init__(self, element: Element, number: int) -> None:
        self.element = element
        self.number = number
        self._columns: list[int] = []
        self._cells: list[Element] = []
        for cell in element.iterchildren(CELL):
            self._columns.append(column_of(cell))
            self._cells.append(cell)

    def find(self, column: int) -> Element | None:
        """Return a cell, if it is there."""
        at = bisect_left(self._columns, column)
        return self._cells[at] if at < len(self._columns) and self._columns[at] == column else None

    def add(self, column: int) -> Element:
        """Return a new cell at its place."""
        cell = etree.Element(CELL)
        cell.set("r", f"{letters(column)}{self.number}")
        at = bisect_left(self._columns, column)
        if at == len(self._columns):
            if at:
                self._cells[-1].addnext(cell)
            else:
                self.element.insert(0, cell)
        else:
            self._cells[at].addprevious(cell)
        self._columns.insert(at, column)
        self._cells.insert(at, cell)
        self._span(column)
        return cell

    def remove(self, cell: Element) -> None:
        """Remove a cell that was found here."""
        at = bisect_left(self._columns, column_of(cell))
        del self._columns[at], self._cells[at]
        self.element.remove(cell)

    def _span(self, column: int) -> None:
        spans = self.element.get("spans")
        if spans is None:
            return
        begin, _, end = spans.partition(" ")[0].partition(":")
        first, last = whole(begin, 0), whole(end, 0)
        if first and last and not first <= column <= last:
            self.element.set("spans", f"{min(first, column)}:{max(last, column)}")


class Grid:
    """The rows of a parsed sheet, what is merged in it, and the formulas that belong to several cells.

    It is made once for a tree and is right as long as the tree is changed through it. In
    one that `is_named` all cells say where they are, which takes a look at each.
    """

    def __init__(self, root: Element, *, is_named: bool = False) -> None:
        self.root = root
        data = root.find(_DATA)
        if data is None:
            raise UnsupportedDocumentError("damaged", "a sheet has no place for cells (sheetData)")
        self.data = data
        self._rows: dict[int, Element] = {}
        if not is_named:
            name_cells(root)
        for row in data.iterchildren(ROW):
            self._rows.setdefault(number_of(row), row)
        self._numbers = sorted(self._rows)
        self.merges = Areas(_merges(root))
        self.shared: dict[str, dict[Element, int]] = {}
        self.sources: dict[str, Element] = {}
        """The first formula of each shared group that holds its text."""
        self.joint: dict[Area, Element] = {}
        for formula in data.iter(FORMULA):
            kind = formula.get("t")
            if kind == "shared":
                group = formula.get("si", "")
                self.shared.setdefault(group, {})[formula] = 1
                if formula.text:
                    self.sources.setdefault(group, formula)
            elif kind in {"array", "dataTable"} and (found := area(formula.get("ref"))):
                self.joint[found] = formula
        self.joint_areas = Areas(list(self.joint))

    @property
    def numbers(self) -> list[int]:
        """The numbers of all rows that are there, in order."""
        return self._numbers

    def row(self, number: int) -> Element | None:
        """Return a row, if it is there."""
        return self._rows.get(number)

    def add_row(self, number: int) -> Element:
        """Return a new row at its place."""
        row = etree.Element(ROW)
        row.set("r", str(number))
        if not self._numbers or number > self._numbers[-1]:
            self.data.append(row)
            self._numbers.append(number)
        else:
            at = bisect_left(self._numbers, number)
            self._rows[self._numbers[at]].addprevious(row)
            self._numbers.insert(at, number)
        self._rows[number] = row
        return row

    def cell(self, at: Address) -> Element | None:
        """Return a cell, if it is there."""
        row = self._rows.get(at.row)
        return None if row is None else Row(row, at.row).find(at.column)

    def row_cells(self, number: int) -> Iterator[Element]:
        """Yield the cells of a row."""
        if (row := self._rows.get(number)) is not None:
            yield from row.iterchildren(CELL)

    def cells_in(self, found: Area) -> Iterator[Element]:
        """Yield the cells of an area that are there."""
        begin, end = bisect_left(self._numbers, found.top), bisect_right(self._numbers, found.bottom)
        for number in self._numbers[begin:end]:
            for cell in self._rows[number].iterchildren(CELL):
                if found.left <= column_of(cell) <= found.right:
                    yield cell

    def cells(self) -> Iterator[tuple[int, Element]]:
        """Yield every cell with the number of its row, in order."""
        for number in self._numbers:
            for cell in self._rows[number].iterchildren(CELL):
                yield number, cell

    def used_range(self) -> Area | None:
        """Return the area of all cells that hold anything, None when none does."""
        top = bottom = left = right = 0
        for number in self._numbers:
            row = self._rows[number]
            first = next((cell for cell in row.iterchildren(CELL) if len(cell)), None)
            if first is None:
                continue
            last = next((cell for cell in row.iterchildren(CELL, reversed=True) if len(cell)), first)
            top, bottom = top or number, number
            left, right = min(left or COLUMNS_MAX, column_of(first)), max(right, column_of(last))
        return Area(top, left, bottom, right) if top else None

    def last_content(self) -> int:
        """Return the last row that holds anything, 0 when none does."""
        for number in reversed(self._numbers):
            if any(len(cell) for cell in self._rows[number].iterchildren(CELL)):
                return number
        return 0


def _merges(root: Element) -> list[Area]:
    merged = root.find(main("mergeCells"))
    return [] if merged is None else [found for each in merged if (found := area(each.get("ref")))]
