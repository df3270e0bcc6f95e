"""A shift: rows or columns that come or go, and where that leaves all others."""

from dataclasses import dataclass
from enum import Enum

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address, Area, letters


class Axis(Enum):
    """What is counted: rows or columns."""

    ROWS = "rows"
    COLUMNS = "columns"


@dataclass(frozen=True, slots=True)
class Shift:
    """So many rows or columns, from 1, that come before the one at `at`, or go from it on."""

    axis: Axis
    at: int
    count: int
    inserts: bool

    @property
    def is_of_rows(self) -> bool:
        """Whether it is rows that come or go."""
        return self.axis is Axis.ROWS

    @property
    def limit(self) -> int:
        """The last row or column that a sheet has."""
        return ROWS_MAX if self.is_of_rows else COLUMNS_MAX

    @property
    def end(self) -> int:
        """The first one behind those that come or go."""
        return self.at + self.count

    def point(self, number: int) -> int | None:
        """Return where a row or column is now; None when it is gone or has no place any more."""
        if number < self.at:
            return number
        if self.inserts:
            moved = number + self.count
            return moved if moved <= self.limit else None
        return None if number < self.end else number - self.count

    def nearest(self, number: int) -> int:
        """Return where a row or column is now, or the one that has taken its place."""
        found = self.point(number)
        return found if found is not None else min(self.at, self.limit) if not self.inserts else self.limit

    def stretch(self, first: int, last: int) -> tuple[int, int] | None:
        """Return where a stretch is now: longer by what came inside, shorter by what went; None when all of it went.

        One that is all there is, such as a whole column, stays that.
        """
        if last < self.at or (first <= 1 and last == self.limit):
            return first, last
        if self.inserts:
            limit = self.limit
            begin = first + self.count if first >= self.at else first
            return (begin, min(last + self.count, limit)) if begin <= limit else None
        begin = first if first < self.at else max(first - self.count, self.at)
        until = max(last - self.count, self.at - 1)
        return (begin, until) if begin <= until else None

    def area(self, area: Area) -> Area | None:
        """Return where an area is now, as a stretch."""
        found = self.stretch(*self.along(area))
        if found is None:
            return None
        if self.is_of_rows:
            return Area(found[0], area.left, found[1], area.right)
        return Area(area.top, found[0], area.bottom, found[1])

    def cell(self, cell: Address) -> Address | None:
        """Return where a cell is now."""
        found = self.point(cell.row if self.is_of_rows else cell.column)
        if found is None:
            return None
        return Address(found, cell.column) if self.is_of_rows else Address(cell.row, found)

    def along(self, area: Area) -> tuple[int, int]:
        """Return the first and the last row or column of an area."""
        return (area.top, area.bottom) if self.is_of_rows else (area.left, area.right)

    def of(self, cell: Address) -> int:
        """Return the row or the column of a cell."""
        return cell.row if self.is_of_rows else cell.column

    def moves(self, area: Area) -> bool:
        """Tell whether an area is elsewhere or another afterwards."""
        return self.area(area) != area

    def cuts(self, area: Area) -> bool:
        """Tell whether something comes into an area, or a part of it goes while another stays."""
        first, last = self.along(area)
        if self.inserts:
            return first < self.at <= last
        return self.at <= last and self.end > first and not self.swallows(area)

    def swallows(self, area: Area) -> bool:
        """Tell whether an area goes as a whole."""
        first, last = self.along(area)
        return not self.inserts and self.at <= first and last < self.end

    def __str__(self) -> str:
        first, last = (str(each) if self.is_of_rows else letters(each) for each in (self.at, self.end - 1))
        name = self.axis.value.removesuffix("s")
        if self.inserts:
            return f"inserting before {name} {first}"
        return f"deleting {name} {first}" if first == last else f"deleting {name}s {first} to {last}"
