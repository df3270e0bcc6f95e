"""Rows and cells move: each says elsewhere where it is, new ones look like those before them, and some go."""

from collections.abc import Callable
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import letters
from officeplane.formats.excel.cells.implied_addresses import column_of, number_of
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.shifting.shift import Shift
from officeplane.formats.excel.tags import CELL, ROW, main
from officeplane.formats.xml import Element, take_out

_DATA: Final = main("sheetData")
_DIGITS: Final = "0123456789"
_NEW_MAX: Final = 1_000_000
_LOOK: Final = ("s", "customFormat", "ht", "customHeight")


def check_room(root: Element, shift: Shift) -> None:
    """Refuse to push cells off the sheet that hold anything."""
    last = shift.limit - shift.count
    for row in reversed(_rows(root)):
        if shift.is_of_rows and number_of(row) <= last:
            break
        for cell in row.iterchildren(CELL):
            if len(cell) and (shift.is_of_rows or column_of(cell) > last):
                raise InvalidEditError(
                    f"{cell.get('r')} would be pushed off the sheet, which ends at {shift.axis.value.removesuffix('s')}"
                    f" {shift.limit if shift.is_of_rows else letters(shift.limit)}: delete what is there first"
                )


def shift_rows(root: Element, shift: Shift, looks_below: Callable[[], bool]) -> None:
    """Move all rows from the shift on; new ones take over the formats above, or below where these are a heading's."""
    moving: Element | None = None
    above: Element | None = None
    for row in _rows(root):
        number = number_of(row)
        if number < shift.at:
            above = row if number == shift.at - 1 else None
            continue
        seat = shift.point(number)
        if seat is None:
            take_out(row)
            continue
        moving = row if moving is None else moving
        name = str(seat)
        row.set("r", name)
        for cell in row.iterchildren(CELL):
            cell.set("r", cell.get("r", "").rstrip(_DIGITS) + name)
    if shift.inserts:
        below = moving if moving is not None and moving.get("r") == str(shift.end) else None
        like = below if looks_below() else above
        if like is not None and _has_look(like):
            _check_size(shift, len(like))
            _add_rows(root, moving, [_empty_copy(like, number, above, below) for number in range(shift.at, shift.end)])


def shift_cells(root: Element, shift: Shift) -> None:
    """Move the cells of all rows from a column on; new ones take over the formats to their left."""
    names: dict[str, str | None] = {}
    rows = _rows(root)
    before = letters(shift.at - 1)
    _check_size(shift, len(rows))
    for row in rows:
        left: Element | None = None
        for cell in list(row.iterchildren(CELL)):
            place = cell.get("r", "")
            column = place.rstrip(_DIGITS)
            if column not in names:
                seat = shift.point(column_of(cell))
                names[column] = None if seat is None else letters(seat)
            after = names[column]
            if after is None:
                row.remove(cell)
                continue
            if after != column:
                cell.set("r", after + place[len(column) :])
            elif column == before:
                left = cell
        if shift.inserts and left is not None and left.get("s") is not None:
            last = left
            for column_number in range(shift.at, shift.end):
                made = _cell(f"{letters(column_number)}{row.get('r')}", left)
                last.addnext(made)
                last = made
        _shift_spans(row, shift)


def _check_size(shift: Shift, width: int) -> None:
    if shift.inserts and width * shift.count > _NEW_MAX:
        raise InvalidEditError(f"{shift.count} {shift.axis.value} at once are too many here: insert fewer")


def _rows(root: Element) -> list[Element]:
    data = root.find(_DATA)
    return [] if data is None else list(data.iterchildren(ROW))


def _has_look(row: Element) -> bool:
    return any(row.get(name) is not None for name in _LOOK) or any(
        cell.get("s") is not None for cell in row.iterchildren(CELL)
    )


def _empty_copy(row: Element, number: int, above: Element | None, below: Element | None) -> Element:
    made = etree.Element(ROW)
    made.set("r", str(number))
    if row.get("spans") is not None:
        made.set("spans", row.get("spans", ""))
    for name in _LOOK:
        if (value := row.get(name)) is not None:
            made.set(name, value)
    # In the midst of rows that fold together, a new one folds with them.
    level = min(whole(each.get("outlineLevel"), 0) if each is not None else 0 for each in (above, below))
    if level:
        made.set("outlineLevel", str(level))
    made.extend(
        _cell(f"{cell.get('r', '').rstrip(_DIGITS)}{number}", cell)
        for cell in row.iterchildren(CELL)
        if cell.get("s") is not None
    )
    return made


def _cell(name: str, like: Element) -> Element:
    made = etree.Element(CELL)
    made.set("r", name)
    made.set("s", like.get("s", ""))
    return made


def _add_rows(root: Element, before: Element | None, rows: list[Element]) -> None:
    data = root.find(_DATA)
    for row in rows if data is not None else ():
        if before is not None:
            before.addprevious(row)
        elif data is not None:
            data.append(row)


def _shift_spans(row: Element, shift: Shift) -> None:
    spans = row.get("spans")
    if spans is None:
        return
    after: list[str] = []
    for span in spans.split():
        begin, _, end = span.partition(":")
        first, last = whole(begin, 0), whole(end, 0)
        if not first or not last:
            continue
        # New cells behind the last one look like it.
        grows = shift.inserts and last == shift.at - 1
        moved = (first, min(last + shift.count, shift.limit)) if grows else shift.stretch(first, last)
        if moved is not None:
            after.append(f"{moved[0]}:{moved[1]}")
    if after:
        row.set("spans", " ".join(after))
    else:
        del row.attrib["spans"]
