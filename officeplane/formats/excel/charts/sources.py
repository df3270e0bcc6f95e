"""Sources: how the cells of a range become the series of a chart."""

from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.charts.data import ChartData, Series
from officeplane.formats.charts.kinds import Kind
from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.charts.cells import POINTS_MAX, ChartCells
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.places import Place, place_at

_SERIES_MAX: Final = 255


@dataclass(frozen=True, slots=True)
class Reading:
    """How a range is read: what its first row and its first column hold."""

    header_row: bool = True
    category_column: bool | None = None
    """None: categories, unless it holds numbers that are no dates."""
    in_rows: bool = False
    """Whether each row is a series; rows and columns change their parts."""


def data_of(parts: Parts, address: str, reading: Reading, kind: Kind | None) -> ChartData:
    """Return what a chart of a kind shows of a range."""
    place = _clipped(parts, place_at(parts, address))
    sheet, area = place
    lines = _lines(area, in_rows=reading.in_rows)
    cells = ChartCells(parts)
    heads = [_split(line, in_rows=reading.in_rows)[0] for line in lines] if reading.header_row else []
    bodies = [_split(line, in_rows=reading.in_rows)[1] for line in lines] if reading.header_row else lines
    if any(body.size < 1 for body in bodies):
        raise InvalidEditError(f"{place} holds only the names of series: give at least one row of values below them")
    has_categories = reading.category_column
    if has_categories is None:
        has_categories = len(lines) > 1 and (kind is Kind.SCATTER or not _has_numbers(cells, place, bodies[0]))
    begin = 1 if has_categories else 0
    if not 0 < len(lines) - begin <= _SERIES_MAX:
        raise InvalidEditError(
            f"{place} holds {len(lines) - begin} series: a chart shows from 1 to {_SERIES_MAX}; "
            "headerRow, categoryColumn and seriesIn say how a range is read"
        )
    series = tuple(
        Series(cells.shown(sheet, heads[at]) if heads else None, cells.shown(sheet, bodies[at]))
        for at in range(begin, len(lines))
    )
    return ChartData(cells.shown(sheet, bodies[0]) if has_categories else None, series)


def _clipped(parts: Parts, place: Place) -> Place:
    sheet, area = place
    used = parts.grid(sheet).used_range()
    if area.size > POINTS_MAX and used is not None:
        area = Area(area.top, area.left, min(area.bottom, used.bottom), min(area.right, used.right))
    if area.size > POINTS_MAX or area.bottom < area.top or area.right < area.left:
        raise InvalidEditError(
            f"{place} has more than {POINTS_MAX} cells, or none that hold anything: give those meant"
        )
    return Place(sheet, area)


def _lines(area: Area, *, in_rows: bool) -> list[Area]:
    if in_rows:
        return [Area(row, area.left, row, area.right) for row in range(area.top, area.bottom + 1)]
    return [Area(area.top, column, area.bottom, column) for column in range(area.left, area.right + 1)]


def _split(line: Area, *, in_rows: bool) -> tuple[Area, Area]:
    """Return the first cell of a line, and the rest."""
    rest = (
        Area(line.top, line.left + 1, line.bottom, line.right)
        if in_rows
        else Area(line.top + 1, line.left, line.bottom, line.right)
    )
    return Area(*line.first, *line.first), rest


def _has_numbers(cells: ChartCells, place: Place, line: Area) -> bool:
    points = [point for point in cells.shown(place.sheet, line).points if point is not None]
    return bool(points) and not any(isinstance(each, str) for each in points) and not cells.is_dated(place.sheet, line)
