"""Reading a workbook: its outline, its text, and what its cells hold."""

import hashlib
from collections.abc import Iterator
from typing import Final

from lxml import etree

from officeplane.domain.document import Node
from officeplane.formats.excel.cells.grid import Grid
from officeplane.formats.excel.cells.implied_addresses import column_of
from officeplane.formats.excel.cells.shared_strings import SharedStrings
from officeplane.formats.excel.cells.values import shown
from officeplane.formats.excel.charts.listing import charts_of
from officeplane.formats.excel.comments import remarks
from officeplane.formats.excel.formulas.calculation import count_stale, is_stale
from officeplane.formats.excel.formulas.shared import formula_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.defined_names import names_in
from officeplane.formats.excel.sheets.pictures import SheetPicture, nodes_of_pictures
from officeplane.formats.excel.sheets.places import area_or_lines, name_refers_to, unquoted
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import FORMULA
from officeplane.formats.pictures.drawing import blip_in, shown_by
from officeplane.formats.pictures.parts import digest_of
from officeplane.formats.shown import Measure
from officeplane.formats.xml import Element

STALE_MARK: Final = " [stale]"
"""What stands behind a result that Excel would calculate anew."""

_BETWEEN: Final = {ord("\t"): " ", ord("\n"): " ", ord("\r"): " "}


def outline(parts: Parts, *, tells_stale: bool) -> list[Node]:
    """Return the sheets with their used range, tables and charts, and how many results of each are stale, if wanted."""
    return [
        Node(sheet.id, "sheet", sheet.name, list(_children(parts, sheet, tells_stale=tells_stale)))
        for sheet in parts.sheets.all
    ]


def _children(parts: Parts, sheet: Sheet, *, tells_stale: bool) -> Iterator[Node]:
    if sheet.has_cells:
        grid = parts.grid(sheet)
        used = grid.used_range()
        if used is not None:
            stale = count_stale(parts.package, parts.workbook, grid.root) if tells_stale else 0
            yield Node(f"range-{sheet.number}", "range", str(used), marks={"stale": stale} if stale else {})
        for table in parts.tables(sheet):
            yield Node(table.id, "table", f"{table.name} {table.area}")
    for chart in charts_of(parts.package, sheet.part):
        yield Node(chart.id, "chart", chart.title)


def text(parts: Parts, *, tells_stale: bool) -> str:
    """Return every sheet's name and below it its rows, cells separated by tabs; empty rows and columns are left out.

    A result that is stale, or was never calculated, has a mark behind it, if that is wanted.
    """
    measure = Measure()
    missing = STALE_MARK if tells_stale else ""
    stale = missing if is_stale(parts.package, parts.workbook) else ""
    return "\n".join(line for sheet in parts.sheets.all for line in _lines(parts, sheet, measure, missing, stale))


def text_of_sheet(parts: Parts, sheet: Sheet) -> str:
    """Return the same of one sheet."""
    stale = STALE_MARK if is_stale(parts.package, parts.workbook) else ""
    return "\n".join(_lines(parts, sheet, Measure(), STALE_MARK, stale))


def _lines(parts: Parts, sheet: Sheet, measure: Measure, missing: str, stale: str) -> Iterator[str]:
    yield measure.passed(sheet.name)
    if not sheet.has_cells:
        return
    grid, strings = parts.grid(sheet), parts.strings
    rows: dict[int, dict[int, str]] = {}
    columns: set[int] = set()
    for number, cell in grid.cells():
        found = shown(cell, strings)
        if found is None:
            found = f"={formula_of(grid, cell)}{missing}"
        elif stale and _has_formula(cell):
            found += stale
        if found:
            column = column_of(cell)
            columns.add(column)
            rows.setdefault(number, {})[column] = measure.passed(found).translate(_BETWEEN)
    places = {column: place for place, column in enumerate(sorted(columns))}
    # What is in the cells has been counted; what stands between them has not.
    between = Measure()
    for row in rows.values():
        yield between.passed(_line(row, places))


def _line(row: dict[int, str], places: dict[int, int]) -> str:
    """Return a row with a tab before each place but the first; of the places only those are visited that are taken."""
    stretches: list[str] = []
    at = 0
    for column in sorted(row):
        stretches += ("\t" * (places[column] - at), row[column])
        at = places[column]
    return "".join(stretches)


def _has_formula(cell: Element) -> bool:
    return cell.find(FORMULA) is not None


def fingerprint(parts: Parts, target: str) -> str | None:
    """Return a hash of what a node holds now, None when there is no such node."""
    content = _content(parts, target)
    return None if content is None else hashlib.sha256("\0".join(content).encode("utf-8", "surrogatepass")).hexdigest()


def _content(parts: Parts, target: str) -> list[str] | None:
    name, mark, place = target.rpartition("!")
    if not mark and len(parts.sheets.all) == 1 and area_or_lines(target) is not None:
        name, mark = parts.sheets.names[0], "!"
    if not mark:
        return _node(parts, target)
    sheet = parts.sheets.find(name) or parts.sheets.find(unquoted(name))
    if sheet is None:
        return None
    if not place:
        return _sheet(parts, sheet)
    at = area_or_lines(place)
    if at is None or not sheet.has_cells:
        return None
    grid = parts.grid(sheet)
    if at.size > 1:
        return [f"{cell.get('r')} {_held(grid, parts.strings, cell)}" for cell in grid.cells_in(at) if len(cell)]
    cell = grid.cell(at.first)
    return [""] if cell is None else [_held(grid, parts.strings, cell)]


def _node(parts: Parts, target: str) -> list[str] | None:
    if target.startswith("name-"):
        folded = target.removeprefix("name-").casefold()
        names = names_in(parts.package.tree(parts.workbook))
        said = [etree.tostring(each, encoding="unicode") for each in names if each.get("name", "").casefold() == folded]
        place = name_refers_to(parts, target.removeprefix("name-"))
        return [*said, *(_content(parts, place) or () if place else ())] if said else None
    for sheet in parts.sheets.all:
        if target in {sheet.id, f"range-{sheet.number}"}:
            return _sheet(parts, sheet)
        if target.startswith(f"{sheet.id}.picture-"):
            shown = nodes_of_pictures(parts.package, sheet).get(target)
            return None if shown is None else _picture(parts, shown)
        if target.startswith(f"{sheet.id}.comment-"):
            return remarks.fingerprint(remarks.remarks_on(parts.package, parts.workbook, sheet), target)
        for table in parts.tables(sheet) if target.startswith("table-") else ():
            if table.id == target:
                return [etree.tostring(table.root, encoding="unicode")]
        for chart in charts_of(parts.package, sheet.part) if target.startswith("chart-") else ():
            if chart.id == target:
                return [etree.tostring(parts.package.tree(chart.part), encoding="unicode")]
    return None


def _picture(parts: Parts, picture: SheetPicture) -> list[str]:
    blip = blip_in(picture.element)
    held = None if blip is None else digest_of(parts.package, picture.part, shown_by(blip))
    around = picture.element if picture.anchor is None else picture.anchor
    return [etree.tostring(around, encoding="unicode", with_tail=False), held or ""]


def _sheet(parts: Parts, sheet: Sheet) -> list[str]:
    if not sheet.part:
        return [sheet.name]
    if not sheet.has_cells:
        return [sheet.name, etree.tostring(parts.package.tree(sheet.part), encoding="unicode")]
    grid, strings = parts.grid(sheet), parts.strings
    held = (f"{cell.get('r')} {_held(grid, strings, cell)}" for _, cell in grid.cells() if len(cell))
    return [sheet.name, *held]


def _held(grid: Grid, strings: SharedStrings, cell: Element) -> str:
    """A formula without its result, or a value with its type."""
    formula = formula_of(grid, cell)
    if formula is not None:
        return f"={formula}"
    kind = cell.get("t", "n")
    return f"{'s' if kind in {'inlineStr', 'str'} else kind}:{shown(cell, strings) or ''}" if len(cell) else ""
