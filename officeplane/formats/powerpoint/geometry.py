"""Geometry: where things lie on a slide, in English metric units."""

from dataclasses import dataclass
from typing import Final

from officeplane.formats.powerpoint.names import a, attribute_number, p, under
from officeplane.formats.xml import Element

_WIDTH: Final = 9_144_000
_HEIGHT: Final = 6_858_000


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle."""

    x: int
    y: int
    width: int
    height: int

    def split(self, share: float) -> tuple["Area", "Area"]:
        """Return the upper part of this share of the height, and the rest."""
        upper = int(self.height * share)
        return (
            Area(self.x, self.y, self.width, upper),
            Area(self.x, self.y + upper, self.width, self.height - upper),
        )

    def beside(self, share: float) -> tuple["Area", "Area"]:
        """Return the left part of this share of the width, and the rest."""
        left = int(self.width * share)
        return (
            Area(self.x, self.y, left, self.height),
            Area(self.x + left, self.y, self.width - left, self.height),
        )

    def within(self, size: tuple[int, int]) -> "Area":
        """Return where something of a size lies in the middle of it, smaller if it has to be."""
        share = min(1.0, self.width / size[0], self.height / size[1])
        width, height = max(int(size[0] * share), 1), max(int(size[1] * share), 1)
        return Area(self.x + (self.width - width) // 2, self.y + (self.height - height) // 2, width, height)


def slide_area(presentation: Element) -> Area:
    """Return the whole slide."""
    size = presentation.find(p("sldSz"))
    if size is None:
        return Area(0, 0, _WIDTH, _HEIGHT)
    return Area(0, 0, attribute_number(size, "cx", _WIDTH), attribute_number(size, "cy", _HEIGHT))


def title_area(whole: Area) -> Area:
    """Return where a title goes when no layout says so."""
    return Area(whole.width // 20, whole.height // 24, whole.width * 9 // 10, whole.height // 6)


def body_area(whole: Area) -> Area:
    """Return where content goes when no layout says so."""
    return Area(whole.width // 20, whole.height // 4, whole.width * 9 // 10, whole.height * 2 // 3)


def area_of(shape: Element) -> Area | None:
    """Return where a shape says that it lies."""
    found = shape.find(f"{p('spPr')}/{a('xfrm')}")
    if found is None:
        found = shape.find(p("xfrm"))
    if found is None:
        found = shape.find(f"{p('grpSpPr')}/{a('xfrm')}")
    offset, extent = (None, None) if found is None else (found.find(a("off")), found.find(a("ext")))
    if offset is None or extent is None:
        return None
    return Area(
        attribute_number(offset, "x", 0), attribute_number(offset, "y", 0),
        attribute_number(extent, "cx", 0), attribute_number(extent, "cy", 0),
    )  # fmt: skip


def place(transform: Element, area: Area) -> None:
    """Write an area into an empty `xfrm`."""
    under(transform, a("off"), x=str(area.x), y=str(area.y))
    under(transform, a("ext"), cx=str(area.width), cy=str(area.height))
