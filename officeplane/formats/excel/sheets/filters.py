"""Filters of a sheet, and the hidden name that Excel keeps for each."""

from typing import Final

from officeplane.formats.excel.cells.addresses import Area, area
from officeplane.formats.excel.formulas.references import quoted
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import main

_FILTER: Final = main("autoFilter")
_NAME: Final = main("definedName")


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
        if name.get("name") == "_xlnm._FilterDatabase" and name.get("localSheetId") == str(place):
            name.text = f"{quoted(sheet.name)}!{_absolute(grown)}"
            parts.package.changed(parts.workbook)


def _absolute(found: Area) -> str:
    text = str(found)
    return ":".join(
        f"${cell.rstrip('0123456789')}${cell.lstrip('ABCDEFGHIJKLMNOPQRSTUVWXYZ')}" for cell in text.split(":")
    )
