"""Boxes: the small windows in which programs show notes, drawn in VML beside the sheet."""

import re
from typing import Final

from lxml import etree

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address
from officeplane.formats.excel.comments.own_parts import drop_own, free_part, new_part
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.sheets.children import put
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import MAIN, RELATION, main
from officeplane.formats.package import Package
from officeplane.formats.relationships import OFFICE, Relationships
from officeplane.formats.xml import Element, parse

_KIND: Final = "vmlDrawing"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.vmlDrawing"
_V: Final = "urn:schemas-microsoft-com:vml"
_O: Final = "urn:schemas-microsoft-com:office:office"
_X: Final = "urn:schemas-microsoft-com:office:excel"
_NAMES: Final = f'xmlns:v="{_V}" xmlns:o="{_O}" xmlns:x="{_X}"'
_NUMBERED: Final = re.compile(r"_x0000_s([0-9]{1,9})")
_BLOCK: Final = 1024
"""Shapes are numbered by blocks; each drawing has some of its own."""

_FORM: Final = "_x0000_t202"
_FORM_OF_BOXES: Final = (
    f'<v:shapetype {_NAMES} id="{_FORM}" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">'
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>'
)
_WIDE, _HIGH = 2, 4
"""How many columns and rows a box covers, about."""


def add_box(package: Package, sheet: Sheet, cell: Address) -> None:
    """Draw the box of a note, hidden until a reader points at the cell."""
    part = _drawing(package, sheet)
    root = package.tree(part)
    if not any(form.get("id") == _FORM for form in root.iter(f"{{{_V}}}shapetype")):
        root.append(parse(_FORM_OF_BOXES.encode()))
    numbers = [int(match[1]) for one in root.iter("*") if (match := _NUMBERED.fullmatch(one.get("id", "")))]
    first = _BLOCK * min(_blocks(root), default=1)
    root.append(parse(_box(max([*numbers, first]) + 1, len(numbers) + 1, cell).encode()))
    package.changed(part)


def remove_box(package: Package, sheet: Sheet, cell: Address) -> None:
    """Take away the box of a note, and the drawing if nothing else is in it."""
    arrow, part = _named(package, sheet)
    if part is None:
        return
    root = package.tree(part)
    for data in [*root.iter(f"{{{_X}}}ClientData")]:
        place = (whole(data.findtext(f"{{{_X}}}Row"), -1), whole(data.findtext(f"{{{_X}}}Column"), -1))
        shape = data.getparent()
        above = None if shape is None else shape.getparent()
        is_of_cell = data.get("ObjectType") == "Note" and place == (cell.row - 1, cell.column - 1)
        if is_of_cell and shape is not None and above is not None:
            above.remove(shape)
            package.changed(part)
    if all(str(one.tag) in {f"{{{_O}}}shapelayout", f"{{{_V}}}shapetype"} for one in root if isinstance(one.tag, str)):
        held = package.tree(sheet.part).find(main("legacyDrawing"))
        if held is not None:
            package.tree(sheet.part).remove(held)
            package.changed(sheet.part)
        drop_own(package, sheet, arrow)


def _named(package: Package, sheet: Sheet) -> tuple[str, str | None]:
    """Return the relationship that a sheet has to its drawing of boxes, and the part that this is."""
    held = package.tree(sheet.part).find(main("legacyDrawing"))
    arrow = "" if held is None else held.get(RELATION, "")
    arrows = Relationships(package, sheet.part).of_type(_KIND)
    return arrow, next((one.target for one in arrows if one.id == arrow and one.target in package), None)


def _drawing(package: Package, sheet: Sheet) -> str:
    _, part = _named(package, sheet)
    if part is not None:
        return part
    taken = {block for name in package.names if name.endswith(".vml") for block in _blocks(package.tree(name))}
    block = next(number for number in range(1, len(taken) + 2) if number not in taken)
    part = free_part(package, "xl/drawings/vmlDrawing", "vml")
    content = (
        f'<xml {_NAMES}><o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="{block}"/></o:shapelayout>'
        f"{_FORM_OF_BOXES}</xml>"
    )
    arrow = new_part(package, sheet, part, content.encode(), _TYPE, _KIND)
    root = package.tree(sheet.part)
    held = root.find(main("legacyDrawing"))
    if held is None:
        held = etree.Element(main("legacyDrawing"), nsmap={None: MAIN, "r": OFFICE})
        put(root, held)
    held.set(RELATION, arrow)
    package.changed(sheet.part)
    return part


def _blocks(root: Element) -> list[int]:
    maps = [one.get("data", "") for one in root.iter(f"{{{_O}}}idmap")]
    return [number for said in maps for each in said.split(",") if (number := whole(each, 0)) > 0]


def _box(number: int, height: int, cell: Address) -> str:
    left = min(cell.column, COLUMNS_MAX - 1 - _WIDE)
    top = min(max(cell.row - 2, 0), ROWS_MAX - 1 - _HIGH)
    anchor = f"{left}, 15, {top}, 10, {left + _WIDE}, 15, {top + _HIGH}, 4"
    return (
        f'<v:shape {_NAMES} id="_x0000_s{number}" type="#{_FORM}" style="position:absolute;width:96pt;height:55.5pt;'
        f'z-index:{height};visibility:hidden" fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/>'
        '<v:shadow on="t" color="black" obscured="t"/><v:path o:connecttype="none"/>'
        '<v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>'
        f'<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>{anchor}</x:Anchor>'
        f"<x:AutoFill>False</x:AutoFill><x:Row>{cell.row - 1}</x:Row><x:Column>{cell.column - 1}</x:Column>"
        "</x:ClientData></v:shape>"
    )
