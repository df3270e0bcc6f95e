"""Decks: the slides of a presentation with their sections, layouts and texts, as all its edits use them."""

from collections.abc import Collection, Sequence

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.domain.warning import EditWarning, Loss
from officeplane.formats.blocks import Block, Span, Table
from officeplane.formats.package import Package
from officeplane.formats.powerpoint import reading
from officeplane.formats.powerpoint.brought_pictures import BroughtPictures
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.layouts import Layout, Purpose, chosen, is_section_header, layouts
from officeplane.formats.powerpoint.marks import is_marked
from officeplane.formats.powerpoint.mistaken_ids import refuse_parts_of_slides
from officeplane.formats.powerpoint.names import p
from officeplane.formats.powerpoint.new_slide import new_slide
from officeplane.formats.powerpoint.nodes import SlideNode, find_node
from officeplane.formats.powerpoint.overflow import overflows
from officeplane.formats.powerpoint.page import Page
from officeplane.formats.powerpoint.picture_blocks import parted
from officeplane.formats.powerpoint.searching import Searching, parts_of
from officeplane.formats.powerpoint.sections import Sections
from officeplane.formats.powerpoint.slide_positions import SlidePosition, SlidePositions
from officeplane.formats.powerpoint.slides import Slide, Slides
from officeplane.formats.powerpoint.table_styles import table_style
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element, serialise


class Deck:
    """One presentation, kept parsed between edits."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._main = _main_part(package)
        self._slides = Slides(package, self._main)
        self._sections = Sections(package, self._main)
        self._texts = reading.Texts(package)
        self._search = Searching(package, self._texts)
        self._headers: dict[str, tuple[Element, bool]] = {}
        self._layouts: tuple[Element, list[Layout]] | None = None
        self._rooms: dict[str, Room] = {}

    def overflows(self, slide_ids: Collection[str]) -> list[EditWarning]:
        """Return what runs off these slides, or has probably no room where it stands."""
        return [
            EditWarning("overflow", sentence, slide.id)
            for slide in self._slides.all()
            if slide.id in slide_ids
            for sentence in overflows(self.package.tree(slide.part), self._room(slide))
        ]

    def _write(
        self, slide: Slide, title: tuple[Span, ...] | None, blocks: Sequence[Block] | None, style: str | None = None
    ) -> list[Loss]:
        page = Page(self.package, self._main, slide, self._layout_of(slide))
        blocks, pictures = (None, []) if blocks is None else parted(blocks)
        brought = self._brought(slide).new(pictures)
        if title is not None:
            page.write_title(title)
        if blocks is not None:
            if style is None and any(isinstance(block, Table) for block in blocks):
                style = table_style(self.package, self._main, None)
            page.write_body(blocks, style or "", brought)
        self._texts.forget(slide.part)
        return page.losses

    def _brought(self, slide: Slide) -> BroughtPictures:
        return BroughtPictures(self.package, slide, self._find, self._room)

    def _find(self, node_id: str) -> SlideNode:
        return find_node(self.package, self._main, self._slides.all(), self._room, node_id)

    def _room(self, slide: Slide) -> Room:
        layout = self._layout_of(slide)
        name = "" if layout is None else layout.part
        if name not in self._rooms:
            self._rooms[name] = Room(self.package, self._main, layout)
        return self._rooms[name]

    def _new(self, layout: Layout, place: SlidePosition) -> Slide:
        part = self._slides.new_part(serialise(new_slide(layout)))
        Relationships(self.package, part).add("slideLayout", layout.part)
        slide = self._slides.insert(part, place.index)
        if place.section is not None:
            self._sections.enter(place.section, slide, self._slides.all())
        return slide

    def _layout(self, name: str | None, purpose: Purpose, place: SlidePosition) -> Layout:
        near = self._near(place)
        return chosen(self._known_layouts(), name, purpose, None if near is None else near.master)

    def _near(self, place: SlidePosition) -> Layout | None:
        """Return the layout of the slide before a place."""
        slides = self._slides.all()
        beside = slides[min(place.index, len(slides)) - 1] if slides else None
        return None if beside is None else self._layout_of(beside)

    def _layout_of(self, slide: Slide) -> Layout | None:
        parts = {arrow.target for arrow in Relationships(self.package, slide.part).of_type("slideLayout")}
        return next((layout for layout in self._known_layouts() if layout.part in parts), None)

    def _known_layouts(self) -> list[Layout]:
        root = self.package.tree(self._main)
        if self._layouts is None or self._layouts[0] is not root:
            self._layouts = (root, layouts(self.package, self._main))
            self._rooms.clear()
        return self._layouts[1]

    def _slide(self, node_id: str) -> Slide:
        refuse_parts_of_slides(self.package, self._slides.all(), node_id)
        return self._slides.find(node_id)

    def _positions(self, named: str | None = None) -> SlidePositions:
        if named is not None:
            refuse_parts_of_slides(self.package, self._slides.all(), named)
        slides = self._slides.all()
        return SlidePositions(slides, self._sections.all(slides), self._is_header)

    def _is_header(self, slide: Slide) -> bool:
        root = self.package.tree(slide.part)
        known = self._headers.get(slide.part)
        if known is None or known[0] is not root:
            layout = self._layout_of(slide)
            found = is_marked(root) or (layout is not None and is_section_header(layout))
            known = self._headers[slide.part] = (root, found)
        return known[1]

    def _parts_of(self, slide: Slide) -> list[tuple[str, bool]]:
        """Return the parts that hold a slide's text; True for notes."""
        return parts_of(self.package, slide)


def _main_part(package: Package) -> str:
    for arrow in Relationships(package).of_type("officeDocument"):
        if arrow.target in package and package.tree(arrow.target).tag == p("presentation"):
            return arrow.target
    raise UnsupportedDocumentError("not_a_presentation", "the file holds no presentation in the transitional format")
