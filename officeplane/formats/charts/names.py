"""Names of the elements of charts, and the order in which their schema wants them."""

from typing import Final

from lxml import etree

from officeplane.formats.pictures.drawing import A
from officeplane.formats.relationships import OFFICE
from officeplane.formats.xml import Element

CHART: Final = "http://schemas.openxmlformats.org/drawingml/2006/chart"
"""The namespace of charts; also what the frame of one says that it holds."""

CHART_TYPE: Final = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
NEWER: Final = "http://schemas.microsoft.com/office/drawing/2014/chartex"
"""The namespace of kinds that came later, such as waterfalls and maps."""

NAMESPACES: Final = {"c": CHART, "a": A, "r": OFFICE}

_AXIS: Final = (
    "axId", "scaling", "delete", "axPos", "majorGridlines", "minorGridlines", "title", "numFmt", "majorTickMark",
    "minorTickMark", "tickLblPos", "spPr", "txPr", "crossAx", "crosses", "crossesAt", "auto", "lblAlgn", "lblOffset",
    "baseTimeUnit", "noMultiLvlLbl", "crossBetween", "majorUnit", "minorUnit", "dispUnits", "extLst",
)  # fmt: skip
_PLOT: Final = (
    "barDir", "scatterStyle", "radarStyle", "grouping", "varyColors", "ser", "dLbls", "gapWidth", "gapDepth", "overlap",
    "shape", "serLines", "dropLines", "hiLowLines", "upDownBars", "marker", "smooth", "firstSliceAng", "holeSize",
    "axId", "extLst",
)  # fmt: skip
_ORDERS: Final = {
    "chartSpace": (
        "date1904", "lang", "roundedCorners", "AlternateContent", "style", "clrMapOvr", "pivotSource", "protection",
        "chart", "spPr", "txPr", "externalData", "printSettings", "userShapes", "extLst",
    ),
    "chart": (
        "title", "autoTitleDeleted", "pivotFmts", "view3D", "floor", "sideWall", "backWall", "plotArea", "legend",
        "plotVisOnly", "dispBlanksAs", "showDLblsOverMax", "extLst",
    ),
    "plotArea": ("layout", "*", "dTable", "spPr", "extLst"),
    "ser": (
        "idx", "order", "tx", "spPr", "invertIfNegative", "pictureOptions", "marker", "explosion", "dPt", "dLbls",
        "trendline", "errBars", "cat", "val", "xVal", "yVal", "smooth", "shape", "extLst",
    ),
    "title": ("tx", "layout", "overlay", "spPr", "txPr", "extLst"),
    "legend": ("legendPos", "legendEntry", "layout", "overlay", "spPr", "txPr", "extLst"),
}  # fmt: skip


def c(name: str) -> str:
    """Return a tag of charts."""
    return f"{{{CHART}}}{name}"


def fragment(xml: str) -> Element:
    """Return what is written with the prefixes `c`, `a` and `r`, as a tree that knows no others."""
    declared = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in NAMESPACES.items())
    (made,) = etree.fromstring(f"<made {declared}>{xml}</made>")
    return made


def under(parent: Element, name: str, val: str | None = None) -> Element:
    """Return a new last child."""
    return etree.SubElement(parent, c(name), {} if val is None else {"val": val})


def put(parent: Element, made: Element) -> Element:
    """Put a child where the schema wants it; return it."""
    order = _order_of(parent)
    place = _place(order, made)
    behind = next((child for child in parent if isinstance(child.tag, str) and _place(order, child) > place), None)
    if behind is None:
        parent.append(made)
    else:
        behind.addprevious(made)
    return made


def say(parent: Element, name: str, val: str) -> None:
    """Have a child say a value, made if it is not there."""
    found = parent.find(c(name))
    if found is None:
        found = put(parent, etree.Element(c(name), nsmap=None))
    found.set("val", val)


def said(parent: Element | None, name: str, otherwise: str = "") -> str:
    """Return the value that a child says."""
    found = None if parent is None else parent.find(c(name))
    return otherwise if found is None else found.get("val", otherwise)


def is_on(parent: Element, name: str, *, otherwise: bool) -> bool:
    """Tell whether a child says yes; one without a value does."""
    found = parent.find(c(name))
    return otherwise if found is None else found.get("val", "1") not in {"0", "false"}


def local(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def remove(parent: Element, *names: str) -> None:
    """Take children out."""
    for name in names:
        for found in parent.findall(c(name)):
            parent.remove(found)


def _order_of(parent: Element) -> tuple[str, ...]:
    name = local(parent)
    return _ORDERS.get(name) or (_AXIS if name.endswith("Ax") else _PLOT)


def _place(order: tuple[str, ...], element: Element) -> int:
    name = local(element)
    if name in order:
        return order.index(name)
    return order.index("*") if "*" in order else len(order)
