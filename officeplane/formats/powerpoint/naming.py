"""Naming the nodes of a presentation: where their ids stand in the file, and how others are written there."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from officeplane.formats.naming.named import Named, hashed, shown_by
from officeplane.formats.pictures.shape_numbers import renumber
from officeplane.formats.powerpoint.marks import (
    last_shape_number,
    last_slide_number,
    note_last_shape_number,
    note_last_slide_number,
)
from officeplane.formats.powerpoint.names import attribute_number, p, p14
from officeplane.formats.powerpoint.placeholders import kind as placeholder_kind
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.powerpoint.reader import PowerPointReader, ShapeSource
from officeplane.formats.powerpoint.shapes import properties
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.reading.detail import Detail
from officeplane.formats.relationships import Relationships, main_part

_SLIDE: Final = "slide"
_SHAPE: Final = "shape"
_FIRST: Final = 256
_NUMBERS_END: Final = 2**31
_SAID_MAX: Final = 2_000


class NamesOfPowerPoint:
    """The named nodes of a presentation: slides, and the shapes on each."""

    def __init__(self, document: Presentation) -> None:
        self._package = document.package
        self._main = main_part(document.package)
        self._reader: PowerPointReader = document.reader()
        self.top = [self._slide(detail) for detail in self._reader.tree.by_id.values() if detail.kind == _SLIDE]
        self.last = last_slide_number(self._package.tree(self._main))

    def fresh(self, node: Named, seed: str, taken: Collection[str], last: int) -> str:
        """Return a number for a node that nothing in its family has, or had."""
        if 0 < last < _NUMBERS_END - 1:
            return str(last + 1)
        return hashed(node, seed, taken, _FIRST)

    def write(self, numbers: Mapping[Named, str], last: Mapping[str, int]) -> None:
        """Have the file give nodes these numbers."""
        slides = {node.number: number for node, number in numbers.items() if node.family == _SLIDE}
        self._renumber_slides(slides)
        for node in self.top:
            slide: Slide = node.source
            root = self._package.tree(slide.part)
            shapes = {properties(shape.source.shape): numbers[shape] for shape in node.below if shape in numbers}
            moved = renumber(root, {about: number for about, number in shapes.items() if about is not None})
            if moved:
                self._package.changed(slide.part)
            if moved or slides:
                self._follow_in_comments(slide, slides, moved)
            if last.get(node.id, 0) > last_shape_number(root):
                note_last_shape_number(root, last[node.id])
                self._package.changed(slide.part)
        root = self._package.tree(self._main)
        if last.get("", 0) > last_slide_number(root):
            note_last_slide_number(root, last[""])
            self._package.changed(self._main)

    def _slide(self, detail: Detail) -> Named:
        slide: Slide = detail.source
        root = self._package.tree(slide.part)
        said = self._reader.said(detail)
        made = Named(detail.id, _SLIDE, str(slide.number), said, is_counted=True, source=slide)
        made.looks = "\0".join(self._looks(child) for child in detail.children if not child.text)
        made.below = [*self._shapes(detail)]
        known = {node.number for node in made.below}
        others = (about for about in root.iter(p("cNvPr")) if about.get("id", "") not in known)
        made.last = max(last_shape_number(root), *(attribute_number(about, "id", 0) for about in others), 0)
        return made

    def _shapes(self, detail: Detail) -> Iterator[Named]:
        for child in detail.children:
            source = child.source
            about = properties(source.shape) if isinstance(source, ShapeSource) else None
            number = "" if about is None else about.get("id", "")
            if number.isascii() and number.isdecimal():
                cells = "\n".join(cell.text for row in child.children for cell in row.children)
                # A slide has one title, whatever it says.
                said = "" if child.kind == "title" else (child.text or cells)[:_SAID_MAX]
                yield Named(child.id, _SHAPE, number, said, self._looks(child), is_counted=True, source=source)

    def _looks(self, detail: Detail) -> str:
        """Return what kind of shape it is, and what it shows if it says nothing."""
        if detail.text or detail.children or detail.kind == "title":
            return detail.kind
        source = detail.source
        about = properties(source.shape) if isinstance(source, ShapeSource) else None
        name = "" if about is None else about.get("name", "")
        place = placeholder_kind(source.shape) if isinstance(source, ShapeSource) else None
        return "\0".join((detail.kind, place or name, shown_by(self._reader, detail)))

    def _renumber_slides(self, slides: Mapping[str, str]) -> None:
        if not slides:
            return
        root = self._package.tree(self._main)
        for entry in [*root.iter(p("sldId"), p14("sldId"))]:
            entry.set("id", slides.get(entry.get("id", ""), entry.get("id", "")))
        self._package.changed(self._main)
        for node in self.top:
            for zoom in self._package.tree(node.source.part).iter("{*}sldZmObj"):
                zoom.set("sldId", slides.get(zoom.get("sldId", ""), zoom.get("sldId", "")))
                self._package.changed(node.source.part)

    def _follow_in_comments(self, slide: Slide, slides: Mapping[str, str], shapes: Mapping[str, str]) -> None:
        """Have newer comments stay with the slide and the shape that they are about."""
        for arrow in Relationships(self._package, slide.part).of_type("comments"):
            if arrow.target not in self._package:
                continue
            for one in self._package.tree(arrow.target).iter("{*}sldMk"):
                one.set("sldId", slides.get(one.get("sldId", ""), one.get("sldId", "")))
                self._package.changed(arrow.target)
            for one in self._package.tree(arrow.target).iter("{*}spMk", "{*}picMk", "{*}graphicFrameMk", "{*}cxnSpMk"):
                one.set("id", shapes.get(one.get("id", ""), one.get("id", "")))
                self._package.changed(arrow.target)
