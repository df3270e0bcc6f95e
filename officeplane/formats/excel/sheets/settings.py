"""Settings of a sheet: everything about it besides its cells that an edit may change, and how reading tells it."""

from itertools import islice
from typing import Any, Final

from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.conditional_formats import conditional_formats_of
from officeplane.formats.excel.sheets.filters import filter_of
from officeplane.formats.excel.sheets.freezing import frozen_at
from officeplane.formats.excel.sheets.merging import merges_of
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.sheets.validations import validations_of
from officeplane.formats.excel.sheets.visibility import tab_color

_TOLD_MAX: Final = 100
"""How many of each list are told."""


def settings_of(parts: Parts, sheet: Sheet) -> dict[str, Any]:
    """Return what is to be said of a sheet, by the names that the edit has for it."""
    if not sheet.part:
        return {}
    root = parts.package.tree(sheet.part)
    said: dict[str, Any] = {"tabColor": tab_color(root)}
    if sheet.has_cells:
        said |= {
            "freeze": frozen_at(root),
            "autofilter": str(filter_of(root) or ""),
            "merged": [str(each) for each in islice(merges_of(root), _TOLD_MAX)],
            "validation": list(islice(validations_of(parts, sheet), _TOLD_MAX)),
            "conditionalFormat": list(islice(conditional_formats_of(root), _TOLD_MAX)),
        }
    return {name: value for name, value in said.items() if value}
