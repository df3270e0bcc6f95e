"""Children of a sheet: each kind has its place among the others, and Excel repairs what stands elsewhere."""

from typing import Final

from lxml import etree

from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_ORDER: Final = tuple(
    main(name)
    for name in (
        "sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "sheetCalcPr", "sheetProtection",
        "protectedRanges", "scenarios", "autoFilter", "sortState", "dataConsolidate", "customSheetViews", "mergeCells",
        "phoneticPr", "conditionalFormatting", "dataValidations", "hyperlinks", "printOptions", "pageMargins",
        "pageSetup", "headerFooter", "rowBreaks", "colBreaks", "customProperties", "cellWatches", "ignoredErrors",
        "smartTags", "drawing", "legacyDrawing", "legacyDrawingHF", "drawingHF", "picture", "oleObjects", "controls",
        "webPublishItems", "tableParts", "extLst",
    )
)  # fmt: skip
_PLACES: Final = {tag: at for at, tag in enumerate(_ORDER)}


def put(sheet: Element, child: Element) -> None:
    """Put a child at its place, behind others of its kind."""
    at = _PLACES[str(child.tag)]
    follower = next((each for each in sheet if _PLACES.get(str(each.tag), -1) > at), None)
    if follower is None:
        sheet.append(child)
    else:
        follower.addprevious(child)


def child_of(sheet: Element, name: str) -> Element:
    """Return the only child of its kind, which is made if it is not there."""
    tag = main(name)
    found = sheet.find(tag)
    if found is None:
        found = etree.Element(tag)
        put(sheet, found)
    return found


def drop_empty(sheet: Element, child: Element) -> None:
    """Take out a list of which nothing is left; else count what is."""
    if any(isinstance(each.tag, str) for each in child):
        child.set("count", str(len(child)))
    else:
        sheet.remove(child)
