"""What the tests of results share: workbooks of which each result is known, and what is told of them."""

import io
import re
from collections.abc import Mapping
from typing import Any, Final

import openpyxl
from openpyxl.worksheet.table import Table

from officeplane.edits.contract import Edit
from officeplane.edits.define_name import DefineName
from officeplane.edits.set_cells import SetCells
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.package import Package
from tests.formats.excel.books import applied, opened

Sheets = Mapping[str, Mapping[str, object]]
_NOTE: Final = re.compile(rb"<extLst>.*</extLst>", re.DOTALL)


def not_calculated(sheets: Sheets, *, table: str | None = None) -> bytes:
    """Return a workbook without results; a table `Sold` on the first sheet, if there is to be one."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for sheet, cells in sheets.items():
        made = book.create_sheet(sheet)
        for cell, value in cells.items():
            made[cell] = value
    if table is not None:
        book.worksheets[0].add_table(Table(displayName="Sold", ref=table))
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def a_book(sheets: Sheets, *, names: Mapping[str, str] | None = None, table: str | None = None) -> bytes:
    """Return a workbook of which every result is known, as far as it can be."""
    defined = [DefineName(name=name, refers_to=refers_to) for name, refers_to in (names or {}).items()]
    _, data = applied(not_calculated(sheets, table=table), *defined, set_cell("Z1", 0, next(iter(sheets))))
    return data


def set_cell(cell: str, value: object, sheet: str = "S") -> Edit:
    return SetCells.model_validate({"sheet": sheet, "cells": {cell: value}})


def results(data: bytes) -> dict[str, Any]:
    """Return what each formula comes to, `stale` where that is not known."""
    book = opened(data)
    return {
        f"{sheet.text}!{item['cell']}": "stale" if item.get("stale") else item["value"]
        for sheet in book.outline()
        for item in book.cells(CellsWanted(sheet=sheet.text)).items
        if "formula" in item
    }


def everything_anew(data: bytes) -> bytes:
    """Return a workbook after all of its formulas were calculated, whatever was known of them."""
    package = Package.read(data)
    package.put("xl/workbook.xml", _NOTE.sub(b"", package.content("xl/workbook.xml")))
    _, after = applied(package.write().content(), set_cell("Z98", 1, opened(data).outline()[0].text))
    return after
