"""Dress: the style of a table, and whether it has a header."""

import re
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.cells.texts import decode
from officeplane.formats.excel.cells.values import empty
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.shifting.tables import check_slicers
from officeplane.formats.excel.table_edits.found import Found, find_table, set_area
from officeplane.formats.excel.table_edits.room import is_free
from officeplane.formats.excel.tags import main
from officeplane.formats.relationships import Relationships

_OF_EXCEL: Final = re.compile(
    r"TableStyle(?:Light(?:[1-9]|1\d|2[01])|Medium(?:[1-9]|1\d|2[0-8])|Dark(?:[1-9]|1[01]))", re.IGNORECASE
)
_STYLE: Final = main("tableStyleInfo")
_FILTER: Final = main("autoFilter")
_ORDER: Final = main("sortState")
_COUNT: Final = "headerRowCount"


def set_style(parts: Parts, found: Found, name: str) -> None:
    """Give a table a style by its name."""
    root = found.table.root
    known = {each.casefold(): each for each in _own_styles(parts)}
    own = known.get(name.casefold())
    if own is None and not _OF_EXCEL.fullmatch(name):
        listed = ", ".join(map(repr, known.values())) or "none of its own"
        raise InvalidEditError(
            f"there is no table style {name!r}; the workbook has {listed}, and Excel TableStyleLight1 to 21, "
            "TableStyleMedium1 to 28 and TableStyleDark1 to 11"
        )
    style = root.find(_STYLE)
    if style is None:
        style = etree.Element(_STYLE)
        style.set("showRowStripes", "1")
        extensions = root.find(main("extLst"))
        if extensions is None:
            root.append(style)
        else:
            extensions.addprevious(style)
    # Excel's own are called as in its files, however somebody writes them.
    style.set(
        "name", own or re.sub(r"(?i)tablestyle(\w)([a-z]+)", lambda m: f"TableStyle{m[1].upper()}{m[2].lower()}", name)
    )
    parts.package.changed(found.table.part)


def set_header(parts: Parts, table_id: str, *, is_header: bool) -> None:
    """Have a table show the names of its columns in a row above the others, or not."""
    found = find_table(parts, table_id)
    if found.table.has_header == is_header:
        return
    if is_header:
        _show_header(parts, found)
    else:
        _hide_header(parts, found)


def _show_header(parts: Parts, found: Found) -> None:
    area, table = found.area, found.table
    row = area.top - 1
    if row < 1 or not is_free(parts, found, Area(row, area.left, row, area.right)):
        raise InvalidEditError(
            f"above the table {table.name} ({area}) is no room for a header: insert a row there with edit_grid"
        )
    table.root.attrib.pop(_COUNT, None)
    table.has_header = True
    set_area(parts, table, Area(row, area.left, area.bottom, area.right))
    writer = SheetWriter(parts, found.sheet)
    for column, each in enumerate(table.root.iter(main("tableColumn")), area.left):
        writer.set(Address(row, column), decode(each.get("name", "")))
    writer.finish()


def _hide_header(parts: Parts, found: Found) -> None:
    area, table = found.area, found.table
    check_slicers(parts.package, table, None)
    held = table.root.find(_FILTER)
    if held is not None and len(held):
        raise InvalidEditError(f"the header of the table {table.name} holds a filter: clear that in Excel first")
    for tag in (_FILTER, _ORDER):
        for each in table.root.findall(tag):
            table.root.remove(each)
    table.root.set(_COUNT, "0")
    for cell in parts.grid(found.sheet).cells_in(Area(area.top, area.left, area.top, area.right)):
        empty(cell)
    set_area(parts, table, Area(area.top + 1, area.left, area.bottom, area.right))
    parts.package.changed(found.sheet.part)


def _own_styles(parts: Parts) -> list[str]:
    return [
        each.get("name", "")
        for arrow in Relationships(parts.package, parts.workbook).of_type("styles")
        if arrow.target in parts.package
        for each in parts.package.tree(arrow.target).iter(main("tableStyle"))
    ]
