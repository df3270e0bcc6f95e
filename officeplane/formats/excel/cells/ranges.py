"""Ranges: what each cell is given where values are named by range, as rows or as one value for all."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address, Area, area, letters
from officeplane.formats.excel.cells.values import Formatted, Value
from officeplane.formats.excel.formulas.formula import Formula

Given: TypeAlias = Value | Sequence[Sequence[Value]]
"""A value for a cell or for all cells of a range, or the rows of one."""

CELLS_MAX: Final = 100_000
"""How many cells one edit may write."""


def areas_of(given: Mapping[str, Given]) -> dict[Area, Given]:
    """Return what is given by area, from top to bottom; what no sheet has or what is named twice is refused."""
    found = {_area(name): held for name, held in given.items()}
    if len(found) < len(given):
        raise InvalidEditError("a range is named twice, once from each of two corners")
    count = sum(each.size for each in found)
    if count > CELLS_MAX:
        raise InvalidEditError(f"{count} cells are more than the {CELLS_MAX} that one edit may write: use several")
    return dict(sorted(found.items(), key=lambda each: (each[0].top, each[0].left)))


def cells_of(given: Mapping[Area, Given]) -> dict[Address, tuple[Value, Address]]:
    """Return what each cell is given, with the cell that a formula was written for."""
    cells: dict[Address, tuple[Value, Address]] = {}
    for place, held in given.items():
        for at, value, origin in _spread(place, held):
            if at in cells:
                raise InvalidEditError(f"{at} is given twice: no cell may be in two ranges")
            cells[at] = (value, origin)
    return cells


def _spread(place: Area, held: Given) -> Iterator[tuple[Address, Value, Address]]:
    if isinstance(held, Sequence) and not isinstance(held, str):
        _check_size(place, held)
        for number, row in enumerate(held, place.top):
            for column, value in enumerate(row, place.left):
                yield Address(number, column), value, Address(number, column)
    else:
        is_formula = isinstance(held.value if isinstance(held, Formatted) else held, Formula)
        for at in place.cells():
            yield at, held, place.first if is_formula else at


def _check_size(place: Area, rows: Sequence[Sequence[Value]]) -> None:
    high, wide = place.bottom - place.top + 1, place.right - place.left + 1
    if len(rows) != high:
        raise InvalidEditError(f"{place} has {high} rows, and {len(rows)} are given")
    for number, row in enumerate(rows, 1):
        if len(row) != wide:
            raise InvalidEditError(f"{place} has {wide} columns, and row {number} of what is given has {len(row)}")


def _area(name: str) -> Area:
    found = area(name)
    if found is None:
        raise InvalidEditError(f"there is no cell {name}: a sheet ends at {letters(COLUMNS_MAX)}{ROWS_MAX}")
    return found
