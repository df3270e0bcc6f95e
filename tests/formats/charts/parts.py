"""What the tests of charts share: looking into the part of one."""

from typing import Any, Final

from lxml import etree

C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_AREA: Final = f"{C}chart/{C}plotArea"


def plots(root: Any) -> list[str]:
    """Return what draws the series."""
    return [etree.QName(each).localname for each in root.find(_AREA) if each.tag.endswith("Chart")]


def caches(root: Any) -> dict[str, list[str | None]]:
    """Return what a chart remembers, by what names the cells; None where it remembers nothing."""
    return {each.findtext(f"{C}f"): _cached(each) for each in root.iter(f"{C}numRef", f"{C}strRef")}


def colours(root: Any) -> list[str]:
    """Return the colour of each series, as it is said first."""
    return [
        next((each.get("val") for each in series.iter(f"{A}schemeClr", f"{A}srgbClr")), "")
        for series in root.iter(f"{C}ser")
    ]


def _cached(reference: Any) -> list[str | None]:
    count = reference.find(f"*/{C}ptCount")
    if count is None:
        return []
    found: dict[int, str] = {int(point.get("idx")): point.findtext(f"{C}v") for point in reference.iter(f"{C}pt")}
    return [found.get(at) for at in range(int(count.get("val")))]
