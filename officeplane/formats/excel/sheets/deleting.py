"""Deleting a sheet, with the parts that only it used."""

from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area
from officeplane.formats.excel.formulas.calculation import forget_order
from officeplane.formats.excel.formulas.rewriting import sheet_lost
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.recalculation.recalculating import readers_of
from officeplane.formats.excel.sheets.deleted_numbers import last_sheet_number, note_last_sheet_number
from officeplane.formats.excel.sheets.indexes import close_gap
from officeplane.formats.excel.sheets.lost_places import place_in_words
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.unused_parts import drop, reachable
from officeplane.formats.excel.tags import RELATION
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

_ALL_CELLS: Final = Area(1, 1, ROWS_MAX, COLUMNS_MAX)


def delete_sheet(parts: Parts, name: str) -> tuple[str, list[str]]:
    """Remove a sheet; return the id of the node that it was, and the places whose references are lost."""
    package, sheets = parts.package, parts.sheets
    sheet = sheets.get(name)
    others = [each for each in sheets.all if each is not sheet]
    if not any(each.is_visible for each in others):
        raise InvalidEditError(f"{sheet.name!r} is the only visible sheet: a workbook needs one, so add another first")
    tables = parts.tables(sheet)
    _check_slicers(package, sheet, {table.root.get("id", "") for table in tables})
    names_of_tables = frozenset(table.name.casefold() for table in tables)
    at, order, identity = sheets.all.index(sheet), sheets.names, sheet.id
    for part, cell in readers_of(parts, sheet.part, _ALL_CELLS) if sheet.has_cells else ():
        parts.changes.cell(part, cell)
    parts.changes.has_moved = True
    reached = reachable(package, sheet.part)
    Relationships(package, parts.workbook).remove(sheet.element.get(RELATION, ""))
    sheets.element.remove(sheet.element)
    _keep_number(package.tree(parts.workbook), sheet, others)
    close_gap(package.tree(parts.workbook), at, [each.is_visible for each in others])
    for part in sorted(reached - reachable(package, "")):
        drop(package, part)
    lost = sheet_lost(package, order[at], order, names_of_tables)
    called = {each.part: each.name for each in others}
    places = [place_in_words(part, holder, called) for part, holder in lost]
    forget_order(package, parts.workbook)
    package.changed(parts.workbook)
    return identity, list(dict.fromkeys(places))


def _keep_number(workbook: Element, sheet: Sheet, others: list[Sheet]) -> None:
    """Have the number of a sheet that goes not given again: somebody may still mean it by the node's id."""
    number = whole(sheet.number, 0)
    if number >= max(whole(other.number, 0) for other in others) and number > last_sheet_number(workbook):
        note_last_sheet_number(workbook, number)


def _check_slicers(package: Package, sheet: Sheet, tables: set[str]) -> None:
    """Refuse what would leave a slicer of another sheet without what it filters."""
    for part in package.names:
        if not part.startswith(("xl/slicerCaches/", "xl/timelineCaches/")) or not part.endswith(".xml"):
            continue
        root = package.tree(part)
        pivots = {each.get("tabId") for each in root.iter("{*}pivotTable")}
        filtered = {each.get("tableId") for each in root.iter("{*}tableSlicerCache")}
        if sheet.number in pivots or tables & filtered:
            raise InvalidEditError(
                f"a slicer filters a table of the sheet {sheet.name!r}: delete the slicer in Excel first"
            )
