"""Properties: what is said of letters, paragraphs, shapes, cells and lines, in the order that the schema wants."""

from collections.abc import Mapping
from typing import Final

from officeplane.formats.powerpoint.names import a, alone, under
from officeplane.formats.xml import Element

FILLS: Final = ("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
"""What may be inside of something; only one of them is."""

_ORDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "rPr": (
        "ln", *FILLS, "effectLst", "effectDag", "highlight", "uLnTx", "uLn", "uFillTx", "uFill", "latin", "ea", "cs",
        "sym", "hlinkClick", "hlinkMouseOver", "rtl", "extLst",
    ),
    "pPr": (
        "lnSpc", "spcBef", "spcAft", "buClrTx", "buClr", "buSzTx", "buSzPct", "buSzPts", "buFontTx", "buFont", "buNone",
        "buAutoNum", "buChar", "buBlip", "tabLst", "defRPr", "extLst",
    ),
    "spPr": (
        "xfrm", "custGeom", "prstGeom", *FILLS, "ln", "effectLst", "effectDag", "scene3d", "sp3d", "extLst",
    ),
    "tcPr": (
        "lnL", "lnR", "lnT", "lnB", "lnTlToBr", "lnBlToTr", "cell3D", *FILLS, "headers", "extLst",
    ),
    "ln": (*FILLS, "prstDash", "custDash", "round", "bevel", "miter", "headEnd", "tailEnd", "extLst"),
}  # fmt: skip
_RANKS: Final = {kind: {a(name): rank for rank, name in enumerate(names)} for kind, names in _ORDERS.items()}


def put(properties: Element, kind: str, name: str, **attributes: str) -> Element:
    """Say something in properties, in its place, instead of what they said of it before; return what says it."""
    take(properties, name)
    made = alone(a(name))
    made.attrib.update(attributes)
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
        for known in properties.findall(a(name)):
            properties.remove(known)


def put_fill(properties: Element, kind: str, fill: str) -> None:
    """Fill something with a colour, or with `none`."""
    take(properties, *FILLS)
    if fill == "none":
        put(properties, kind, "noFill")
    else:
        under(put(properties, kind, "solidFill"), a("srgbClr"), val=fill)
