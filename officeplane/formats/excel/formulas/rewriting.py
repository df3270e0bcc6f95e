"""Rewriting: every place of a workbook that holds a formula, so that formulas follow what they name."""

import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import quote, unquote

from officeplane.formats.excel.beside_cells import beside_cells
from officeplane.formats.excel.cells.implied_addresses import name_cells
from officeplane.formats.excel.formulas.references import (
    LOST,
    lose,
    lose_columns,
    lose_tables,
    rename,
    rename_column,
)
from officeplane.formats.excel.tags import RELATION, main
from officeplane.formats.package import Package
from officeplane.formats.xml import Element

Change = Callable[[str], str]

TEXTS: Final = (
    "{*}f", "{*}formula", "{*}formula1", "{*}formula2", "{*}definedName", "{*}calculatedColumnFormula",
    "{*}totalsRowFormula",
)  # fmt: skip
"""The elements whose text is a formula."""
_ATTRIBUTES: Final = {
    "sp": ("textlink",),
    "formControlPr": ("fmlaLink", "fmlaRange", "fmlaGroup", "fmlaTxbx", "fmlaMacro"),
    "control": ("linkedCell", "listFillRange"),
    "controlPr": ("linkedCell", "listFillRange"),
}
SOURCES: Final = ("{*}worksheetSource", "{*}rangeSet", "{*}dataRef")
"""What pivot tables and consolidations read, each a sheet and an area of it."""
_WITHOUT: Final = re.compile(
    r"(?:^|/)(?:docProps|customXml|theme|media|revisions|externalLinks|threadedComments|persons|_rels)/"
    r"|(?:^|/)(?:\[Content_Types\]|sharedStrings|styles|calcChain|pivotCacheRecords|comments|metadata)[^/]*\.xml$"
)
_LENGTH_MAX: Final = 32_768
"""What is longer is no formula that Excel would open."""


def sheet_renamed(package: Package, old: str, new: str) -> None:
    """Let everything that names a sheet use its new name."""

    def follow(formula: str) -> str:
        return rename(formula, old, new)

    for part in formula_parts(package):
        root = package.tree(part)
        if _change_texts(root, follow) | change_attributes(root, follow) | _change_places(root, follow, old, new):
            _changed(package, part)
    change_links(package, follow)


def sheet_lost(package: Package, sheet: str, order: list[str], tables: frozenset[str]) -> list[tuple[str, Element]]:
    """Let everything that names a sheet or its tables say that they are gone; return what says so, with its part."""
    return _lost(package, lambda formula: lose(formula, sheet, order, tables))


def tables_lost(package: Package, tables: frozenset[str]) -> list[tuple[str, Element]]:
    """Let everything that names tables (in small letters) say that they are gone; return what says so."""

    def follow(formula: str) -> str:
        return lose_tables(formula, tables) if any(name in formula.casefold() for name in tables) else formula

    return _lost(package, follow)


def columns_lost(package: Package, table: str, gone: frozenset[str], order: list[str]) -> list[tuple[str, Element]]:
    """Let everything that names columns of a table, out of all in their order, say that they are gone."""
    return _lost(package, lambda formula: lose_columns(formula, table, gone, order))


def _lost(package: Package, follow: Change) -> list[tuple[str, Element]]:
    lost: list[tuple[str, Element]] = []
    for part in formula_parts(package):
        root = package.tree(part)
        found: list[Element] = []

        def note(holder: Element, found: list[Element] = found) -> None:
            if LOST in (holder.text or ""):
                found.append(holder)
            end_lost(holder)

        if _change_texts(root, follow, when_lost=note) | change_attributes(root, follow):
            _changed(package, part)
        lost += ((part, holder) for holder in found)
    return lost


def column_renamed(package: Package, table: str, old: str, new: str) -> None:
    """Let formulas use the new name of a table's column."""
    for part in formula_parts(package):
        if _change_texts(package.tree(part), lambda formula: rename_column(formula, table, old, new)):
            _changed(package, part)


def formula_parts(package: Package) -> Iterator[str]:
    """Yield the parts that may hold formulas."""
    for name in package.names:
        if name.endswith(".xml") and not _WITHOUT.search(name):
            yield name


def _changed(package: Package, part: str) -> None:
    root = package.tree(part)
    if root.tag == main("worksheet"):
        name_cells(root)
    package.changed(part)


def _change_texts(root: Element, follow: Change, when_lost: Callable[[Element], None] | None = None) -> bool:
    changed = False
    for holder in list(root.iter(*TEXTS)):
        before = holder.text
        if not before or len(before) > _LENGTH_MAX:
            continue
        after = follow(before)
        if after == before:
            continue
        holder.text = after
        if when_lost is not None:
            when_lost(holder)
        changed = True
    return changed


def end_lost(holder: Element) -> None:
    """Bring in order what has lost a reference: in charts it stands alone, and a sparkline goes without one."""
    parent = holder.getparent()
    if parent is not None and str(parent.tag).endswith("}sparkline"):
        parent.remove(holder)
    elif "/chart" in str(holder.tag):
        holder.text = LOST


def change_attributes(root: Element, follow: Change) -> bool:
    """Change formulas in attributes of shapes and controls; whether any is another now."""
    changed = False
    for name, attributes in _ATTRIBUTES.items():
        for element in beside_cells(root, f"{{*}}{name}"):
            for attribute in attributes:
                changed |= change_attribute(element, attribute, follow)
    return changed


def _change_places(root: Element, follow: Change, old: str, new: str) -> bool:
    changed = False
    for link in root.iter("{*}hyperlink"):
        # With a relationship it leads into another file.
        if link.get(RELATION) is None:
            changed |= change_attribute(link, "location", follow)
    for source in root.iter(*SOURCES):
        if source.get("sheet", "").casefold() == old.casefold() and source.get(RELATION) is None:
            source.set("sheet", new)
            changed = True
    for name in root.iterfind(".//{*}pivotSource/{*}name"):
        # `[Book.xlsx]Sheet!PivotTable1`, never quoted.
        book, bracket, place = (name.text or "").rpartition("]")
        sheet, mark, pivot = place.rpartition("!")
        if mark and sheet.casefold() == old.casefold():
            name.text = f"{book}{bracket}{new}!{pivot}"
            changed = True
    return changed


def change_attribute(element: Element, name: str, follow: Change) -> bool:
    """Change a formula in an attribute, if it is there; whether it is another now."""
    before = element.get(name)
    after = follow(before) if before else before
    if after is None or after == before:
        return False
    element.set(name, after)
    return True


def change_links(package: Package, follow: Change) -> None:
    """Change where shapes link to in the workbook, by an arrow that begins with `#`."""
    for part in [name for name in package.names if name.endswith(".rels")]:
        for arrow in package.tree(part):
            target = arrow.get("Target", "")
            if not target.startswith("#"):
                continue
            place = unquote(target[1:])
            if follow(place) != place:
                arrow.set("Target", "#" + quote(follow(place), safe="!'$:(),."))
                package.changed(part)
