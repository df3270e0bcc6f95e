"""Shared formulas: one cell of a group holds the text, the others say only that they are of the group."""

from officeplane.formats.excel.addresses import Address, Area, address
from officeplane.formats.excel.grid import Grid
from officeplane.formats.excel.references import shift
from officeplane.formats.excel.tags import FORMULA
from officeplane.formats.xml import Element


def formula_of(grid: Grid, cell: Element) -> str | None:
    """Return a cell's formula as it reads in that cell, or None when it has none."""
    found = cell.find(FORMULA)
    if found is None:
        return None
    if found.text or found.get("t") != "shared":
        return found.text or ""
    for other in grid.shared.get(found.get("si", ""), ()):
        holder = other.getparent()
        if other.text and holder is not None:
            return _as_in(other.text, holder, cell)
    return ""


def leave_group(grid: Grid, formula: Element) -> None:
    """Take a formula out of its group before it is overwritten; the next one of the group holds the text then."""
    group = grid.shared.get(formula.get("si", ""))
    holder = formula.getparent()
    if group is None or holder is None or formula not in group:
        return
    group.remove(formula)
    if not formula.text or not group:
        return
    heir = group[0]
    place = heir.getparent()
    if heir.text or place is None:
        return
    heir.text = _as_in(formula.text, holder, place)
    heir.set("ref", str(_around(group)))


def _as_in(formula: str, source: Element, target: Element) -> str:
    origin, place = place_of(source), place_of(target)
    return shift(formula, place.row - origin.row, place.column - origin.column)


def _around(group: list[Element]) -> Area:
    places = [place_of(cell) for each in group if (cell := each.getparent()) is not None]
    found = Area(*places[0], *places[0])
    for place in places[1:]:
        found = found.with_cell(place)
    return found


def place_of(cell: Element) -> Address:
    """Return where a cell is."""
    return address(cell.get("r", "")) or Address(1, 1)
