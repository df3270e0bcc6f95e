"""Rows of a table that come and go."""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.table_change import Lines
from officeplane.formats.word.looks.properties import properties_of, put, take
from officeplane.formats.word.names import TR, VAL, P, element, w
from officeplane.formats.word.preserved_marks import check_fields, marks_to_preserve
from officeplane.formats.word.table_edits.cells import alike, take_in, untracked
from officeplane.formats.word.table_edits.grid import ROW_PR, Grid, set_merge, set_span
from officeplane.formats.xml import Element, take_out

_HEADER: Final = w("tblHeader")
_LOOK: Final = w("tblLook")
_FIRST_ROW: Final = 0x20
_OFF: Final = frozenset(("0", "false", "off"))


def insert_rows(table: Element, lines: Lines) -> None:
    """Put new rows before one, or at the end; each looks like the row that it pushes down, or the last."""
    grid = Grid(table)
    at_end = lines.at > len(grid.rows)
    place = grid.rows[-1 if at_end else lines.at - 1]
    model = lines.at - 1 if not at_end and (not _is_header(place) or lines.at == len(grid.rows)) else None
    if model is None:
        model = len(grid.rows) - 1 if at_end else lines.at
    for number in range(lines.count):
        made = _row(grid, model, lines.texts[number] if number < len(lines.texts) else (), is_between=not at_end)
        if at_end:
            place.addnext(made)
            place = made
        else:
            place.addprevious(made)


def delete_rows(table: Element, lines: Lines) -> None:
    """Take rows out; what a merged cell says that goes on below them stays."""
    grid = Grid(table)
    gone = grid.rows[lines.at - 1 : lines.at - 1 + lines.count]
    check_fields(gone)
    for line in grid.lines[lines.at - 1 : lines.at - 1 + lines.count]:
        for cell in line:
            parts = grid.parts(cell)
            if parts[0].row != cell.row or len(parts) == 1:
                continue
            left = [part for part in parts if not lines.at <= part.row < lines.at + lines.count]
            if left:
                take_in(left[0].element, cell.element)
                set_merge(left[0].element, "restart" if len(left) > 1 else None)
    left_rows = [row for row in grid.rows if row not in gone]
    for row in gone:
        remove_row(row, left_rows)


def remove_row(row: Element, others: Sequence[Element]) -> None:
    """Take one row out; marks that others refer to move into one of the other rows."""
    home = next((paragraph for other in others for paragraph in other.iter(P)), None)
    if home is not None:
        marks_to_preserve([row]).settle_in(home, at_end=False)
    take_out(row)


def set_header(table: Element, *, is_header: bool) -> None:
    """Have the first row be a header that every paper repeats, or a row like the others."""
    row = next(table.iter(TR))
    properties = properties_of(row, "trPr")
    take(properties, "tblHeader")
    if is_header:
        put(properties, "trPr", "tblHeader")
    look = next(table.iter(_LOOK), None)
    if look is not None and look.getparent() is table.find(w("tblPr")):
        _set_look(look, is_header=is_header)


def _set_look(look: Element, *, is_header: bool) -> None:
    look.set(w("firstRow"), "1" if is_header else "0")
    try:
        bits = int(look.get(VAL, "0"), 16)
    except ValueError:
        return
    look.set(VAL, f"{bits | _FIRST_ROW if is_header else bits & ~_FIRST_ROW:04X}")


def _is_header(row: Element) -> bool:
    said = row.find(f"{ROW_PR}/{_HEADER}")
    return said is not None and said.get(VAL) not in _OFF


def _row(grid: Grid, model: int, texts: Sequence[str], *, is_between: bool) -> Element:
    made = element("tr")
    for properties in grid.rows[model]:
        if properties.tag in {ROW_PR, w("tblPrEx")}:
            copy = untracked(properties)
            for said in copy.findall(_HEADER) + copy.findall(w("cnfStyle")):
                copy.remove(said)
            made.append(copy)
    own = 0
    for cell in grid.lines[model]:
        # Between two parts of a merged cell the new one is a part of it, too.
        is_part = is_between and cell.goes_on
        new = alike(cell.element, "" if is_part or own >= len(texts) else texts[own])
        own += not is_part
        made.append(new)
        set_span(new, cell.span)
        if is_part:
            set_merge(new, "continue")
    if len(texts) > own:
        raise InvalidEditError(f"a new row has {own} cells there, and {len(texts)} texts are given")
    return made
