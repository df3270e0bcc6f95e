"""Evaluation: what formulas come to, each after those that it reads."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.formulas.shared import place_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.recalculation.book import Book, value_of
from officeplane.formats.excel.recalculation.calculating import Calculator, Function
from officeplane.formats.excel.recalculation.expressions import Scalar
from officeplane.formats.excel.recalculation.formulas import Formulas, Seat
from officeplane.formats.excel.recalculation.scalars import UnknownError
from officeplane.formats.excel.recalculation.turns import in_turn

_STEPS_MAX: Final = 3_000_000


class Evaluation:
    """Calculates formulas whose results are due, and those they need that have none."""

    def __init__(
        self, parts: Parts, formulas: Formulas, due: AbstractSet[Seat], functions: Mapping[str, Function]
    ) -> None:
        self._parts = parts
        self._formulas = formulas
        self._due = due
        self._functions = functions
        self._columns: dict[tuple[int, int], tuple[list[int], list[Seat]]] = {}
        self._strings = parts.strings
        self._steps = 0
        self.results: dict[Seat, Scalar] = {}
        """What the formulas come to of which it can be told."""

    def evaluate(self) -> None:
        """Calculate what is due."""
        for seat in sorted(self._due | self._formulas.without_result, key=_order):
            rows, held = self._columns.setdefault((seat.sheet, seat.at.column), ([], []))
            rows.append(seat.at.row)
            held.append(seat)
        book = Book(self._parts, self._settled)
        for seat in in_turn(sorted(self._due, key=_order), self._read_by):
            if seat.fills is not None or seat.reading.expression is None:
                continue
            try:
                calculator = Calculator(book, self._functions, seat.sheet, seat.at)
                self.results[seat] = calculator.result(seat.reading.expression)
            except UnknownError:
                pass

    def _settled(self, sheet: int, at: Address) -> Scalar:
        """Return the result of the formula in a cell, or of the one that fills it."""
        seat = self._formulas.at(sheet, at)
        if seat is not None:
            if seat in self.results:
                return self.results[seat]
            if self._is_open(seat):
                raise UnknownError
            return value_of(seat.cell, self._strings)
        grid = self._parts.grid(self._parts.sheets.all[sheet])
        area = grid.joint_areas.at(at)
        holder = None if area is None else grid.joint[area].getparent()
        seat = None if holder is None else self._formulas.at(sheet, place_of(holder))
        if seat is None or self._is_open(seat):
            raise UnknownError
        cell = grid.cell(at)
        return None if cell is None else value_of(cell, self._strings)

    def _is_open(self, seat: Seat) -> bool:
        return seat in self._due or not seat.has_result

    def _read_by(self, seat: Seat) -> Iterator[Seat]:
        """Yield the formulas that one reads and whose results are not known yet."""
        for reference in () if seat.reading.expression is None else seat.reading.cells:
            area = reference.area(seat.at)
            sheet = seat.sheet if reference.sheet is None else reference.sheet
            if area is None:
                continue
            if area.size == 1:
                found = self._formulas.at(sheet, area.first)
                if found is not None and self._is_open(found):
                    yield found
            else:
                yield from self._in_area(sheet, area)

    def _in_area(self, sheet: int, area: Area) -> Iterator[Seat]:
        for column in self._columns_between(sheet, area.left, area.right):
            rows, held = self._columns[sheet, column]
            begin, end = bisect_left(rows, area.top), bisect_right(rows, area.bottom)
            self._steps += end - begin
            if self._steps > _STEPS_MAX:
                # What is not put in order comes too early, and is not told.
                return
            yield from held[begin:end]

    def _columns_between(self, sheet: int, left: int, right: int) -> Iterator[int]:
        if right - left < len(self._columns):
            yield from (column for column in range(left, right + 1) if (sheet, column) in self._columns)
        else:
            yield from sorted(column for at, column in self._columns if at == sheet and left <= column <= right)


def _order(seat: Seat) -> tuple[int, Address]:
    return seat.sheet, seat.at
