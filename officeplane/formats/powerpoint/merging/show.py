"""Shows: what lies on the slides of one state, so that two states can be compared."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from officeplane.formats.merging.canonical import Arrows, Canonical, is_relation
from officeplane.formats.merging.unit import Unit
from officeplane.formats.naming.named import shown_by
from officeplane.formats.powerpoint.names import a, p
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.powerpoint.reader import ShapeSource
from officeplane.formats.powerpoint.shapes import shape_tree
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.reading.detail import Detail
from officeplane.formats.xml import Element

ABOUT: Final = p("cNvPr")
_NO_SHAPES: Final = frozenset((p("nvGrpSpPr"), p("grpSpPr"), p("extLst")))
_NOT_TOLD: Final = frozenset(("dirty", "err", "smtClean", "lang", "altLang", "noProof", "bmk"))
_CREATED: Final = frozenset(
    (
        "{http://schemas.microsoft.com/office/drawing/2014/main}creationId",
        "{http://schemas.microsoft.com/office/powerpoint/2010/main}creationId",
        "{http://schemas.microsoft.com/office/powerpoint/2010/main}modId",
        a("endParaRPr"),
    )
)
_PARAGRAPH: Final = a("p")
_RUN: Final = a("r")
_FIELD: Final = a("fld")
_SIDES: Final = ("x", "y", "width", "height")


class Show:
    """One state of a presentation."""

    def __init__(self, document: Presentation) -> None:
        self.document = document
        self.package = document.package
        self._reader = document.reader()
        details = [one for one in self._reader.tree.by_id.values() if one.kind == "slide"]
        self.slides: dict[str, Slide] = {one.id: one.source for one in details}
        self._details = {one.id: one for one in details}
        self._parts = {slide.part: slide_id for slide_id, slide in self.slides.items()}

    def said(self, slide_id: str) -> str:
        """Return what a slide says."""
        return self._reader.said(self._details[slide_id])

    def arrows(self, slide_id: str) -> Arrows:
        """Return what a slide refers to; other slides are told by their ids."""
        return _ArrowsOfSlide(self, self.slides[slide_id].part)

    def units(self, slide_id: str) -> list[Unit]:
        """Return what lies on a slide, from the back to the front; the source of each is its element."""
        root = self.package.tree(self.slides[slide_id].part)
        canonical = self.canonical(self.arrows(slide_id))
        known = {
            one.source.shape: one for one in self._details[slide_id].children if isinstance(one.source, ShapeSource)
        }
        found: list[Unit] = []
        for element in shape_tree(root):
            if not isinstance(element.tag, str) or element.tag in _NO_SHAPES:
                continue
            held = [known[one] for one in element.iter() if one in known]
            number = next((one.get("id", "") for one in element.iter(ABOUT)), "")
            node_id = held[0].id if held else f"{slide_id}.{number}"
            said = "\n".join(self._reader.said(one) for one in held)
            rough = "".join(self._roughly(one) for one in held)
            found.append(Unit(node_id, canonical.of(element), said, rough or str(element.tag), source=element))
        return found

    def beside(self, slide_id: str, *, is_exact: bool) -> Iterator[tuple[str, str]]:
        """Yield what a slide has besides its shapes: what it is called, and what tells whether it was changed."""
        slide = self.slides[slide_id]
        root = self.package.tree(slide.part)
        notes = [one for one in self._details[slide_id].children if one.kind == "notes"]
        yield "notes", "\n".join(self._reader.said(one) for one in notes)
        comments = [one for one in self._details[slide_id].children if one.kind == "comment"]
        yield "comments", "\n".join(sorted(f"{one.id} {one.text} {one.facts.get('state', '')}" for one in comments))
        yield "whether it is hidden", root.get("show", "1")
        if is_exact:
            arrows = self.arrows(slide_id)
            canonical = self.canonical(arrows)
            yield "background", canonical.inside(root.find(f"{p('cSld')}/{p('bg')}"))
            yield "animations", "".join(canonical.of(one) for one in root if one.tag == p("timing"))
            layouts = sorted(arrows.told(one) for one in arrows.by_id if "slideLayout" in arrows.by_id[one].type)
            yield "layout", "".join(layouts)

    @staticmethod
    def canonical(arrows: Arrows) -> Canonical:
        """Return what writes the elements of a slide canonically."""

        def read(element: Element, name: str, said: str) -> str | None:
            if is_relation(name):
                return arrows.told(said)
            if name == "id" and element.tag == ABOUT:
                return None
            return said

        runs = Canonical(_CREATED, _NOT_TOLD, read, frozenset((a("t"),)))
        return Canonical(
            _CREATED, _NOT_TOLD, read, frozenset((a("t"),)), {_PARAGRAPH: lambda one: "".join(_paragraph(one, runs))}
        )  # fmt: skip

    def slide_of(self, part: str) -> str | None:
        """Return the id of the slide that a part is."""
        return self._parts.get(part)

    def _roughly(self, detail: Detail) -> str:
        form: Mapping[str, object] = self._reader.form(detail)
        places = [round(side) for name in _SIDES if isinstance(side := form.get(name), float)]
        said = self._reader.content(detail) or detail.text
        looks = [detail.kind, places, form.get("alt", ""), said, shown_by(self._reader, detail)]
        return json.dumps(looks)


class _ArrowsOfSlide(Arrows):
    def __init__(self, show: Show, part: str) -> None:
        super().__init__(show.package, part)
        self._show = show

    def told(self, relationship_id: str) -> str:
        arrow = self.by_id.get(relationship_id)
        slide = None if arrow is None or arrow.is_external else self._show.slide_of(arrow.target)
        return super().told(relationship_id) if slide is None else slide


def _paragraph(paragraph: Element, canonical: Canonical) -> Iterator[str]:
    """Yield a paragraph with runs that are alike as one; what a field shows is calculated anew."""
    yield "<p>"
    looks: str | None = None
    for inner in paragraph:
        if inner.tag == _RUN:
            now = canonical.of(found) if (found := inner.find(a("rPr"))) is not None and _says(found) else ""
            if now != looks:
                yield f"\x02{now}\x03"
                looks = now
            yield "".join(one.text or "" for one in inner.iter(a("t")))
        elif isinstance(inner.tag, str) and inner.tag not in _CREATED:
            looks = None
            is_computed = inner.tag == _FIELD and inner.get("type", "").startswith(("slidenum", "datetime"))
            yield f"<field {inner.get('type')}>" if is_computed else canonical.of(inner)


def _says(properties: Element) -> bool:
    return len(properties) > 0 or any(str(name) not in _NOT_TOLD for name in properties.attrib)
