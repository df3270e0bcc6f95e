"""Corners: references as they stand in a formula, made into cells as they lie from where it stands."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address, address, column_number
from officeplane.formats.excel.formulas.references import LOST
from officeplane.formats.excel.formulas.tokens import Kind, Token
from officeplane.formats.excel.recalculation.expressions import End, Reference

_CELL: Final = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)([1-9]\d{0,6})")
_COLUMNS: Final = re.compile(r"(\$?)([A-Za-z]{1,3}):(\$?)([A-Za-z]{1,3})")
_ROWS: Final = re.compile(r"(\$?)([1-9]\d{0,6}):(\$?)([1-9]\d{0,6})")


def without_lost(found: list[Token]) -> list[Token]:
    """Return tokens without the cells of a sheet that is gone: of `#REF!A1` the error is left."""
    made: list[Token] = []
    is_lost = False
    for token in found:
        is_lost = is_lost and (token.kind is Kind.REFERENCE or token.text == ":")
        if not is_lost:
            made.append(token)
        is_lost = is_lost or (token.kind is Kind.ERROR and token.text == LOST)
    return made


def cells_at(found: Sequence[Token], at: int) -> tuple[Token | None, tuple[str, ...], int] | None:
    """Return the sheet and the corners of a reference, and where it ends; None when it is of another kind."""
    prefix = found[at] if found[at].kind is Kind.SHEET else None
    at += prefix is not None
    if at >= len(found) or found[at].kind is not Kind.REFERENCE:
        return None
    first = found[at].text
    if at + 1 < len(found) and found[at + 1].text == ":":
        is_plain = ":" not in first and at + 2 < len(found) and found[at + 2].kind is Kind.REFERENCE
        ends = at + 3 == len(found) or found[at + 3].text != ":"
        return (prefix, (first, found[at + 2].text), at + 3) if is_plain and ends else None
    return prefix, (first,), at + 1


def reference_of(texts: Sequence[str], sheet: int | None, at: Address) -> Reference | None:
    """Return a reference by its corners, as it lies from a cell; None when a sheet has no such cells."""
    if len(texts) == 1 and (lines := _lines(texts[0], sheet, at)) is not None:
        return lines
    corners = [_corner(text, at) for text in texts]
    (top, left), (bottom, right) = corners[0] or _NOWHERE, corners[-1] or _NOWHERE
    if None in corners:
        return None
    return Reference(sheet, top, left, bottom, right, is_area=len(texts) > 1)


_NOWHERE: Final = (End(0, True), End(0, True))


def _corner(text: str, at: Address) -> tuple[End, End] | None:
    match = _CELL.fullmatch(text)
    place = address(text)
    if match is None or place is None:
        return None
    row = End(place.row, True) if match[3] else End(place.row - at.row, False)
    column = End(place.column, True) if match[1] else End(place.column - at.column, False)
    return row, column


def _lines(text: str, sheet: int | None, at: Address) -> Reference | None:
    """Return whole columns or rows."""
    if match := _COLUMNS.fullmatch(text):
        left, right = (_end(column_number(name), mark, at.column) for mark, name in _pairs(match))
        fits = max(column_number(match[2]), column_number(match[4])) <= COLUMNS_MAX
        return Reference(sheet, End(1, True), left, End(ROWS_MAX, True), right) if fits else None
    if match := _ROWS.fullmatch(text):
        top, bottom = (_end(int(name), mark, at.row) for mark, name in _pairs(match))
        fits = max(int(match[2]), int(match[4])) <= ROWS_MAX
        return Reference(sheet, top, End(1, True), bottom, End(COLUMNS_MAX, True)) if fits else None
    return None


def _pairs(match: re.Match[str]) -> Iterator[tuple[str, str]]:
    yield match[1], match[2]
    yield match[3], match[4]


def _end(number: int, mark: str, own: int) -> End:
    return End(number, True) if mark else End(number - own, False)
