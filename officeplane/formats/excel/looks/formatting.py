"""Formatting places of a workbook: what is asked for in points and names, as Excel keeps it."""

from collections.abc import Sequence
from typing import NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.looks.change import FormatChange
from officeplane.formats.excel.looks.lines import Lines
from officeplane.formats.excel.looks.painter import Painter
from officeplane.formats.excel.looks.sizes import Widths
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.places import Place
from officeplane.formats.excel.stylesheet import FONTS, Stylesheet
from officeplane.formats.excel.tags import main

_HEIGHT_MAX = 409
_USUAL_FONT_SIZE = 11.0


class Formatting(NamedTuple):
    """What becomes of cells, and of the rows and columns that they are in."""

    change: FormatChange
    lines: Lines | None = None
    width: float | None = None
    height: float | None = None


class Formatted(NamedTuple):
    """What the cells hold that got a format."""

    texts: int
    numbers: int


def format_places(parts: Parts, places: Sequence[Place], wanted: Formatting) -> Formatted:
    """Give cells another format; what is not named of it stays."""
    painters: dict[str, Painter] = {}
    widths = widths_of(parts)
    for sheet, named in places:
        painter = painters.get(sheet.id)
        if painter is None:
            painter = painters[sheet.id] = Painter(parts, sheet, usual_width(parts.grid(sheet), widths))
        area = _with_merge(parts.grid(sheet), named)
        if wanted.lines is None:
            painter.paint(area, wanted.change)
        else:
            _draw(painter, area, wanted.change, wanted.lines)
        if wanted.width is not None:
            _widen(painter, area, wanted.width, widths)
        if wanted.height is not None:
            _heighten(painter, area, wanted.height)
    for sheet, _ in places:
        if painters[sheet.id].touched:
            parts.package.changed(sheet.part)
    return Formatted(sum(each.texts for each in painters.values()), sum(each.numbers for each in painters.values()))


def widths_of(parts: Parts) -> Widths:
    """Return how wide columns of a workbook are, by the size of its usual font."""
    font = Stylesheet(parts.package, parts.workbook).entry(FONTS, 0)
    size = None if font is None else font.find(main("sz"))
    try:
        return Widths(_USUAL_FONT_SIZE if size is None else min(max(float(size.get("val", "")), 1), _HEIGHT_MAX))
    except ValueError:
        return Widths(_USUAL_FONT_SIZE)


def usual_width(grid: Grid, widths: Widths) -> float:
    """Return the width of columns of which nothing is said."""
    said = grid.root.find(main("sheetFormatPr"))
    try:
        return widths.usual if said is None else float(said.get("defaultColWidth", ""))
    except ValueError:
        return widths.usual


def _with_merge(grid: Grid, named: Area) -> Area:
    merge = grid.merges.at(named.first) if named.size == 1 else None
    if merge is None:
        return named
    if merge.first != named.first:
        raise InvalidEditError(f"{named} is covered by the merged cells {merge}: format {merge.first}")
    return merge


def _draw(painter: Painter, area: Area, change: FormatChange, lines: Lines) -> None:
    blocks = list(lines.blocks(area))
    if not any(edges for _, edges in blocks):
        raise InvalidEditError(
            f"border has no side of {area} to draw: whole columns have only left and right, whole rows top and bottom, "
            "and one cell nothing inside"
        )
    for block, edges in blocks:
        painter.paint(block, change.with_edges(edges))


def _widen(painter: Painter, area: Area, points: float, widths: Widths) -> None:
    if area.left == 1 and area.right == COLUMNS_MAX and area.top != 1:
        raise InvalidEditError("width is that of columns: name them, such as B:D, or give rows a height")
    if points > widths.points_max:
        raise InvalidEditError(f"width {points:g} is more than the {widths.points_max:g} points that a column may have")
    painter.set_width(area, widths.of(points))


def _heighten(painter: Painter, area: Area, points: float) -> None:
    if area.top == 1 and area.bottom == ROWS_MAX:
        raise InvalidEditError("height is that of rows: name them, such as 2:9, or give columns a width")
    if points > _HEIGHT_MAX:
        raise InvalidEditError(f"height {points:g} is more than the {_HEIGHT_MAX} points that a row may have")
    painter.set_height(area, points)
