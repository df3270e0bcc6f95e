"""Lines: around shapes, and at the sides of the cells of a table."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from officeplane.formats.powerpoint.fitting import POINT
from officeplane.formats.powerpoint.looks.properties import FILLS, place_in, put, put_fill, take
from officeplane.formats.powerpoint.names import a, alone
from officeplane.formats.powerpoint.table_grid import TableGrid, properties_of_cell
from officeplane.formats.xml import Element

_LINE: Final = "ln"
_WIDTHS: Final = {
    "hair": 0.25, "dotted": 0.75, "dashed": 0.75, "thin": 0.75, "medium": 1.5, "thick": 2.25, "double": 2.25,
}  # fmt: skip
_DASHES: Final = {"dotted": "sysDot", "dashed": "dash"}
_BLACK: Final = "000000"


class _Side(NamedTuple):
    """A side of a cell, that of the neighbour at which the same line is, and where the neighbour is."""

    own: str
    other: str
    row: int
    column: int


_SIDES: Final = {
    "top": _Side("lnT", "lnB", -1, 0),
    "bottom": _Side("lnB", "lnT", 1, 0),
    "left": _Side("lnL", "lnR", 0, -1),
    "right": _Side("lnR", "lnL", 0, 1),
}


@dataclass(frozen=True, slots=True)
class Lines:
    """What lines are drawn; `none` takes them away."""

    style: str
    sides: frozenset[str]
    color: str | None = None


def give_line(properties: Element, kind: str, name: str, lines: Lines, *, is_drawn: bool) -> None:
    """Draw one line; `is_drawn` tells that one without a colour has one from elsewhere."""
    known = properties.find(a(name))
    line = alone(a(name)) if known is None else known
    if known is None:
        place_in(properties, kind, line)
    if lines.style == "none":
        put_fill(line, _LINE, "none")
        return
    line.set("w", str(round(_WIDTHS[lines.style] * POINT)))
    line.attrib.pop("cmpd", None)
    if lines.style == "double":
        line.set("cmpd", "dbl")
    take(line, "prstDash", "custDash")
    put(line, _LINE, "prstDash", val=_DASHES.get(lines.style, "solid"))
    if line.find(a("noFill")) is not None:
        take(line, "noFill")
    if lines.color is not None or (not is_drawn and not any(line.find(a(fill)) is not None for fill in FILLS)):
        put_fill(line, _LINE, lines.color or _BLACK)


def give_lines(grid: TableGrid, cells: Iterable[Element], lines: Lines) -> None:
    """Draw lines at the sides of cells; the neighbour that has the same line gets it, too."""
    places = {at for cell in cells for at in grid.covered_by(cell)}
    for row, column in sorted(places):
        for name, side in _SIDES.items():
            beside = (row + side.row, column + side.column)
            if grid.are_one((row, column), beside) or not _is_meant(name, lines.sides, is_inner=beside in places):
                continue
            for at, tag in (((row, column), side.own), (beside, side.other)):
                # A merged cell has the line, too, not only the covered one at which it is.
                for cell in grid.shown_at(at):
                    give_line(properties_of_cell(cell), "tcPr", tag, lines, is_drawn=False)


def _is_meant(name: str, sides: Collection[str], *, is_inner: bool) -> bool:
    if "all" in sides:
        return True
    return "inside" in sides if is_inner else "outline" in sides or name in sides
