"""Room: where on a slide its title and body go, and how text looks there, as layout and master have it."""

from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.fitting import nominal_size
from officeplane.formats.powerpoint.geometry import Area, area_of, body_area, slide_area, title_area
from officeplane.formats.powerpoint.layouts import Layout
from officeplane.formats.powerpoint.marks import is_marked
from officeplane.formats.powerpoint.names import a, p
from officeplane.formats.powerpoint.placeholders import (
    body,
    counterpart,
    inherited_area,
    is_title,
    placeholder,
    title,
)  # fmt: skip
from officeplane.formats.powerpoint.shapes import settings
from officeplane.formats.xml import Element

_FITTINGS: Final = frozenset({a("noAutofit"), a("normAutofit"), a("spAutoFit")})
_BULLETS: Final = frozenset({a("buNone"), a("buChar"), a("buAutoNum"), a("buBlip")})


class Room:
    """The room of one slide; a slide may have no layout in a file that somebody broke."""

    def __init__(self, package: Package, main: str, root: Element, layout: Layout | None) -> None:
        self._root = root
        self._layout = None if layout is None else layout.root
        self._master = None if layout is None else package.tree(layout.master)
        self.whole = slide_area(package.tree(main))

    def for_title(self) -> Area:
        """Return where a title goes that the layout has no place for."""
        above = None if self._master is None else title(self._master)
        return (None if above is None else area_of(above)) or title_area(self.whole)

    def for_body(self) -> Area:
        """Return where all content goes, also when tables have taken a part of it."""
        shape = body(self._root)
        if shape is None or is_marked(settings(shape)):
            shape = None if self._layout is None else body(self._layout)
        found = None if shape is None else self._inherited(shape)
        above = None if self._master is None else body(self._master)
        if found is None and above is not None:
            found = area_of(above)
        return found or body_area(self.whole)

    def of(self, shape: Element) -> Area:
        """Return where a shape lies."""
        return area_of(shape) or self._inherited(shape) or body_area(self.whole)

    def size(self, shape: Element) -> int:
        """Return how large the text of a shape is by default, in hundredths of a point."""
        if placeholder(shape) is None:
            return nominal_size((shape,), None, "")
        return nominal_size(
            (shape, self._origin(shape)), self._master, "titleStyle" if is_title(shape) else "bodyStyle"
        )

    def fitting(self, shape: Element) -> str | None:
        """Return how PowerPoint makes a text and its shape fit each other, by the tag that says so."""
        above = None if self._master is None else (title if is_title(shape) else body)(self._master)
        inherited = () if placeholder(shape) is None else (self._origin(shape), above)
        for each in (shape, *inherited):
            form = None if each is None else each.find(f"{p('txBody')}/{a('bodyPr')}")
            for said in () if form is None else form:
                if said.tag in _FITTINGS:
                    return str(said.tag)
        return None

    def has_bullets(self, shape: Element) -> bool:
        """Tell whether items of a list get bullets by themselves in a shape."""
        if placeholder(shape) is None or self._layout is None:
            return False
        own = f"{p('txBody')}/{a('lstStyle')}/{a('lvl1pPr')}"
        of_all = f"{p('txStyles')}/{p('bodyStyle')}/{a('lvl1pPr')}"
        for each, path in ((shape, own), (self._origin(shape), own), (self._master, of_all)):
            level = None if each is None else each.find(path)
            for said in () if level is None else level:
                if said.tag in _BULLETS:
                    return said.tag != a("buNone")
        return False

    def _origin(self, shape: Element) -> Element | None:
        return None if self._layout is None else counterpart(shape, self._layout)

    def _inherited(self, shape: Element) -> Area | None:
        if self._layout is None or self._master is None or placeholder(shape) is None:
            return None
        return inherited_area(shape, self._layout, self._master)
