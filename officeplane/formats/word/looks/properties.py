"""Properties of runs, paragraphs, tables, rows, cells and sections: each has one place among the others."""

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
    "trPr": (
        "cnfStyle", "divId", "gridBefore", "gridAfter", "wBefore", "wAfter", "cantSplit", "trHeight", "tblHeader",
        "tblCellSpacing", "jc", "hidden", "ins", "del", "trPrChange",
    ),
    "tblPr": (
        "tblStyle", "tblpPr", "tblOverlap", "bidiVisual", "tblStyleRowBandSize", "tblStyleColBandSize", "tblW", "jc",
        "tblCellSpacing", "tblInd", "tblBorders", "shd", "tblLayout", "tblCellMar", "tblLook", "tblCaption",
        "tblDescription", "tblPrChange",
    ),
    "pBdr": ("top", "left", "bottom", "right", "between", "bar"),
    "tcBorders": (
        "top", "start", "left", "bottom", "end", "right", "insideH", "insideV", "tl2br", "tr2bl",
    ),
    "sectPr": (
        "headerReference", "footerReference", "footnotePr", "endnotePr", "type", "pgSz", "pgMar", "paperSrc",
        "pgBorders", "lnNumType", "pgNumType", "cols", "formProt", "vAlign", "noEndnote", "titlePg", "textDirection",
        "bidi", "rtlGutter", "docGrid", "printerSettings", "sectPrChange",
    ),
}  # fmt: skip
_EXCEPTIONS: Final = w("tblPrEx")
_RANKS: Final = {kind: {w(name): rank for rank, name in enumerate(names)} for kind, names in _ORDERS.items()}


def properties_of(holder: Element, kind: str) -> Element:
    """Return the properties of a run, a paragraph, a table, a row or a cell, made first in it if there are none."""
    found = holder.find(w(kind))
    if found is None:
        found = element(kind)
        # A row's exceptions from the properties of its table come before its own.
        holder.insert(1 if len(holder) and holder[0].tag == _EXCEPTIONS else 0, found)
    return found


def put(properties: Element, kind: str, name: str, **attributes: str) -> Element:
    """Say something in properties, in the place of what they said of it before; return what says it."""
    take(properties, name)
    made = element(name, **attributes)
    place_in(properties, kind, made)
    return made


def have(properties: Element, kind: str, name: str) -> Element:
    """Return what says something in properties: what said it before, or else something new in its place."""
    found = properties.find(w(name))
    if found is None:
        found = element(name)
        place_in(properties, kind, found)
    return found


def place_in(properties: Element, kind: str, made: Element) -> None:
    """Put something new into properties, in its place."""
    ranks = _RANKS[kind]
    own = ranks[str(made.tag)]
    # What the format did not know at first, such as ligatures, stands behind all that it did.
    later = (at for at, inner in enumerate(properties) if ranks.get(str(inner.tag), len(ranks)) > own)
    properties.insert(next(later, len(properties)), made)


def take(properties: Element, *names: str) -> None:
    """Have properties say nothing of some things."""
    for name in names:
        for known in properties.findall(w(name)):
            properties.remove(known)
