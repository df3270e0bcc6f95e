"""Sizes: how wide and high shapes, tables, their columns and rows are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.powerpoint.fitting import POINT
from officeplane.formats.powerpoint.geometry import area_of, place
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.names import a, alone, attribute_number, p
from officeplane.formats.powerpoint.placeholders import placeholder
from officeplane.formats.powerpoint.shape_order import is_grouped
from officeplane.formats.powerpoint.shapes import FRAME
from officeplane.formats.powerpoint.table_grid import TableGrid, span
from officeplane.formats.xml import Element

_OWN: Final = f"{p('spPr')}/{a('xfrm')}"
_COLUMNS: Final = f"{a('tblGrid')}/{a('gridCol')}"


@dataclass(frozen=True, slots=True)
class Size:
    """How wide and how high something becomes, in points; None leaves it as it is."""

    width: float | None = None
    height: float | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything is to be changed."""
        return self != Size()


def resize_shape(shape: Element, named: str, size: Size, room: Room) -> None:
    """Make a shape so wide and high; its upper left corner stays, as does what is locked of a picture's form."""
    if is_grouped(shape):
        raise InvalidEditError(f"{named} in a group, whose places are its own: ungroup it in PowerPoint")
    transform = shape.find(p("xfrm") if shape.tag == FRAME else _OWN)
    if transform is None:
        transform = _inherited(shape, named, room)
    extent = transform.find(a("ext"))
    if extent is None:
        raise InvalidEditError(f"{named} whose size the file does not say")
    before = attribute_number(extent, "cx", 0), attribute_number(extent, "cy", 0)
    width, height = (None if said is None else _units(said) for said in (size.width, size.height))
    if _keeps_form(shape) and all(before):
        if height is None and width is not None:
            height = max(round(width * before[1] / before[0]), 1)
        elif width is None and height is not None:
            width = max(round(height * before[0] / before[1]), 1)
    for name, units in (("cx", width), ("cy", height)):
        if units is not None:
            extent.set(name, str(units))


def resize_table(frame: Element, grid: TableGrid, size: Size) -> None:
    """Make a table so wide and high; its columns and rows keep their shares."""
    if size.width is not None:
        share(grid.table.findall(_COLUMNS), "w", _units(size.width))
    if size.height is not None:
        share(grid.rows, "h", _units(size.height))
    fit_frame(frame, grid.table, *_sides(size))


def resize_cells(frame: Element, grid: TableGrid, cells: Sequence[Element], named: str, size: Size) -> None:
    """Make the column and the row of a cell so wide and high, or the row that cells are."""
    columns = grid.table.findall(_COLUMNS)
    if size.width is not None:
        column = grid.place_of(cells[0])[1]
        if len(cells) > 1:
            raise InvalidEditError(f"{named}, whose width is that of its table: name the table, or a cell of a column")
        if span(cells[0], "gridSpan") > 1 or column >= len(columns):
            raise InvalidEditError(f"{named} over several columns: name a cell of one of them")
        columns[column].set("w", str(_units(size.width)))
    if size.height is not None:
        if len(cells) == 1 and span(cells[0], "rowSpan") > 1:
            raise InvalidEditError(f"{named} over several rows: name a cell of one of them")
        grid.rows[grid.place_of(cells[0])[0]].set("h", str(_units(size.height)))
    fit_frame(frame, grid.table, *_sides(size))


def fit_frame(frame: Element, table: Element, *names: str) -> None:
    """Make the frame of a table as wide (`cx`) as its columns, or as high (`cy`) as its rows."""
    extent = frame.find(f"{p('xfrm')}/{a('ext')}")
    if extent is None:
        return
    for name in names:
        held, said = (table.findall(_COLUMNS), "w") if name == "cx" else (table.findall(a("tr")), "h")
        extent.set(name, str(sum(max(attribute_number(each, said, 0), 0) for each in held)))


def _inherited(shape: Element, named: str, room: Room) -> Element:
    """Have a placeholder say itself what its layout says of its place."""
    look = shape.find(p("spPr"))
    if placeholder(shape) is None or look is None:
        raise InvalidEditError(f"{named} whose size the file does not say")
    made = alone(a("xfrm"))
    origin = room.origin(shape)
    above = None if origin is None else origin.find(_OWN)
    if above is not None:
        made.attrib.update(above.attrib)
    place(made, area_of(shape) or room.of(shape))
    look.insert(0, made)
    return made


def _keeps_form(shape: Element) -> bool:
    return any(locks.get("noChangeAspect") in {"1", "true"} for locks in shape.iter(a("picLocks")))


def share(lines: Sequence[Element], name: str, whole: int) -> None:
    """Have columns or rows take up so much in all, each as large a part as it has now."""
    before = [max(attribute_number(line, name, 0), 1) for line in lines]
    total, so_far, begin = sum(before), 0, 0
    for line, part in zip(lines, before, strict=True):
        so_far += part
        end = whole * so_far // total
        line.set(name, str(max(end - begin, 1)))
        begin = end


def _sides(size: Size) -> list[str]:
    return [name for name, said in (("cx", size.width), ("cy", size.height)) if said is not None]


def _units(points: float) -> int:
    return max(round(points * POINT), 1)
