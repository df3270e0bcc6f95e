"""Structured references: cells of a table by the names of its columns, as a file holds them."""

import re
from typing import Final

from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.recalculation.expressions import End, Reference
from officeplane.formats.excel.recalculation.surroundings import KnownTable

_ITEM: Final = re.compile(r"\[((?:'.|[^\[\]'])*)\]")
_ESCAPED: Final = re.compile(r"'(.)")
_THIS_ROW: Final = "#this row"


def table_cells(table: KnownTable) -> Reference:
    """Return all cells of a table."""
    area = table.area
    return _reference(table, area.top, area.bottom, area.left, area.right)


def cells_of_table(table: KnownTable, bracket: str, sheet: int, at: Address) -> Reference | None:
    """Return the cells meant by `Table[Column]` and the like in a cell; None when they are not known here."""
    inner = bracket[1:-1].strip()
    items = [inner] if not inner.startswith("[") else _ITEM.findall(inner)
    if inner.startswith("[") and ",".join(f"[{item}]" for item in items) != inner:
        stretch = re.fullmatch(r"(?:\[#[^\[\]]*\],)?(\[(?:'.|[^\[\]'])*\]):(\[(?:'.|[^\[\]'])*\])", inner)
        if stretch is None:
            return None
    marks = [item.casefold() for item in items if item.startswith("#")]
    columns = [_ESCAPED.sub(r"\1", item).casefold() for item in items if item and not item.startswith("#")]
    places = [table.columns.index(column) for column in columns if column in table.columns]
    if len(marks) > 1 or len(places) != len(columns) or len(columns) > 2:
        return None
    if len(columns) == 2 and ":" not in inner:
        return None
    left = table.area.left + (min(places) if places else 0)
    right = table.area.left + max(places) if places else table.area.right
    rows = _rows(table, marks[0] if marks else "#data", sheet, at)
    return None if rows is None else _reference(table, *rows, left, right, own=at if _THIS_ROW in marks else None)


def _rows(table: KnownTable, mark: str, sheet: int, at: Address) -> tuple[int, int] | None:
    area = table.area
    first, last = area.top + table.has_header, area.bottom - table.has_totals
    match mark:
        case "#data":
            return (first, last) if first <= last else None
        case "#all":
            return area.top, area.bottom
        case "#headers":
            return (area.top, area.top) if table.has_header else None
        case "#totals":
            return (area.bottom, area.bottom) if table.has_totals else None
        case "#this row":
            return (at.row, at.row) if sheet == table.sheet and first <= at.row <= last else None
        case _:
            return None


def _reference(
    table: KnownTable, top: int, bottom: int, left: int, right: int, *, own: Address | None = None
) -> Reference:
    first, last = (
        (End(top, True), End(bottom, True))
        if own is None
        else (End(top - own.row, False), End(bottom - own.row, False))
    )
    is_area = top != bottom or left != right
    return Reference(table.sheet, first, End(left, True), last, End(right, True), is_area=is_area)
