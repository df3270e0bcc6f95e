"""The cells of a workbook as what is calculated sees them: each is read once, and areas as rows."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.implied_addresses import column_of
from officeplane.formats.excel.cells.shared_strings import SharedStrings
from officeplane.formats.excel.cells.values import CellError, shown
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.recalculation.expressions import Scalar
from officeplane.formats.excel.recalculation.scalars import UnknownError
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import FORMULA
from officeplane.formats.xml import Element

Rows = Sequence[Sequence[Scalar]]
_TEXTS: Final = frozenset(("s", "str", "inlineStr"))
_LOOKS_MAX: Final = 2_000_000
_WIDE: Final = 1_000


class Book:
    """What cells hold; `settled` says what formulas come to that are calculated anew."""

    def __init__(self, parts: Parts, settled: Callable[[int, Address], Scalar]) -> None:
        self._sheets: Sequence[Sheet] = parts.sheets.all
        self._parts = parts
        self._strings: SharedStrings = parts.strings
        self._settled = settled
        self._rows: dict[tuple[int, int], dict[int, Element]] = {}
        self._areas: dict[tuple[int, Area], Rows] = {}
        self._places: dict[tuple[int, Area], dict[object, int]] = {}
        self._looks = 0

    def cell(self, sheet: int, at: Address) -> Scalar:
        """Return what a cell holds."""
        self.look(1)
        found = self._row(sheet, at.row).get(at.column)
        return self._value(sheet, at, found)

    def rows(self, sheet: int, area: Area) -> Rows:
        """Return what an area holds; of whole columns and rows as far as the sheet has any."""
        known = self._areas.get((sheet, area))
        if known is None:
            known = self._areas[sheet, area] = self._read(sheet, area)
        else:
            self.look(sum(map(len, known)))
        return known

    def places(
        self, sheet: int, area: Area, keys: Callable[[Iterable[Scalar]], dict[object, int]]
    ) -> dict[object, int]:
        """Return what is where in an area of one column or row, looked through once."""
        known = self._places.get((sheet, area))
        if known is None:
            known = self._places[sheet, area] = keys(value for row in self.rows(sheet, area) for value in row)
        return known

    def look(self, count: int) -> None:
        """Count what is looked at; more than one edit may take time for is not told."""
        self._looks += count
        if self._looks > _LOOKS_MAX:
            raise UnknownError

    def _read(self, sheet: int, area: Area) -> Rows:
        grid = self._grid(sheet)
        bottom = min(area.bottom, grid.numbers[-1] if grid.numbers else 0)
        right = area.right
        if right - area.left > _WIDE:
            used = grid.used_range()
            right = min(right, used.right if used is not None else 0)
        self.look(max(bottom - area.top + 1, 0) * max(right - area.left + 1, 0))
        made: list[list[Scalar]] = []
        for number in range(area.top, bottom + 1):
            cells = self._row(sheet, number)
            places = (Address(number, column) for column in range(area.left, right + 1))
            made.append([self._value(sheet, at, cells.get(at.column)) for at in places])
        return made

    def _row(self, sheet: int, number: int) -> dict[int, Element]:
        found = self._rows.get((sheet, number))
        if found is None:
            cells = self._grid(sheet).row_cells(number)
            found = self._rows[sheet, number] = {column_of(cell): cell for cell in cells}
        return found

    def _grid(self, sheet: int) -> Grid:
        if not self._sheets[sheet].has_cells:
            raise UnknownError
        return self._parts.grid(self._sheets[sheet])

    def _value(self, sheet: int, at: Address, cell: Element | None) -> Scalar:
        grid = self._grid(sheet)
        if (grid.joint and grid.joint_areas.at(at) is not None) or (
            cell is not None and cell.find(FORMULA) is not None
        ):
            return self._settled(sheet, at)
        return None if cell is None else value_of(cell, self._strings)


def value_of(cell: Element, strings: SharedStrings) -> Scalar:
    """Return what a cell holds as it lies in the file."""
    if len(cell) == 0:
        return None
    kind, told = cell.get("t", "n"), shown(cell, strings)
    if told is None or kind == "d":
        raise UnknownError
    if kind in _TEXTS:
        return told
    if kind == "b":
        return told == "TRUE"
    if kind == "e":
        return CellError(told)
    if not told:
        return None
    try:
        return float(told)
    except ValueError:
        raise UnknownError from None
