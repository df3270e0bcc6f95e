"""Properties of runs, paragraphs and cells: each has one place among the others."""

from collections.abc import Mapping
from typing import Final

from officeplane.formats.word.names import element, w
from officeplane.formats.xml import Element

_ORDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "rPr": (
        "ins", "del", "moveFrom", "moveTo", "rStyle", "rFonts", "b", "bCs", "i", "iCs", "caps", "smallCaps", "strike",
        "dstrike", "outline", "shadow", "emboss", "imprint", "noProof", "snapToGrid", "vanish", "webHidden", "color",
        "spacing", "w", "kern", "position", "sz", "szCs", "highlight", "u", "effect", "bdr", "shd", "fitText",
        "vertAlign", "rtl", "cs", "em", "lang", "eastAsianLayout", "specVanish", "oMath", "rPrChange",
    ),
    "pPr": (
        "pStyle", "keepNext", "keepLines", "pageBreakBefore", "framePr", "widowControl", "numPr",
        "suppressLineNumbers", "pBdr", "shd", "tabs", "suppressAutoHyphens", "kinsoku", "wordWrap", "overflowPunct",
        "topLinePunct", "autoSpaceDE", "autoSpaceDN", "bidi", "adjustRightInd", "snapToGrid", "spacing", "ind",
        "contextualSpacing", "mirrorIndents", "suppressOverlap", "jc", "textDirection", "textAlignment",
        "textboxTightWrap", "outlineLvl", "divId", "cnfStyle", "rPr", "sectPr", "pPrChange",
    ),
    "tcPr": (
        "cnfStyle", "tcW", "gridSpan", "hMerge", "vMerge", "tcBorders", "shd", "noWrap", "tcMar", "textDirection",
        "tcFitText", "vAlign", "hideMark", "headers", "cellIns", "cellDel", "cellMerge", "tcPrChange",
    ),
}  # fmt: skip
_RANKS: Final = {kind: {w(name): rank for rank, name in enumerate(names)} for kind, names in _ORDERS.items()}


def properties_of(holder: Element, kind: str) -> Element:
    """Return the properties of a run, a paragraph or a cell, made if there are none; they come first in it."""
    found = holder.find(w(kind))
    if found is None:
        found = element(kind)
        holder.insert(0, found)
    return found


def put(properties: Element, kind: str, name: str, **attributes: str) -> Element:
    """Say something in properties, in the place of what they said of it before; return what says it."""
    take(properties, name)
    made = element(name, **attributes)
    place_in(properties, kind, made)
    return made


def place_in(properties: Element, kind: str, made: Element) -> None:
    """Put something new into properties, in its place."""
    ranks = _RANKS[kind]
    own = ranks[str(made.tag)]
    after = [at for at, inner in enumerate(properties) if ranks.get(str(inner.tag), -1) <= own]
    properties.insert(after[-1] + 1 if after else 0, made)


def take(properties: Element, *names: str) -> None:
    """Have properties say nothing of some things."""
    for name in names:
        for known in properties.findall(w(name)):
            properties.remove(known)
