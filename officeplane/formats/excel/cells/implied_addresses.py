"""Implied addresses: rows and cells may leave out where they are, until something moves in between."""

from typing import Final

from lxml import etree

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, column_number, letters
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import CELL, MAIN, ROW
from officeplane.formats.xml import Element

_HAS_NAMELESS: Final = etree.XPath(
    "boolean(m:sheetData/m:row[not(@r)] | m:sheetData/m:row/m:c[not(@r)])", namespaces={"m": MAIN}
)


def name_cells(sheet: Element) -> None:
    """Let all rows and cells of a sheet say where they are.

    It is done whenever a sheet's tree changes or may change, so that the part is
    the same afterwards whoever has looked at it before.
    """
    if not _HAS_NAMELESS(sheet):
        return
    row_number = 0
    for row in sheet.iterfind(f"{{{MAIN}}}sheetData/{ROW}"):
        row_number = whole(row.get("r"), row_number + 1)
        row.set("r", str(row_number))
        column = 0
        for cell in row.iterchildren(CELL):
            column = column + 1 if cell.get("r") is None else column_of(cell)
            cell.set("r", f"{letters(column)}{row_number}")


def column_of(cell: Element) -> int:
    """Return the column that a cell says it is in."""
    name = cell.get("r", "").rstrip("0123456789")
    if not (name.isascii() and name.isalpha() and len(name) <= 3) or column_number(name) > COLUMNS_MAX:
        raise UnsupportedDocumentError("damaged", f"a sheet has a cell that is nowhere: {cell.get('r')!r}")
    return column_number(name)


def number_of(row: Element) -> int:
    """Return the number that a row says it has."""
    number = whole(row.get("r"), 0)
    if not 1 <= number <= ROWS_MAX:
        raise UnsupportedDocumentError("damaged", f"a sheet has a row that is nowhere: {row.get('r')!r}")
    return number
