"""Texts of a chart: its title, those of its axes, and where its legend stands."""

from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.charts.caches import remembered
from officeplane.formats.charts.data import point_text
from officeplane.formats.charts.names import c, fragment, put, remove, said, say, under
from officeplane.formats.pictures.drawing import A
from officeplane.formats.xml import Element

LEGENDS: Final = {"right": "r", "left": "l", "top": "t", "bottom": "b", "topRight": "tr"}
"""Where a legend may stand, and how charts say it."""

_NEW: Final = (
    "<c:title><c:tx><c:rich>{}<a:lstStyle/><a:p><a:pPr><a:defRPr{}/></a:pPr></a:p></c:rich></c:tx>"
    '<c:overlay val="0"/></c:title>'
)
_UPRIGHT: Final = '<a:bodyPr rot="-5400000" vert="horz"/>'
_P: Final = f"{{{A}}}p"
_R: Final = f"{{{A}}}r"


def title_of(holder: Element | None) -> str:
    """Return the title of a chart or of an axis; nothing if it has none, or only what programs call it."""
    title = None if holder is None else holder.find(c("title"))
    if title is None:
        return ""
    paragraphs = ["".join(each.text or "" for each in p.iter(f"{{{A}}}t")) for p in title.iterfind(f"{c('tx')}//{_P}")]
    if paragraphs:
        return "\n".join(paragraphs).strip()
    return " ".join(point_text(each) for each in remembered(title.find(c("tx"))) if each is not None)


def entitle(holder: Element, text: str | None, size: int | None = None) -> None:
    """Give a chart or an axis a title, which looks like the one it had; None takes it away."""
    title = holder.find(c("title"))
    if text is None:
        if title is not None:
            holder.remove(title)
    elif title is None:
        put(holder, _new_title(holder, text, size))
    elif title_of(holder) != text:
        _write(title, text)
    if holder.tag == c("chart"):
        say(holder, "autoTitleDeleted", "1" if text is None else "0")


def set_legend(chart: Element, place: str | None) -> None:
    """Have the legend of a chart stand somewhere; None takes it away."""
    legend = chart.find(c("legend"))
    if place is None:
        if legend is not None:
            chart.remove(legend)
        return
    if legend is None:
        legend = put(chart, fragment('<c:legend><c:legendPos val="r"/><c:overlay val="0"/></c:legend>'))
    if said(legend, "legendPos", "r") != LEGENDS[place]:
        # Where somebody has dragged it to is another place.
        remove(legend, "layout")
    say(legend, "legendPos", LEGENDS[place])


def legend_of(chart: Element) -> str | None:
    """Return where the legend of a chart stands, None if it has none."""
    legend = chart.find(c("legend"))
    place = said(legend, "legendPos", "r")
    return None if legend is None else next((name for name, val in LEGENDS.items() if val == place), "right")


def _new_title(holder: Element, text: str, size: int | None) -> Element:
    form = _UPRIGHT if said(holder, "axPos") in {"l", "r"} else "<a:bodyPr/>"
    title = fragment(_NEW.format(form, "" if size is None else f' sz="{size}" b="0"'))
    _write(title, text)
    return title


def _write(title: Element, text: str) -> None:
    rich = title.find(f"{c('tx')}/{c('rich')}")
    if rich is None:
        rich = _made_rich(title)
    paragraphs = rich.findall(_P)
    paragraph = paragraphs[0] if paragraphs else etree.SubElement(rich, _P)
    for other in paragraphs[1:]:
        rich.remove(other)
    look = paragraph.find(f"{_R}/{{{A}}}rPr")
    kept = paragraph.find(f"{{{A}}}pPr")
    for child in [child for child in paragraph if child is not kept]:
        paragraph.remove(child)
    run = etree.SubElement(paragraph, _R)
    if look is not None:
        run.append(deepcopy(look))
    etree.SubElement(run, f"{{{A}}}t").text = text


def _made_rich(title: Element) -> Element:
    """Give a title that a cell said, or a program, a text of its own, in the looks that it had."""
    remove(title, "tx")
    holder = put(title, etree.Element(c("tx")))
    rich = under(holder, "rich")
    looks = title.find(c("txPr"))
    if looks is None:
        etree.SubElement(rich, f"{{{A}}}bodyPr")
        etree.SubElement(rich, f"{{{A}}}lstStyle")
        return rich
    for child in list(looks):
        rich.append(child)
    title.remove(looks)
    for end in rich.findall(f"{_P}/{{{A}}}endParaRPr"):
        parent = end.getparent()
        if parent is not None:
            parent.remove(end)
    return rich
