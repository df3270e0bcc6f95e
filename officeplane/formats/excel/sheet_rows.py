"""Rows of a sheet as texts: what each cell holds, in one way for all programs that read it."""

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from officeplane.formats.excel.cell_reading import CellTeller, named_sheet
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area
from officeplane.formats.excel.formulas.shared import place_of
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.reading import STALE_MARK
from officeplane.formats.shown import Measure


class CellText(NamedTuple):
    """What a cell says, and whether it is a text and no number, date, truth value or error."""

    text: str
    is_text: bool


Row = tuple[int, dict[int, CellText]]
"""The number of a row and its cells that say something, by the number of their column."""


def rows(parts: Parts, name: str | None) -> Iterator[Row]:
    """Yield the rows of a sheet that say something, in order; of the first sheet if none is named.

    Dates are as in ISO 8601, and behind a result that is stale stands a mark.
    """
    sheet = named_sheet(parts, name)
    if not sheet.has_cells:
        return
    grid = parts.grid(sheet)
    teller = CellTeller(parts, grid, ("values", "formulas"))
    measure = Measure()
    number, row = 0, dict[int, CellText]()
    for cell in grid.cells_in(Area(1, 1, ROWS_MAX, COLUMNS_MAX)):
        said = _said(teller.told(cell)) if len(cell) else None
        if said is None or not said.text:
            continue
        place = place_of(cell)
        if place.row != number and row:
            yield number, row
            row = {}
        number = place.row
        row[place.column] = said._replace(text=measure.passed(said.text))
    if row:
        yield number, row


def _said(item: dict[str, Any]) -> CellText:
    mark = STALE_MARK if item.get("stale") else ""
    match item.get("value"):
        case None:
            return CellText(f"{item.get('formula', '')}{mark}", is_text=True)
        case bool(value):
            return CellText(("TRUE" if value else "FALSE") + mark, is_text=False)
        case dict():
            (value,) = cast("dict[str, object]", item["value"]).values()
            return CellText(f"{value}{mark}", is_text=False)
        case str(value):
            return CellText(f"{value}{mark}", is_text=True)
        case value:
            return CellText(f"{value}{mark}", is_text=False)
