"""Merged cells: several that look like one, which holds what the first of them does."""

from collections.abc import Iterator

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.excel.cells.addresses import Area, area
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.values import shown
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.formulas.shared import formula_of, place_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.children import child_of, drop_empty
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element


def merges_of(root: Element) -> list[Area]:
    """Return what is merged in a sheet."""
    return [found for each in root.iterfind(f"{main('mergeCells')}/{main('mergeCell')}") if (found := _area(each))]


def unmerge(parts: Parts, sheet: Sheet, place: Area) -> None:
    """Take apart all merged cells that a range touches; there have to be some."""
    root = parts.package.tree(sheet.part)
    holder = root.find(main("mergeCells"))
    touched = [] if holder is None else [each for each in holder if (at := _area(each)) and at.meets(place)]
    if holder is None or not touched:
        raise InvalidEditError(f"there are no merged cells in {place} of the sheet {sheet.name!r}")
    for each in touched:
        holder.remove(each)
    drop_empty(root, holder)
    _note(parts, sheet)


def merge(parts: Parts, sheet: Sheet, place: Area) -> list[Loss]:
    """Merge a range; return the contents that it covers and that are gone with it."""
    grid = parts.grid(sheet)
    known = merges_of(grid.root)
    if place in known:
        return []
    _check(parts, sheet, grid, place, known)
    covered = [cell for cell in grid.cells_in(place) if len(cell) and place_of(cell) != place.first]
    lost = list(_losses(parts, sheet, grid, covered))
    if covered:
        writer = SheetWriter(parts, sheet)
        for at in [place_of(cell) for cell in covered]:
            writer.set(at, None)
        writer.finish()
    holder = child_of(grid.root, "mergeCells")
    etree.SubElement(holder, main("mergeCell"), ref=str(place))
    holder.set("count", str(len(holder)))
    _note(parts, sheet)
    return lost


def _check(parts: Parts, sheet: Sheet, grid: Grid, place: Area, known: list[Area]) -> None:
    if place.size == 1:
        raise InvalidEditError(f"{place} is one cell: give a range to merge, such as A1:C1")
    for other in known:
        if other.meets(place):
            raise InvalidEditError(f"{place} overlaps the merged cells {other}: unmerge these first")
    for table in parts.tables(sheet):
        if table.area.meets(place):
            raise InvalidEditError(f"{place} is in the table {table.name}, in which no cells can be merged")
    for joint in grid.joint:
        if joint.meets(place):
            raise InvalidEditError(f"{place} has a part of the array formula in {joint}, whose cells cannot be merged")


def _losses(parts: Parts, sheet: Sheet, grid: Grid, covered: list[Element]) -> Iterator[Loss]:
    for cell in covered:
        formula = formula_of(grid, cell)
        held = shown(cell, parts.strings) if formula is None else f"={formula}"
        yield Loss("cell", f"{sheet.name}!{place_of(cell)}", held or "")


def _note(parts: Parts, sheet: Sheet) -> None:
    parts.package.changed(sheet.part)
    parts.forget(sheet.part)


def _area(merged: Element) -> Area | None:
    return area(merged.get("ref"))
