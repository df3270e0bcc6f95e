"""Series: each a row of numbers with its looks, as it is made, matched to new data, and drawn as another kind."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.charts.caches import name_by, refer, remembered
from officeplane.formats.charts.data import ChartData, Series, Shown, point_text
from officeplane.formats.charts.kinds import Kind
from officeplane.formats.charts.names import c, fragment, put, remove, said, say
from officeplane.formats.pictures.drawing import A
from officeplane.formats.xml import Element

_ACCENTS: Final = 6
_FILL: Final = f"{{{A}}}solidFill"
_FILLS: Final = (_FILL, f"{{{A}}}gradFill", f"{{{A}}}pattFill", f"{{{A}}}blipFill")
_STROKE: Final = f"{{{A}}}ln"
_SCHEME: Final = f"{{{A}}}schemeClr"
_ACCENT: Final = '<a:solidFill><a:schemeClr val="accent{}"/></a:solidFill>'
_OF_ONE: Final = ("dPt", "trendline", "errBars", "extLst")
"""What of a series is about its own points, or only its own."""

_LOOKS: Final = {"trendline": "trend line", "errBars": "error bars", "dPt": "look of one point"}


def new_series(kind: Kind, at: int) -> Element:
    """Return a series of a kind that shows nothing yet, in the colour of its turn."""
    fill = _ACCENT.format(at % _ACCENTS + 1)
    if kind is Kind.LINE:
        looks = f'<c:spPr><a:ln w="28575" cap="rnd">{fill}<a:round/></a:ln></c:spPr>'
        looks += '<c:marker><c:symbol val="none"/></c:marker><c:smooth val="0"/>'
    elif kind is Kind.SCATTER:
        looks = '<c:spPr><a:ln w="19050"><a:noFill/></a:ln></c:spPr><c:marker><c:symbol val="circle"/><c:size val="6"/>'
        looks += f'<c:spPr>{fill}<a:ln w="9525">{fill}</a:ln></c:spPr></c:marker><c:smooth val="0"/>'
    elif kind.is_round:
        looks = ""
    else:
        looks = f"<c:spPr>{fill}</c:spPr>" + ('<c:invertIfNegative val="0"/>' if kind.is_bars else "")
    return fragment(f'<c:ser><c:idx val="{at}"/><c:order val="{at}"/>{looks}</c:ser>')


def name_of(series: Element) -> str:
    """Return what a series is called."""
    return " ".join(point_text(each) for each in remembered(series.find(c("tx"))) if each is not None)


def matched(held: Sequence[Element], data: ChartData, kind: Kind | None) -> list[Element]:
    """Return a series for each of the data: the one of its name, else the next that is left, else another like it."""
    left = list(held)
    found: dict[int, Element] = {}
    for at, wanted in enumerate(data.series):
        same = next((each for each in left if wanted.name is not None and name_of(each) == wanted.name.title), None)
        if same is not None:
            found[at] = same
            left.remove(same)
    number = max((int(said(each, "idx", "0")) for each in held if said(each, "idx").isdecimal()), default=-1)
    for at in range(len(data.series)):
        if at in found:
            continue
        if left:
            found[at] = left.pop(0)
            continue
        number += 1
        if held:
            found[at] = _like(held[-1], number)
        elif kind is not None:
            found[at] = new_series(kind, number)
    return [found[at] for at in range(len(data.series))]


def empty(series: Element) -> None:
    """Have a series remember none of its points: what is large takes lxml long to move."""
    for holder in series.iterchildren(*map(c, ("cat", "val", "xVal", "yVal"))):
        for point in [*holder.iter(c("pt"))]:
            _drop(point)


def fill(series: Element, wanted: Series, categories: Shown | None, *, is_scatter: bool) -> None:
    """Have a series show data."""
    across, upwards = ("xVal", "yVal") if is_scatter else ("cat", "val")
    if wanted.name is None:
        remove(series, "tx")
    else:
        name_by(series, wanted.name)
    if categories is None:
        remove(series, across)
    else:
        refer(_holder(series, across), categories)
    refer(_holder(series, upwards), wanted.values, numbers_only=True)


def redrawn(series: Element, kind: Kind, at: int) -> tuple[Element, list[str]]:
    """Return a series drawn as another kind, in its own colour, and in words which of its looks that kind has not."""
    made = new_series(kind, at)
    for name in ("idx", "order"):
        say(made, name, said(series, name, str(at)))
    own = _colour(series)
    if own is not None:
        for fill in [*made.iter(_FILL)]:
            parent = fill.getparent()
            if parent is not None:
                parent.replace(fill, deepcopy(own))
    ways = (("cat", "xVal"), ("val", "yVal"), ("xVal", "cat"), ("yVal", "val"))
    for name in ("tx", "dLbls"):
        if (found := series.find(c(name))) is not None:
            put(made, deepcopy(found))
    for name, other in ways:
        found = series.find(c(name))
        if found is not None:
            holder = deepcopy(found)
            is_of_scatter = name.endswith("Val")
            if is_of_scatter != (kind is Kind.SCATTER):
                holder.tag = c(other)
            put(made, holder)
    called = name_of(series)
    return made, [f"{_LOOKS[name]} of {called!r}" for name in _LOOKS if series.find(c(name)) is not None]


def free_labels(plot: Element) -> None:
    """Have the labels of values stand where their kind wants them: not every kind takes every place."""
    for place in [*plot.iter(c("dLblPos"))]:
        _drop(place)


def _holder(series: Element, name: str) -> Element:
    found = series.find(c(name))
    return put(series, etree.Element(c(name))) if found is None else found


def _like(series: Element, number: int) -> Element:
    """Return another series of the looks of one, in the next colour."""
    made = deepcopy(series)
    remove(made, *_OF_ONE)
    say(made, "idx", str(number))
    schemes = [each for each in _own_colours(made) if each.get("val", "").startswith("accent")]
    for scheme in schemes:
        scheme.set("val", f"accent{number % _ACCENTS + 1}")
    if not schemes:
        # A colour that is said outright would be that of two.
        for form in [form for holder in (made, *made.iterfind(c("marker"))) for form in holder.iterfind(c("spPr"))]:
            for fill in [each for each in form.iter(*_FILLS) if each.getparent() in {form, form.find(_STROKE)}]:
                _drop(fill)
    return made


def _own_colours(series: Element) -> Iterator[Element]:
    for holder in (series, *series.iterfind(c("marker"))):
        for form in holder.iterfind(c("spPr")):
            yield from form.iter(_SCHEME)


def _colour(series: Element) -> Element | None:
    for way in (f"{c('spPr')}/{_FILL}", f"{c('spPr')}/{{{A}}}ln/{_FILL}", f"{c('marker')}/{c('spPr')}/{_FILL}"):
        found = series.find(way)
        if found is not None:
            return found
    return None


def _drop(element: Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
