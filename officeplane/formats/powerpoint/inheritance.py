"""Inheritance: where on a slide its title and body go, and how text looks there, as layout and master have it."""

from functools import cached_property
from typing import Final, NamedTuple

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.fitting import nominal_size
from officeplane.formats.powerpoint.geometry import Area, area_of, body_area, slide_area, title_area
from officeplane.formats.powerpoint.layouts import Layout
from officeplane.formats.powerpoint.marks import is_marked
from officeplane.formats.powerpoint.names import a, p
from officeplane.formats.powerpoint.placeholders import (
    body,
    counterpart,
    is_title,
    placeholder,
    title,
)  # fmt: skip
from officeplane.formats.powerpoint.shapes import settings
from officeplane.formats.xml import Element

_FITTINGS: Final = frozenset({a("noAutofit"), a("normAutofit"), a("spAutoFit")})
_FORM: Final = f"{p('txBody')}/{a('bodyPr')}"
_BULLETS: Final = frozenset({a("buNone"), a("buChar"), a("buAutoNum"), a("buBlip")})


class Models(NamedTuple):
    """What a placeholder of a slide takes after: one of its layout, and the title or the body of the master."""

    origin: Element | None
    above: Element | None
    is_title: bool


class Setting(NamedTuple):
    """Where a text stands, how large it is, how PowerPoint makes it and its shape fit each other, by the tag."""

    area: Area
    size: int
    fitting: str | None
    models: Models | None


class Room:
    """The room on slides of one layout; a slide may have none in a file that somebody broke."""

    def __init__(self, package: Package, main: str, layout: Layout | None) -> None:
        self._layout = None if layout is None else layout.root
        self._master = None if layout is None else package.tree(layout.master)
        self._known: dict[str, Models] = {}
        self.whole = slide_area(package.tree(main))

    def for_title(self) -> Area:
        """Return where a title goes that the layout has no place for."""
        return (None if self._title is None else area_of(self._title)) or title_area(self.whole)

    def for_body(self, root: Element) -> Area:
        """Return where all content of a slide goes, also when tables have taken a part of it."""
        shape = body(root)
        if shape is None or is_marked(settings(shape)):
            shape = None if self._layout is None else body(self._layout)
        found = None if shape is None else self._inherited(shape)
        if found is None and self._body is not None:
            found = area_of(self._body)
        return found or body_area(self.whole)

    def of(self, shape: Element) -> Area:
        """Return where a shape lies."""
        return area_of(shape) or self._inherited(shape) or body_area(self.whole)

    def size(self, shape: Element) -> int:
        """Return how large the text of a shape is by default, in hundredths of a point."""
        return self._size(shape, self._models(shape))

    def setting(self, shape: Element) -> Setting:
        """Return where a text stands and how."""
        models = self._models(shape)
        area = area_of(shape) or (None if models is None else _first_area(models)) or body_area(self.whole)
        return Setting(area, self._size(shape, models), _fitting(shape, models), models)

    def origin(self, shape: Element) -> Element | None:
        """Return the placeholder of the layout that one of a slide takes after."""
        models = self._models(shape)
        return None if models is None else models.origin

    def has_bullets(self, shape: Element) -> bool:
        """Tell whether items of a list get bullets by themselves in a shape."""
        models = self._models(shape)
        if models is None or self._layout is None:
            return False
        own = f"{p('txBody')}/{a('lstStyle')}/{a('lvl1pPr')}"
        of_all = f"{p('txStyles')}/{p('bodyStyle')}/{a('lvl1pPr')}"
        for each, path in ((shape, own), (models.origin, own), (self._master, of_all)):
            level = None if each is None else each.find(path)
            for said in () if level is None else level:
                if said.tag in _BULLETS:
                    return said.tag != a("buNone")
        return False

    def _inherited(self, shape: Element) -> Area | None:
        models = self._models(shape)
        return None if models is None else area_of(shape) or _first_area(models)

    def _size(self, shape: Element, models: Models | None) -> int:
        if models is None:
            return nominal_size((shape,), None, "")
        return nominal_size((shape, models.origin), self._master, "titleStyle" if models.is_title else "bodyStyle")

    def _models(self, shape: Element) -> Models | None:
        """Return what a placeholder takes after, looked for once for all slides; None for other shapes."""
        own = placeholder(shape)
        if own is None:
            return None
        name = "title" if is_title(shape) else own.get("idx", "0")
        found = self._known.get(name)
        if found is None:
            origin = None if self._layout is None else counterpart(shape, self._layout)
            above = self._title if name == "title" else self._body
            found = self._known[name] = Models(origin, above, is_title=name == "title")
        return found

    @cached_property
    def _title(self) -> Element | None:
        return None if self._master is None else title(self._master)

    @cached_property
    def _body(self) -> Element | None:
        return None if self._master is None else body(self._master)


def _first_area(models: Models) -> Area | None:
    for each in (models.origin, models.above):
        found = None if each is None else area_of(each)
        if found is not None:
            return found
    return None


def _fitting(shape: Element, models: Models | None) -> str | None:
    for each in (shape, *(() if models is None else (models.origin, models.above))):
        form = None if each is None else each.find(_FORM)
        for said in () if form is None else form:
            if said.tag in _FITTINGS:
                return str(said.tag)
    return None
