"""Dependents: the formulas whose results are of cells that have changed, and those whose results are of these.

A formula is found by the cells it reads: by each of them where they are few, else
by the stretch of rows that it reads in the same columns as others do. What was
found once is not found again, so the whole walk takes little more than one look
at each formula.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from officeplane.formats.excel.cells.addresses import Area

if TYPE_CHECKING:
    from officeplane.formats.excel.recalculation.formulas import Seat

_FEW: Final = 16
_STEPS_MAX: Final = 4_000_000


class TooManyError(Exception):
    """There is more to look at than one edit may take time for."""


class Dependents:
    """Finds formulas by the cells they read."""

    def __init__(self) -> None:
        self._single: dict[int, dict[tuple[int, int], list[Seat]]] = {}
        self._stretches: dict[int, dict[tuple[int, int], _Stretches]] = {}
        self._steps = 0

    def add(self, seat: "Seat") -> None:
        """Take a formula in."""
        for reference in seat.reading.cells:
            sheet = seat.sheet if reference.sheet is None else reference.sheet
            if not reference.is_area:
                place = (reference.top.of(seat.at.row), reference.left.of(seat.at.column))
                self._single.setdefault(sheet, {}).setdefault(place, []).append(seat)
            elif (area := reference.area(seat.at)) is not None:
                self._add_area(sheet, area, seat)

    def readers(self, sheet: int, area: Area) -> "set[Seat]":
        """Return the formulas that read any cell of an area themselves."""
        found = set(self._readers(sheet, area))
        self._forget()
        return found

    def walk(self, changed: Iterable[tuple[int, Area]], first: "Iterable[Seat]") -> "set[Seat]":
        """Return the formulas that read what has changed, or are `first`, and those that read what these come to."""
        found: set[Seat] = set()
        new = set(first)
        due = [*changed]
        try:
            while due or new:
                found |= new
                due += ((seat.sheet, seat.results) for seat in new)
                new = {seat for sheet, area in due for seat in self._readers(sheet, area)} - found
                due = []
        finally:
            self._forget()
        return found

    def _add_area(self, sheet: int, area: Area, seat: "Seat") -> None:
        if area.size <= _FEW:
            single = self._single.setdefault(sheet, {})
            for cell in area.cells():
                single.setdefault((cell.row, cell.column), []).append(seat)
        else:
            groups = self._stretches.setdefault(sheet, {})
            columns = (area.left, area.right)
            if columns not in groups:
                groups[columns] = _Stretches()
            groups[columns].add(area.top, area.bottom, seat)

    def _readers(self, sheet: int, area: Area) -> "Iterator[Seat]":
        """Yield the formulas that read any cell of an area, those of large ones once in a walk."""
        single = self._single.get(sheet, {})
        if area.size <= max(len(single), _FEW):
            self._step(area.size)
            for row in range(area.top, area.bottom + 1):
                for column in range(area.left, area.right + 1):
                    yield from (seat for seat in single.get((row, column), ()) if not seat.is_gone)
        else:
            self._step(len(single))
            for (row, column), found in single.items():
                if area.top <= row <= area.bottom and area.left <= column <= area.right:
                    yield from (seat for seat in found if not seat.is_gone)
        groups = self._stretches.get(sheet, {})
        self._step(len(groups))
        for (left, right), stretches in groups.items():
            if left <= area.right and area.left <= right:
                yield from (seat for seat in stretches.take(area.top, area.bottom) if not seat.is_gone)

    def _step(self, count: int) -> None:
        self._steps += count
        if self._steps > _STEPS_MAX:
            raise TooManyError

    def _forget(self) -> None:
        """Begin anew."""
        self._steps = 0
        for groups in self._stretches.values():
            for stretches in groups.values():
                stretches.give_back()


class _Stretches:
    """Stretches of rows with the formulas that read them; what is taken is gone until it is given back."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, int], list[Seat]] = {}
        self._taken: list[int] = []
        self._tops: list[int] = []
        self._stretches: list[tuple[int, int]] = []
        self._tree: list[int] = []
        self._half = 0

    def add(self, top: int, bottom: int, seat: "Seat") -> None:
        """Note that a formula reads from one row to another."""
        held = self._held.setdefault((top, bottom), [])
        if not held:
            self._half = 0
        held.append(seat)

    def give_back(self) -> None:
        """Have all again."""
        for place in self._taken:
            self._set(place, self._stretches[place][1])
        self._taken.clear()

    def take(self, top: int, bottom: int) -> "Iterator[Seat]":
        """Yield the formulas that read any row of a stretch, and forget them."""
        if not self._half:
            self._plant()
        end = bisect_right(self._tops, bottom)
        while (place := self._first(end, top)) >= 0:
            self._taken.append(place)
            self._set(place, 0)
            yield from self._held[self._stretches[place]]

    def _plant(self) -> None:
        """Make a tree of the last rows, so that of those beginning early enough one ending late enough is found."""
        self._stretches = sorted(self._held)
        self._tops = [top for top, _ in self._stretches]
        self._half = 1 << (len(self._stretches) - 1).bit_length() if len(self._stretches) > 1 else 1
        leaves = [bottom for _, bottom in self._stretches]
        self._tree = [0] * self._half + leaves + [0] * (self._half - len(leaves))
        for at in range(self._half - 1, 0, -1):
            self._tree[at] = max(self._tree[2 * at], self._tree[2 * at + 1])

    def _first(self, end: int, top: int) -> int:
        """Return the first of the stretches before `end` that reaches a row, -1 when none does."""
        if self._tree[1] < top:
            return -1
        at = 1
        while at < self._half:
            at = 2 * at if self._tree[2 * at] >= top else 2 * at + 1
        # The first of all that reach it: if it is not before the end, none is.
        return at - self._half if at - self._half < end else -1

    def _set(self, place: int, last: int) -> None:
        at = self._half + place
        self._tree[at] = last
        while at > 1:
            at //= 2
            self._tree[at] = max(self._tree[2 * at], self._tree[2 * at + 1])
