"""Making and changing charts: kind, data, texts; what is not named stays as it is."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from officeplane.domain.document import InvalidEditError
from officeplane.formats.charts.caches import remembered
from officeplane.formats.charts.data import ChartData
from officeplane.formats.charts.kinds import COMBINED, Kind, kind_of, plots_of, series_of, told
from officeplane.formats.charts.names import c, fragment, local, put, said, say
from officeplane.formats.charts.plots import axes_of, new_axes, new_plot, replace_axes, stack, turn
from officeplane.formats.charts.series import empty, fill, free_labels, matched, redrawn
from officeplane.formats.charts.texts import entitle, set_legend, title_of
from officeplane.formats.xml import Element


class Unsaid(Enum):
    """What a change says nothing of."""

    KEEP = "keep"


KEEP: Final = Unsaid.KEEP
Text: TypeAlias = str | Unsaid | None
"""A text, None for no such text any more, or what is there."""


@dataclass(frozen=True, slots=True)
class ChartLook:
    """How a chart is to look; what is not said stays."""

    kind: Kind | None = None
    stacked: bool | None = None
    title: Text = KEEP
    legend: Text = KEEP
    category_title: Text = KEEP
    value_title: Text = KEEP


_SERIES_MAX: Final = 255
_WITH_CATEGORIES: Final = frozenset(
    {"barChart", "lineChart", "areaChart", "pieChart", "doughnutChart", "radarChart", "bar3DChart", "line3DChart",
     "area3DChart", "pie3DChart"}
)  # fmt: skip
_FRAME: Final = (
    '<c:chartSpace><c:date1904 val="0"/><c:roundedCorners val="0"/><c:chart><c:autoTitleDeleted val="1"/>'
    '<c:plotArea><c:layout/></c:plotArea><c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart>'
    '{}<c:txPr><a:bodyPr/><a:lstStyle/><a:p><a:pPr><a:defRPr sz="{}"/></a:pPr><a:endParaRPr lang="en-US"/></a:p>'
    "</c:txPr></c:chartSpace>"
)
_TITLE_LARGER: Final = 1.4


def new_chart(look: ChartLook, data: ChartData, size: int, background: str = "") -> Element:
    """Return a chart of data, its letters of a size in hundredths of a point."""
    kind = look.kind or Kind.COLUMN
    _check(kind, data, is_stacked=bool(look.stacked))
    root = fragment(_FRAME.format(background, size))
    chart = _chart(root)
    area = _area(root)
    plot = put(area, new_plot(kind))
    for axis in new_axes(kind):
        put(area, axis)
    if look.stacked:
        stack(plot, kind, is_stacked=True)
    give_data(root, data)
    if isinstance(look.title, str):
        entitle(chart, look.title, round(size * _TITLE_LARGER))
    if look.legend is KEEP:
        set_legend(chart, "bottom" if len(data.series) > 1 or kind.is_round else None)
    give_texts(root, ChartLook(legend=look.legend, category_title=look.category_title, value_title=look.value_title))
    return root


def change_chart(root: Element, look: ChartLook, data: ChartData | None) -> list[str]:
    """Change a chart; return in words what it has lost with that."""
    check_known(root)
    lost: list[str] = []
    if look.kind is not None:
        lost += _draw_as(root, look.kind, look.stacked, data)
    elif look.stacked is not None:
        plot = _only_plot(root, "stacked")
        kind = _known_kind(plot, root)
        if not kind.stacks:
            raise InvalidEditError(f"a {kind} chart has no series that could be stacked: leave out stacked")
        stack(plot, kind, is_stacked=look.stacked)
        free_labels(plot)
    if data is not None:
        give_data(root, data)
    give_texts(root, look)
    return lost


def check_known(root: Element) -> None:
    """Refuse a chart of the newer kinds, which are kept otherwise."""
    if root.tag != c("chartSpace"):
        raise InvalidEditError("charts of newer kinds, such as waterfalls, maps and sunbursts, cannot be changed here")


def give_data(root: Element, data: ChartData) -> None:
    """Have a chart show other data; its series keep their looks, by name or else by turn."""
    if root.find(c("pivotSource")) is not None:
        raise InvalidEditError("the chart shows a pivot table, whose data it takes: change the pivot table in Excel")
    if not data.series or len(data.series) > _SERIES_MAX:
        raise InvalidEditError(f"a chart has from 1 to {_SERIES_MAX} series; {len(data.series)} are given")
    plots, held = plots_of(root), series_of(root)
    scatters = [local(plot) == "scatterChart" for plot in plots]
    if not plots or not (all(scatters) or all(local(plot) in _WITH_CATEGORIES for plot in plots)):
        raise InvalidEditError(f"the data of a {told(root).name} chart cannot be changed here: change them in Office")
    if len(plots) > 1 and len(held) != len(data.series):
        raise InvalidEditError(
            f"the chart draws its {len(held)} series in several ways, and {len(data.series)} are given: give as many"
        )
    if all(scatters):
        _check_across(data)
    if len(plots) == 1 and local(plots[0]).startswith("pie"):
        _check_slices(data)
    if data.categories is not None and data.categories.is_text:
        # Texts on an axis that insists on dates would be days of January 1900.
        for axis in root.iter(c("dateAx")):
            say(axis, "auto", "1")
    for series in held:
        empty(series)
    chosen = matched(held, data, kind_of(plots[0]))
    for series in held:
        if series not in chosen or len(plots) == 1:
            _take_out(series)
    for at, (series, wanted) in enumerate(zip(chosen, data.series, strict=True)):
        if len(plots) == 1:
            put(plots[0], series)
        fill(series, wanted, data.categories, is_scatter=scatters[0])
        say(series, "order", str(at))


def give_texts(root: Element, look: ChartLook) -> None:
    """Give a chart its title, its legend and the titles of its axes."""
    chart = _chart(root)
    if look.title is not KEEP:
        entitle(chart, look.title)
    if look.legend is not KEEP:
        set_legend(chart, look.legend)
    wanted = (look.category_title, look.value_title)
    if wanted == (KEEP, KEEP):
        return
    plots = plots_of(root)
    axes = axes_of(_area(root), plots[0]) if plots else (None, None)
    for axis, text in zip(axes, wanted, strict=True):
        if text is KEEP:
            continue
        if axis is not None:
            entitle(axis, text)
        elif text is not None:
            raise InvalidEditError(f"a {told(root).name} chart has no such axis to have the title {text!r}")


def _draw_as(root: Element, kind: Kind, stacked: bool | None, data: ChartData | None) -> list[str]:
    plot, area = _only_plot(root, "kind"), _area(root)
    before = _known_kind(plot, root)
    was_stacked = told(root).is_stacked
    is_stacked = (was_stacked and kind.stacks) if stacked is None else stacked
    if is_stacked and not kind.stacks:
        raise InvalidEditError(f"a {kind} chart has no series that could be stacked: leave out stacked")
    if kind is Kind.PIE and data is None and len(series_of(root)) > 1:
        raise InvalidEditError("a pie shows one series, and the chart has several: give data or range with one")
    lost: list[str] = []
    if before.plot == kind.plot:
        if kind.is_bars:
            say(plot, "barDir", "bar" if kind is Kind.BAR else "col")
        made = plot
    else:
        made = new_plot(kind)
        said_before = said(plot, "grouping")
        if kind.stacks and said_before == "percentStacked":
            say(made, "grouping", said_before)
        plot.addprevious(made)
        area.remove(plot)
        for at, series in enumerate(plot.findall(c("ser"))):
            is_kept = before.is_round and kind.is_round
            drawn, gone = (series, []) if is_kept else redrawn(series, kind, at)
            lost += gone
            put(made, drawn)
        if (labels := plot.find(c("dLbls"))) is not None:
            put(made, labels)
    if data is None:
        _check_numbers(made, kind)
    if kind.stacks:
        stack(made, kind, is_stacked=is_stacked)
    if before is not kind:
        free_labels(made)
        lost += _settle_axes(root, plot, made, before, kind)
    return lost


def _settle_axes(root: Element, plot: Element, made: Element, before: Kind, kind: Kind) -> list[str]:
    area = _area(root)
    across, upwards = axes_of(area, plot)
    if before.stacks and kind.stacks:
        if made is not plot:
            for old, new in zip(plot.findall(c("axId")), made.findall(c("axId")), strict=False):
                new.set("val", old.get("val", ""))
        turn(across, upwards, kind)
        return []
    if before.is_round and kind.is_round:
        return []
    titles = [title_of(axis) for axis in (across, upwards)]
    replace_axes(area, kind)
    if kind.is_round:
        return [f"title {text!r} of an axis" for text in titles if text]
    for axis, text in zip(axes_of(area, made), titles, strict=True):
        if axis is not None and text:
            entitle(axis, text)
    return []


def _only_plot(root: Element, what: str) -> Element:
    if root.find(c("pivotSource")) is not None:
        raise InvalidEditError("the chart shows a pivot table and changes with it: change it in Excel")
    plots = plots_of(root)
    if len(plots) != 1:
        raise InvalidEditError(f"the chart is {COMBINED} of several kinds: its {what} cannot be changed here")
    return plots[0]


def _known_kind(plot: Element, root: Element) -> Kind:
    kind = kind_of(plot)
    if kind is None:
        known = ", ".join(Kind)
        raise InvalidEditError(f"the chart is of the kind {told(root).name}, which is not changed here; {known} are")
    return kind


def _check(kind: Kind, data: ChartData, *, is_stacked: bool) -> None:
    if is_stacked and not kind.stacks:
        raise InvalidEditError(f"a {kind} chart has no series that could be stacked: leave out stacked")
    if kind is Kind.PIE:
        _check_slices(data)
    if kind is Kind.SCATTER:
        _check_across(data)


def _check_slices(data: ChartData) -> None:
    if len(data.series) > 1:
        raise InvalidEditError(
            f"a pie shows one series, and there are {len(data.series)}: give one, or make a doughnut or columns"
        )


def _check_across(data: ChartData) -> None:
    if data.categories is not None and data.categories.is_text:
        raise InvalidEditError(
            "in a scatter chart the categories say how far right each point is, so they have to be numbers: "
            "give numbers, or make a line chart"
        )


def _check_numbers(plot: Element, kind: Kind) -> None:
    if kind is not Kind.SCATTER:
        return
    for series in plot.findall(c("ser")):
        if any(isinstance(point, str) for point in remembered(series.find(c("xVal")))):
            raise InvalidEditError(
                "the chart's categories are texts, and a scatter chart needs numbers there: give data or range, too"
            )


def _chart(root: Element) -> Element:
    found = root.find(c("chart"))
    if found is None:
        raise InvalidEditError("the part of the chart holds none")
    return found


def _area(root: Element) -> Element:
    found = _chart(root).find(c("plotArea"))
    if found is None:
        raise InvalidEditError("the chart has no area that it is drawn in")
    return found


def _take_out(series: Element) -> None:
    parent = series.getparent()
    if parent is not None:
        parent.remove(series)
