"""Following: rows and columns that came or went offline do so in the head, with all that refers to them.

They do so in the base as well: from then on cells are the same by their places.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.merging.beside import structure_of
from officeplane.formats.excel.merging.book import Book, Held
from officeplane.formats.excel.merging.shifts import is_shifted, stretches
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.shifting.editing import edit_grid
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.merging.unit import Conflict

Cells: TypeAlias = Mapping[Address, Held]

_AXES: Final = (True, False)
_AT_ONCE_MAX: Final = 8
"""How many stretches of rows or columns may have come or gone between two states of a sheet."""
_MOVED: Final = (
    "rows or columns came or went on this sheet offline, and others have changed it, too: nobody can tell which "
    "cells are the same"
)


class Following:
    """Follows an upload; base and head are other books afterwards."""

    def __init__(self, base: Book, upload: Book, head: Book) -> None:
        self.base = base
        self.head = head
        self._upload = upload
        self.done: list[str] = []
        self.warnings: list[EditWarning] = []
        self.conflicts: list[Conflict] = []

    def follow(self, sheet: Sheet) -> None:
        """Have rows and columns of a sheet come and go as in the upload, if nobody else has changed the sheet."""
        here, there = self.head.sheets[sheet.id], self._upload.sheets[sheet.id]
        was, head, now = self.base.cells(sheet), self.head.cells(here), self._upload.cells(there)
        if said_in(head) == said_in(now) or not is_moved(was, now):
            return
        if _exactly(was) != _exactly(head) or structure_of(self.base, sheet) != structure_of(self.head, here):
            self._stands(sheet, _MOVED)
            return
        for is_of_rows in _AXES:
            self._follow(sheet, is_of_rows=is_of_rows)

    def _follow(self, sheet: Sheet, *, is_of_rows: bool) -> None:
        there = self._upload.sheets[sheet.id]
        found = stretches(self.base.cells(sheet), self._upload.cells(there), is_of_rows=is_of_rows)
        if found is None or len(found) > _AT_ONCE_MAX:
            self._stands(sheet, "too many rows or columns came or went offline")
            return
        axis = Axis.ROWS if is_of_rows else Axis.COLUMNS
        try:
            for one in found:
                shift = Shift(axis, one.at, one.lines, one.inserts)
                for book in (self.base, self.head):
                    _, _, warnings = edit_grid(book.parts, sheet.id, shift)
                self.warnings += warnings
                how = "inserted" if one.inserts else "deleted"
                self.done.append(f"{sheet.id}: {one.lines} {axis.value} {how} at {one.at}")
        except InvalidEditError as error:
            self._stands(sheet, str(error))
        self.base, self.head = Book(self.base.parts), Book(self.head.parts)

    def _stands(self, sheet: Sheet, detail: str) -> None:
        self.conflicts.append(Conflict(sheet.id, None, None, None, detail))


def said_in(cells: Cells) -> dict[Address, str]:
    """Return what cells say, without those that say nothing."""
    return {at: one.content for at, one in cells.items() if one.content}


def is_moved(before: Cells, after: Cells) -> bool:
    """Tell whether rows or columns came or went, or may have: cells are not the same by their places then."""
    return any(
        is_shifted(before, after, is_of_rows=is_of_rows) or stretches(before, after, is_of_rows=is_of_rows) != []
        for is_of_rows in _AXES
    )


def _exactly(cells: Cells) -> dict[Address, str]:
    return {at: one.exactly for at, one in cells.items()}
