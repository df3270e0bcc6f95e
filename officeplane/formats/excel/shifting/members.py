"""Members: one formula that stands for many cells, each of which reads it as copied to where it is.

When the cells, or those that they refer to, do not all move alike, the formula no longer
says the same of each. The cells come in few stretches that do move alike.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from officeplane.formats.excel.shifting.formulas import FormulaShift
from officeplane.formats.excel.shifting.shift import Shift

Key: TypeAlias = tuple[tuple[int, int] | None, ...]


class Stretch(NamedTuple):
    """Rows or columns, as they were, whose cells read the formula alike afterwards."""

    first: int
    size: int
    key: Key

    @property
    def is_lost(self) -> bool:
        """Whether they have lost a reference."""
        return None in self.key


@dataclass(frozen=True, slots=True)
class Common:
    """A formula for the cells of a stretch of rows or columns, written as it reads at `base`."""

    formulas: FormulaShift
    text: str
    base: int
    is_own: bool
    """Whether the cells are in the sheet that is shifted, and move themselves."""

    def stretches(self, numbers: Collection[int], *, exactly: bool) -> list[Stretch]:
        """Return the cells that are left, of all between the outer ones of these, in stretches that read it alike.

        Where a part of what a cell refers to goes, each of its neighbours may lose another
        part: if it has to be exact these are told apart, at the given numbers.
        """
        found: list[Stretch] = []
        last = max(numbers)
        for begin, end in pairwise([*self._cuts(min(numbers), last, numbers if exactly else ()), last + 1]):
            if (seat := self._seat(begin)) is None:
                continue
            reader = _Reader(self.formulas.shift, begin - self.base, begin, seat, seat)
            self.formulas.with_ends(self.text, reader, is_own=self.is_own, counts=False)
            found.append(Stretch(begin, end - begin, tuple(reader.key)))
        return found

    def at(self, cell: int, seat: int | None = None) -> str:
        """Return the formula as the cell that was there reads it now; written for one at `seat`, if that is another."""
        moved = self._seat(cell) or cell
        reader = _Reader(self.formulas.shift, cell - self.base, cell, moved, moved if seat is None else seat)
        return self.formulas.with_ends(self.text, reader, is_own=self.is_own)

    def _seat(self, cell: int) -> int | None:
        return self.formulas.shift.point(cell) if self.is_own else cell

    def _cuts(self, first: int, last: int, numbers: Collection[int]) -> list[int]:
        shift = self.formulas.shift
        survey = _Survey(self.base)
        self.formulas.with_ends(self.text, survey, is_own=self.is_own, counts=False)
        distances = survey.distances | ({0} if self.is_own else set[int]())
        cuts = {edge - distance for distance in distances for edge in (shift.at, shift.end)}
        for distance in survey.distances if not shift.inserts else ():
            for number in numbers:
                if shift.at <= number + distance < shift.end:
                    cuts |= {number, number + 1}
        return [first, *sorted(cut for cut in cuts if first < cut <= last)]


@dataclass(slots=True)
class _Survey:
    """Notes how far from their cell references reach, and changes none."""

    base: int
    distances: set[int] = field(default_factory=set[int], init=False)

    def __call__(self, first: int, first_held: bool, last: int, last_held: bool, ours: bool) -> tuple[int, int]:
        if ours:
            self.distances |= {
                number - self.base for number, held in ((first, first_held), (last, last_held)) if not held
            }
        return first, last


class _Reader:
    """Reads references as a cell does that is `offset` from where they were written for, and writes them for a seat."""

    def __init__(self, shift: Shift, offset: int, cell: int, moved: int, seat: int) -> None:
        self._shift = shift
        self._offset = offset
        self._cell = cell
        self._moved = moved
        self._back = seat - moved
        self.key: list[tuple[int, int] | None] = []
        """How far each reference reaches from the cell, or where it is held; None for one that is lost."""

    def __call__(self, first: int, first_held: bool, last: int, last_held: bool, ours: bool) -> tuple[int, int] | None:
        begin = first if first_held else self._within(first + self._offset)
        until = last if last_held else self._within(last + self._offset)
        low, high = min(begin, until), max(begin, until)
        found = self._shift.stretch(low, high) if ours else (low, high)
        if found is None:
            self.key.append(None)
            return None
        begin, until = found if begin <= until else (found[1], found[0])
        self.key.append((begin - (0 if first_held else self._moved), until - (0 if last_held else self._moved)))
        return (
            begin if first_held else self._within(begin + self._back),
            until if last_held else self._within(until + self._back),
        )

    def _within(self, number: int) -> int:
        """Return a number that a sheet has: what reaches beyond its edge comes in again on the other side."""
        return (number - 1) % self._shift.limit + 1
