"""Defined names: what formulas call cells or values, in the whole workbook or on one sheet."""

from typing import Final

from lxml import etree

from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_NAMES: Final = main("definedNames")
_NAME: Final = main("definedName")
_SCOPE: Final = "localSheetId"
_BEFORE: Final = frozenset(
    main(name)
    for name in (
        "fileVersion", "fileSharing", "workbookPr", "workbookProtection", "bookViews", "sheets", "functionGroups",
        "externalReferences",
    )
)  # fmt: skip


def names_in(workbook: Element) -> list[Element]:
    """Return all names, in order."""
    holder = workbook.find(_NAMES)
    return [] if holder is None else list(holder.iterchildren(_NAME))


def scope_of(name: Element) -> int | None:
    """Return the place of the sheet that a name is known on, None when it is known on all."""
    scope = whole(name.get(_SCOPE), -1)
    return None if scope < 0 else scope


def find_name(workbook: Element, name: str, scope: int | None) -> Element | None:
    """Return a name, whatever the case of its letters."""
    folded = name.casefold()
    return next(
        (each for each in names_in(workbook) if each.get("name", "").casefold() == folded and scope_of(each) == scope),
        None,
    )


def set_name(workbook: Element, name: str, text: str, scope: int | None) -> Element:
    """Have a name stand for something, a new one or one that is known; return it."""
    found = find_name(workbook, name, scope)
    if found is None:
        found = etree.SubElement(_holder(workbook), _NAME, name=name)
        if scope is not None:
            found.set(_SCOPE, str(scope))
    found.text = text
    return found


def drop_name(workbook: Element, name: str, scope: int | None) -> bool:
    """Take a name away; return whether it was there."""
    found = find_name(workbook, name, scope)
    holder = None if found is None else found.getparent()
    if found is None or holder is None:
        return False
    holder.remove(found)
    if not len(holder):
        workbook.remove(holder)
    return True


def _holder(workbook: Element) -> Element:
    found = workbook.find(_NAMES)
    if found is None:
        found = etree.Element(_NAMES)
        last = [child for child in workbook if child.tag in _BEFORE][-1]
        last.addnext(found)
    return found
