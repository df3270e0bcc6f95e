"""Tables follow a shift: their area, the columns that come with it or go, and their filters."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.cells.texts import decode
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.sheets.tables import Table
from officeplane.formats.excel.shifting.filters import shift_filter, shift_order
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package

_COLUMNS: Final = main("tableColumns")
_COLUMN: Final = main("tableColumn")
BOUND: Final = ("queryTable", "xml")
"""Where a table may get its columns from, so that they are not changed in the workbook."""


@dataclass(slots=True)
class Fate:
    """What a shift does to the columns of a table."""

    order: list[str]
    """The names of its columns before."""
    gone: set[str] = field(default_factory=set[str])
    headers: dict[Address, str] = field(default_factory=dict[Address, str])
    """The texts that the header's new cells need."""


def check_table(package: Package, table: Table, shift: Shift) -> None:
    """Refuse what Excel would not do to a table."""
    if shift.swallows(table.area):
        check_slicers(package, table, None)
        return
    if not shift.cuts(table.area):
        return
    if not shift.is_of_rows:
        if table.root.get("tableType") in BOUND:
            raise InvalidEditError(
                f"the table {table.name} gets its columns from elsewhere (a query or XML): change them there"
            )
        if not shift.inserts:
            columns = list(table.root.iter(_COLUMN))[max(shift.at - table.area.left, 0) : shift.end - table.area.left]
            check_slicers(package, table, {column.get("id", "") for column in columns})
        return
    if shift.inserts:
        return
    first = table.area.top + table.has_header
    last = table.area.bottom - table.has_totals
    if table.has_header and shift.point(table.area.top) is None:
        raise InvalidEditError(
            f"row {table.area.top} is the header of the table {table.name} ({table.area}): delete all its rows, or none"
        )
    if shift.stretch(first, last) is None:
        raise InvalidEditError(
            f"the table {table.name} ({table.area}) needs a row under its header: keep one, or delete all its rows"
        )


def shift_table(table: Table, shift: Shift) -> Fate | None:
    """Move a table that stays; return what became of its columns, None when nothing is another."""
    before = table.area
    after = shift.area(before)
    if after is None or after == before:
        return None
    fate = Fate([decode(each.get("name", "")) for each in table.root.iter(_COLUMN)])
    if shift.is_of_rows and table.has_totals and shift.point(before.bottom) is None:
        del table.root.attrib["totalsRowCount"]
    if not shift.is_of_rows and shift.cuts(before):
        _shift_columns(table, shift, fate)
    table.area = after
    table.root.set("ref", str(after))
    found = table.root.find(main("autoFilter"))
    if found is not None and not shift_filter(found, shift):
        table.root.remove(found)
    order = table.root.find(main("sortState"))
    if order is not None and not shift_order(order, shift):
        table.root.remove(order)
    return fate


def _shift_columns(table: Table, shift: Shift, fate: Fate) -> None:
    columns = table.root.find(_COLUMNS)
    if columns is None:
        return
    at = max(shift.at - table.area.left, 0)
    if shift.inserts:
        numbers = count(max((whole(each.get("id"), 0) for each in columns), default=0) + 1)
        names = free_names(fate.order)
        for place in range(shift.count):
            made = etree.Element(_COLUMN)
            made.set("id", str(next(numbers)))
            made.set("name", next(names))
            columns.insert(at + place, made)
            if table.has_header:
                fate.headers[Address(table.area.top, shift.at + place)] = made.get("name", "")
    else:
        for each in list(columns)[at : shift.end - table.area.left]:
            fate.gone.add(decode(each.get("name", "")))
            columns.remove(each)
    columns.set("count", str(len(columns)))


def free_names(taken: list[str]) -> Iterator[str]:
    """Yield names for new columns that none of a table has."""
    known = {name.casefold() for name in taken}
    return (name for number in count(1) if (name := f"Column{number}").casefold() not in known)


def check_slicers(package: Package, table: Table, columns: set[str] | None) -> None:
    """Refuse what a slicer of a table stands in the way of; None means all of its columns."""
    for part in package.names:
        if not part.startswith("xl/slicerCaches/") or not part.endswith(".xml"):
            continue
        for cache in package.tree(part).iter("{*}tableSlicerCache"):
            if cache.get("tableId") == table.root.get("id") and (columns is None or cache.get("column") in columns):
                raise InvalidEditError(f"a slicer filters the table {table.name}: delete the slicer in Excel first")
