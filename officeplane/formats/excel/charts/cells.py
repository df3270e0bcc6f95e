"""Cells that charts show: what a formula of a chart names, and what stands there."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from officeplane.formats.charts.data import GENERAL, Point, Shown
from officeplane.formats.excel.cells.addresses import Area, letters
from officeplane.formats.excel.cells.implied_addresses import column_of
from officeplane.formats.excel.cells.number_formats import NumberFormats
from officeplane.formats.excel.cells.values import shown
from officeplane.formats.excel.formulas.calculation import is_stale
from officeplane.formats.excel.formulas.references import quoted
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.places import area_or_lines, name_refers_to, unquoted
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import FORMULA, VALUE, main
from officeplane.formats.xml import Element

_STRETCH: Final = re.compile(r"(?:'(?:[^']|'')*'|[^,'])+")
_NO_CELLS: Final[Mapping[int, Element]] = {}
_ON: Final = frozenset(("1", "true"))
POINTS_MAX: Final = 100_000
"""Beyond so many cells a chart is not followed."""


class Seen(NamedTuple):
    """What cells hold, and which of them, by turn, hold results that may not be so any more."""

    points: tuple[Point, ...]
    stale: frozenset[int] = frozenset()


class ChartCells:
    """The cells of one state of a workbook, as its charts see them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._sheets = parts.sheets
        self._strings = parts.strings
        self._seen: dict[tuple[str, bool], Seen | None] = {}
        self._rows: dict[str, dict[int, dict[int, Element]]] = {}
        self._is_stale = is_stale(parts.package, parts.workbook)
        self.formats = NumberFormats(parts.package, parts.workbook)

    def seen(self, formula: str, *, visible_only: bool = False) -> Seen | None:
        """Return what stands where a formula of a chart points; None if it names no cells of this workbook."""
        known = (formula, visible_only)
        if known not in self._seen:
            # All series of a chart name the same categories.
            self._seen[known] = self._looked_up(formula, visible_only=visible_only)
        return self._seen[known]

    def shown(self, sheet: Sheet, area: Area) -> Shown:
        """Return cells as a chart is to show them."""
        prefix = quoted(sheet.name)
        first, last = (f"${letters(column)}${row}" for row, column in (area.first, (area.bottom, area.right)))
        formula = f"{prefix}!{first}" if area.size == 1 else f"{prefix}!{first}:{last}"
        found = self.seen(formula)
        cells = self._parts.grid(sheet).cells_in(area)
        numeric = next((cell for cell in cells if cell.get("t", "n") == "n" and len(cell)), None)
        code = GENERAL if numeric is None else self.formats.of(numeric)
        return Shown(formula, () if found is None else found.points, code)

    def is_dated(self, sheet: Sheet, area: Area) -> bool:
        """Tell whether the numbers of cells are dates or times."""
        looks = [self.formats.look(cell.get("s")) for cell in self._parts.grid(sheet).cells_in(area) if len(cell)]
        return bool(looks) and all(look.has_days or look.has_times for look in looks)

    def _looked_up(self, formula: str, *, visible_only: bool) -> Seen | None:
        areas = self._areas(formula)
        if areas is None or sum(area.size for _, area in areas) > POINTS_MAX:
            return None
        points: list[Point] = []
        stale: set[int] = set()
        for sheet, area in areas:
            rows = self._rows_of(sheet)
            hidden = _Hidden(self._parts.grid(sheet).root, area) if visible_only else None
            all_columns = range(area.left, area.right + 1)
            columns = [each for each in all_columns if hidden is None or each not in hidden.columns]
            for number in range(area.top, area.bottom + 1):
                if hidden is not None and number in hidden.rows:
                    continue
                row = rows.get(number, _NO_CELLS)
                for column in columns:
                    cell = row.get(column)
                    if cell is None:
                        points.append(None)
                    elif self._has_lost_result(cell):
                        stale.add(len(points))
                        points.append(None)
                    else:
                        points.append(self._point(cell))
        return Seen(tuple(points), frozenset(stale))

    def _rows_of(self, sheet: Sheet) -> Mapping[int, Mapping[int, Element]]:
        """Return the cells of a sheet that hold anything; a chart looks at the same rows once for each series."""
        found = self._rows.get(sheet.part)
        if found is None:
            found = self._rows[sheet.part] = {}
            for number, cell in self._parts.grid(sheet).cells():
                if len(cell):
                    found.setdefault(number, {})[column_of(cell)] = cell
        return found

    def _areas(self, formula: str) -> list[tuple[Sheet, Area]] | None:
        found: list[tuple[Sheet, Area]] = []
        for stretch in self._stretches(formula):
            name, mark, place = stretch.rpartition("!")
            area = area_or_lines(place)
            sheet = self._sheets.find(unquoted(name)) if mark else None
            if area is None or sheet is None or not sheet.has_cells:
                return None
            if area.size > POINTS_MAX and (used := self._parts.grid(sheet).used_range()) is not None:
                # Whole columns and rows are as long as what stands there.
                area = Area(area.top, area.left, min(area.bottom, used.bottom), min(area.right, used.right))
            found.append((sheet, area))
        return found or None

    def _stretches(self, formula: str) -> Iterator[str]:
        text = formula.strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        for each in _STRETCH.findall(text):
            stretch = each.strip()
            place = stretch.rpartition("!")[2]
            named = None if area_or_lines(place) is not None else name_refers_to(self._parts, place)
            yield stretch if named is None else named.removeprefix("=")

    def _has_lost_result(self, cell: Element) -> bool:
        has_formula = has_value = False
        for child in cell:
            has_formula = has_formula or child.tag == FORMULA
            has_value = has_value or child.tag == VALUE
        return has_formula and (self._is_stale or not has_value)

    def _point(self, cell: Element) -> Point:
        text = shown(cell, self._strings)
        if not text:
            return None
        if cell.get("t", "n") != "n":
            return text
        try:
            return float(text)
        except ValueError:
            return text


class _Hidden:
    """Rows and columns of an area that nobody sees."""

    def __init__(self, sheet: Element, area: Area) -> None:
        data = sheet.find(main("sheetData"))
        self.rows = {whole(row.get("r"), 0) for row in (() if data is None else data) if row.get("hidden") in _ON}
        self.columns = {
            column
            for each in sheet.iterfind(f"{main('cols')}/{main('col')}")
            if each.get("hidden") in _ON
            for column in range(
                max(whole(each.get("min"), 1), area.left), min(whole(each.get("max"), 0), area.right) + 1
            )
        }
