"""Values of a sheet as CSV (RFC 4180): a line for each row from the first on, a field for each column."""

import re
from collections.abc import Iterable
from typing import Final

from officeplane.formats.excel.sheet_rows import CellText, Row
from officeplane.formats.shown import Measure

_EMPTY: Final = CellText("", is_text=False)
_BEGINS_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")
"""A program that opens CSV takes a text that begins so for a formula, and calculates it."""

_QUOTED: Final = re.compile(r'[",\r\n]|^\s|\s$')


def values(rows: Iterable[Row]) -> str:
    """Return rows, each with its number and the texts of its cells by column, as lines of one width."""
    held = [*rows]
    width = max((column for _, row in held for column in row), default=0)
    measure = Measure()
    lines: list[str] = []
    for number, row in held:
        # A row that says nothing keeps its place: the fifth line is row 5.
        lines += (measure.passed("," * (width - 1)) for _ in range(number - len(lines) - 1))
        lines.append(measure.passed(",".join(_field(row.get(column, _EMPTY)) for column in range(1, width + 1))))
    return "".join(f"{line}\r\n" for line in lines)


def _field(said: CellText) -> str:
    text = f"'{said.text}" if said.is_text and said.text.startswith(_BEGINS_FORMULAS) else said.text
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
