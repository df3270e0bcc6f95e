"""Scanning: finding the formulas of a workbook, anew or only where an edit has written."""

import gc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Final

from officeplane.formats.excel.cells.addresses import Area, area
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.formulas.shared import place_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.recalculation.changes import Changes
from officeplane.formats.excel.recalculation.dependents import TooManyError
from officeplane.formats.excel.recalculation.formulas import Formulas, Seat
from officeplane.formats.excel.recalculation.kinds import Readings
from officeplane.formats.excel.recalculation.readings import Reader, Reading
from officeplane.formats.excel.recalculation.surroundings import KnownTable, Surroundings
from officeplane.formats.excel.sheets.defined_names import names_in, scope_of
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import FORMULA, VALUE, main
from officeplane.formats.xml import Element

FORMULAS_MAX: Final = 200_000
"""Of more the dependents are not looked for."""
_COLUMN: Final = f"{main('tableColumns')}/{main('tableColumn')}"


def formulas_of(parts: Parts, changes: Changes) -> Formulas:
    """Return all formulas of cells; after changes only the changed cells are looked at if nothing has moved."""
    surroundings = surroundings_of(parts)
    known = parts.formulas
    sheets = [(place, sheet) for place, sheet in enumerate(parts.sheets.all) if parts.has_formulas(sheet)]
    is_known = (
        known is not None
        and not changes.has_moved
        and known.surroundings == surroundings
        and all(known.grids.get(sheet.part, grid) is grid for _, sheet in sheets for grid in [parts.grid(sheet)])
    )
    # What goes wrong in between leaves nothing that would be taken for known.
    parts.formulas = None
    if known is None or known.surroundings != surroundings:
        parts.readings.clear()
    if known is None or not is_known:
        known = Formulas(surroundings)
    for place, sheet in sheets:
        reader = Reader(known.surroundings, place)
        if sheet.part not in known.grids:
            _look_through(parts, known, sheet, place, reader)
        else:
            _look_again(parts, known, sheet, place, reader, changes)
    parts.formulas = known
    return known


def surroundings_of(parts: Parts) -> Surroundings:
    """Return the surroundings of a workbook's formulas."""
    sheets = {sheet.name.casefold(): at for at, sheet in enumerate(parts.sheets.all)}
    names = {
        (each.get("name", "").casefold(), scope_of(each)): each.text or ""
        for each in names_in(parts.package.tree(parts.workbook))
    }
    return Surroundings(sheets, names, dict(_tables(parts)))


def _tables(parts: Parts) -> Iterator[tuple[str, KnownTable]]:
    for at, sheet in enumerate(parts.sheets.all):
        for table in parts.tables(sheet):
            columns = tuple(each.get("name", "").casefold() for each in table.root.iterfind(_COLUMN))
            yield table.name.casefold(), KnownTable(at, table.area, table.has_header, table.has_totals, columns)


def _look_through(parts: Parts, known: Formulas, sheet: Sheet, place: int, reader: Reader) -> None:
    grid = known.grids[sheet.part] = parts.grid(sheet)
    shared: dict[str, Reading] = {}
    with _without_collecting():
        for formula in grid.data.iter(FORMULA):
            cell = formula.getparent()
            if cell is None:
                continue
            known.add(_seat(grid, place, cell, formula, reader, parts.readings, shared))
            if len(known) > FORMULAS_MAX:
                raise TooManyError


@contextmanager
def _without_collecting() -> Generator[None]:
    """Let nobody look for garbage: all that is made stays, and to look at it again and again takes a quarter more."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _look_again(parts: Parts, known: Formulas, sheet: Sheet, place: int, reader: Reader, changes: Changes) -> None:
    grid = parts.grid(sheet)
    for at in changes.formulas.get(sheet.part, ()):
        known.drop(place, at)
        cell = grid.cell(at)
        formula = None if cell is None else cell.find(FORMULA)
        if cell is not None and formula is not None:
            known.add(_seat(grid, place, cell, formula, reader, parts.readings, {}))


def _seat(
    grid: Grid,
    sheet: int,
    cell: Element,
    formula: Element,
    reader: Reader,
    readings: Readings,
    shared: dict[str, Reading],
) -> Seat:
    at, kind, text = place_of(cell), formula.get("t"), formula.text
    if kind == "shared" and not text:
        group = formula.get("si", "")
        found = shared.get(group)
        if found is None:
            found = shared[group] = _of_source(grid.sources.get(group), reader, readings)
    elif kind == "dataTable":
        found = Reading(reads_everything=True)
    else:
        found = readings.of(text or "", reader, at)
    fills = area(formula.get("ref")) if kind in {"array", "dataTable"} else None
    behind = formula.getnext()
    has_result = behind is not None and (behind.tag == VALUE or cell.find(VALUE) is not None)
    return Seat(sheet, at, cell, found, fills or (Area(*at, *at) if kind == "array" else None), has_result)


def _of_source(source: Element | None, reader: Reader, readings: Readings) -> Reading:
    holder = None if source is None else source.getparent()
    if source is None or holder is None:
        return Reading(reads_everything=True)
    return readings.of(source.text or "", reader, place_of(holder))
