"""Lines of a range: which cells of it get a line at which of their sides."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area
from officeplane.formats.excel.looks.change import Edge, Side

_SIDES: Final[tuple[Side, ...]] = ("left", "right", "top", "bottom")


class Lines(NamedTuple):
    """What is drawn: `all`, `outline`, `inside`, or single sides of the range."""

    sides: frozenset[str]
    edge: Edge

    def blocks(self, area: Area) -> Iterator[tuple[Area, tuple[tuple[Side, Edge], ...]]]:
        """Yield the parts of an area whose cells all get the same lines; whole columns and rows have no ends."""
        rows = _bands(area.top, area.bottom, "top", "bottom", is_endless=area.top == 1 and area.bottom == ROWS_MAX)
        columns = _bands(
            area.left, area.right, "left", "right", is_endless=area.left == 1 and area.right == COLUMNS_MAX
        )
        for top, bottom, ends in rows:
            for left, right, sides in columns:
                drawn = self._drawn(ends | sides)
                yield Area(top, left, bottom, right), tuple((side, self.edge) for side in _SIDES if side in drawn)

    def _drawn(self, outer: frozenset[Side]) -> frozenset[str]:
        if "all" in self.sides or {"outline", "inside"} <= self.sides:
            return frozenset(_SIDES)
        drawn = frozenset[str](outer & self.sides)
        if "outline" in self.sides:
            drawn |= outer
        if "inside" in self.sides:
            drawn |= frozenset(_SIDES) - outer
        return drawn


def _bands(
    first: int, last: int, begin: Side, end: Side, *, is_endless: bool
) -> list[tuple[int, int, frozenset[Side]]]:
    if is_endless:
        return [(first, last, frozenset[Side]())]
    if first == last:
        return [(first, last, frozenset((begin, end)))]
    bands: list[tuple[int, int, frozenset[Side]]] = [(first, first, frozenset((begin,)))]
    if last - first > 1:
        bands.append((first + 1, last - 1, frozenset[Side]()))
    return [*bands, (last, last, frozenset((end,)))]
