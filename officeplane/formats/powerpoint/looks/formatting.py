"""Formatting: something on a slide, or a text wherever it stands, is given other looks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.fitting import AUTOMATIC, fit
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.looks.boxes import Box, give_cells, give_shape
from officeplane.formats.powerpoint.looks.letters import Letters
from officeplane.formats.powerpoint.looks.paragraphs import Paragraphs
from officeplane.formats.powerpoint.looks.sizes import Size, resize_cells, resize_shape, resize_table
from officeplane.formats.powerpoint.names import a, under
from officeplane.formats.powerpoint.nodes import SlideNode
from officeplane.formats.powerpoint.paragraphs import BREAK, FIELD, PARAGRAPH, RUN, cut_out
from officeplane.formats.powerpoint.placeholders import is_title, placeholder
from officeplane.formats.powerpoint.reader import CellSource, NotesSource, PowerPointReader, RowSource, ShapeSource
from officeplane.formats.powerpoint.shapes import FRAME, SHAPE, table
from officeplane.formats.powerpoint.table_grid import TableGrid, is_covered
from officeplane.formats.powerpoint.text_places import body_of_cell
from officeplane.formats.powerpoint.text_shapes import text_with_paragraph
from officeplane.formats.reading.detail import Detail
from officeplane.formats.xml import Element

_SAYING: Final = frozenset({RUN, BREAK, FIELD})
_FORMAT: Final = a("rPr")
_END: Final = a("endParaRPr")


@dataclass(frozen=True, slots=True)
class LooksOfSlide:
    """What to change of what lies on a slide."""

    letters: Letters = field(default_factory=Letters)
    paragraphs: Paragraphs = field(default_factory=Paragraphs)
    box: Box = field(default_factory=Box)
    size: Size = field(default_factory=Size)

    @property
    def is_of_text(self) -> bool:
        """Whether letters or paragraphs are to be changed."""
        return self.letters.says_something or self.paragraphs.says_something

    @property
    def is_of_place(self) -> bool:
        """Whether what a text stands in is to be changed."""
        return self.box.says_something or self.size.says_something


class Formatting:
    """Gives looks to what stands on the slides of a package."""

    def __init__(self, package: Package, wanted: LooksOfSlide) -> None:
        self._package = package
        self._wanted = wanted

    def node(self, node: SlideNode, room: Room) -> tuple[str, int]:
        """Give a node other looks; return the part that has changed, and of how many paragraphs it is."""
        wanted, named = self._wanted, f"{node.id!r} is a {node.detail.kind}"
        source, part = node.detail.source, node.slide.part
        has_bullets = False
        cells = _cells_of(node)
        if isinstance(source, NotesSource):
            part, paragraphs = source.part, source.paragraphs
            if wanted.is_of_place:
                raise InvalidEditError(f"{named}: they have letters and paragraphs, but no place on the slide")
        elif cells:
            self._give_cells(cells, node, named)
            paragraphs = [each for cell in cells for each in body_of_cell(cell).iterchildren(PARAGRAPH)]
        elif isinstance(source, ShapeSource):
            self._give_shape(source.shape, named, room)
            paragraphs = self._paragraphs_of(source.shape)
            has_bullets = _has_bullets(node.detail, room)
        else:
            raise InvalidEditError(f"{named}; name something that lies on it, such as its title")
        if wanted.is_of_text and not paragraphs:
            raise InvalidEditError(f"{named}, which has no text")
        for paragraph in paragraphs if wanted.is_of_text else ():
            self._give_whole(paragraph, has_bullets=has_bullets)
        if isinstance(source, ShapeSource):
            self._fit(source.shape, room)
        self._package.changed(part)
        return part, max(len(paragraphs), 1)

    def stretch(self, paragraph: Element, spans: Iterable[tuple[int, int]], *, has_bullets: bool) -> None:
        """Give stretches of a paragraph's text other looks, and as a paragraph all of it."""
        for begin, end in spans:
            for run in cut_out(paragraph, begin, end):
                self._wanted.letters.give(_format_of(run))
        if self._wanted.paragraphs.says_something:
            self._wanted.paragraphs.give(paragraph, has_bullets=has_bullets)

    def _give_whole(self, paragraph: Element, *, has_bullets: bool) -> None:
        if self._wanted.letters.says_something:
            for run in [child for child in paragraph if child.tag in _SAYING]:
                self._wanted.letters.give(_format_of(run))
            end = paragraph.find(_END)
            # What is typed there, and the sign of an item, look like that.
            self._wanted.letters.give(under(paragraph, _END) if end is None else end)
        if self._wanted.paragraphs.says_something:
            self._wanted.paragraphs.give(paragraph, has_bullets=has_bullets)

    def _paragraphs_of(self, shape: Element) -> list[Element]:
        if shape.tag != SHAPE or not self._wanted.is_of_text:
            return []
        return text_with_paragraph(shape).findall(PARAGRAPH)

    def _give_shape(self, shape: Element, named: str, room: Room) -> None:
        if self._wanted.box.says_something:
            give_shape(shape, named, self._wanted.box)
        if self._wanted.size.says_something:
            resize_shape(shape, named, self._wanted.size, room)

    def _give_cells(self, cells: Sequence[Element], node: SlideNode, named: str) -> None:
        frame = next(each for each in cells[0].iterancestors() if each.tag == FRAME)
        found = table(frame)
        if found is None or not self._wanted.is_of_place:
            return
        grid = TableGrid(found)
        give_cells(grid, cells, named, self._wanted.box)
        if not self._wanted.size.says_something:
            return
        if node.shape is not None:
            resize_table(frame, grid, self._wanted.size)
        else:
            resize_cells(frame, grid, cells, named, self._wanted.size)

    def _fit(self, shape: Element, room: Room) -> None:
        """Note how much smaller a text is shown, where PowerPoint does that by itself and it has become larger."""
        if self._wanted.letters.size is None and not self._wanted.size.says_something:
            return
        if shape.tag == SHAPE and placeholder(shape) is not None and not is_title(shape):
            setting = room.setting(shape)
            if setting.fitting == AUTOMATIC:
                fit(text_with_paragraph(shape), setting.area, setting.size)


class Homes:
    """The nodes in which paragraphs stand, and whether these have bullets by themselves."""

    def __init__(self, reader: PowerPointReader) -> None:
        self._known = {
            paragraph: detail for detail in reader.tree.by_id.values() for paragraph, _ in reader.paragraphs_of(detail)
        }

    def id_of(self, paragraph: Element) -> str | None:
        """Return the id of the node in which a paragraph stands."""
        detail = self._known.get(paragraph)
        return None if detail is None else detail.id

    def has_bullets(self, paragraph: Element, room: Room) -> bool:
        """Tell whether items around a paragraph get bullets by themselves."""
        detail = self._known.get(paragraph)
        return detail is not None and _has_bullets(detail, room)


def _has_bullets(detail: Detail, room: Room) -> bool:
    return isinstance(detail.source, ShapeSource) and detail.kind == "text" and room.has_bullets(detail.source.shape)


def _cells_of(node: SlideNode) -> list[Element]:
    match node.detail.source:
        case CellSource(cell=cell):
            if is_covered(cell):
                raise InvalidEditError(
                    f"{node.id!r} is covered by the merged cell to the left of it or above: name the one that covers it"
                )
            return [cell]
        case RowSource(row=row):
            return row.findall(a("tc"))
        case ShapeSource(shape=shape) if (found := table(shape)) is not None:
            return [cell for row in found.iterfind(a("tr")) for cell in row.iterfind(a("tc"))]
        case _:
            return []


def _format_of(run: Element) -> Element:
    found = run.find(_FORMAT)
    if found is None:
        found = under(run, _FORMAT)
        run.insert(0, found)
    return found
