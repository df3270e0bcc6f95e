"""Renaming a sheet."""

from officeplane.formats.excel.formulas.rewriting import sheet_renamed
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.names import check_sheet_name


def rename_sheet(parts: Parts, sheet_name: str, name: str) -> str:
    """Give a sheet another name, and let what names it follow; return its node id."""
    sheets = parts.sheets
    sheet = sheets.get(sheet_name)
    check_sheet_name(name, [each.name for each in sheets.all if each is not sheet])
    before = sheet.name
    if before != name:
        sheet.element.set("name", name)
        parts.package.changed(parts.workbook)
        parts.changes.has_moved = True
        sheet_renamed(parts.package, before, name)
    return sheet.id
