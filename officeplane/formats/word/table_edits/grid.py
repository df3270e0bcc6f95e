"""The grid of a table: which cell is at each place, however cells are merged."""

from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.word.block import inside
from officeplane.formats.word.looks.properties import properties_of, put, take
from officeplane.formats.word.names import TC, TR, VAL, value, w
from officeplane.formats.xml import Element

ROW_PR: Final = w("trPr")
CELL_PR: Final = w("tcPr")
SPAN: Final = w("gridSpan")
MERGE: Final = w("vMerge")


@dataclass(slots=True)
class Cell:
    """A cell, its row, and the columns that it covers; all are counted from 1."""

    element: Element
    row: int
    column: int
    span: int
    goes_on: bool
    """Whether it is the lower part of a merged cell."""

    @property
    def end(self) -> int:
        """The column behind it."""
        return self.column + self.span

    @property
    def name(self) -> str:
        """What it is called, as on a sheet."""
        return str(Address(self.row, self.column))


class Grid:
    """The rows and cells of a table as they are now."""

    def __init__(self, table: Element) -> None:
        self.table = table
        self.rows = [*inside(table, TR)]
        self.lines = [_line(row, number) for number, row in enumerate(self.rows, 1)]
        self.columns = max((line[-1].end - 1 for line in self.lines if line), default=0)

    def covering(self, at: Address) -> Cell | None:
        """Return the cell that covers a place; the part of a merged one that is in this row."""
        return next((cell for cell in self.lines[at.row - 1] if cell.column <= at.column < cell.end), None)

    def named(self, at: Address) -> Cell:
        """Return the cell that begins at a place."""
        found = self.covering(at)
        if found is None:
            raise InvalidEditError(f"there is no cell {at}: its row begins later or ends before")
        whole = self.parts(found)[0]
        if (whole.row, whole.column) != at:
            raise InvalidEditError(f"{at} is covered by the merged cell {whole.name}: name that one, or split it")
        return whole

    def parts(self, cell: Cell) -> list[Cell]:
        """Return the cells, one below the other, that a reader sees as one with this."""
        found = [cell]
        while found[0].goes_on and (above := self._beside(found[0], -1)) is not None:
            found.insert(0, above)
        while (below := self._beside(found[-1], 1)) is not None and below.goes_on:
            found.append(below)
        return found

    def area(self, cell: Cell) -> Area:
        """Return the places that a cell covers with all its parts."""
        parts = self.parts(cell)
        return Area(parts[0].row, cell.column, parts[-1].row, cell.end - 1)

    def _beside(self, cell: Cell, step: int) -> Cell | None:
        row = cell.row + step
        if not 1 <= row <= len(self.lines):
            return None
        found = next((one for one in self.lines[row - 1] if one.column == cell.column), None)
        return found if found is not None and found.span == cell.span else None


def set_span(cell: Element, span: int) -> None:
    """Have a cell cover so many columns."""
    properties = properties_of(cell, "tcPr")
    take(properties, "gridSpan")
    if span > 1:
        put(properties, "tcPr", "gridSpan", val=str(span))


def set_merge(cell: Element, merge: str | None) -> None:
    """Have a cell begin a merged one (`restart`), be its lower part (`continue`), or neither."""
    properties = properties_of(cell, "tcPr")
    take(properties, "vMerge")
    if merge is not None:
        put(properties, "tcPr", "vMerge", val=merge)


def number_in(properties: Element | None, name: str) -> int:
    """Return the number that a property says, or 0."""
    said = value(properties, name) or ""
    return int(said) if said.isdecimal() else 0


def skip(row: Element, name: str, columns: int) -> None:
    """Have a row leave so many columns free before its first cell (`gridBefore`) or after its last (`gridAfter`)."""
    properties = row.find(ROW_PR)
    known = None if properties is None else properties.find(w(name))
    if properties is not None and known is not None and columns == 0:
        properties.remove(known)
    elif known is not None:
        known.set(VAL, str(columns))


def _line(row: Element, number: int) -> list[Cell]:
    column = 1 + number_in(row.find(ROW_PR), "gridBefore")
    cells: list[Cell] = []
    for held in inside(row, TC):
        properties = held.find(CELL_PR)
        merge = None if properties is None else properties.find(MERGE)
        goes_on = merge is not None and merge.get(VAL, "continue") == "continue" and number > 1
        cell = Cell(held, number, column, number_in(properties, "gridSpan") or 1, goes_on)
        cells.append(cell)
        column = cell.end
    return cells
