"""Shared formulas: one cell of a group holds the text, the others say only that they are of the group."""

from collections.abc import Iterable

from officeplane.formats.excel.cells.addresses import Address, Area, address
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.formulas.references import shift
from officeplane.formats.excel.tags import FORMULA
from officeplane.formats.xml import Element


def formula_of(grid: Grid, cell: Element) -> str | None:
    """Return a cell's formula as it reads in that cell, or None when it has none."""
    found = next((child for child in cell if child.tag == FORMULA), None)
    if found is None:
        return None
    if found.text or found.get("t") != "shared":
        return found.text or ""
    source = grid.sources.get(found.get("si", ""))
    holder = None if source is None else source.getparent()
    return "" if source is None or holder is None else _as_in(source.text or "", holder, cell)


class Departures:
    """Cells that leave their groups; whoever is the first to stay holds the text then."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._left: dict[str, tuple[str, Address]] = {}

    def leave(self, formula: Element) -> None:
        """Take a formula out of its group before it is overwritten."""
        group, holder = formula.get("si", ""), formula.getparent()
        if holder is None or self._grid.shared.get(group, {}).pop(formula, 0) == 0:
            return
        if formula.text:
            self._left[group] = (formula.text, place_of(holder))
        if self._grid.sources.get(group) is formula:
            del self._grid.sources[group]

    def settle(self) -> None:
        """Hand texts on, once all have left who leave."""
        for name, (formula, origin) in self._left.items():
            group = self._grid.shared[name]
            heir = next(iter(group), None)
            holder = None if heir is None else heir.getparent()
            if heir is None or holder is None:
                continue
            if not heir.text:
                place = place_of(holder)
                heir.text = shift(formula, place.row - origin.row, place.column - origin.column)
                heir.set("ref", str(_around(group)))
            self._grid.sources[name] = heir


def _as_in(formula: str, source: Element, target: Element) -> str:
    origin, place = place_of(source), place_of(target)
    return shift(formula, place.row - origin.row, place.column - origin.column)


def _around(group: Iterable[Element]) -> Area:
    places = [place_of(cell) for each in group if (cell := each.getparent()) is not None]
    found = Area(*places[0], *places[0])
    for place in places[1:]:
        found = found.with_cell(place)
    return found


def place_of(cell: Element) -> Address:
    """Return where a cell is."""
    return address(cell.get("r", "")) or Address(1, 1)
