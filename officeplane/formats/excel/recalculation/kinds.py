"""Kinds of formulas: those that were filled down or to the right read alike, and are read once."""

import re
from collections.abc import Iterator
from typing import Final

from officeplane.formats.excel.cells.addresses import Address, column_number
from officeplane.formats.excel.formulas.shapes import Shapes
from officeplane.formats.excel.recalculation.readings import Reader, Reading

_PLACED: Final = re.compile(
    r"""("(?:[^"]|"")*+"?|'(?:[^']|'')*+'?)|(?<![\w.\\?$])(?:(\$?)([A-Za-z]{1,3})(\$?)([1-9]\d{0,6})(?![\w.\[!]|\s*\()"""
    r"|(\$?)([A-Za-z]{1,3}):(\$?)([A-Za-z]{1,3})(?![\w.(!])|(\$?)([1-9]\d{0,6}):(\$?)([1-9]\d{0,6})(?![\w.(!]))"
)
"""Texts and sheets, which are passed, or a cell, or whole columns, or whole rows."""
_READINGS_MAX: Final = 200_000


class Readings:
    """What formulas read, each kind of formula looked at once as long as it means the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Reading] = {}
        self._shapes = Shapes(_rows_in)

    def clear(self) -> None:
        """Forget all: sheets, names or tables are others now."""
        self._known.clear()

    def of(self, formula: str, reader: Reader, at: Address) -> Reading:
        """Return what a formula reads that stands in a cell."""
        if "[" in formula or not formula.isascii():
            return self._read((reader.own_sheet, formula, at), formula, reader, at)
        pieces, rows = self._shapes.of(formula)
        if rows is None:
            return self._read((reader.own_sheet, _from_cell(formula, at)), formula, reader, at)
        seen: list[object] = [*pieces]
        for (place,) in rows:
            seen[place] = int(pieces[place]) - at.row
        # Those filled down are told apart without a pattern, which takes longer than all the rest.
        key = (reader.own_sheet, at.column, *seen)
        found = self._known.get(key)
        if found is None:
            found = self._read((reader.own_sheet, _from_cell(formula, at)), formula, reader, at)
            self._known[key] = found
        return found

    def _read(self, key: tuple[object, ...], formula: str, reader: Reader, at: Address) -> Reading:
        found = self._known.get(key)
        if found is None:
            if len(self._known) > _READINGS_MAX:
                self._known.clear()
            found = self._known[key] = reader.read(formula, at)
        return found


def _from_cell(formula: str, at: Address) -> str:
    """Return a formula whose references say how far they are from a cell."""

    def relative(match: re.Match[str]) -> str:
        skipped, column_held, column, row_held, row, *lines = match.groups()
        if skipped is not None:
            return skipped
        if row is not None:
            return f"\0{_end(row_held, int(row), at.row)},{_end(column_held, column_number(column), at.column)}\0"
        first_held, first, last_held, last, top_held, top, bottom_held, bottom = lines
        if first is not None:
            begin, end = column_number(first), column_number(last)
            return f"\0{_end(first_held, begin, at.column)}:{_end(last_held, end, at.column)}\0"
        return f"\0\0{_end(top_held, int(top), at.row)}:{_end(bottom_held, int(bottom), at.row)}\0"

    return _PLACED.sub(relative, formula)


def _rows_in(formula: str) -> Iterator[tuple[int]]:
    """Yield where the rows stand that no `$` holds."""
    for match in _PLACED.finditer(formula):
        for held, row in ((4, 5), (10, 11), (12, 13)):
            if match[row] is not None and not match[held]:
                yield (match.start(row),)


def _end(held: str, number: int, own: int) -> str:
    return f"{number}" if held else f"[{number - own}]"
