"""Forms: how parts of a text look, in words and points: what CommonMark has no words for."""

from typing import Any, Final

from officeplane.formats.blocks import Item
from officeplane.formats.word.names import BOOKMARK_START, NAME, P_PR, R_ID, VAL, T, element_name, value, w
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_LINK: Final = w("hyperlink")
_TWENTIETHS: Final = 20
_EMU: Final = 12_700
_ALIGNMENTS: Final = {"start": "left", "end": "right", "both": "justify"}


def form_of_paragraph(paragraph: Element, item: Item | None, styles: Styles) -> dict[str, Any]:
    """Return a paragraph's style, list, alignment, indents, spacing and lines, its bookmarks and links inside."""
    properties = paragraph.find(P_PR)
    style = value(properties, "pStyle") or styles.default("paragraph")
    form: dict[str, Any] = {} if style is None else {"style": styles.name(style)}
    if item is not None:
        form["list"] = {"ordered": item.ordered, "depth": item.depth}
    alignment = value(properties, "jc") or _of_style(style, styles, "jc")
    if alignment is not None:
        form["alignment"] = _ALIGNMENTS.get(alignment, alignment)
    indent = _points(properties, "ind", ("left", "right", "firstLine", "hanging"))
    spacing = _points(properties, "spacing", ("before", "after"))
    borders = _lines(None if properties is None else properties.find(w("pBdr")))
    names = [mark.get(NAME, "") for mark in paragraph.iter(BOOKMARK_START)]
    marks = [name for name in names if not name.startswith("_")]
    links = _links_inside(paragraph)
    more = {"indent": indent, "spacing": spacing, "borders": borders, "bookmarks": marks, "links": links}
    return {**form, **{name: said for name, said in more.items() if said}}


def _links_inside(paragraph: Element) -> list[dict[str, str]]:
    """Return the links to other places of the document; those side by side that lead to one place are one."""
    links: list[dict[str, str]] = []
    last: Element | None = None
    for link in paragraph.iter(_LINK):
        bookmark = link.get(w("anchor"))
        if not bookmark or link.get(R_ID) is not None:
            continue
        text = "".join(held.text or "" for held in link.iter(T))
        if last is not None and link.getprevious() is last and links[-1]["bookmark"] == bookmark:
            links[-1]["text"] += text
        else:
            links.append({"text": text, "bookmark": bookmark})
        last = link
    return links


def form_of_row(row: Element) -> dict[str, Any]:
    """Return how high a row is, if that is said."""
    height = value(row.find(w("trPr")), "trHeight")
    return {} if height is None else {"height": _rounded(_whole(height) / _TWENTIETHS)}


def form_of_cell(cell: Element) -> dict[str, Any]:
    """Return a cell's width, fill, vertical alignment and lines, as far as it says them itself."""
    properties = cell.find(w("tcPr"))
    if properties is None:
        return {}
    form: dict[str, Any] = {}
    width, fill = properties.find(w("tcW")), properties.find(w("shd"))
    if width is not None and width.get(w("type")) == "dxa":
        form["width"] = _rounded(_whole(width.get(w("w"))) / _TWENTIETHS)
    if fill is not None and fill.get(w("fill"), "auto") != "auto":
        form["fill"] = fill.get(w("fill"))
    align = value(properties, "vAlign")
    borders = _lines(properties.find(w("tcBorders")))
    return {**form, **({"verticalAlign": align} if align else {}), **({"borders": borders} if borders else {})}


def form_of_table(table: Element, styles: Styles) -> dict[str, Any]:
    """Return a table's style and the widths of its columns."""
    properties = table.find(w("tblPr"))
    style = value(properties, "tblStyle")
    form: dict[str, Any] = {} if style is None else {"style": styles.name(style)}
    grid = table.find(w("tblGrid"))
    widths = [] if grid is None else [_whole(column.get(w("w"))) for column in grid]
    if widths:
        form["columnWidths"] = [_rounded(width / _TWENTIETHS) for width in widths]
    return form


def form_of_section(section: Element) -> dict[str, Any]:
    """Return the paper of a section, its margins and columns, and how it begins."""
    paper, margins, columns = (section.find(w(name)) for name in ("pgSz", "pgMar", "cols"))
    form: dict[str, Any] = {}
    if paper is not None:
        form = {side: _rounded(_whole(paper.get(w(side[0]))) / _TWENTIETHS) for side in ("width", "height")}
        form["orientation"] = "landscape" if form["width"] > form["height"] else "portrait"
    if margins is not None:
        form["margins"] = {
            side: _rounded(_whole(margins.get(w(side))) / _TWENTIETHS) for side in ("top", "right", "bottom", "left")
        }
    form["columns"] = _whole(None if columns is None else columns.get(w("num"))) or 1
    return {**form, "break": value(section, "type") or "nextPage"}


def form_of_drawing(element: Element) -> dict[str, Any]:
    """Return how large a picture, chart or shape is, its alternative text, and whether it floats."""
    form: dict[str, Any] = {}
    for inner in element.iter():
        name = element_name(inner)
        if name == "extent" and "width" not in form:
            form["width"] = _rounded(_whole(inner.get("cx")) / _EMU)
            form["height"] = _rounded(_whole(inner.get("cy")) / _EMU)
        elif name == "docPr" and "alt" not in form:
            form["alt"] = inner.get("descr", "")
        elif name in {"inline", "anchor"} and "anchor" not in form:
            form["anchor"] = "inline" if name == "inline" else "floating"
    return form


def _lines(borders: Element | None) -> dict[str, str]:
    """Return the kind of line at each side, in Word's words."""
    return {} if borders is None else {element_name(side): side.get(VAL, "") for side in borders}


def _of_style(style: str | None, styles: Styles, name: str) -> str | None:
    chain = () if style is None else styles.chain(style)
    return next((said for one in chain if (said := value(one.find(P_PR), name)) is not None), None)


def _points(properties: Element | None, name: str, sides: tuple[str, ...]) -> dict[str, float]:
    found = None if properties is None else properties.find(w(name))
    if found is None:
        return {}
    said = ((side, found.get(w(side))) for side in sides)
    return {side: _rounded(_whole(text) / _TWENTIETHS) for side, text in said if text is not None}


def _whole(text: str | None) -> int:
    try:
        return int(text or "")
    except ValueError:
        return 0


def _rounded(points: float) -> float:
    return round(points, 2)
