"""Places: the cells that somebody means by an address, or by the id of a node."""

import re
from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Area, area, column_number, letters
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import main

_COLUMNS: Final = re.compile(r"\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})")
_ROWS: Final = re.compile(r"\$?([1-9][0-9]{0,6}):\$?([1-9][0-9]{0,6})")
WHOLE: Final = Area(1, 1, ROWS_MAX, COLUMNS_MAX)
"""All cells of a sheet."""


class Place(NamedTuple):
    """Cells of a sheet."""

    sheet: Sheet
    area: Area

    def __str__(self) -> str:
        return f"{self.sheet.name}!{told(self.area)}"


def area_or_lines(name: str) -> Area | None:
    """Return the area of `A1:C9` or `B2`, of whole columns `B:D`, or of whole rows `2:5`; None when it is none."""
    if match := _COLUMNS.fullmatch(name):
        left, right = sorted((column_number(match[1]), column_number(match[2])))
        return Area(1, left, ROWS_MAX, right) if right <= COLUMNS_MAX else None
    if match := _ROWS.fullmatch(name):
        top, bottom = sorted((int(match[1]), int(match[2])))
        return Area(top, 1, bottom, COLUMNS_MAX) if bottom <= ROWS_MAX else None
    return area(name)


def unquoted(name: str) -> str:
    """Return the name of a sheet without the quotation marks that it has in addresses."""
    is_quoted = len(name) > 1 and name.startswith("'") and name.endswith("'")
    return name[1:-1].replace("''", "'") if is_quoted else name


def place_at(parts: Parts, range: str) -> Place:
    """Return the cells of an address such as `Sheet1!A1:C9`; one that names none is refused."""
    name, mark, within = range.rpartition("!")
    if not mark:
        if len(parts.sheets.all) > 1:
            known = ", ".join(repr(each) for each in parts.sheets.names[:10])
            raise InvalidEditError(f"the range {range!r} names no sheet: write one before it, as in Sheet1!A1; {known}")
        name = parts.sheets.names[0]
    found = area_or_lines(within)
    if found is None:
        raise InvalidEditError(f"there is no range {within!r}: give one such as A1:C9, B:B (columns) or 2:2 (rows)")
    return Place(parts.sheets.with_cells(unquoted(name)), found)


def place_of(parts: Parts, node_id: str) -> Place:
    """Return the cells that a node is: of a sheet, its used range, a table, a name, or an address."""
    if "!" in node_id:
        return place_at(parts, node_id)
    if node_id.startswith("name-"):
        return _named(parts, node_id.removeprefix("name-"))
    for sheet in parts.sheets.all:
        if node_id == sheet.id:
            return Place(parts.sheets.with_cells(sheet.id), WHOLE)
        if not sheet.has_cells:
            continue
        if node_id == f"range-{sheet.number}" and (used := parts.grid(sheet).used_range()) is not None:
            return Place(sheet, used)
        for table in parts.tables(sheet) if node_id.startswith("table-") else ():
            if table.id == node_id:
                return Place(sheet, table.area)
    raise InvalidEditError(
        f"there are no cells of the node {node_id!r}: give the id of a sheet, of a range or table in it, or of a name, "
        "or cells by their address, such as Sheet1!A1:C9"
    )


def name_refers_to(parts: Parts, name: str) -> str | None:
    """Return what a defined name stands for, None when there is no such name."""
    names = parts.package.tree(parts.workbook).find(main("definedNames"))
    for defined in () if names is None else names.iterchildren(main("definedName")):
        if defined.get("name", "").casefold() == name.casefold():
            return defined.text or ""
    return None


def _named(parts: Parts, name: str) -> Place:
    refers_to = name_refers_to(parts, name)
    if refers_to is None:
        raise InvalidEditError(f"there is no name {name!r} in the workbook")
    sheet, mark, within = refers_to.rpartition("!")
    if mark and area_or_lines(within) is not None and parts.sheets.find(unquoted(sheet)) is not None:
        return place_at(parts, refers_to)
    raise InvalidEditError(f"the name {name!r} stands for {refers_to!r}, which is no range of this workbook")


def told(found: Area) -> str:
    """Return the address of an area; whole columns and rows as `B:D` and `2:5`."""
    if found.top == 1 and found.bottom == ROWS_MAX:
        return f"{letters(found.left)}:{letters(found.right)}"
    if found.left == 1 and found.right == COLUMNS_MAX:
        return f"{found.top}:{found.bottom}"
    return str(found)
