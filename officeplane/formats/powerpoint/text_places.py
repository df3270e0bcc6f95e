"""Text places: where the text of a node stands, so that it can be written anew or go on."""

from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.names import a, alone, under
from officeplane.formats.powerpoint.nodes import SlideNode
from officeplane.formats.powerpoint.notes import notes_holder
from officeplane.formats.powerpoint.reader import CellSource, NotesSource
from officeplane.formats.powerpoint.shapes import SHAPE
from officeplane.formats.powerpoint.table_grid import is_covered
from officeplane.formats.powerpoint.text_shapes import text_body
from officeplane.formats.xml import Element

_INSTEAD: Final = {
    "slide": "; name a text on it, such as its title, or use edit_slide or edit_page",
    "table": "; name its cells, such as {id}.r1.c1",
    "row": "; name its cells, such as {id}.c1",
    "comment": ", which says what it says: reply to it, or delete it (`comment`)",
}


class TextPlace(NamedTuple):
    """The text of a node: its part, where its paragraphs stand, and the shape that has it."""

    part: str
    body: Element
    shape: Element | None
    has_bullets: bool = False
    is_title: bool = False


def text_place(package: Package, node: SlideNode, room: Room) -> TextPlace:
    """Return where the text of a node stands; what has none is refused."""
    source, detail = node.detail.source, node.detail
    if isinstance(source, NotesSource):
        holder = notes_holder(package, source.part)
        told = node.reader.paragraphs_of(detail)
        if any(block is not None and paragraph.getparent() is not holder for paragraph, block in told):
            raise InvalidEditError(f"the notes {node.id!r} stand in several boxes; set_notes writes into the first")
        return TextPlace(source.part, holder, None)
    if isinstance(source, CellSource):
        _refuse_covered(node, source.cell)
        return TextPlace(node.slide.part, body_of_cell(source.cell), None)
    shape = node.shape
    if shape is None or shape.tag != SHAPE:
        instead = _INSTEAD.get(detail.kind, ", which has no text").format(id=node.id)
        raise InvalidEditError(f"{node.id!r} is a {detail.kind}{instead}")
    has_bullets = detail.kind == "text" and room.has_bullets(shape)
    return TextPlace(node.slide.part, text_body(shape), shape, has_bullets, detail.kind == "title")


def _refuse_covered(node: SlideNode, cell: Element) -> None:
    if is_covered(cell):
        raise InvalidEditError(
            f"{node.id!r} is covered by the merged cell to the left of it or above: write to the cell that covers it"
        )


def body_of_cell(cell: Element) -> Element:
    """Return the text of a cell, made when it has none yet."""
    found = cell.find(a("txBody"))
    if found is None:
        found = alone(a("txBody"))
        for tag in ("bodyPr", "lstStyle", "p"):
            under(found, a(tag))
        cell.insert(0, found)
    return found
