"""Cells as they are: what each holds, with its type, its formula and its format."""

from datetime import datetime
from typing import Any, Final, NamedTuple

from officeplane.domain.errors import NodeNotFoundError
from officeplane.domain.spelling import nearest_name
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area
from officeplane.formats.excel.cells.dates import written
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.number_formats import NumberFormats
from officeplane.formats.excel.cells.values import shown
from officeplane.formats.excel.formulas.calculation import is_stale
from officeplane.formats.excel.formulas.shared import formula_of, place_of
from officeplane.formats.excel.looks.seen import Seen
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.places import area_or_lines, unquoted
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.reading.room import Part, Room
from officeplane.formats.xml import Element

VALUES: Final = "values"
FORMULAS: Final = "formulas"
FORMATS: Final = "formats"
_GENERAL: Final = "General"
_TEXTS: Final = frozenset(("s", "str", "inlineStr"))


class CellsWanted(NamedTuple):
    """Which cells to tell, and what of each."""

    sheet: str | None = None
    range: str | None = None
    show: tuple[str, ...] = (VALUES, FORMULAS)
    begin: int = 0
    tokens_max: int | None = None


def cells(parts: Parts, wanted: CellsWanted) -> Part:
    """Return the cells of a range that hold anything, row by row, from the one on at which an answer ended."""
    sheet, within = _place(parts, wanted)
    room = Room(wanted.tokens_max)
    items: list[dict[str, Any]] = []
    if not sheet.has_cells:
        return Part(items, None)
    grid = parts.grid(sheet)
    teller = CellTeller(parts, grid, wanted.show)
    at = -1
    for cell in grid.cells_in(within):
        if len(cell) == 0 and not teller.fills(cell) and not (FORMATS in wanted.show and VALUES not in wanted.show):
            continue
        at += 1
        if at < wanted.begin:
            continue
        item = teller.told(cell)
        if not room.takes(item):
            return Part(items, at)
        items.append(item)
    return Part(items, None)


class CellTeller:
    """Tells what cells of a sheet hold."""

    def __init__(self, parts: Parts, grid: Grid, show: tuple[str, ...]) -> None:
        self._grid = grid
        self._show = show
        self._strings = parts.strings
        self._formats = NumberFormats(parts.package, parts.workbook)
        self._seen = Seen(parts)
        self._stale = is_stale(parts.package, parts.workbook)

    def fills(self, cell: Element) -> bool:
        """Tell whether an empty cell shows what a formula of another cell comes to, which is not known."""
        return bool(self._grid.joint) and self._grid.joint_areas.at(place_of(cell)) is not None

    def told(self, cell: Element) -> dict[str, Any]:
        """Return what is wanted of a cell, as JSON has it."""
        item: dict[str, Any] = {"cell": str(place_of(cell))}
        formula = formula_of(self._grid, cell)
        text = shown(cell, self._strings)
        if len(cell) == 0 and self.fills(cell):
            text = None
            item["stale"] = True
        if VALUES in self._show:
            item["value"] = None if text is None else self._typed(cell, text)
        if FORMULAS in self._show and formula is not None:
            item["formula"] = f"={formula}"
        if formula is not None and (self._stale or text is None):
            item["stale"] = True
        if FORMATS in self._show and (code := self._formats.of(cell)) != _GENERAL:
            item["format"] = code
        if FORMATS in self._show and (look := self._seen.unusual(cell.get("s"))):
            item["look"] = look
        return item

    def _typed(self, cell: Element, text: str) -> object:
        kind = cell.get("t", "n")
        if kind in _TEXTS:
            return text
        if kind == "b":
            return text == "TRUE"
        if kind == "e":
            return {"error": text}
        if kind == "d":
            return _dated(text)
        number = _number(text)
        if number is None:
            return text or None
        date = self._formats.date(cell, number)
        return number if date is None else date


def _dated(text: str) -> object:
    """Return a date that lies as ISO 8601 has it, which few programs write."""
    try:
        moment = datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return text
    return {"dateTime": written(moment)} if "T" in text else {"date": written(moment.date())}


def _number(text: str) -> float | int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if number != number or number in {float("inf"), float("-inf")}:  # noqa: PLR0124 - NaN is not itself
        return None
    return int(text) if text.lstrip("-").isascii() and text.lstrip("-").isdecimal() and abs(number) < 2**53 else number


def named_sheet(parts: Parts, name: str | None) -> Sheet:
    """Return a sheet by its name or id, the first one if none is named; `NodeNotFoundError` when there is none."""
    sheets = parts.sheets
    sheet = sheets.all[0] if name is None else sheets.find(name)
    if sheet is None:
        raise NodeNotFoundError(name or "", nearest_name(name or "", sheets.names))
    return sheet


def _place(parts: Parts, wanted: CellsWanted) -> tuple[Sheet, Area]:
    name, mark, place = (wanted.range or "").rpartition("!")
    sheet = named_sheet(parts, wanted.sheet if wanted.sheet is not None or not mark else unquoted(name))
    if not place:
        return sheet, Area(1, 1, ROWS_MAX, COLUMNS_MAX)
    found = area_or_lines(place)
    if found is None:
        raise NodeNotFoundError(place)
    return sheet, found
