"""Plots: what draws the series of a chart, with its axes, as it is made anew."""

from collections.abc import Mapping
from typing import Final

from officeplane.formats.charts.kinds import Kind
from officeplane.formats.charts.names import c, fragment, local, put, remove, said, say
from officeplane.formats.xml import Element

CATEGORY_AXIS: Final = "111111111"
VALUE_AXIS: Final = "222222222"
_AXES: Final = f'<c:axId val="{CATEGORY_AXIS}"/><c:axId val="{VALUE_AXIS}"/>'
_LINE: Final = (
    '<c:spPr><a:noFill/><a:ln w="9525"><a:solidFill><a:schemeClr val="tx1"><a:lumMod val="25000"/>'
    '<a:lumOff val="75000"/></a:schemeClr></a:solidFill></a:ln></c:spPr>'
)
_GRID: Final = (
    '<c:majorGridlines><c:spPr><a:ln w="9525"><a:solidFill><a:schemeClr val="tx1"><a:lumMod val="15000"/>'
    '<a:lumOff val="85000"/></a:schemeClr></a:solidFill></a:ln></c:spPr></c:majorGridlines>'
)
_NO_LINE: Final = "<c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>"
_SCALE: Final = '<c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/>'
_TICKS: Final = (
    '<c:numFmt formatCode="General" sourceLinked="1"/><c:majorTickMark val="none"/><c:minorTickMark val="none"/>'
)
_BARS: Final = f'<c:grouping val="clustered"/><c:varyColors val="0"/><c:gapWidth val="80"/>{_AXES}'
_BODIES: Final[Mapping[Kind, str]] = {
    Kind.COLUMN: f'<c:barDir val="col"/>{_BARS}',
    Kind.BAR: f'<c:barDir val="bar"/>{_BARS}',
    Kind.LINE: f'<c:grouping val="standard"/><c:varyColors val="0"/><c:marker val="1"/>{_AXES}',
    Kind.AREA: f'<c:grouping val="standard"/><c:varyColors val="0"/>{_AXES}',
    Kind.PIE: '<c:varyColors val="1"/><c:firstSliceAng val="0"/>',
    Kind.DOUGHNUT: '<c:varyColors val="1"/><c:firstSliceAng val="0"/><c:holeSize val="60"/>',
    Kind.SCATTER: f'<c:scatterStyle val="lineMarker"/><c:varyColors val="0"/>{_AXES}',
}
_GROUPINGS: Final = frozenset({"stacked", "percentStacked"})


def new_plot(kind: Kind) -> Element:
    """Return what draws series of a kind, without any."""
    return fragment(f"<c:{kind.plot}>{_BODIES[kind]}</c:{kind.plot}>")


def new_axes(kind: Kind) -> list[Element]:
    """Return the axes that a kind needs: below it first."""
    if kind.is_round:
        return []
    below, beside = _sides(kind)
    between = _crossing(kind)
    if kind is Kind.SCATTER:
        across = (
            f'<c:valAx><c:axId val="{CATEGORY_AXIS}"/>{_SCALE}<c:axPos val="{below}"/>{_GRID}'
            f'{_TICKS}<c:tickLblPos val="nextTo"/>{_LINE}<c:crossAx val="{VALUE_AXIS}"/><c:crosses val="autoZero"/>'
            '<c:crossBetween val="midCat"/></c:valAx>'
        )
    else:
        across = (
            f'<c:catAx><c:axId val="{CATEGORY_AXIS}"/>{_SCALE}<c:axPos val="{below}"/>'
            f'{_TICKS}<c:tickLblPos val="low"/>{_LINE}<c:crossAx val="{VALUE_AXIS}"/><c:crosses val="autoZero"/>'
            '<c:auto val="1"/><c:lblAlgn val="ctr"/><c:lblOffset val="100"/><c:noMultiLvlLbl val="0"/></c:catAx>'
        )
    upwards = (
        f'<c:valAx><c:axId val="{VALUE_AXIS}"/>{_SCALE}<c:axPos val="{beside}"/>{_GRID}'
        f'{_TICKS}<c:tickLblPos val="nextTo"/>{_NO_LINE}<c:crossAx val="{CATEGORY_AXIS}"/><c:crosses val="autoZero"/>'
        f'<c:crossBetween val="{between}"/></c:valAx>'
    )
    return [fragment(across), fragment(upwards)]


def stack(plot: Element, kind: Kind, *, is_stacked: bool) -> None:
    """Have series stand on each other, or beside; those that add up to a hundred stay so."""
    grouping = said(plot, "grouping")
    if is_stacked:
        say(plot, "grouping", grouping if grouping in _GROUPINGS else "stacked")
    else:
        say(plot, "grouping", "clustered" if kind.is_bars else "standard")
    if not kind.is_bars:
        return
    if is_stacked:
        say(plot, "overlap", "100")
    else:
        remove(plot, "overlap")


def axes_of(area: Element, plot: Element) -> tuple[Element | None, Element | None]:
    """Return the axes of a plot: the one of its categories, and the one of its values."""
    named = [each.get("val") for each in plot.iterchildren(c("axId"))]
    found = {
        said(axis, "axId"): axis for axis in area if str(axis.tag).startswith(c("")) and local(axis).endswith("Ax")
    }
    axes = [found[name] for name in named if name in found]
    of_categories = next((axis for axis in axes if local(axis) in {"catAx", "dateAx"}), None)
    if of_categories is None:
        # Of two axes of values the one that lies is that of a scatter chart's first numbers.
        of_categories = next((axis for axis in axes if said(axis, "axPos") in {"b", "t"}), None)
    return of_categories, next((axis for axis in axes if axis is not of_categories and local(axis) == "valAx"), None)


def turn(across: Element | None, upwards: Element | None, kind: Kind) -> None:
    """Have axes stand where a kind with categories wants them."""
    for axis, side in zip((across, upwards), _sides(kind), strict=True):
        if axis is not None:
            say(axis, "axPos", side)
    if upwards is not None:
        say(upwards, "crossBetween", _crossing(kind))


def replace_axes(area: Element, kind: Kind) -> list[Element]:
    """Put the axes that a kind needs in place of those there are; return the old ones."""
    old = [axis for axis in area if str(axis.tag).startswith(c("")) and local(axis).endswith("Ax")]
    for axis in old:
        area.remove(axis)
    for axis in new_axes(kind):
        put(area, axis)
    return old


def _sides(kind: Kind) -> tuple[str, str]:
    return ("l", "b") if kind is Kind.BAR else ("b", "l")


def _crossing(kind: Kind) -> str:
    return "midCat" if kind in {Kind.AREA, Kind.SCATTER} else "between"
