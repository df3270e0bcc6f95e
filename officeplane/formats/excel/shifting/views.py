"""How a sheet is looked at and printed: panes, selections, columns' widths, page breaks."""

from typing import Final

from lxml import etree

from officeplane.formats.excel.beside_cells import beside_cells
from officeplane.formats.excel.cells.addresses import Address, address, area
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.shifting.areas import shifted
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_VIEWS: Final = (main("sheetView"), main("customSheetView"))
_FROZEN: Final = ("frozen", "frozenSplit")
_COLUMNS: Final = main("cols")


def shift_views(root: Element, shift: Shift) -> None:
    """Let panes and selections stay with the cells that they are of."""
    for view in beside_cells(root, *_VIEWS):
        pane = view.find(main("pane"))
        if pane is not None:
            _shift_pane(view, pane, shift)
        _set_nearest(view, "topLeftCell", shift)
        for selection in view.iterchildren(main("selection")):
            _set_nearest(selection, "activeCell", shift)
            chosen = shifted(selection.get("sqref", "A1"), shift)
            active = selection.get("activeCell", "A1")
            if chosen is None or (selection.get("sqref") is None and active != "A1"):
                chosen = active
            if selection.get("sqref") is not None or chosen != "A1":
                selection.set("sqref", chosen)
    properties = root.find(main("sheetPr"))
    if properties is not None:
        _set_nearest(properties, "syncRef", shift)


def _shift_pane(view: Element, pane: Element, shift: Shift) -> None:
    side, place = ("ySplit", "row") if shift.is_of_rows else ("xSplit", "column")
    frozen = whole((pane.get(side) or "").partition(".")[0], 0)
    if pane.get("state") in _FROZEN and frozen:
        first = getattr(address(view.get("topLeftCell", "A1")) or Address(1, 1), place)
        left = shift.stretch(first, first + frozen - 1)
        # What comes before the first frozen row is frozen, too, unless the sheet is scrolled down to it.
        begin = first if view.get("topLeftCell") is None else shift.nearest(first)
        kept = 0 if left is None else left[1] - begin + 1
        if kept:
            pane.set(side, str(kept))
        else:
            del pane.attrib[side]
            if pane.get("xSplit") is None and pane.get("ySplit") is None:
                _unfreeze(view, pane)
                return
            pane.set("activePane", "topRight" if shift.is_of_rows else "bottomLeft")
            _keep_selection(view, pane.get("activePane"))
    _set_nearest(pane, "topLeftCell", shift)


def _unfreeze(view: Element, pane: Element) -> None:
    view.remove(pane)
    _keep_selection(view, None)


def _keep_selection(view: Element, of_pane: str | None) -> None:
    """Keep the last selection only: those of panes that are no more would be damage."""
    *others, last = view.findall(main("selection")) or [etree.Element(main("selection"))]
    for each in others:
        view.remove(each)
    last.attrib.pop("pane", None)
    if of_pane is not None:
        last.set("pane", of_pane)


def _set_nearest(element: Element, name: str, shift: Shift) -> None:
    known = address(element.get(name, ""))
    if known is None:
        return
    row, column = known
    after = Address(shift.nearest(row), column) if shift.is_of_rows else Address(row, shift.nearest(column))
    if after != known:
        element.set(name, str(after))


def shift_breaks(root: Element, shift: Shift) -> None:
    """Keep page breaks before the rows or columns that they stand before; those of what goes are gone."""
    for breaks in list(beside_cells(root, main("rowBreaks" if shift.is_of_rows else "colBreaks"))):
        for each in list(breaks):
            number = shift.point(whole(each.get("id"), 0) + 1)
            if number is None or number == 1:
                breaks.remove(each)
            else:
                each.set("id", str(number - 1))
        breaks.set("count", str(len(breaks)))
        if breaks.get("manualBreakCount") is not None:
            breaks.set("manualBreakCount", str(sum(each.get("man") in {"1", "true"} for each in breaks)))
        if not len(breaks) and (parent := breaks.getparent()) is not None:
            parent.remove(breaks)


def shift_columns(root: Element, shift: Shift) -> None:
    """Let widths and formats of columns move; new columns are as wide as those to their left, as in Excel."""
    columns = root.find(_COLUMNS)
    if shift.is_of_rows or columns is None:
        return
    for each in list(columns):
        first, last = whole(each.get("min"), 0), whole(each.get("max"), 0)
        if not 1 <= first <= last <= shift.limit:
            continue
        is_hidden = each.get("hidden") in {"1", "true"}
        if shift.inserts and last == shift.at - 1 and not is_hidden:
            after: tuple[int, int] | None = (first, min(last + shift.count, shift.limit))
        elif last == shift.limit and first < shift.limit:
            # What reaches to the end of the sheet does so afterwards, too.
            after = (shift.nearest(first), last)
        else:
            after = shift.stretch(first, last)
        if after is None:
            columns.remove(each)
        else:
            each.set("min", str(after[0]))
            each.set("max", str(after[1]))
    if not len(columns):
        root.remove(columns)


def shift_dimension(root: Element, shift: Shift) -> None:
    """Let the sheet say which area it uses."""
    dimension = root.find(main("dimension"))
    known = None if dimension is None else area(dimension.get("ref"))
    if dimension is not None and known is not None:
        dimension.set("ref", str(shift.area(known) or "A1"))
