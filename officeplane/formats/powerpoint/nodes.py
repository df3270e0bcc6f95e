"""Nodes of slides: what an edit names by an id that reading gave, such as a shape, a cell or notes."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.domain.spelling import nearest_name
from officeplane.formats.package import Package
from officeplane.formats.pictures import parts
from officeplane.formats.pictures.drawing import blip_in, shown_by
from officeplane.formats.powerpoint.comments.remarks import Remark
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.reader import CellSource, NotesSource, PowerPointReader, RowSource, ShapeSource
from officeplane.formats.powerpoint.reading import digest, digest_of
from officeplane.formats.powerpoint.shape_parts import chart_part
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.reading.detail import Detail
from officeplane.formats.xml import Element


class SlideNode(NamedTuple):
    """Something on a slide, and what reads it."""

    slide: Slide
    detail: Detail
    reader: PowerPointReader

    @property
    def id(self) -> str:
        """The id by which it was named."""
        return self.detail.id

    @property
    def shape(self) -> Element | None:
        """The shape that it is, if it is one."""
        source = self.detail.source
        return source.shape if isinstance(source, ShapeSource) else None

    @property
    def parent(self) -> Detail | None:
        """What it stands in: a row's table, a cell's row, a shape's slide."""
        return self.reader.tree.parents.get(self.id)


def slide_around(slides: Sequence[Slide], node_id: str) -> Slide | None:
    """Return the slide that a node is by its id, or lies on."""
    wanted = slide_id_of(node_id)
    return next((slide for slide in slides if slide.id == wanted), None)


def slide_id_of(node_id: str) -> str:
    """Return the id of the slide that a node is, or lies on."""
    return node_id.partition(".")[0]


def find_node(
    package: Package, main: str, slides: Sequence[Slide], room_of: Callable[[Slide], Room], node_id: str
) -> SlideNode:
    """Return what lies on a slide by its id; who names nothing is told what was perhaps meant."""
    slide = slide_around(slides, node_id)
    if slide is None:
        raise InvalidEditError(f"there is no node {node_id!r}: the outline lists the nodes there are")
    reader = PowerPointReader(package, main, [slide], [], room_of)
    detail = reader.tree.by_id.get(node_id)
    if detail is None:
        nearest = nearest_name(node_id, reader.tree.by_id)
        perhaps = "" if nearest is None else f"; perhaps {nearest!r} is meant"
        raise InvalidEditError(f"there is no node {node_id!r} on the slide {slide.id!r}{perhaps}")
    return SlideNode(slide, detail, reader)


def print_of(package: Package, main: str, slide: Slide, room_of: Callable[[Slide], Room], node_id: str) -> str | None:
    """Return a hash of what something on a slide is now; None when there is no such thing."""
    known = PowerPointReader(package, main, [slide], [], room_of).tree.by_id
    detail = known.get(node_id)
    if detail is None:
        return None
    match detail.source:
        case ShapeSource(_, element) if (blip := blip_in(element)) is not None:
            # What it shows is in a part of its own.
            return digest_of(digest(element), parts.digest_of(package, slide.part, shown_by(blip)) or "")
        case ShapeSource(_, element) if (chart := chart_part(package, slide.part, element)) is not None:
            return digest(element, package.tree(chart))
        case ShapeSource(_, element) | CellSource(_, element):
            return digest(element)
        case RowSource(_, element):
            return digest(element)
        case NotesSource(_, paragraphs):
            return digest(*paragraphs)
        case Remark() as remark:
            # What others answered, or whether they resolved it, is of the whole thread.
            sources = (each.source for each in known.values())
            return digest(*(one.element for one in sources if isinstance(one, Remark) and one.first == remark.first))
        case _:
            return digest_of(detail.kind, detail.text)
