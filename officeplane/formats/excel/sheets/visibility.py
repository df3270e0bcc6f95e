"""Which sheets people see, which of them is in front, and in which colour its tab is."""

from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_VIEW: Final = main("workbookView")
_PROPERTIES: Final = main("sheetPr")
_COLOR: Final = main("tabColor")


def hide(parts: Parts, sheet: Sheet) -> None:
    """Hide a sheet; the last one that people see stays, and another comes to the front."""
    if not sheet.is_visible:
        return
    sheets = parts.sheets
    visible = [at for at, each in enumerate(sheets.all) if each.is_visible and each.part != sheet.part]
    if not visible:
        raise InvalidEditError(f"{sheet.name!r} is the only visible sheet: a workbook needs one")
    sheet.element.set("state", "hidden")
    here = next(at for at, each in enumerate(sheets.all) if each.part == sheet.part)
    nearest = min(visible, key=lambda at: (abs(at - here), -at))
    for view in parts.package.tree(parts.workbook).iter(_VIEW):
        if whole(view.get("activeTab"), 0) == here:
            view.set("activeTab", str(nearest))
            select(parts, sheets.all[nearest], is_selected=True)
        if whole(view.get("firstSheet"), 0) == here and view.get("firstSheet") is not None:
            view.set("firstSheet", str(nearest))
    # Else it would still be one of those that are written to together.
    select(parts, sheet, is_selected=False)
    parts.package.changed(parts.workbook)


def show(parts: Parts, sheet: Sheet) -> None:
    """Show a sheet that was hidden."""
    if sheet.element.attrib.pop("state", "visible") != "visible":
        parts.package.changed(parts.workbook)


def select(parts: Parts, sheet: Sheet, *, is_selected: bool) -> None:
    """Say of a sheet that it is in front, or that it is not."""
    for view in parts.package.tree(sheet.part).iter(main("sheetView")) if sheet.part else ():
        if is_selected:
            view.set("tabSelected", "1")
        elif view.attrib.pop("tabSelected", None) is None:
            continue
        parts.package.changed(sheet.part)


def color_tab(root: Element, color: str | None) -> None:
    """Give a sheet's tab a colour, `RRGGBB`, or none."""
    properties = root.find(_PROPERTIES)
    if properties is None:
        if color is None:
            return
        properties = etree.Element(_PROPERTIES)
        root.insert(0, properties)
    found = properties.find(_COLOR)
    if found is not None:
        properties.remove(found)
    if color is not None:
        made = etree.Element(_COLOR, rgb=f"FF{color.upper()}")
        properties.insert(0, made)


def tab_color(root: Element) -> str | None:
    """Return the colour of a sheet's tab, where it is given as one."""
    found = root.find(f"{_PROPERTIES}/{_COLOR}")
    rgb = "" if found is None else found.get("rgb", "")
    return rgb[-6:] if len(rgb) == 8 else None
