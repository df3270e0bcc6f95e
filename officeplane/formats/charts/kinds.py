"""Kinds of charts: what a part holds, what it is called, and which kinds edits make."""

from enum import StrEnum
from typing import Final, NamedTuple

from officeplane.formats.charts.names import c, local, said
from officeplane.formats.xml import Element


class Kind(StrEnum):
    """What edits make, and change into each other."""

    COLUMN = "column"
    BAR = "bar"
    LINE = "line"
    AREA = "area"
    PIE = "pie"
    DOUGHNUT = "doughnut"
    SCATTER = "scatter"

    @property
    def plot(self) -> str:
        """The element that draws it."""
        return _PLOTS[self]

    @property
    def is_bars(self) -> bool:
        """Whether it is drawn as bars, upright or lying."""
        return self in {Kind.COLUMN, Kind.BAR}

    @property
    def is_round(self) -> bool:
        """Whether it has no axes."""
        return self in {Kind.PIE, Kind.DOUGHNUT}

    @property
    def stacks(self) -> bool:
        """Whether its series may stand on each other."""
        return self in {Kind.COLUMN, Kind.BAR, Kind.LINE, Kind.AREA}


class Told(NamedTuple):
    """What a chart is."""

    name: str
    is_stacked: bool = False
    is_percent: bool = False


_PLOTS: Final = {
    Kind.COLUMN: "barChart",
    Kind.BAR: "barChart",
    Kind.LINE: "lineChart",
    Kind.AREA: "areaChart",
    Kind.PIE: "pieChart",
    Kind.DOUGHNUT: "doughnutChart",
    Kind.SCATTER: "scatterChart",
}
_OTHERS: Final = {
    "ofPieChart": "pie of pie", "radarChart": "radar", "bubbleChart": "bubble", "stockChart": "stock",
    "surfaceChart": "surface", "surface3DChart": "3-D surface", "line3DChart": "3-D line", "area3DChart": "3-D area",
    "pie3DChart": "3-D pie",
}  # fmt: skip
COMBINED: Final = "combined"


def plots_of(root: Element) -> list[Element]:
    """Return what draws the series of a chart: one element, or several in a combined one."""
    area = root.find(f"{c('chart')}/{c('plotArea')}")
    return (
        []
        if area is None
        else [child for child in area if str(child.tag).startswith(c("")) and local(child).endswith("Chart")]
    )


def series_of(root: Element) -> list[Element]:
    """Return the series of a chart, in the order in which they are drawn."""
    return [each for plot in plots_of(root) for each in plot.iterchildren(c("ser"))]


def kind_of(plot: Element) -> Kind | None:
    """Return what kind draws series so, None for one that edits do not make."""
    name = local(plot)
    if name == "barChart":
        return Kind.BAR if said(plot, "barDir") == "bar" else Kind.COLUMN
    return next((kind for kind, known in _PLOTS.items() if known == name), None)


def told(root: Element) -> Told:
    """Return what a chart is called."""
    plots = plots_of(root)
    if len(plots) != 1:
        return Told(COMBINED if plots else "unknown")
    (plot,) = plots
    kind, grouping = kind_of(plot), said(plot, "grouping")
    stacks = grouping in {"stacked", "percentStacked"}
    if kind is not None:
        name = kind.value
    elif local(plot) == "bar3DChart":
        name = "3-D bar" if said(plot, "barDir") == "bar" else "3-D column"
    else:
        name = _OTHERS.get(local(plot), local(plot).removesuffix("Chart"))
    return Told(name, stacks, grouping == "percentStacked")
