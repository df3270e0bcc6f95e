"""Presentations: PowerPoint files as slides, in sections, with what edits can do to them."""

from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar

from officeplane.domain.document import Format, InvalidEditError, Node, UnsupportedDocumentError
from officeplane.domain.warning import EditWarning, Loss
from officeplane.formats.blocks import Block, Span, Table
from officeplane.formats.diff import Readable
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import Bitmap
from officeplane.formats.pictures.drawing import blip_in, shown_by
from officeplane.formats.pictures.parts import digest_of
from officeplane.formats.powerpoint import notes, reading
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.layouts import Layout, Purpose, chosen, is_section_header, layouts
from officeplane.formats.powerpoint.marks import is_marked, mark
from officeplane.formats.powerpoint.mistaken_ids import refuse_parts_of_slides
from officeplane.formats.powerpoint.names import p
from officeplane.formats.powerpoint.new_slide import new_slide
from officeplane.formats.powerpoint.overflow import overflows
from officeplane.formats.powerpoint.page import Page, title_and_rest
from officeplane.formats.powerpoint.pictures import insert_picture, replace_picture
from officeplane.formats.powerpoint.reader import PowerPointReader, ShapeSource
from officeplane.formats.powerpoint.removal import remove_slide
from officeplane.formats.powerpoint.searching import Searching, elements_of, parts_of
from officeplane.formats.powerpoint.sections import Sections
from officeplane.formats.powerpoint.slide_positions import SlidePosition, SlidePositions
from officeplane.formats.powerpoint.slides import Slide, Slides
from officeplane.formats.powerpoint.table_styles import table_style
from officeplane.formats.powerpoint.tables import as_table
from officeplane.formats.reading.reader import node_to_change
from officeplane.formats.relationships import Relationships
from officeplane.formats.search import Wanted
from officeplane.formats.xml import Element, serialise


class Presentation:
    """One presentation, kept parsed between edits."""

    format: ClassVar = Format.PPTX

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

    def outline(self) -> list[Node]:
        """Return the chapters with their slides; the slides alone when there are no chapters."""
        slides = self._slides.all()
        sections = self._sections.all(slides)
        if not sections:
            return [self._node(slide) for slide in slides]
        return [Node(each.id, "chapter", each.name, [self._node(slide) for slide in each.slides]) for each in sections]

    def reader(self) -> PowerPointReader:
        """Return it as it is read in parts; it says what is true until the next edit."""
        slides = self._slides.all()
        return PowerPointReader(self.package, self._main, slides, self._sections.all(slides), self._room)

    def comparable(self) -> Readable:
        """Return it as it is compared."""
        return self

    def text(self) -> str:
        """Return the whole text, slide by slide, each with its notes."""
        lines: list[str] = []
        for slide in self._slides.all():
            for part, is_notes in self._parts_of(slide):
                lines.extend(reading.lines_of(self.package.tree(part), is_notes=is_notes))
        return "\n".join(lines)

    def places_of(self, wanted: Wanted) -> list[str]:
        """Return the slide of each occurrence of a text that is meant, in order."""
        hits = self._search.hits(self._slides.all(), wanted, self._under(wanted))
        return [*wanted.chosen([hit.slide_id for hit in hits for _ in hit.matches])]

    def fingerprint(self, target: str) -> str | None:
        """Return a hash of what a node holds now; None when there is no such node."""
        slides = self._slides.all()
        for section in self._sections.all(slides):
            if section.id == target:
                return reading.digest_of(section.name)
        slide_id, _, below = target.partition(".")
        for slide in slides:
            if slide.id != slide_id:
                continue
            if below:
                if (source := self._picture(target)) is not None:
                    blip = blip_in(source.shape)
                    held = None if blip is None else digest_of(self.package, slide.part, shown_by(blip))
                    return reading.digest_of(reading.digest(source.shape), held or "")
                for node in reading.children_of(self.package, slide.part, slide.id):
                    if node.id == target:
                        return reading.digest_of(node.kind, node.text)
                return None
            return reading.digest(*(self.package.tree(part) for part, _ in self._parts_of(slide)))
        return None

    def overflows(self, slide_ids: Collection[str]) -> list[EditWarning]:
        """Return what runs off these slides, or has probably no room where it stands."""
        return [
            EditWarning("overflow", sentence, slide.id)
            for slide in self._slides.all()
            if slide.id in slide_ids
            for sentence in overflows(self.package.tree(slide.part), self._room(slide))
        ]

    def add_chapter(self, title: str, position: int | None, node_id: str) -> str:
        """Add an empty section; return its id."""
        return self._sections.add(title, position, node_id, self._slides.all())

    def add_section(self, title: str, chapter_id: str | None, blocks: Sequence[Block], position: int | None) -> str:
        """Add a section header slide before the one at `position` of its kind; return its id."""
        place = self._positions(chapter_id).of_header(chapter_id, position)
        layout = self._layout(None, Purpose.SECTION, place)
        slide = self._new(layout, place)
        if not is_section_header(layout):
            mark(self.package.tree(slide.part))
        self._write(slide, (Span(title),), blocks)
        return slide.id

    def write_page(self, blocks: Sequence[Block], section_id: str | None, position: int | None) -> str:
        """Add a slide with its first heading as the title; return its id."""
        place = self._positions(section_id).of_page(section_id, position)
        title, rest = title_and_rest(blocks)
        slide = self._new(self._layout(None, _purpose(rest), place), place)
        self._write(slide, title, rest)
        return slide.id

    def edit_page(self, slide_id: str, blocks: Sequence[Block]) -> list[Loss]:
        """Put other content on a slide; without a heading its title stays. Return what is lost with that."""
        slide = self._slide(slide_id)
        title, rest = title_and_rest(blocks)
        return self._write(slide, title, rest)

    def insert_table(
        self, rows: Sequence[Sequence[str]], header: Sequence[str] | None, section_id: str | None, style: str | None
    ) -> str:
        """Add a slide with a table; return its id."""
        place = self._positions(section_id).of_page(section_id, None)
        chosen_style = table_style(self.package, self._main, style)
        table = as_table(rows, header)
        slide = self._new(self._layout(None, Purpose.TABLE, place), place)
        self._write(slide, None, [table], chosen_style)
        return slide.id

    def add_slide(self, layout_name: str | None, title: str, blocks: Sequence[Block], notes: str | None) -> str:
        """Add a slide at the end; return its id."""
        place = self._positions().of_page(None, None)
        slide = self._new(self._layout(layout_name, _purpose(blocks), place), place)
        self._write(slide, (Span(title),), blocks or None)
        if notes is not None:
            self.set_notes(slide.id, notes)
        return slide.id

    def edit_slide(self, slide_id: str, title: str | None, blocks: Sequence[Block] | None) -> list[Loss]:
        """Put another title or body on a slide; what is None stays. Return what is lost with that."""
        return self._write(self._slide(slide_id), None if title is None else (Span(title),), blocks)

    def move_slide(self, slide_id: str, position: int) -> None:
        """Put a slide at a place among all slides without it, and into the section there."""
        slide = self._slide(slide_id)
        places = self._positions()
        section = places.section_after_move(slide, position)
        self._slides.move(slide, position)
        if section is not None:
            self._sections.enter(section, slide, self._slides.all())

    def delete_slide(self, slide_id: str) -> list[Loss]:
        """Remove a slide, its notes, and what only it used; return what is lost besides its text."""
        slide = self._slide(slide_id)
        losses = list(self._losses_with(slide))
        self._slides.remove(slide)
        self._sections.leave(slide)
        named = remove_slide(self.package, self._main, slide.part)
        for part in (slide.part, *named):
            self._texts.forget(part)
        losses += [
            Loss(f"link to {slide.id}", other.id)
            for other in self._slides.all()
            for _ in range(named.get(other.part, 0))
        ]
        return losses + [Loss(f"{slide.id} in a custom show", None)] * named.get(self._main, 0)

    def set_notes(self, slide_id: str, text: str) -> list[Loss]:
        """Put a text in place of what the speaker of a slide reads; return what is lost with that."""
        slide = self._slide(slide_id)
        part, lost = notes.set_notes(self.package, self._main, slide.part, text)
        self._texts.forget(part)
        return [Loss(inset.kind, f"{slide.id}.{reading.NOTES}", inset.name) for inset in lost]

    def insert_image(
        self, slide_id: str, bitmap: Bitmap, alt: str, width: float | None, at: tuple[float | None, float | None]
    ) -> str:
        """Put a picture on a slide; return its id."""
        slide = self._slide(slide_id)
        return insert_picture(self.package, slide, self._room(slide), bitmap, alt, width, at)

    def replace_image(self, node_id: str, bitmap: Bitmap, alt: str | None, width: float | None) -> None:
        """Show another picture at the place of one."""
        source = self._picture(node_id)
        if source is None:
            raise InvalidEditError(f"there is no picture {node_id!r}; the list of images has those that there are")
        room = self._room(source.slide)
        replace_picture(self.package, source.slide, source.shape, room, bitmap, alt, width)

    def replace_text(self, wanted: Wanted, replacement: str) -> list[str]:
        """Replace a text where it is meant; return the slide of each place at which it stands under the node."""
        return self._search.replace(self._slides.all(), wanted, replacement, self._under(wanted))

    def _under(self, wanted: Wanted) -> set[Element] | None:
        return None if wanted.under is None else elements_of(node_to_change(self.reader(), wanted.under), self.package)

    def _write(
        self, slide: Slide, title: tuple[Span, ...] | None, blocks: Sequence[Block] | None, style: str | None = None
    ) -> list[Loss]:
        page = Page(self.package, self._main, slide, self._layout_of(slide))
        if title is not None:
            page.write_title(title)
        if blocks is not None:
            if style is None and any(isinstance(block, Table) for block in blocks):
                style = table_style(self.package, self._main, None)
            page.write_body(blocks, style or "")
        self._texts.forget(slide.part)
        return page.losses

    def _picture(self, node_id: str) -> ShapeSource | None:
        """Return the picture of an id, as reading gives it."""
        slides = [slide for slide in self._slides.all() if node_id.startswith(f"{slide.id}.")]
        detail = PowerPointReader(self.package, self._main, slides, (), self._room).tree.by_id.get(node_id)
        return detail.source if detail is not None and detail.kind == "picture" else None

    def _room(self, slide: Slide) -> Room:
        layout = self._layout_of(slide)
        name = "" if layout is None else layout.part
        if name not in self._rooms:
            self._rooms[name] = Room(self.package, self._main, layout)
        return self._rooms[name]

    def _losses_with(self, slide: Slide) -> Iterator[Loss]:
        for inset in reading.drawn_on(self.package.tree(slide.part)):
            if inset.kind != "table":  # its rows are text
                yield Loss(inset.kind, slide.id, inset.name)
        for inset in reading.comments_on(self.package, slide.part):
            yield Loss(inset.kind, slide.id, inset.name)
        beside = notes.notes_part(self.package, slide.part)
        said = "" if beside is None else " ".join(reading.lines_of(self.package.tree(beside), is_notes=True))
        if said:
            yield Loss(reading.NOTES, slide.id, said)

    def _new(self, layout: Layout, place: SlidePosition) -> Slide:
        part = self._slides.new_part(serialise(new_slide(layout)))
        Relationships(self.package, part).add("slideLayout", layout.part)
        slide = self._slides.insert(part, place.index)
        if place.section is not None:
            self._sections.enter(place.section, slide, self._slides.all())
        return slide

    def _layout(self, name: str | None, purpose: Purpose, place: SlidePosition) -> Layout:
        slides = self._slides.all()
        beside = slides[min(place.index, len(slides)) - 1] if slides else None
        near = None if beside is None else self._layout_of(beside)
        return chosen(self._known_layouts(), name, purpose, None if near is None else near.master)

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

    def _node(self, slide: Slide) -> Node:
        return Node(
            slide.id,
            "section" if self._is_header(slide) else "slide",
            reading.title_of(self.package.tree(slide.part)),
            reading.children_of(self.package, slide.part, slide.id),
            reading.marks_of(self.package, slide.part),
        )

    def _parts_of(self, slide: Slide) -> list[tuple[str, bool]]:
        """Return the parts that hold a slide's text; True for notes."""
        return parts_of(self.package, slide)


def _purpose(blocks: Sequence[Block]) -> Purpose:
    is_table = bool(blocks) and all(isinstance(block, Table) for block in blocks)
    return Purpose.TABLE if is_table else Purpose.CONTENT


def _main_part(package: Package) -> str:
    for arrow in Relationships(package).of_type("officeDocument"):
        if arrow.target in package and package.tree(arrow.target).tag == p("presentation"):
            return arrow.target
    raise UnsupportedDocumentError("not_a_presentation", "the file holds no presentation in the transitional format")
