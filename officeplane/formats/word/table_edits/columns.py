"""Columns of a table that come and go."""

from collections.abc import Iterator
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.table_change import Lines
from officeplane.formats.word.names import P, child, w
from officeplane.formats.word.preserved_marks import check_fields, marks_to_preserve
from officeplane.formats.word.table_edits.cells import alike
from officeplane.formats.word.table_edits.grid import CELL_PR, ROW_PR, Cell, Grid, number_in, set_span, skip
from officeplane.formats.word.table_edits.rows import remove_row
from officeplane.formats.xml import Element, take_out

COLUMNS_MAX: Final = 63
_GRID: Final = w("tblGrid")
_COLUMN: Final = w("gridCol")
_WIDTH: Final = w("w")
_KIND: Final = w("type")


def insert_columns(table: Element, lines: Lines) -> None:
    """Put new columns before one, or at the end; the table stays as wide as it is."""
    grid = Grid(table)
    if grid.columns + lines.count > COLUMNS_MAX:
        raise InvalidEditError(f"the table would have {grid.columns + lines.count} columns; Word takes {COLUMNS_MAX}")
    before = _widths(table)
    for number, line in enumerate(grid.lines):
        texts = [column[number] if number < len(column) else "" for column in lines.texts[: lines.count]]
        _insert_in(grid.rows[number], line, lines, texts)
    columns = table.find(_GRID)
    if columns is not None and len(columns):
        place = min(lines.at - 1, len(columns))
        model = columns[max(place - 1, 0)].get(_WIDTH, "0")
        for _ in range(lines.count):
            made = child(columns, "gridCol", w=model)
            columns.insert(place, made)
    _scale(table, before)


def delete_columns(table: Element, lines: Lines) -> None:
    """Take columns out; a cell that reaches beyond them becomes narrower and keeps what it says."""
    grid = Grid(table)
    last = lines.at + lines.count - 1
    left = [row for row, line in zip(grid.rows, grid.lines, strict=True) if not _all_within(line, lines.at, last)]
    for row, line in zip(grid.rows, grid.lines, strict=True):
        if row in left:
            _delete_in(row, line, lines.at, last)
        else:
            remove_row(row, left)
    columns = table.find(_GRID)
    if columns is not None:
        for column in list(columns)[lines.at - 1 : last]:
            columns.remove(column)


def _insert_in(row: Element, line: list[Cell], lines: Lines, texts: list[str]) -> None:
    around = next((cell for cell in line if cell.column < lines.at < cell.end), None)
    if around is not None:
        set_span(around.element, around.span + lines.count)
        return
    if not line or lines.at < line[0].column:
        skip(row, "gridBefore", number_in(row.find(ROW_PR), "gridBefore") + lines.count)
        return
    if lines.at > line[-1].end:
        skip(row, "gridAfter", number_in(row.find(ROW_PR), "gridAfter") + lines.count)
        return
    left = next((cell for cell in line if cell.end == lines.at), None)
    right = next((cell for cell in line if cell.column == lines.at), None)
    model = left or right
    if model is None:
        return
    for number in range(lines.count):
        made = alike(model.element, texts[number] if number < len(texts) else "")
        if right is not None:
            right.element.addprevious(made)
        else:
            model.element.addnext(made)
            model = Cell(made, model.row, model.column, 1, goes_on=False)


def _delete_in(row: Element, line: list[Cell], first: int, last: int) -> None:
    gone = [cell for cell in line if first <= cell.column and cell.end - 1 <= last]
    check_fields([cell.element for cell in gone])
    stays = next((cell for cell in line if cell not in gone), None)
    for cell in line:
        covered = min(last, cell.end - 1) - max(first, cell.column) + 1
        if cell in gone:
            if stays is not None:
                home = next(stays.element.iter(P))
                marks_to_preserve([cell.element]).settle_in(home, at_end=False)
            take_out(cell.element)
        elif covered > 0:
            set_span(cell.element, cell.span - covered)
            _widen(cell.element, (cell.span - covered) / cell.span)
    for name, begin, end in (("gridBefore", 1, line[0].column - 1), ("gridAfter", line[-1].end, last)):
        known = number_in(row.find(ROW_PR), name)
        if known:
            inside = max(0, min(last, end if name == "gridBefore" else begin + known - 1) - max(first, begin) + 1)
            skip(row, name, known - inside)


def _all_within(line: list[Cell], first: int, last: int) -> bool:
    return all(first <= cell.column and cell.end - 1 <= last for cell in line)


def _widths(table: Element) -> int:
    return sum(_number(column) for column in table.iterfind(f"{_GRID}/{_COLUMN}"))


def _scale(table: Element, before: int) -> None:
    now = _widths(table)
    if not before or not now:
        return
    for column in table.iterfind(f"{_GRID}/{_COLUMN}"):
        column.set(_WIDTH, str(max(round(_number(column) * before / now), 1)))
    for line in Grid(table).lines:
        for cell in line:
            _widen(cell.element, before / now)


def _widen(cell: Element, times: float) -> None:
    for width in _measured(cell):
        width.set(_WIDTH, str(max(round(_number(width) * times), 1)))


def _measured(cell: Element) -> Iterator[Element]:
    width = cell.find(f"{CELL_PR}/{w('tcW')}")
    if width is not None and width.get(_KIND) in {"dxa", "pct"} and _number(width):
        yield width


def _number(element: Element) -> int:
    said = element.get(_WIDTH, "")
    return int(said) if said.isdecimal() else 0
