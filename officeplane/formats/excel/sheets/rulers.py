"""Rulers: how high rows are and how wide columns, so that what is tied to two cells can be another size.

Heights are said in points. Widths are said in digits of the workbook's font, which
nobody but its reader can measure: those of Calibri 11, Excel's own, are taken.
"""

from collections.abc import Callable
from typing import Final

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import ROW, main
from officeplane.formats.pictures.drawing import EMU
from officeplane.formats.xml import Element

Place = tuple[int, int]
"""How many rows or columns come before, and how far into the next one."""

_PIXEL: Final = 9_525
_DIGIT: Final = 7
_COLUMN: Final = 64 * _PIXEL
_ROW: Final = 15.0
_ON: Final = frozenset(("1", "true"))


class Ruler:
    """The sizes of rows or of columns, one after the other."""

    def __init__(self, size_of: Callable[[int], int], count: int) -> None:
        self._size_of = size_of
        self._count = count

    def between(self, begin: Place, end: Place) -> int:
        """Return how far two places are apart."""
        return sum(self._size_of(at) for at in range(begin[0], min(end[0], self._count))) + end[1] - begin[1]

    def behind(self, begin: Place, length: int) -> Place:
        """Return the place that is so far behind another."""
        at, left = begin[0], begin[1] + length
        while at < self._count - 1 and left > (size := self._size_of(at)):
            at, left = at + 1, left - size
        return at, min(left, self._size_of(at)) if at == self._count - 1 else left


def rows_of(sheet: Element) -> Ruler:
    """Return how high the rows of a sheet are."""
    usual, is_hidden = sheet.find(main("sheetFormatPr")), False
    if usual is not None:
        is_hidden = usual.get("zeroHeight") in _ON
    height = 0 if is_hidden else round(_number(usual, "defaultRowHeight", _ROW) * EMU)
    heights: dict[int, int] = {}
    at = 0
    for row in sheet.iterfind(f"{main('sheetData')}/{ROW}"):
        at = whole(row.get("r"), at + 1)
        if row.get("hidden") in _ON:
            heights[at - 1] = 0
        elif row.get("ht") is not None:
            heights[at - 1] = round(_number(row, "ht", _ROW) * EMU)
    return Ruler(lambda place: heights.get(place, height), ROWS_MAX)


def columns_of(sheet: Element) -> Ruler:
    """Return how wide the columns of a sheet are."""
    usual = sheet.find(main("sheetFormatPr"))
    given = _number(usual, "defaultColWidth", 0)
    width = _pixels(given) * _PIXEL if given else _COLUMN
    stretches = [
        (
            whole(column.get("min"), 1) - 1,
            whole(column.get("max"), 0),
            0 if column.get("hidden") in _ON else _pixels(_number(column, "width", given or 64 / _DIGIT)) * _PIXEL,
        )
        for column in sheet.iterfind(f"{main('cols')}/{main('col')}")
    ]
    return Ruler(lambda at: next((wide for low, high, wide in stretches if low <= at < high), width), COLUMNS_MAX)


def _pixels(digits: float) -> int:
    return int((256 * digits + 128 // _DIGIT) / 256 * _DIGIT)


def _number(element: Element | None, name: str, otherwise: float) -> float:
    try:
        found = float("" if element is None else element.get(name, ""))
    except ValueError:
        return otherwise
    return found if 0 <= found <= 10_000 else otherwise
