"""Tables: rows of lines as Word takes them, with a grid and a cell for every place."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.blocks import Line
from officeplane.formats.word.names import child, element
from officeplane.formats.xml import Element

_COLUMNS_MAX: Final = 63
_SIDES: Final = ("top", "left", "bottom", "right", "insideH", "insideV")


def table(
    rows: Sequence[Sequence[Line]],
    header_rows: int,
    style_id: str | None,
    width: int,
    fill: Callable[[Element, Line, bool], None],
) -> Element:
    """Return a table as wide as the text (in twentieths of a point); `fill` writes a cell's paragraph."""
    columns = max((len(row) for row in rows), default=0)
    if columns == 0:
        raise InvalidEditError("the table has no cells: give at least one row with one cell")
    if columns > _COLUMNS_MAX:
        raise InvalidEditError(f"the table has {columns} columns; Word takes {_COLUMNS_MAX} at most")
    made = element("tbl")
    _fill_properties(child(made, "tblPr"), style_id, has_header=header_rows > 0)
    grid = child(made, "tblGrid")
    cell_width = str(max(width // columns, 1))
    for _ in range(columns):
        child(grid, "gridCol", w=cell_width)
    empty = element("tc")
    child(child(empty, "tcPr"), "tcW", w=cell_width, type="dxa")
    child(empty, "p")
    for number, row in enumerate(rows):
        is_header = number < header_rows
        line = child(made, "tr")
        if is_header:
            child(child(line, "trPr"), "tblHeader")
        for column in range(columns):
            cell = deepcopy(empty)
            line.append(cell)
            if column < len(row):
                fill(cell[-1], row[column], is_header)
    return made


def _fill_properties(properties: Element, style_id: str | None, *, has_header: bool) -> None:
    if style_id is not None:
        child(properties, "tblStyle", val=style_id)
    child(properties, "tblW", w="0", type="auto")
    if style_id is None:
        borders = child(properties, "tblBorders")
        for side in _SIDES:
            child(borders, side, val="single", sz="4", space="0", color="auto")
    child(
        properties, "tblLook", val="04A0" if has_header else "0480", firstRow="1" if has_header else "0", lastRow="0",
        firstColumn="1", lastColumn="0", noHBand="0", noVBand="1",
    )  # fmt: skip
