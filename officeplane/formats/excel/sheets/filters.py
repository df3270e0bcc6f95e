"""Filters of a sheet, and the hidden name that Excel keeps for each."""

from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Area, area
from officeplane.formats.excel.formulas.references import quoted
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.children import put
from officeplane.formats.excel.sheets.defined_names import drop_name, set_name
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import ROW, main
from officeplane.formats.xml import Element

_FILTER: Final = main("autoFilter")
_NAME: Final = main("definedName")
_DATABASE: Final = "_xlnm._FilterDatabase"


def filter_of(root: Element) -> Area | None:
    """Return the range that a sheet's filter is of."""
    found = root.find(_FILTER)
    return None if found is None else area(found.get("ref"))


def set_filter(parts: Parts, sheet: Sheet, place: Area | None) -> list[str]:
    """Give a sheet a filter of this range, or none; return what the one before showed only some rows of."""
    root = parts.package.tree(sheet.part)
    before = root.find(_FILTER)
    if place is not None and before is not None and area(before.get("ref")) == place:
        return []
    for table in parts.tables(sheet) if place is not None else ():
        if place is not None and table.area.meets(place):
            raise InvalidEditError(f"{place} is in the table {table.name}, which has a filter of its own")
    lost = [] if before is None else _end(root, before)
    parts.changes.has_moved |= bool(lost)
    scope = next(at for at, each in enumerate(parts.sheets.all) if each.part == sheet.part)
    workbook = parts.package.tree(parts.workbook)
    if place is None:
        drop_name(workbook, _DATABASE, scope)
    else:
        put(root, etree.Element(_FILTER, ref=str(place)))
        made = set_name(workbook, _DATABASE, f"{quoted(sheet.name)}!{_absolute(place)}", scope)
        made.set("hidden", "1")
    parts.package.changed(parts.workbook)
    parts.package.changed(sheet.part)
    return lost


def _end(root: Element, before: Element) -> list[str]:
    """Take a filter away, and show again what it has hidden."""
    place = area(before.get("ref"))
    conditions = any(each.tag == main("filterColumn") for each in before)
    root.remove(before)
    for sorting in root.findall(main("sortState")):
        root.remove(sorting)
    properties = root.find(main("sheetPr"))
    if properties is not None:
        properties.attrib.pop("filterMode", None)
    if not conditions or place is None:
        return []
    for row in root.iterfind(f"{main('sheetData')}/{ROW}"):
        if place.top <= whole(row.get("r"), 0) <= place.bottom:
            row.attrib.pop("hidden", None)
    return [f"the conditions of the filter of {place}; the rows that it hid are shown"]


def grow_filter(parts: Parts, sheet: Sheet, first: int, last: int) -> None:
    """Let a filter reach over rows that were written right under it."""
    found = parts.package.tree(sheet.part).find(_FILTER)
    known = None if found is None else area(found.get("ref"))
    if found is None or known is None or known.bottom != first - 1:
        return
    grown = Area(known.top, known.left, last, known.right)
    found.set("ref", str(grown))
    place = next(at for at, each in enumerate(parts.sheets.all) if each.part == sheet.part)
    for name in parts.package.tree(parts.workbook).iter(_NAME):
        if name.get("name") == _DATABASE and name.get("localSheetId") == str(place):
            name.text = f"{quoted(sheet.name)}!{_absolute(grown)}"
            parts.package.changed(parts.workbook)


def _absolute(found: Area) -> str:
    text = str(found)
    return ":".join(
        f"${cell.rstrip('0123456789')}${cell.lstrip('ABCDEFGHIJKLMNOPQRSTUVWXYZ')}" for cell in text.split(":")
    )
