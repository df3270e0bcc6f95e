"""Books: what the cells of one state hold and how they look, so that two states can be compared.

The result of a formula is none of that: programs calculate it anew.
"""

import json
from typing import Final, NamedTuple

from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.number_formats import NumberFormats
from officeplane.formats.excel.cells.values import CellError, Plain, shown, string_item
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.formulas.shared import formula_of, place_of
from officeplane.formats.excel.looks.named_styles import NamedStyles
from officeplane.formats.excel.looks.seen import Seen
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.stylesheet import BORDERS, CELL_FORMATS, FILLS, FONTS, Stylesheet, shape
from officeplane.formats.excel.tags import FORMULA, RUN
from officeplane.formats.merging.canonical import Canonical
from officeplane.formats.xml import Element

_LISTED: Final = {"fontId": FONTS, "fillId": FILLS, "borderId": BORDERS}
_NOT_TOLD: Final = frozenset(("numFmtId", "fontId", "fillId", "borderId", "xfId", "quotePrefix", "pivotButton"))
_TEXTS: Final = frozenset(("s", "str", "inlineStr"))


class Held(NamedTuple):
    """What a cell holds."""

    exactly: str
    roughly: str
    content: str
    """What it says, without how it looks."""
    cell: Element


class Book:
    """One state of a workbook."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.stylesheet = Stylesheet(parts.package, parts.workbook)
        self.sheets = {one.id: one for one in parts.sheets.all}
        self._names = {number: name for name, number in NamedStyles(self.stylesheet).names.items()}
        self._formats = NumberFormats(parts.package, parts.workbook)
        self._seen = Seen(parts)
        self._strings = parts.strings
        self._cells: dict[str, dict[Address, Held]] = {}
        self._exact: dict[str, str] = {}
        self._rough: dict[str, str] = {}

    def grid(self, sheet: Sheet) -> Grid:
        """Return the cells of a sheet."""
        return self.parts.grid(sheet)

    def cells(self, sheet: Sheet) -> dict[Address, Held]:
        """Return the cells of a sheet that hold anything or look otherwise than others, as they were at first."""
        if sheet.id not in self._cells:
            self._cells[sheet.id] = self._cells_of(sheet)
        return self._cells[sheet.id]

    def _cells_of(self, sheet: Sheet) -> dict[Address, Held]:
        grid = self.grid(sheet)
        usual = self.exact_format("0")
        found: dict[Address, Held] = {}
        for _, cell in grid.cells():
            held = self._held(grid, cell)
            if held.content or held.exactly != f"\0{usual}":
                found[place_of(cell)] = held
        return found

    def value(self, grid: Grid, cell: Element) -> Plain:
        """Return what is to be written where the same is to stand."""
        formula = formula_of(grid, cell)
        if formula is not None:
            return Formula(formula)
        text = shown(cell, self._strings) or ""
        kind = cell.get("t", "n")
        if kind in _TEXTS:
            return text
        if kind == "b":
            return text == "TRUE"
        if kind == "e":
            return CellError(text)
        if not text:
            return None
        number = float(text)
        return int(text) if text.lstrip("-").isdecimal() else number

    def runs(self, cell: Element) -> Element | None:
        """Return a text in which letters differ, as it lies; None of any other."""
        item = string_item(cell, self._strings)
        return None if item is None or item.find(RUN) is None else item

    def said(self, grid: Grid, cell: Element) -> str:
        """Return what is told of a cell that is in conflict."""
        formula = formula_of(grid, cell)
        return f"={formula}" if formula is not None else shown(cell, self._strings) or ""

    def exact_format(self, style: str | None) -> str:
        """Return all that a format is."""
        key = style or "0"
        if key not in self._exact:
            self._exact[key] = self._exactly(key)
        return self._exact[key]

    def rough_format(self, style: str | None) -> str:
        """Return what a reader sees of a format."""
        key = style or "0"
        if key not in self._rough:
            looks = json.dumps(self._seen.unusual(key), sort_keys=True)
            self._rough[key] = f"{self._formats.of_style(key)} {looks}"
        return self._rough[key]

    def code(self, style: str | None) -> str:
        """Return how a format shows numbers."""
        return self._formats.of_style(style or "0")

    def named_style(self, format: Element) -> str:
        """Return what the style is called that a format was made from; nothing where it has none of its own."""
        number = whole(format.get("xfId"), 0)
        return self._names.get(number, "") if number else ""

    def _held(self, grid: Grid, cell: Element) -> Held:
        content = self._content(grid, cell)
        plain = content
        runs = self.runs(cell) if cell.get("t") in _TEXTS and cell.find(FORMULA) is None else None
        if runs is not None:
            plain, content = content, f"{content}\0{_CANONICAL.inside(runs)}"
        style = cell.get("s")
        return Held(
            f"{content}\0{self.exact_format(style)}", f"{plain}\0{self.rough_format(style)}", content, cell
        )  # fmt: skip

    def _content(self, grid: Grid, cell: Element) -> str:
        formula = formula_of(grid, cell)
        if formula is not None:
            own = cell.find(FORMULA)
            kind = "" if own is None else own.get("t", "")
            where = own.get("ref", "") if own is not None and kind in {"array", "dataTable"} else ""
            return f"={formula}{' ' + kind + ' ' + where if where else ''}"
        text = shown(cell, self._strings) or ""
        kind = cell.get("t", "n")
        if kind in _TEXTS:
            return f"text {text}" if text else ""
        if kind != "n" or not text:
            return f"{kind} {text}" if text else ""
        try:
            return f"number {float(text)!r}"
        except ValueError:
            return f"other {text}"

    def _exactly(self, style: str) -> str:
        found = self.stylesheet.entry(CELL_FORMATS, whole(style, 0))
        if found is None:
            return "" if style == "0" else self.exact_format("0")
        entries = [self.stylesheet.entry(tag, whole(found.get(attribute), 0)) for attribute, tag in _LISTED.items()]
        told = [
            self._formats.of_style(style),
            *(repr(None if one is None else shape(one)) for one in entries),
            *(repr(shape(one)) for one in found if isinstance(one.tag, str)),
            self.named_style(found),
            repr(
                sorted((n, v) for n, v in found.attrib.items() if n not in _NOT_TOLD and not str(n).startswith("apply"))
            ),
        ]
        return "|".join(told)


_CANONICAL: Final = Canonical(keeps_blanks=frozenset(("{http://schemas.openxmlformats.org/spreadsheetml/2006/main}t",)))
