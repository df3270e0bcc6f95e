"""Frozen rows and columns: those above and left of a cell stay in view."""

from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, address
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.sheets.children import child_of
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_VIEW: Final = main("sheetView")
_PANE: Final = main("pane")
_SELECTION: Final = main("selection")
_FROZEN: Final = frozenset({"frozen", "frozenSplit"})


def freeze(sheet: Element, at: Address | None) -> None:
    """Keep what is above and left of a cell in view, in all windows; with None nothing is kept any more."""
    if at is not None and at == Address(1, 1):
        raise InvalidEditError("nothing is above or left of A1: freeze at A2 for the first row; null freezes nothing")
    views = child_of(sheet, "sheetViews")
    if views.find(_VIEW) is None:
        etree.SubElement(views, _VIEW, workbookViewId="0")
    for view in views.iterchildren(_VIEW):
        _freeze(view, at)


def frozen_at(sheet: Element) -> str | None:
    """Return the cell above and left of which everything stays in view."""
    for pane in sheet.iterfind(f"{main('sheetViews')}/{_VIEW}/{_PANE}"):
        if pane.get("state") in _FROZEN:
            at = Address(whole(pane.get("ySplit"), 0) + 1, whole(pane.get("xSplit"), 0) + 1)
            return str(at) if address(str(at)) else None
    return None


def _freeze(view: Element, at: Address | None) -> None:
    pane = view.find(_PANE)
    if pane is not None:
        if at is None and pane.get("state") not in _FROZEN:
            return  # two halves that both move, as somebody likes to look at it
        view.remove(pane)
    elif at is None:
        return
    chosen = _chosen(view, None if pane is None else pane.get("activePane", "topLeft"))
    if at is None:
        if chosen is not None:
            view.insert(0, chosen)
        return
    # Rows and columns that are scrolled away would stay away, and a page layout has nothing that is frozen.
    for name in ("topLeftCell", "view"):
        view.attrib.pop(name, None)
    made = etree.Element(_PANE)
    if at.column > 1:
        made.set("xSplit", str(at.column - 1))
    if at.row > 1:
        made.set("ySplit", str(at.row - 1))
    made.set("topLeftCell", str(at))
    others = ["topRight"] if at.row == 1 else ["bottomLeft"] if at.column == 1 else ["topRight", "bottomLeft"]
    active = others[0] if len(others) == 1 else "bottomRight"
    made.set("activePane", active)
    made.set("state", "frozen")
    marks = [etree.Element(_SELECTION, pane=name) for name in others if name != active]
    last = etree.Element(_SELECTION) if chosen is None else chosen
    last.set("pane", active)
    for place, each in enumerate((made, *marks, last)):
        view.insert(place, each)


def _chosen(view: Element, active: str | None) -> Element | None:
    """Return the selection that people see, and take all of them away."""
    selections = view.findall(_SELECTION)
    found = next((each for each in selections if active is None or each.get("pane", "topLeft") == active), None)
    for each in selections:
        view.remove(each)
    if found is not None:
        found.attrib.pop("pane", None)
    return found
