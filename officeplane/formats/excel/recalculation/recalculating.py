"""Recalculating: after an edit, each formula whose result may be another is calculated anew, or has none.

Formulas that read nothing that has changed keep what they have. What cannot be
calculated here rightly loses its result, so that nobody takes it for true; office
programs calculate everything when they open the file.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.cells.dates import calendar_of
from officeplane.formats.excel.formulas.calculation import (
    calculate_on_load,
    is_stale,
    note_kept,
    note_not_kept,
    shows_all_digits,
)
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.recalculation.calculating import Function
from officeplane.formats.excel.recalculation.changes import Changes
from officeplane.formats.excel.recalculation.dependents import TooManyError
from officeplane.formats.excel.recalculation.evaluation import Evaluation
from officeplane.formats.excel.recalculation.formulas import Formulas, Seat
from officeplane.formats.excel.recalculation.functions import FUNCTIONS, OF_DAYS
from officeplane.formats.excel.recalculation.results import drop_result, write_result
from officeplane.formats.excel.recalculation.scanning import formulas_of


def recalculate(parts: Parts) -> None:
    """Bring results in order after what has changed."""
    changes = parts.settle_changes()
    if not changes:
        return
    package, workbook = parts.package, parts.workbook
    was_stale = is_stale(package, workbook)
    try:
        formulas = formulas_of(parts, changes)
        due = formulas.all() if was_stale else _due(parts, formulas, changes)
    except TooManyError:
        note_not_kept(package, workbook)
        return
    if due or changes.cells or changes.areas or changes.names:
        calculate_on_load(package, workbook)
        note_kept(package, workbook)
    if due:
        _settle(parts, formulas, due)


def readers_of(parts: Parts, part: str, area: Area) -> list[tuple[str, Address]]:
    """Return the cells whose formulas read cells of a sheet, each by the part of its own; none if they are too many."""
    sheets = parts.sheets.all
    place = next(at for at, sheet in enumerate(sheets) if sheet.part == part)
    try:
        found = formulas_of(parts, parts.changes).dependents.readers(place, area)
    except TooManyError:
        # There will be as many afterwards, and then no result is relied on.
        return []
    return [(sheets[seat.sheet].part, seat.at) for seat in found]


def _due(parts: Parts, formulas: Formulas, changes: Changes) -> AbstractSet[Seat]:
    """Return the formulas whose results may be others now."""
    sheets = [*enumerate(parts.sheets.all)]
    changed = [(place, area) for place, sheet in sheets for area in changes.of_sheet(sheet.part)]
    written = (formulas.at(place, at) for place, sheet in sheets for at in changes.cells.get(sheet.part, ()))
    first = {seat for seat in written if seat is not None} | formulas.everything | {*formulas.using(changes.names)}
    if changes.has_moved:
        first |= formulas.of_places
    return formulas.dependents.walk(changed, first)


def _settle(parts: Parts, formulas: Formulas, due: AbstractSet[Seat]) -> None:
    sheets = parts.sheets.all
    evaluation = Evaluation(parts, formulas, due, _functions(parts))
    if shows_all_digits(parts.package, parts.workbook):
        evaluation.evaluate()
    changed: set[str] = set()
    for seat in due | evaluation.results.keys():
        is_told = seat in evaluation.results
        if is_told:
            is_other = write_result(seat.cell, evaluation.results[seat])
        else:
            filled = () if seat.fills is None else parts.grid(sheets[seat.sheet]).cells_in(seat.fills)
            is_other = sum(drop_result(cell) for cell in {seat.cell, *filled}) > 0
        formulas.note_result(seat, is_there=is_told)
        if is_other:
            changed.add(sheets[seat.sheet].part)
    for part in sorted(changed):
        parts.package.changed(part)


def _functions(parts: Parts) -> Mapping[str, Function]:
    if calendar_of(parts.package, parts.workbook).is_1904:
        return {name: function for name, function in FUNCTIONS.items() if name not in OF_DAYS}
    return FUNCTIONS
