"""What the tests of workbooks share: opening, editing, writing, reopening, and what makes a file sound."""

import io
import warnings
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import openpyxl
from lxml import etree
from openpyxl.workbook import Workbook as Reopened

from officeplane.domain.document import Format
from officeplane.edits.contract import Edit, Occasion, Result
from officeplane.formats.excel.cells.ranges import Given
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.gate import admit
from officeplane.formats.package import Package

MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
Cells = Mapping[str, Given]


def opened(data: bytes) -> Workbook:
    return Workbook(Package.read(data))


def written(book: Workbook) -> bytes:
    return book.package.write().content()


def occasion() -> Occasion:
    return Occasion("task-1", "Ada", datetime(2026, 1, 2, tzinfo=UTC))


def applied(data: bytes, *edits: Edit) -> tuple[list[Result], bytes]:
    """Return what edits tell when they are applied one after another, and the file then."""
    book = opened(data)
    told = [edit.apply(book, occasion()) for edit in edits]
    return told, written(book)


def with_cells(data: bytes, sheet: str, cells: Cells) -> bytes:
    book = opened(data)
    book.set_cells(sheet, cells)
    book.recalculate()
    return written(book)


def reopened(data: bytes) -> Reopened:
    with warnings.catch_warnings():
        # What it would lose when saving is no business of ours: it only reads.
        warnings.simplefilter("ignore")
        return openpyxl.load_workbook(io.BytesIO(data), rich_text=False)


def value(data: bytes, sheet: str, cell: str) -> Any:
    """Return what a cell of a file holds, as a stranger reads it."""
    return reopened(data)[sheet][cell].value


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def differing(before: bytes, after: bytes) -> set[str]:
    """Return the parts that are not the same in two files."""
    old, new = parts(before), parts(after)
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def part(data: bytes, name: str) -> Any:
    """Return a part's tree."""
    return etree.fromstring(parts(data)[name])


def xml_of_cell(data: bytes, name: str, cell: str) -> str:
    """Return a cell of a sheet's part as it lies, without its namespace."""
    (found,) = [each for each in part(data, name).iter(f"{MAIN}c") if each.get("r") == cell]
    return etree.tostring(found, encoding="unicode", with_tail=False).split(">", 1)[1].rpartition("<")[0]


def formulas(data: bytes, name: str) -> dict[str, str]:
    """Return the formulas of a sheet's part by cell, as they lie."""
    return {str(f.getparent().get("r")): f.text or "" for f in part(data, name).iter(f"{MAIN}f")}


_ORDER: Final = (
    "sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "sheetCalcPr", "sheetProtection",
    "protectedRanges", "scenarios", "autoFilter", "sortState", "dataConsolidate", "customSheetViews", "mergeCells",
    "phoneticPr", "conditionalFormatting", "dataValidations", "hyperlinks", "printOptions", "pageMargins", "pageSetup",
    "headerFooter", "rowBreaks", "colBreaks", "customProperties", "cellWatches", "ignoredErrors", "smartTags",
    "drawing", "legacyDrawing", "legacyDrawingHF", "picture", "oleObjects", "controls", "webPublishItems", "tableParts",
    "extLst",
)  # fmt: skip
_WORKBOOK_ORDER: Final = (
    "fileVersion", "fileSharing", "workbookPr", "AlternateContent", "revisionPtr", "workbookProtection", "bookViews",
    "sheets", "functionGroups", "externalReferences", "definedNames", "calcPr", "oleSize", "customWorkbookViews",
    "pivotCaches", "extLst",
)  # fmt: skip


def assert_sound(data: bytes) -> None:
    """Check what Excel checks: order of rows, cells and elements, no part without a kind, no arrow to nowhere."""
    held = parts(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == len(held)
    for name, content in held.items():
        if not name.startswith("xl/worksheets/sheet"):
            continue
        root = etree.fromstring(content)
        _assert_order(root, _ORDER)
        if any(row.get("r") is None for row in root.iter(f"{MAIN}row")):
            continue  # as somebody made it, and nobody touched it
        rows = [int(row.get("r", "0")) for row in root.iter(f"{MAIN}row")]
        assert rows == sorted(set(rows))
        for row in root.iter(f"{MAIN}row"):
            columns = [_column(cell.get("r", "")) for cell in row]
            assert columns == sorted(set(columns))
            assert all(cell.get("r", "").endswith(row.get("r", "?")) for cell in row)
    _assert_order(etree.fromstring(held["xl/workbook.xml"]), _WORKBOOK_ORDER)
    overrides = {
        each.get("PartName", "")[1:] for each in etree.fromstring(held["[Content_Types].xml"]) if each.get("PartName")
    }
    assert overrides <= held.keys()
    assert admit(data) is Format.XLSX
    package = Package.read(data)
    for name in package.names:
        if name.endswith(".rels"):
            for arrow in package.tree(name):
                target = arrow.get("Target", "")
                assert target.startswith("#") or target.rsplit("/", 1)[-1] in {n.rsplit("/", 1)[-1] for n in held}
    reopened(data)


def _assert_order(root: Any, order: tuple[str, ...]) -> None:
    names = [each.tag.rpartition("}")[2] for each in root]
    places = [order.index(name) for name in names]
    assert places == sorted(places), names


def _column(cell: str) -> int:
    number = 0
    for letter in cell.rstrip("0123456789"):
        number = number * 26 + ord(letter) - 64
    return number
