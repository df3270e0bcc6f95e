"""Cells: new ones that look like those beside them, and texts that move from one into another."""

from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.powerpoint.names import a
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, one_line, text_of
from officeplane.formats.powerpoint.rewriting import Old, of_text
from officeplane.formats.powerpoint.runs import base_of_paragraph
from officeplane.formats.powerpoint.table_grid import PROPERTIES
from officeplane.formats.powerpoint.text_places import body_of_cell
from officeplane.formats.xml import Element

_END: Final = a("endParaRPr")
_OF_PROPERTIES: Final = (a("headers"), a("extLst"))


def alike(cell: Element, text: str) -> Element:
    """Return a new cell, not merged with any, that looks like another one and says a text."""
    made = deepcopy(cell)
    made.tail = None
    made.attrib.clear()
    for extensions in made.findall(a("extLst")):
        made.remove(extensions)
    for properties in made.findall(PROPERTIES):
        for said in [child for child in properties if child.tag in _OF_PROPERTIES]:
            properties.remove(said)
    body = body_of_cell(made)
    first = next(body.iterchildren(PARAGRAPH))
    for old in body.findall(PARAGRAPH):
        body.remove(old)
    body.extend(_looking_like(first, line) for line in one_line(text).split("\n"))
    return made


def says(cell: Element) -> bool:
    """Tell whether a cell says anything, or has something in its text that is no text."""
    paragraphs = [*cell.iter(PARAGRAPH)]
    return any(text_of(each) or any(child.tag not in {a("pPr"), _END} for child in each) for each in paragraphs)


def take_in(cell: Element, other: Element) -> None:
    """Put what another cell says behind what a cell says; the other one says nothing from then on."""
    if not says(other):
        return
    body, theirs = body_of_cell(cell), body_of_cell(other)
    moved = theirs.findall(PARAGRAPH)
    if not says(cell):
        for blank in body.findall(PARAGRAPH):
            body.remove(blank)
    theirs.append(_looking_like(moved[0], ""))
    body.extend(moved)


def take_over(cell: Element, other: Element) -> None:
    """Have a cell that others covered be what the one was that covered it."""
    for name in (a("txBody"), PROPERTIES):
        for own in cell.findall(name):
            cell.remove(own)
    cell[:0] = [deepcopy(held) for held in other if held.tag in {a("txBody"), PROPERTIES}]


def checked(texts: int, cells: int, what: str) -> None:
    """Refuse more texts than a new row or column has cells for."""
    if texts > cells:
        raise InvalidEditError(f"a new {what} has {cells} cells there, and {texts} texts are given")


def _looking_like(paragraph: Element, line: str) -> Element:
    (new,) = of_text(line, keep=True)
    made = new.make(Old(paragraph, None, None))
    if not line and made.find(_END) is None:
        base = base_of_paragraph(paragraph, with_emphasis=True)
        if base is not None:
            base.tag = _END
            made.append(base)
    return made
