"""Rows of tables: moved, copied and taken out where no merged cells reach over several of them."""

from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.powerpoint.names import a, attribute_number, p
from officeplane.formats.powerpoint.shapes import FRAME
from officeplane.formats.xml import Element

_ROW: Final = a("tr")


def copy_row(row: Element) -> Element:
    """Put a copy of a row below it, and return the copy."""
    _refuse_merged(row)
    made = deepcopy(row)
    for extensions in made.findall(a("extLst")):
        made.remove(extensions)  # by the numbers in it PowerPoint tells rows apart
    row.addnext(made)
    _grow(row, attribute_number(row, "h", 0))
    return made


def take_out_row(row: Element) -> None:
    """Take out a row; the last one stays."""
    _refuse_merged(row)
    table = _table(row)
    if len(table.findall(_ROW)) == 1:
        raise InvalidEditError("it is the only row of its table: delete the table instead")
    _grow(row, -attribute_number(row, "h", 0))
    table.remove(row)


def move_row(row: Element, beside: Element, *, is_after: bool) -> None:
    """Put a row before or after another one of its table."""
    if _table(row) is not _table(beside):
        raise InvalidEditError("the rows are of two tables: a row moves in its own")
    _refuse_merged(row)
    _table(row).remove(row)
    (beside.addnext if is_after else beside.addprevious)(row)


def row_number(row: Element) -> int:
    """Return which row of its table it is, counting from 1."""
    return _table(row).findall(_ROW).index(row) + 1


def _table(row: Element) -> Element:
    found = row.getparent()
    if found is None:
        raise InvalidEditError("the row is in no table")
    return found


def _refuse_merged(row: Element) -> None:
    for cell in _table(row).iter(a("tc")):
        if cell.get("vMerge") in {"1", "true"} or attribute_number(cell, "rowSpan", 1) > 1:
            raise InvalidEditError(
                "cells of several rows are merged in this table, so its rows cannot be moved, copied or deleted one "
                "by one; edit_slide and edit_page write the table anew"
            )


def _grow(row: Element, by: int) -> None:
    """Make the frame of a table as much higher as its rows are."""
    frame = next((each for each in row.iterancestors() if each.tag == FRAME), None)
    extent = None if frame is None else frame.find(f"{p('xfrm')}/{a('ext')}")
    if extent is not None:
        extent.set("cy", str(max(attribute_number(extent, "cy", 0) + by, 0)))
