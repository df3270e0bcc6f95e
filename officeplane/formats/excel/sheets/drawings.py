"""Drawings: pictures put on a sheet, at a cell, and others put in their place."""

import re
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address, address, letters
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.pictures import DRAWING, SheetPicture, nodes_of_pictures
from officeplane.formats.excel.sheets.places import unquoted
from officeplane.formats.excel.sheets.rulers import Place, columns_of, rows_of
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import MAIN, RELATION, main
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import Bitmap
from officeplane.formats.pictures.drawing import A, blip_in, describe, fill_with, refill, units
from officeplane.formats.pictures.parts import drop_pictures, put_picture
from officeplane.formats.relationships import OFFICE, Relationships, declare
from officeplane.formats.xml import Element

_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.drawing+xml"
_EMPTY: Final = f'<xdr:wsDr xmlns:xdr="{DRAWING}" xmlns:a="{A}"/>'.encode()
_PART: Final = re.compile(r"xl/drawings/drawing([0-9]{1,9})\.xml", re.IGNORECASE)
_BEHIND: Final = frozenset(
    main(name)
    for name in (
        "legacyDrawing", "legacyDrawingHF", "drawingHF", "picture", "oleObjects", "controls", "webPublishItems",
        "tableParts", "extLst",
    )
) | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"}  # fmt: skip
"""What comes behind a sheet's drawing; alternatives stand for objects and controls there."""

_ROOM: Final = (720.0, 720.0)
"""A picture is no larger by itself: ten inches."""


def insert_picture(parts: Parts, at: str, bitmap: Bitmap, alt: str, width: float | None) -> str:
    """Put a picture at a cell, such as `Sheet1!B4`; return its node's id."""
    sheet, cell = cell_at(parts, at)
    part = drawing_of(parts, sheet)
    package = parts.package
    root = package.tree(part)
    number = 1 + max((whole(about.get("id"), 0) for about in root.iter("{*}cNvPr")), default=1)
    relation = put_picture(package, part, bitmap)
    size = bitmap.size(width, _ROOM)
    extent = {"cx": str(units(size[0])), "cy": str(units(size[1]))}
    anchor = etree.SubElement(root, xdr("oneCellAnchor"))
    write_mark(etree.SubElement(anchor, xdr("from")), (cell.column - 1, 0), (cell.row - 1, 0))
    etree.SubElement(anchor, xdr("ext"), extent)
    picture = etree.SubElement(anchor, xdr("pic"))
    about = etree.SubElement(picture, xdr("nvPicPr"))
    describe(etree.SubElement(about, xdr("cNvPr"), {"id": str(number), "name": f"Picture {number - 1}"}), alt)
    etree.SubElement(etree.SubElement(about, xdr("cNvPicPr")), _a("picLocks"), {"noChangeAspect": "1"})
    fill_with(etree.SubElement(picture, xdr("blipFill")), relation)
    form = etree.SubElement(picture, xdr("spPr"))
    place = etree.SubElement(form, _a("xfrm"))
    etree.SubElement(place, _a("off"), {"x": "0", "y": "0"})
    etree.SubElement(place, _a("ext"), extent)
    etree.SubElement(etree.SubElement(form, _a("prstGeom"), {"prst": "rect"}), _a("avLst"))
    etree.SubElement(anchor, xdr("clientData"))
    package.changed(part)
    return f"{sheet.id}.picture-{number}"


def replace_picture(parts: Parts, node_id: str, bitmap: Bitmap, alt: str | None, width: float | None) -> None:
    """Show another picture at the place of one; its width stays unless another is given."""
    sheet, picture = _picture(parts, node_id)
    blip = blip_in(picture.element)
    if blip is None:
        raise InvalidEditError(f"{node_id!r} shows no bytes that could be replaced: insert another picture at its cell")
    package = parts.package
    gone = refill(blip, put_picture(package, picture.part, bitmap))
    if alt is not None:
        describe(picture.about, alt)
    if picture.is_alone:
        _resize(package.tree(sheet.part), picture, bitmap, None if width is None else units(width))
    elif width is not None:
        raise InvalidEditError(f"{node_id!r} is in a group, whose size is its own: leave out the width")
    elif (own := picture.own_extent) is not None:
        own.set("cy", str(_height(bitmap, whole(own.get("cx"), 0))))
    package.changed(picture.part)
    drop_pictures(package, picture.part, *gone)


def _resize(sheet: Element, picture: SheetPicture, bitmap: Bitmap, width: int | None) -> None:
    """Make the place of a picture as high as it is, for its width; where it begins stays."""
    anchor, own = picture.anchor, picture.own_extent
    begin, end = (None, None) if anchor is None else (anchor.find(xdr("from")), anchor.find(xdr("to")))
    wide = width or whole(None if picture.extent is None else picture.extent.get("cx"), 0)
    if begin is not None and end is not None:
        columns, rows = columns_of(sheet), rows_of(sheet)
        spanned = columns.between(_place(begin, "col"), _place(end, "col"))
        wide = width or wide or max(spanned, 1)
        across = _place(end, "col") if width is None else columns.behind(_place(begin, "col"), wide)
        down = rows.behind(_place(begin, "row"), _height(bitmap, spanned if width is None else wide))
        for child in list(end):
            end.remove(child)
        write_mark(end, across, down)
    for extent in (picture.extent, own):
        if extent is not None and wide:
            extent.set("cx", str(wide))
            extent.set("cy", str(_height(bitmap, wide)))


def _height(bitmap: Bitmap, width: int) -> int:
    return max(1, round(width * bitmap.height / bitmap.width))


def _place(mark: Element, name: str) -> Place:
    return whole(mark.findtext(xdr(name)), 0), whole(mark.findtext(xdr(f"{name}Off")), 0)


def write_mark(mark: Element, across: Place, down: Place) -> None:
    """Say in an empty mark which cell something begins or ends in, and how far into it."""
    for name, value in (("col", across[0]), ("colOff", across[1]), ("row", down[0]), ("rowOff", down[1])):
        etree.SubElement(mark, xdr(name)).text = str(value)


def cell_at(parts: Parts, at: str) -> tuple[Sheet, Address]:
    """Return the sheet and the cell of an address, such as `Sheet1!B4`."""
    name, mark, place = at.rpartition("!")
    if not mark:
        raise InvalidEditError(f"{at!r} names no sheet: give a sheet and a cell, such as 'Sheet1!B4'")
    sheet = parts.sheets.with_cells(unquoted(name))
    cell = address(place)
    if cell is None:
        raise InvalidEditError(
            f"there is no cell {place!r}: a sheet has those from A1 to {letters(COLUMNS_MAX)}{ROWS_MAX}"
        )
    return sheet, cell


def _picture(parts: Parts, node_id: str) -> tuple[Sheet, SheetPicture]:
    for sheet in parts.sheets.all:
        found = nodes_of_pictures(parts.package, sheet).get(node_id)
        if found is not None:
            return sheet, found
    raise InvalidEditError(f"there is no picture {node_id!r}; the list of images has those that there are")


def drawing_of(parts: Parts, sheet: Sheet) -> str:
    """Return the part that holds what lies on a sheet, made when it has none yet."""
    package = parts.package
    root = package.tree(sheet.part)
    arrows = Relationships(package, sheet.part)
    named = root.find(main("drawing"))
    held = {arrow.id: arrow.target for arrow in arrows.of_type("drawing") if arrow.target in package}
    if named is not None and named.get(RELATION, "") in held:
        return held[named.get(RELATION, "")]
    part = _new_drawing(package)
    if named is None:
        named = etree.Element(main("drawing"), nsmap={None: MAIN, "r": OFFICE})
        behind = next((child for child in root if child.tag in _BEHIND), None)
        if behind is None:
            root.append(named)
        else:
            behind.addprevious(named)
    named.set(RELATION, arrows.add("drawing", part))
    package.changed(sheet.part)
    return part


def _new_drawing(package: Package) -> str:
    numbers = [int(match[1]) for match in map(_PART.fullmatch, package.names) if match is not None]
    part = f"xl/drawings/drawing{max(numbers, default=0) + 1}.xml"
    package.put(part, _EMPTY)
    declare(package, part, _CONTENT_TYPE)
    return part


def xdr(name: str) -> str:
    """Return a tag of drawings on sheets."""
    return f"{{{DRAWING}}}{name}"


def _a(name: str) -> str:
    return f"{{{A}}}{name}"
