"""Finding a table by its id, and saying where it reaches."""

from typing import Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.tables import Table
from officeplane.formats.excel.tags import main

_FILTER: Final = main("autoFilter")
_TOLD: Final = 20


class Found(NamedTuple):
    """A table and its sheet, as they are now."""

    sheet: Sheet
    table: Table

    @property
    def area(self) -> Area:
        """The cells of the table, with its header and its totals."""
        return self.table.area

    @property
    def rows(self) -> int:
        """How many rows it has, all counted."""
        return self.area.bottom - self.area.top + 1

    @property
    def columns(self) -> int:
        """How many columns it has."""
        return self.area.right - self.area.left + 1

    def at(self, cell: Address) -> Address:
        """Return where on the sheet a cell of the table is."""
        return Address(self.area.top + cell.row - 1, self.area.left + cell.column - 1)


def find_table(parts: Parts, table_id: str) -> Found:
    """Return the table of an id; who names no table is told which there are."""
    known: list[str] = []
    for sheet in parts.sheets.all:
        for table in parts.tables(sheet) if sheet.has_cells else ():
            if table.id == table_id:
                return Found(sheet, table)
            known.append(f"{table.id!r} ({table.name} on {sheet.name!r})")
    there = f"there are {', '.join(known[:_TOLD])}" if known else "it has none: edit_grid and set_cells change sheets"
    raise InvalidEditError(f"the workbook has no table {table_id!r}; {there}")


def set_area(parts: Parts, table: Table, area: Area) -> None:
    """Have a table reach over other cells, and its filter over those of them that it filters."""
    table.area = area
    table.root.set("ref", str(area))
    found = table.root.find(_FILTER)
    if found is not None:
        found.set("ref", str(Area(area.top, area.left, area.bottom - table.has_totals, area.right)))
    parts.package.changed(table.part)
