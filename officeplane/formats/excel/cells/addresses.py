"""Addresses: cells and areas by their letters and numbers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

ROWS_MAX: Final = 1_048_576
COLUMNS_MAX: Final = 16_384
_CELL: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")


class Address(NamedTuple):
    """A cell's place, both counted from 1."""

    row: int
    column: int

    def __str__(self) -> str:
        return f"{letters(self.column)}{self.row}"


@cache
def letters(column: int) -> str:
    """Return a column's letters: 1 is A."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


@cache
def column_number(name: str) -> int:
    """Return the column that letters name: A is 1."""
    number = 0
    for letter in name.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def address(name: str) -> Address | None:
    """Return the cell of a name such as `B2`, or None when a sheet has no such cell."""
    match = _CELL.fullmatch(name)
    if match is None:
        return None
    column_name, row_name = match.groups()
    row, column = int(row_name), column_number(column_name)
    return Address(row, column) if row <= ROWS_MAX and column <= COLUMNS_MAX else None


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, its edges included."""

    top: int
    left: int
    bottom: int
    right: int

    def __str__(self) -> str:
        first, last = Address(self.top, self.left), Address(self.bottom, self.right)
        return str(first) if first == last else f"{first}:{last}"

    def __contains__(self, cell: Address) -> bool:
        return self.top <= cell.row <= self.bottom and self.left <= cell.column <= self.right

    @property
    def first(self) -> Address:
        """The cell at the top left."""
        return Address(self.top, self.left)

    @property
    def size(self) -> int:
        """How many cells it has."""
        return (self.bottom - self.top + 1) * (self.right - self.left + 1)

    def meets(self, other: "Area") -> bool:
        """Tell whether another area has a cell of this one."""
        return (
            self.top <= other.bottom
            and other.top <= self.bottom
            and self.left <= other.right
            and other.left <= self.right
        )

    def without(self, other: "Area") -> list["Area"]:
        """Return what is left of it without another area, in up to four pieces."""
        if not self.meets(other):
            return [self]
        top, bottom = max(self.top, other.top), min(self.bottom, other.bottom)
        pieces = (
            Area(self.top, self.left, top - 1, self.right),
            Area(top, self.left, bottom, other.left - 1),
            Area(top, other.right + 1, bottom, self.right),
            Area(bottom + 1, self.left, self.bottom, self.right),
        )
        return [piece for piece in pieces if piece.top <= piece.bottom and piece.left <= piece.right]

    def cells(self) -> Iterator[Address]:
        """Yield its cells, row by row."""
        for row in range(self.top, self.bottom + 1):
            for column in range(self.left, self.right + 1):
                yield Address(row, column)

    def with_cell(self, cell: Address) -> "Area":
        """Return the smallest area that holds this one and a cell."""
        return Area(
            min(self.top, cell.row),
            min(self.left, cell.column),
            max(self.bottom, cell.row),
            max(self.right, cell.column),
        )


def area(name: str | None) -> Area | None:
    """Return the area of a name such as `A1:C3` or `B2`, or None when it is none."""
    first, _, last = (name or "").partition(":")
    begin, end = address(first), address(last or first)
    if begin is None or end is None:
        return None
    return Area(
        min(begin.row, end.row), min(begin.column, end.column), max(begin.row, end.row), max(begin.column, end.column)
    )


class Areas:
    """Many areas, found by a cell in them without looking at all."""

    _ROWS: Final = 64
    _TALL: Final = 4_096

    def __init__(self, areas: list[Area]) -> None:
        self._tall: list[Area] = []
        # By stretches of rows: an area of many rows is in several lists, not in one for each row.
        self._stretches: dict[int, list[Area]] = {}
        for each in areas:
            if each.bottom - each.top > self._TALL:
                self._tall.append(each)
                continue
            for stretch in range(each.top // self._ROWS, each.bottom // self._ROWS + 1):
                self._stretches.setdefault(stretch, []).append(each)

    def at(self, cell: Address) -> Area | None:
        """Return an area that holds the cell."""
        return next((each for each in self.in_row(cell.row) if cell in each), None)

    def in_row(self, row: int) -> list[Area]:
        """Return the areas that a row crosses."""
        if not self._stretches and not self._tall:
            return []
        near = (*self._stretches.get(row // self._ROWS, ()), *self._tall)
        return [each for each in near if each.top <= row <= each.bottom]
