"""Areas as attributes hold them: one, or several with spaces between; also whole columns and rows."""

import re
from typing import Final

from officeplane.formats.excel.cells.addresses import Area, letters
from officeplane.formats.excel.sheets.places import area_or_lines
from officeplane.formats.excel.shifting.shift import Shift

_COLUMNS: Final = re.compile(r"\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})")
_ROWS: Final = re.compile(r"\$?([1-9][0-9]{0,6}):\$?([1-9][0-9]{0,6})")


def areas(text: str | None) -> list[Area]:
    """Return the areas that a text names; what is none is left out."""
    return [found for word in (text or "").split() if (found := area_or_lines(word)) is not None]


def shifted(text: str, shift: Shift) -> str | None:
    """Return a text of areas as they are now; None when all are gone."""
    words = text.split()
    after = [_shifted(word, shift) for word in words]
    if after == words:
        return text
    return " ".join(word for word in after if word) or None


def _shifted(word: str, shift: Shift) -> str:
    known = area_or_lines(word)
    moved = None if known is None else shift.area(known)
    if known is None or moved == known:
        return word
    if moved is None:
        return ""
    if _COLUMNS.fullmatch(word):
        return f"{letters(moved.left)}:{letters(moved.right)}"
    return f"{moved.top}:{moved.bottom}" if _ROWS.fullmatch(word) else str(moved)
