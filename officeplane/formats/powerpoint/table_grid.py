"""Table grid: the cells of a table by their places, with those that are merged."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from officeplane.formats.powerpoint.names import a, alone, attribute_number
from officeplane.formats.xml import Element

_ROW: Final = a("tr")
CELL: Final = a("tc")
PROPERTIES: Final = a("tcPr")
_COVERED: Final = ("hMerge", "vMerge")

Place: TypeAlias = tuple[int, int]
"""Row and column, from 0."""


class TableGrid:
    """The cells of one table as they are; covered ones are cells of their own in the file."""

    def __init__(self, table: Element) -> None:
        self.table = table
        self.rows = table.findall(_ROW)
        self.lines = [row.findall(CELL) for row in self.rows]
        self.columns = max(map(len, self.lines), default=0)
        self._places = {
            cell: (row, column) for row, line in enumerate(self.lines) for column, cell in enumerate(line)
        }  # fmt: skip
        self._whole: dict[Place, Place] = {}
        for cell, at in self._places.items():
            for covered in self.covered_by(cell):
                self._whole.setdefault(covered, at)

    def place_of(self, cell: Element) -> Place:
        """Return where a cell is."""
        return self._places[cell]

    def at(self, place: Place) -> Element | None:
        """Return the cell at a place, covered or not."""
        row, column = place
        return self.lines[row][column] if 0 <= row < len(self.lines) and 0 <= column < len(self.lines[row]) else None

    def covered_by(self, cell: Element) -> Iterator[Place]:
        """Yield the places of a cell and of all that it covers."""
        row, column = self._places[cell]
        if is_covered(cell):  # what such a cell says of its own reach is said of the one that covers it
            yield row, column
            return
        for down in range(span(cell, "rowSpan")):
            for right in range(span(cell, "gridSpan")):
                if self.at((row + down, column + right)) is not None:
                    yield row + down, column + right

    def whole_at(self, place: Place) -> Place:
        """Return the place of the merged cell that covers one, or the place itself."""
        return self._whole.get(place, place)

    def are_one(self, one: Place, other: Place) -> bool:
        """Tell whether two places are parts of the same merged cell."""
        return self.at(other) is not None and self.whole_at(one) == self.whole_at(other)

    def shown_at(self, place: Place) -> Iterator[Element]:
        """Yield the cell at a place, and the one that covers it."""
        for at in dict.fromkeys((place, self.whole_at(place))):
            cell = self.at(at)
            if cell is not None:
                yield cell


def span(cell: Element, name: str) -> int:
    """Return over how many rows (`rowSpan`) or columns (`gridSpan`) a cell reaches."""
    return max(attribute_number(cell, name, 1), 1)


def is_covered(cell: Element) -> bool:
    """Tell whether a cell is covered by one to the left of it or above."""
    return any(cell.get(name) in {"1", "true"} for name in _COVERED)


def properties_of_cell(cell: Element) -> Element:
    """Return the properties of a cell, made if there are none."""
    found = cell.find(PROPERTIES)
    if found is None:
        found = alone(PROPERTIES)
        text = cell.find(a("txBody"))
        cell.insert(0 if text is None else 1, found)
    return found
