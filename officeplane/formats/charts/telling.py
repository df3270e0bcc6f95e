"""Telling of charts: what a model has to know of one that it reads, or wants to change."""

from collections.abc import Callable
from typing import Any, Final

from officeplane.formats.blocks import Block, Line, Span, Table
from officeplane.formats.charts.caches import formula_of, remembered
from officeplane.formats.charts.data import Point, point_text
from officeplane.formats.charts.kinds import plots_of, series_of, told
from officeplane.formats.charts.names import c
from officeplane.formats.charts.plots import axes_of
from officeplane.formats.charts.series import name_of
from officeplane.formats.charts.texts import legend_of, title_of
from officeplane.formats.xml import Element

Points = Callable[[Element | None], tuple[Point, ...]]
"""How to learn what a holder shows: what the chart remembers, or what the cells hold."""

_ROWS_MAX: Final = 1_000
_SERIES_MAX: Final = 50


def facts_of(root: Element) -> dict[str, Any]:
    """Return of what kind a chart is and what it is called; of newer kinds only that."""
    if root.tag != c("chartSpace"):
        layouts = [each.get("layoutId", "") for each in root.iter("{*}series")]
        return {"chart": layouts[0] if layouts else "newer"}
    kind = told(root)
    facts: dict[str, Any] = {"chart": kind.name}
    if kind.is_stacked:
        facts["stacked"] = "percent" if kind.is_percent else True
    title = title_of(root.find(c("chart")))
    if title:
        facts["title"] = title
    return facts


def form_of(root: Element) -> dict[str, Any]:
    """Return where the legend stands, what the axes are called, and which cells each series shows."""
    chart = root.find(c("chart"))
    plots = plots_of(root)
    if chart is None:
        return {}
    form: dict[str, Any] = {}
    legend = legend_of(chart)
    if legend is not None:
        form["legend"] = legend
    area = chart.find(c("plotArea"))
    axes = axes_of(area, plots[0]) if area is not None and plots else (None, None)
    titles = {name: title_of(axis) for name, axis in zip(("category", "value"), axes, strict=True)}
    if any(titles.values()):
        form["axisTitles"] = {name: text for name, text in titles.items() if text}
    series = [_ranges(each) for each in series_of(root)[:_SERIES_MAX]]
    if any(len(each) > 1 for each in series):
        form["series"] = series
    return form


def table_of(root: Element, points: Points = remembered) -> list[Block]:
    """Return what a chart shows as a table: categories down, series across; as much as is read with ease."""
    held = series_of(root)
    if not held:
        return []
    across = [points(_categories(each)) for each in held]
    # Each series of a scatter chart may have numbers of its own to the right.
    is_shared = all(each == across[0] for each in across)
    columns: list[tuple[str, tuple[Point, ...]]] = [("", across[0])] if is_shared and across[0] else []
    for series, own in zip(held[:_SERIES_MAX], across, strict=False):
        name = _called(series, points)
        if not is_shared:
            columns.append((f"{name} x" if name else "x", own))
        columns.append((name, points(_values(series))))
    count = max(len(values) for _, values in columns)
    rows: list[tuple[Line, ...]] = [tuple(_cell(name) for name, _ in columns)]
    rows += (
        tuple(_cell(values[at] if at < len(values) else None) for _, values in columns)
        for at in range(min(count, _ROWS_MAX))
    )
    return [Table(tuple(rows), 1)]


def _called(series: Element, points: Points) -> str:
    holder = series.find(c("tx"))
    found = " ".join(point_text(each) for each in points(holder) if each is not None)
    return found or name_of(series)


def _ranges(series: Element) -> dict[str, str]:
    names = {"name": name_of(series)}
    for key, holder in (
        ("nameFrom", series.find(c("tx"))),
        ("categories", _categories(series)),
        ("values", _values(series)),
    ):
        formula = formula_of(holder)
        if formula:
            names[key] = formula
    return names


def _categories(series: Element) -> Element | None:
    found = series.find(c("cat"))
    return series.find(c("xVal")) if found is None else found


def _values(series: Element) -> Element | None:
    found = series.find(c("val"))
    return series.find(c("yVal")) if found is None else found


def _cell(point: Point) -> Line:
    return () if point is None else (Span(point_text(point)),)
