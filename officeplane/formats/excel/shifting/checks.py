"""Checks: what cannot follow a shift is named, and the shift refused."""

from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Area, address, area
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.formulas.rewriting import SOURCES
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.shifting.cells import check_room
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.shifting.tables import check_table
from officeplane.formats.relationships import Relationships

_PIVOTS: Final = "pivotTable"
_UNKNOWN: Final = {
    "namedSheetView": "views of its own for each reader",
    "namedSheetViews": "views of its own for each reader",
}

_SINGLE: Final = (
    ("comments", "{*}comment", "ref", "the comment"),
    ("tableSingleCells", "{*}singleXmlCell", "r", "the cell that is bound to XML"),
)


def check_shift(parts: Parts, sheet: Sheet, grid: Grid, shift: Shift) -> None:
    """Refuse a shift after which something would say of other cells what it says of these."""
    for arrow in Relationships(parts.package, sheet.part):
        if (said := _UNKNOWN.get(arrow.type.rsplit("/", 1)[-1])) is not None:
            raise InvalidEditError(
                f"the sheet {sheet.name!r} has {said}, which cannot follow: insert and delete in Excel"
            )
    _check_joint(grid, shift)
    _check_pivots(parts, sheet, shift)
    for table in parts.tables(sheet):
        check_table(parts.package, table, shift)
    _check_single_cells(parts, sheet, shift)
    if shift.inserts:
        check_room(grid.root, shift)


def _check_joint(grid: Grid, shift: Shift) -> None:
    for found, formula in grid.joint.items():
        is_table = formula.get("t") == "dataTable"
        if shift.cuts(found):
            raise InvalidEditError(
                f"{shift} would change a part of the {'data table' if is_table else 'array formula'} in {found}: Excel"
                " calculates it as a whole, so delete it first, or choose another place"
            )
        inputs = [address(formula.get(name, "")) for name in ("r1", "r2")] if is_table else []
        if not shift.swallows(found) and any(each is not None and shift.cell(each) is None for each in inputs):
            raise InvalidEditError(f"{shift} would delete an input of the data table in {found}: delete that first")


def _check_pivots(parts: Parts, sheet: Sheet, shift: Shift) -> None:
    package = parts.package
    for arrow in Relationships(package, sheet.part).of_type(_PIVOTS):
        if arrow.target not in package:
            continue
        root = package.tree(arrow.target)
        location = root.find("{*}location")
        found = None if location is None else area(location.get("ref"))
        if location is None or found is None:
            continue
        pages = whole(location.get("rowPageCount"), 0)
        # Its filters stand above it, and an empty row between them.
        held = Area(max(found.top - pages - 1, 1), found.left, found.bottom, found.right) if pages else found
        if shift.cuts(held) or shift.swallows(held):
            raise InvalidEditError(
                f"{shift} would go through the pivot table {root.get('name', '')!r} ({held}): change it in Excel"
            )
    for part in package.names:
        if not part.startswith("xl/pivotCache/") or not part.endswith(".xml") or "Records" in part:
            continue
        for source in package.tree(part).iter(*SOURCES):
            held_by_source = area(source.get("ref"))
            if source.get("sheet", "").casefold() != sheet.name.casefold() or held_by_source is None:
                continue
            if shift.cuts(held_by_source) or shift.swallows(held_by_source):
                raise InvalidEditError(
                    f"{shift} would change {sheet.name}!{held_by_source}, which a pivot table reads: change it in Excel"
                )


def _check_single_cells(parts: Parts, sheet: Sheet, shift: Shift) -> None:
    for kind, tag, attribute, said in _SINGLE:
        if kind == "comments" and not shift.inserts:
            continue
        for arrow in Relationships(parts.package, sheet.part).of_type(kind):
            for each in parts.package.tree(arrow.target).iter(tag) if arrow.target in parts.package else ():
                place = address(each.get(attribute, ""))
                if place is not None and shift.cell(place) is None:
                    raise InvalidEditError(f"{shift} would take {said} at {place} off the sheet: remove it first")
