"""Calculation: what has to happen so that nobody sees a result of yesterday's values."""

from typing import Final

from lxml import etree

from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships, undeclare

_PROPERTIES: Final = main("calcPr")
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
    if found.get("fullCalcOnLoad") not in {"1", "true"}:
        found.set("fullCalcOnLoad", "1")
        package.changed(workbook)


def is_stale(package: Package, workbook: str) -> bool:
    """Tell whether results in the file are of values that have changed since, as far as the file itself knows."""
    found = package.tree(workbook).find(_PROPERTIES)
    return found is not None and found.get("fullCalcOnLoad") in {"1", "true"}


def forget_order(package: Package, workbook: str) -> None:
    """Drop the list of cells with formulas; Excel makes a new one."""
    arrows = Relationships(package, workbook)
    for arrow in arrows.of_type("calcChain"):
        arrows.remove(arrow.id)
        undeclare(package, arrow.target)
        if arrow.target in package:
            package.drop(arrow.target)
