"""Formulas that follow a shift: one pass of a pattern over each text, and only over those that may name the sheet."""

import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final, TypeAlias

from officeplane.formats.excel.cells.addresses import ROWS_MAX, column_number, letters
from officeplane.formats.excel.formulas.references import LOST
from officeplane.formats.excel.formulas.shapes import Shapes
from officeplane.formats.excel.formulas.tokens import SHEET, TEXT
from officeplane.formats.excel.shifting.shift import Shift

Ends: TypeAlias = Callable[[int, bool, int, bool, bool], tuple[int, int] | None]
"""Where a reference reaches now: given its first and last row or column, each with whether a `$` holds it, and whether
it is into the sheet that is shifted. None when it refers to nothing any more."""

_LENGTH_MAX: Final = 32_768
_LAST_COLUMN: Final = "XFD"
_CELL: Final = r"\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}"
_AFTER_CELL: Final = r"(?![\w.\[!]|[^\x00-\x7f]|\s*\()"
_AFTER_STRETCH: Final = r"(?![\w.(!]|[^\x00-\x7f])"
# Of another workbook, and of a sheet that is gone, are references that nobody can follow.
_OUTSIDE: Final = (
    rf"\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*+\])*+\](?:{SHEET}(?:{_CELL}(?:\s*:\s*{_CELL})?)?)?|\[.*+"
    rf"|\#REF!(?:{_CELL}(?::{_CELL})?|\$?[A-Za-z]{{1,3}}:\$?[A-Za-z]{{1,3}}|\$?\d+:\$?\d+)?"
)
_WORDS: Final = (
    rf"{SHEET}|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?:[^\W\d]|[^\x00-\x7f\s]|\\)(?:[\w.?\\]|[^\x00-\x7f\s])*+"
)
_IN_ROWS: Final = (
    rf"(\$?[A-Za-z]{{1,3}})(\$?)([1-9]\d{{0,6}})(?:(\s*:\s*\$?[A-Za-z]{{1,3}})(\$?)([1-9]\d{{0,6}}))?(){_AFTER_CELL}"
    rf"|()(\$?)([1-9]\d{{0,6}})(:)(\$?)([1-9]\d{{0,6}})(){_AFTER_STRETCH}"
)
_IN_COLUMNS: Final = (
    r"()(\$?)([A-Za-z]{1,3})(?:(\$?[1-9]\d{0,6}\s*:\s*)(\$?)([A-Za-z]{1,3}))?(\$?[1-9]\d{0,6})" + _AFTER_CELL +
    rf"|()(\$?)([A-Za-z]{{1,3}})(:)(\$?)([A-Za-z]{{1,3}})(){_AFTER_STRETCH}"
)  # fmt: skip


# What is most of a formula is passed first.
_PASSED: Final = r"[-+*/^&=<>(),;{}%@\s]++|[A-Za-z_][\w.]*+\("


def _pattern(reference: str) -> re.Pattern[str]:
    return re.compile(rf"{_PASSED}|{TEXT}|{_OUTSIDE}|({SHEET})?(?:{reference})|{_WORDS}", re.DOTALL)


_ROWS: Final = _pattern(_IN_ROWS)
_COLUMNS: Final = _pattern(_IN_COLUMNS)

_OF_CELLS: Final = (2, 4, 5, 7)
_OF_LINES: Final = (9, 11, 12, 14)
"""The groups of a reference to cells, or to whole rows or columns: what its ends are, each with what stands before."""


class _Aim(Enum):
    OURS = "ours"
    OTHER = "other"
    SEVERAL = "several"


class FormulaShift:
    """Lets formulas follow a shift of one sheet, and notes what became of them."""

    def __init__(self, shift: Shift, sheet: str, order: list[str]) -> None:
        self.shift = shift
        self.count = 0
        """How many formulas read otherwise now."""
        self.has_lost = False
        """Whether the last one has lost a reference."""
        self.spans_sheets = False
        """Whether the last one has a reference to this and other sheets that would have to follow in this one alone."""
        self._is_of_rows = shift.is_of_rows
        self._pattern = _ROWS if shift.is_of_rows else _COLUMNS
        self._name = sheet.casefold()
        self._places = {name.casefold(): at for at, name in enumerate(order)}
        self._aims: dict[str, _Aim] = {}
        self._shapes = Shapes(self._rows_in)

    def plain(self, formula: str, *, is_own: bool) -> str:
        """Return a formula that stands by itself, in the sheet or elsewhere."""
        # Sheets' names have numbers that are not like any other.
        after = self._filled(formula) if is_own and self._is_of_rows and "!" not in formula else None
        return self.with_ends(formula, self._plainly, is_own=is_own) if after is None else after

    def name(self, formula: str, *, is_own: bool) -> str:
        """Return what a name stands for: what no `$` holds is counted from wherever the name is used."""
        return self.with_ends(formula, self._where_held, is_own=is_own)

    def with_ends(self, formula: str, ends: Ends, *, is_own: bool, counts: bool = True) -> str:
        """Return a formula whose references reach as `ends` says."""
        self.has_lost = self.spans_sheets = False
        if len(formula) > _LENGTH_MAX or (not is_own and "!" not in formula):
            return formula
        after = self._pattern.sub(lambda match: self._followed(match, ends, is_own), formula)
        self.count += counts and after != formula
        return after

    def _filled(self, formula: str) -> str | None:
        """Return a formula of the sheet after its rows have moved; None when it has to be looked at closer."""
        pieces, rows = self._shapes.of(formula)
        if rows is None or len(formula) > _LENGTH_MAX:
            return None
        has_changed = False
        for first, last in rows:
            begin, until = int(pieces[first]), int(pieces[last])
            is_turned = begin > until
            found = self.shift.stretch(until, begin) if is_turned else self.shift.stretch(begin, until)
            if found is None:
                return None
            after = found[::-1] if is_turned else found
            if after != (begin, until):
                pieces[first], pieces[last] = map(str, after)
                has_changed = True
        self.has_lost = self.spans_sheets = False
        self.count += has_changed
        return "".join(pieces) if has_changed else formula

    def _rows_in(self, formula: str) -> Iterator[tuple[int, int]]:
        """Yield where the first and the last row of each reference stand."""
        for match in self._pattern.finditer(formula):
            if match.lastindex is None or match.lastindex == 1:
                continue
            lead, first, between, last = _OF_CELLS if match[2] is not None else _OF_LINES
            if self._number(match[first], match[lead]) is None:
                continue
            if match[last] is None:
                yield match.start(first), match.start(first)
            elif self._number(match[last], match[between]) is not None:
                yield match.start(first), match.start(last)

    def _followed(self, match: re.Match[str], ends: Ends, is_own: bool) -> str:
        if match.lastindex is None or match.lastindex == 1:
            return match[0]
        sheet, *groups = match.groups()
        lead, held, first, between, last_held, last, tail = groups[:7] if groups[0] is not None else groups[7:]
        begin = self._number(first, lead)
        until = begin if last is None else self._number(last, between)
        aim = self._aim(sheet) if sheet else _Aim.OURS if is_own else _Aim.OTHER
        if begin is None or until is None:
            return match[0]
        if aim is _Aim.SEVERAL:
            self.spans_sheets |= ends(begin, True, until, True, True) != (begin, until)
            return match[0]
        is_turned = begin > until
        found = (
            ends(until, bool(last_held), begin, bool(held), aim is _Aim.OURS)
            if is_turned
            else ends(begin, bool(held), until, bool(held if last is None else last_held), aim is _Aim.OURS)
        )
        if found is None:
            self.has_lost = True
            return f"{sheet or ''}{LOST}"
        begin, until = reversed(found) if is_turned else found
        if last is None:
            return f"{sheet or ''}{lead}{held}{self._text(begin)}{tail}"
        return f"{sheet or ''}{lead}{held}{self._text(begin)}{between}{last_held}{self._text(until)}{tail}"

    def _number(self, text: str, beside: str) -> int | None:
        """Return the row or column; None where a sheet has none such, so that it is a name."""
        if self._is_of_rows:
            column = beside.rpartition(":")[2].strip().removeprefix("$")
            number = int(text)
            return None if number > ROWS_MAX or (len(column) == 3 and column.upper() > _LAST_COLUMN) else number
        return None if len(text) == 3 and text.upper() > _LAST_COLUMN else column_number(text)

    def _text(self, number: int) -> str:
        return str(number) if self._is_of_rows else letters(number)

    def _aim(self, prefix: str) -> _Aim:
        known = self._aims.get(prefix)
        if known is None:
            known = self._aims[prefix] = self._read(prefix)
        return known

    def _read(self, prefix: str) -> _Aim:
        text = prefix.removesuffix("!")
        if text.startswith("'"):
            text = text[1:-1].replace("''", "'")
        if set(text) & set("[\\/"):
            return _Aim.OTHER
        names = [name.casefold() for name in text.split(":")]
        if all(name == self._name for name in names):
            return _Aim.OURS
        places = [self._places.get(name, -1) for name in names]
        ours = self._places.get(self._name, -1)
        return _Aim.SEVERAL if min(places) <= ours <= max(places) and -1 not in places else _Aim.OTHER

    def _plainly(self, first: int, first_held: bool, last: int, last_held: bool, ours: bool) -> tuple[int, int] | None:  # noqa: ARG002
        return self.shift.stretch(first, last) if ours else (first, last)

    def _where_held(
        self, first: int, first_held: bool, last: int, last_held: bool, ours: bool
    ) -> tuple[int, int] | None:
        if not ours or not (first_held or last_held):
            return first, last
        if first_held and last_held:
            return self.shift.stretch(first, last)
        begin, until = self.shift.point(first), self.shift.point(last)
        if (first_held and begin is None) or (last_held and until is None):
            return None
        return (begin or first) if first_held else first, (until or last) if last_held else last
