"""Boxes: what is inside of a shape or a cell, the line around it, and how its text stands in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.powerpoint.looks.lines import Lines, give_line, give_lines
from officeplane.formats.powerpoint.looks.properties import put_fill
from officeplane.formats.powerpoint.names import a, attribute_number, p, under
from officeplane.formats.powerpoint.shapes import CONNECTOR, PICTURE, SHAPE
from officeplane.formats.powerpoint.table_grid import TableGrid, properties_of_cell
from officeplane.formats.powerpoint.text_shapes import text_with_paragraph
from officeplane.formats.xml import Element

_ANCHORS: Final = {"top": "t", "center": "ctr", "bottom": "b"}
_DRAWN: Final = frozenset({SHAPE, PICTURE, CONNECTOR})
_AROUND: Final = frozenset({"all", "outline"})


@dataclass(frozen=True, slots=True)
class Box:
    """What to change of a shape or of cells; None leaves it as it is."""

    vertical: str | None = None
    fill: str | None = None
    lines: Lines | None = None
    wrap: bool | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything is to be changed."""
        return self != Box()


def give_shape(shape: Element, named: str, wanted: Box) -> None:
    """Change a shape; `named` is what it is called where it has no such thing."""
    if shape.tag != SHAPE and (wanted.vertical, wanted.fill, wanted.wrap) != (None, None, None):
        raise InvalidEditError(f"{named}: verticalAlign, fill and wrap are for shapes that can hold text, and cells")
    if wanted.vertical is not None or wanted.wrap is not None:
        body = text_with_paragraph(shape)
        form = body.find(a("bodyPr"))
        if form is None:
            form = under(body, a("bodyPr"))
            body.insert(0, form)
        if wanted.vertical is not None:
            form.set("anchor", _ANCHORS[wanted.vertical])
        if wanted.wrap is not None:
            form.set("wrap", "square" if wanted.wrap else "none")
    look = shape.find(p("spPr"))
    if wanted.fill is not None and look is not None:
        shape.attrib.pop("useBgFill", None)
        put_fill(look, "spPr", wanted.fill)
    if wanted.lines is not None:
        if shape.tag not in _DRAWN or look is None:
            raise InvalidEditError(f"{named}: border is for shapes, pictures, connectors and cells")
        if not wanted.lines.sides <= _AROUND:
            raise InvalidEditError(f"{named}, and has its line all around: leave out the sides of border")
        styled = shape.find(f"{p('style')}/{a('lnRef')}")
        is_drawn = styled is not None and attribute_number(styled, "idx", 0) > 0
        give_line(look, "spPr", "ln", wanted.lines, is_drawn=is_drawn)


def give_cells(grid: TableGrid, cells: Sequence[Element], named: str, wanted: Box) -> None:
    """Change cells of a table."""
    if wanted.wrap is not None:
        raise InvalidEditError(f"{named}, where texts always go on in another line: leave out wrap")
    for cell in cells:
        for row, column in grid.covered_by(cell):
            for part in grid.shown_at((row, column)):
                properties = properties_of_cell(part)
                if wanted.vertical is not None:
                    properties.set("anchor", _ANCHORS[wanted.vertical])
                if wanted.fill is not None:
                    put_fill(properties, "tcPr", wanted.fill)
    if wanted.lines is not None:
        give_lines(grid, cells, wanted.lines)
