"""Shifts: rows and columns that came or went offline, as far as what stands behind them tells."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from officeplane.formats.diff import steps
from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.merging.book import Held

_KEYS_MAX: Final = 20_000
_ROWS: Final = re.compile(r"[0-9]+")
_COLUMNS: Final = re.compile(r"[A-Z]{1,3}(?=\$?[0-9])|(?<=:)\$?[A-Z]{1,3}|[A-Z]{1,3}(?=:)")


class Stretch(NamedTuple):
    """Rows or columns that came before a place, or went from it on."""

    is_of_rows: bool
    at: int
    lines: int
    inserts: bool


def is_shifted(before: Mapping[Address, Held], after: Mapping[Address, Held], *, is_of_rows: bool) -> bool:
    """Tell whether a row or column that has changed now holds what another one held before.

    Then nobody can tell by their places which cells are the same.
    """
    was, now = (_lines(one, is_of_rows=is_of_rows) for one in (before, after))
    known: dict[str, set[int]] = {}
    for number, line in was.items():
        known.setdefault(_key(line), set()).add(number)
    return any(
        was.get(number) != line and known.get(_key(line), set()) - {number}
        for number, line in now.items()
        if any(line.values())
    )


def stretches(
    before: Mapping[Address, Held], after: Mapping[Address, Held], *, is_of_rows: bool
) -> list[Stretch] | None:
    """Return what came and went so that all other lines say what they said, from the last on; None if unclear.

    What came behind all others has moved nothing.
    """
    was, now = (_lines(one, is_of_rows=is_of_rows) for one in (before, after))
    keys = [[_key(lines.get(at, {})) for at in range(1, max(lines, default=0) + 1)] for lines in (was, now)]
    if max(map(len, keys)) > _KEYS_MAX:
        return None
    found = (one for one in _stretches(keys, is_of_rows=is_of_rows) if one.at <= len(keys[0]))
    return sorted(found, key=lambda one: -one.at)


def _stretches(keys: list[list[str]], *, is_of_rows: bool) -> Iterator[Stretch]:
    """Yield them by their places before any of them came or went."""
    for step in steps(*keys):
        if step.is_same:
            continue
        gone, came = len(step.before), len(step.after)
        begin = step.before.start + 1
        if came > gone:
            yield Stretch(is_of_rows, begin + gone, came - gone, inserts=True)
        elif gone > came and step.before.stop < len(keys[0]):
            yield Stretch(is_of_rows, begin + came, gone - came, inserts=False)


def _lines(cells: Mapping[Address, Held], *, is_of_rows: bool) -> dict[int, dict[int, str]]:
    found: dict[int, dict[int, str]] = {}
    # Formulas read otherwise when what they read has moved.
    moving = _ROWS if is_of_rows else _COLUMNS
    for (row, column), held in cells.items():
        if held.content:
            number, place = (row, column) if is_of_rows else (column, row)
            is_formula = held.content.startswith("=")
            found.setdefault(number, {})[place] = moving.sub("", held.content) if is_formula else held.content
    return found


def _key(line: Mapping[int, str]) -> str:
    return repr(sorted(line.items()))
