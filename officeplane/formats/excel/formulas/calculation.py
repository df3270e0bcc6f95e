"""Calculation: what has to happen so that nobody sees a result of yesterday's values."""

from typing import Final, cast

from lxml import etree

from officeplane.formats.excel.tags import MAIN, main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, undeclare
from officeplane.formats.xml import Element

_PROPERTIES: Final = main("calcPr")
_LIST: Final = main("extLst")
_EXTENSION: Final = main("ext")
_OURS: Final = "urn:officeplane:workbook"
_URI: Final = "{3B6C0D8E-52A7-4F19-9C34-6E8F1A0B7D25}"
_RESULTS: Final = f"{{{_OURS}}}results"
_YES: Final = frozenset({"1", "true"})
_NO: Final = frozenset({"0", "false"})
_ALL: Final = etree.XPath("count(m:sheetData/m:row/m:c[m:f])", namespaces={"m": MAIN})
_WITHOUT_RESULT: Final = etree.XPath(
    "count(m:sheetData/m:row/m:c[m:f and not(m:v) and not(m:is)])", namespaces={"m": MAIN}
)
_BEFORE: Final = frozenset(
    main(name)
    for name in (
        "fileVersion", "fileSharing", "workbookPr", "workbookProtection", "bookViews", "sheets", "functionGroups",
        "externalReferences", "definedNames",
    )
)  # fmt: skip


def calculate_on_load(package: Package, workbook: str) -> None:
    """Have everything calculated anew when the file is opened."""
    root = package.tree(workbook)
    found = root.find(_PROPERTIES)
    if found is None:
        found = etree.Element(_PROPERTIES)
        last = [child for child in root if child.tag in _BEFORE][-1:]
        if last:
            last[0].addnext(found)
        else:
            root.insert(0, found)
    if found.get("fullCalcOnLoad") not in _YES:
        found.set("fullCalcOnLoad", "1")
        package.changed(workbook)


def is_stale(package: Package, workbook: str) -> bool:
    """Tell whether results in the file are of values that have changed since, as far as the file itself knows."""
    root = package.tree(workbook)
    found = root.find(_PROPERTIES)
    is_due = found is not None and (found.get("fullCalcOnLoad") in _YES or found.get("calcCompleted") in _NO)
    return is_due and root.find(f"{_LIST}/{_EXTENSION}/{_RESULTS}") is None


def count_stale(package: Package, workbook: str, sheet: Element) -> int:
    """Return of how many formulas of a sheet the result is not what it may have to be, or is not there."""
    return int(cast("float", (_ALL if is_stale(package, workbook) else _WITHOUT_RESULT)(sheet)))


def note_kept(package: Package, workbook: str) -> None:
    """Note that the results in the file are right, though it is to be calculated: what is not right was taken away."""
    root = package.tree(workbook)
    if root.find(f"{_LIST}/{_EXTENSION}/{_RESULTS}") is None:
        extensions = root.find(_LIST)
        if extensions is None:
            extensions = etree.SubElement(root, _LIST)
        etree.SubElement(etree.SubElement(extensions, _EXTENSION, uri=_URI), _RESULTS, nsmap={"op": _OURS})
        package.changed(workbook)


def note_not_kept(package: Package, workbook: str) -> None:
    """Take that back: no result is to be relied on."""
    calculate_on_load(package, workbook)
    found = package.tree(workbook).find(f"{_LIST}/{_EXTENSION}/{_RESULTS}")
    extension = None if found is None else found.getparent()
    extensions = None if extension is None else extension.getparent()
    if extension is not None and extensions is not None:
        extensions.remove(extension)
        holder = extensions.getparent()
        if not len(extensions) and holder is not None:
            holder.remove(extensions)
        package.changed(workbook)


def shows_all_digits(package: Package, workbook: str) -> bool:
    """Tell whether what is calculated is what cells hold, and not what people see of it."""
    found = package.tree(workbook).find(_PROPERTIES)
    return found is None or found.get("fullPrecision") not in _NO


def forget_order(package: Package, workbook: str) -> None:
    """Drop the list of cells with formulas; Excel makes a new one."""
    arrows = Relationships(package, workbook)
    for arrow in arrows.of_type("calcChain"):
        arrows.remove(arrow.id)
        undeclare(package, arrow.target)
        if arrow.target in package:
            package.drop(arrow.target)
