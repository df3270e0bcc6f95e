"""Deleted numbers: the highest number of a sheet that is gone, noted in the workbook so that none gets it again.

It stands in the workbook's list of extensions, where Excel looks past what it does not know.
"""

from typing import Final

from lxml import etree

from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_OURS: Final = "urn:officeplane:workbook"
_URI: Final = "{9A1D6F52-7C0E-5B43-8E2A-0FF1CE0A1E57}"
_LIST: Final = main("extLst")
_EXTENSION: Final = main("ext")
_LAST: Final = f"{{{_OURS}}}sheets"


def last_sheet_number(workbook: Element) -> int:
    """Return the highest number that a deleted sheet had."""
    found = _find(workbook)
    return 0 if found is None else whole(found.get("last"), 0)


def note_last_sheet_number(workbook: Element, number: int) -> None:
    """Remember the number of a sheet that goes, so that no other sheet is given it."""
    found = _find(workbook)
    if found is None:
        extensions = workbook.find(_LIST)
        if extensions is None:
            extensions = etree.SubElement(workbook, _LIST)
        extension = etree.SubElement(extensions, _EXTENSION, uri=_URI)
        found = etree.SubElement(extension, _LAST, nsmap={"op": _OURS})
    found.set("last", str(number))


def _find(workbook: Element) -> Element | None:
    return workbook.find(f"{_LIST}/{_EXTENSION}/{_LAST}")
