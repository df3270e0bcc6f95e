"""Presentations: PowerPoint files as slides, in sections, with what edits can do to them."""

from collections.abc import Sequence
from typing import ClassVar

from officeplane.domain.document import Format, InvalidEditError, Node
from officeplane.domain.warning import EditWarning, Loss
from officeplane.formats.blocks import Block, Span
from officeplane.formats.charts.changing import ChartLook
from officeplane.formats.charts.placing import ChartPlace
from officeplane.formats.diff import Readable
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import Bitmap
from officeplane.formats.powerpoint import reading
from officeplane.formats.powerpoint.backgrounds import set_background
from officeplane.formats.powerpoint.chart_data import Given
from officeplane.formats.powerpoint.charts import change_slide_chart, insert_chart
from officeplane.formats.powerpoint.comments.commenting import Commenting
from officeplane.formats.powerpoint.layouts import Purpose, chosen, is_section_header, purpose_of
from officeplane.formats.powerpoint.looks.formatting import Formatting, Homes, LooksOfSlide
from officeplane.formats.powerpoint.marks import mark
from officeplane.formats.powerpoint.node_editing import NodeEditing
from officeplane.formats.powerpoint.nodes import print_of, slide_around
from officeplane.formats.powerpoint.page import title_and_rest
from officeplane.formats.powerpoint.pictures import insert_picture, picture_of, replace_picture
from officeplane.formats.powerpoint.reader import PowerPointReader
from officeplane.formats.powerpoint.searching import elements_of
from officeplane.formats.powerpoint.slide_bringing import Bringing, origin_in
from officeplane.formats.powerpoint.slide_layouts import Relaid, take_layout
from officeplane.formats.powerpoint.slide_taking import take_slide
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.powerpoint.table_edits.editing import EditedTable, edit_table
from officeplane.formats.powerpoint.table_styles import table_style
from officeplane.formats.powerpoint.tables import as_table
from officeplane.formats.reading.reader import node_to_change
from officeplane.formats.search import Wanted
from officeplane.formats.signature import Signature
from officeplane.formats.table_change import TableChange
from officeplane.formats.xml import Element


class Presentation(NodeEditing):
    """One presentation, kept parsed between edits."""

    format: ClassVar = Format.PPTX

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
        around = slide_around(slides, target)
        if around is None:
            return None
        if around.id != target:
            return print_of(self.package, self._main, around, self._room, target)
        return reading.digest(*(self.package.tree(part) for part, _ in self._parts_of(around)))

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
        slide = self._new(self._layout(None, purpose_of(rest), place), place)
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
        slide = self._new(self._layout(layout_name, purpose_of(blocks), place), place)
        self._write(slide, (Span(title),), blocks or None)
        if notes is not None:
            self.set_notes(slide.id, notes)
        return slide.id

    def edit_slide(self, slide_id: str, title: str | None, blocks: Sequence[Block] | None) -> list[Loss]:
        """Put another title or body on a slide; what is None stays. Return what is lost with that."""
        return self._write(self._slide(slide_id), None if title is None else (Span(title),), blocks)

    def set_layout(self, slide_id: str, name: str) -> Relaid:
        """Have a slide take the layout of a name; return what is lost and what stays where it was."""
        slide, room = self._slide(slide_id), self._room(self._slide(slide_id))
        own = self._layout_of(slide)
        layout = chosen(self._known_layouts(), name, Purpose.CONTENT, None if own is None else own.master)
        if own is not None and layout.part == own.part:
            return Relaid([], [])
        self._texts.forget(slide.part)
        self._headers.pop(slide.part, None)
        return take_layout(self.package, slide, layout, room)

    def take_slide(self, slide_id: str) -> bytes:
        """Return the file of one slide, with what it needs."""
        return take_slide(self.package, self._main, self._slide(slide_id))

    def bring_slide(self, taken: bytes, name: str, position: int | None) -> tuple[str, list[EditWarning]]:
        """Put in a slide that was taken from another presentation; return its id, and what is otherwise than there."""
        other = Presentation(Package.read(taken))
        slides = other._slides.all()
        bringing = Bringing(
            self.package, self._main, origin_in(other.package, other._main, slides, other._known_layouts(), name)
        )
        place = self._positions().of_page(None, position)
        near = self._near(place)
        slide = self._slides.insert(bringing.part(), place.index)
        bringing.lay_out(slide, self._known_layouts(), None if near is None else near.master)
        if place.section is not None:
            self._sections.enter(place.section, slide, self._slides.all())
        return slide.id, bringing.warnings

    def set_hidden(self, slide_id: str, *, is_hidden: bool) -> None:
        """Have a show leave a slide out, or not."""
        slide = self._slide(slide_id)
        root = self.package.tree(slide.part)
        if (root.get("show") in {"0", "false"}) != is_hidden:
            root.attrib.pop("show", None)
            if is_hidden:
                root.set("show", "0")
            self.package.changed(slide.part)

    def set_background(self, slide_id: str, colour: str | None) -> list[Loss]:
        """Put a colour behind a slide, None for what its layout has; return what is lost with that."""
        return list(set_background(self.package, self._slide(slide_id), colour))

    def insert_image(
        self, slide_id: str, bitmap: Bitmap, alt: str, width: float | None, at: tuple[float | None, float | None]
    ) -> str:
        """Put a picture on a slide; return its id."""
        slide = self._slide(slide_id)
        return insert_picture(self.package, slide, self._room(slide), bitmap, alt, width, at)

    def replace_image(self, node_id: str, bitmap: Bitmap, alt: str | None, width: float | None) -> None:
        """Show another picture at the place of one."""
        source = picture_of(self.reader(), node_id)
        room = self._room(source.slide)
        replace_picture(self.package, source.slide, source.shape, room, bitmap, alt, width)

    def commenting(self, signature: Signature) -> Commenting:
        """Return what changes its comments in somebody's name."""
        return Commenting(self.package, self._main, self._slides.all(), self._find, signature)

    def insert_chart(
        self, slide_id: str, look: ChartLook, given: Given, alt: str | None, place: ChartPlace
    ) -> tuple[str, list[EditWarning]]:
        """Put a chart of data on a slide; return its id, and what to warn of."""
        slide = self._slide(slide_id)
        return insert_chart(self.package, slide, self._room(slide), look, given, alt, place)

    def change_chart(
        self, node_id: str, look: ChartLook, given: Given | None, alt: str | None, place: ChartPlace
    ) -> list[EditWarning]:
        """Change a chart; return what to warn of."""
        node = self._find(node_id)
        return change_slide_chart(self.package, node, look, given, alt, place)

    def replace_text(self, wanted: Wanted, replacement: str) -> list[str]:
        """Replace a text where it is meant; return the slide of each place at which it stands under the node."""
        return self._search.replace(self._slides.all(), wanted, replacement, self._under(wanted))

    def format_node(self, node_id: str, looks: LooksOfSlide) -> int:
        """Give a node other looks; return how many paragraphs of text it has."""
        if any(each.id == node_id for each in self._sections.all(self._slides.all())):
            raise InvalidEditError(f"{node_id!r} is a chapter: format what lies on its slides")
        node = self._find(node_id)
        part, count = Formatting(self.package, looks).node(node, self._room(node.slide))
        self._texts.forget(part)
        return count

    def format_text(self, wanted: Wanted, looks: LooksOfSlide) -> list[str]:
        """Give a text other looks where it is meant; return the node of each of these places."""
        slides = {slide.id: slide for slide in self._slides.all()}
        hits, meant = self._search.meant([*slides.values()], wanted, None)
        if not hits:
            raise InvalidEditError(f"{wanted.find!r} does not stand in it")
        times = sum(len(hit.matches) for hit in hits)
        if not meant:
            raise InvalidEditError(f"{wanted.find!r} stands {times} times in it, there is no {wanted.nth}th time")
        concerned = [slides[each] for each in dict.fromkeys(hit.slide_id for hit in hits)]
        homes = Homes(PowerPointReader(self.package, self._main, concerned, [], self._room))
        formatting = Formatting(self.package, looks)
        for part, changed in meant.items():
            for hit in changed:
                # What only older programs show is read by nobody, and so has no home.
                has_bullets = bool(hit.slide_id) and homes.has_bullets(
                    hit.paragraph, self._room(slides[hit.slide_id])
                )  # fmt: skip
                formatting.stretch(hit.paragraph, [match.span for match in hit.matches], has_bullets=has_bullets)
            self.package.changed(part)
            self._texts.forget(part)
        told = [hit for changed in meant.values() for hit in changed if hit.slide_id]
        return [homes.id_of(hit.paragraph) or hit.slide_id for hit in told for _ in hit.matches]

    def edit_table(self, node_id: str, change: TableChange) -> EditedTable:
        """Change cells, rows and columns of a table; return how large it is then, and what is lost with that."""
        style = None if change.style is None else table_style(self.package, self._main, change.style)
        node = self._find(node_id)
        self._texts.forget(node.slide.part)
        return edit_table(self.package, node, self._room(node.slide), change, style)

    def _under(self, wanted: Wanted) -> set[Element] | None:
        return None if wanted.under is None else elements_of(node_to_change(self.reader(), wanted.under), self.package)

    def _node(self, slide: Slide) -> Node:
        return Node(
            slide.id,
            "section" if self._is_header(slide) else "slide",
            reading.title_of(self.package.tree(slide.part)),
            reading.children_of(self.package, slide.part, slide.id),
            reading.marks_of(self.package, slide.part),
        )
