"""Filters and orders of a sheet or a table: which area they are about, and which of its columns."""

from officeplane.formats.excel.cells.addresses import Area, area
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.shifting.areas import shifted
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element


def shift_filter(found: Element, shift: Shift) -> bool:
    """Move a filter; whether it stays: it goes with the row that its buttons are in."""
    before = area(found.get("ref"))
    if before is None:
        return True
    after = shift.area(before)
    if after is None or (shift.is_of_rows and shift.point(before.top) is None):
        return False
    if after != before:
        found.set("ref", str(after))
    if not shift.is_of_rows:
        _shift_columns(found, before, after, shift)
    for order in found.findall(main("sortState")):
        if not shift_order(order, shift):
            found.remove(order)
    return True


def shift_order(found: Element, shift: Shift) -> bool:
    """Move what rows are sorted by; whether anything is left of it."""
    for each in [found, *found.iterchildren("{*}sortCondition")]:
        ref = each.get("ref")
        after = None if ref is None else shifted(ref, shift)
        if ref is not None and after is None:
            if each is found:
                return False
            found.remove(each)
        elif after is not None and after != ref:
            each.set("ref", after)
    return True


def _shift_columns(found: Element, before: Area, after: Area, shift: Shift) -> None:
    for column in list(found.iterchildren(main("filterColumn"))):
        number = shift.point(before.left + whole(column.get("colId"), 0))
        if number is None:
            found.remove(column)
        else:
            column.set("colId", str(number - after.left))
