"""Copying a sheet within its workbook, with everything on it that there may be two of."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Final, NamedTuple
from uuid import NAMESPACE_OID, uuid5

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.implied_addresses import name_cells
from officeplane.formats.excel.formulas.calculation import forget_order
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.adding import next_sheet_number
from officeplane.formats.excel.sheets.copied_formulas import follow_in, following
from officeplane.formats.excel.sheets.copied_parts import copy_parts
from officeplane.formats.excel.sheets.defined_names import find_name, names_in, scope_of
from officeplane.formats.excel.sheets.indexes import make_room
from officeplane.formats.excel.sheets.names import check_sheet_name, name_of_copy
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import RELATION, main
from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

_KINDS: Final = frozenset({"worksheet", "chartsheet"})
_REVISIONS: Final = "http://schemas.microsoft.com/office/spreadsheetml/"
_STATE: Final = "state"


class Copied(NamedTuple):
    """A copy of a sheet: the id of its node, and the names of its tables by those of the original."""

    id: str
    tables: dict[str, str]


def copy_sheet(parts: Parts, sheet_name: str, name: str | None, position: int | None) -> Copied:
    """Copy a sheet to before the one at `position`, or behind itself; without a name it gets one as Excel gives it."""
    package, sheets = parts.package, parts.sheets
    sheet = sheets.get(sheet_name)
    if sheet.kind not in _KINDS:
        raise InvalidEditError(f"the sheet {sheet.name!r} is a {sheet.kind}, of which no copy can be made here")
    name = name_of_copy(sheet.name, sheets.names) if name is None else name
    check_sheet_name(name, sheets.names)
    here = next(at for at, each in enumerate(sheets.all) if each.element is sheet.element)
    at = here + 1 if position is None else min(position, len(sheets.all))
    known_tables = {table.name.casefold() for table in parts.all_tables()}
    table_ids = {whole(table.root.get("id"), 0) for table in parts.all_tables()}
    workbook = parts.package.tree(parts.workbook)
    taken = known_tables | {each.get("name", "").casefold() for each in names_in(workbook)}
    number = next_sheet_number(parts)
    copies = copy_parts(package, sheet.part, sheet.name)
    tables = _name_tables(package, copies.values(), taken, table_ids)
    _set_apart(package, copies[sheet.part])
    _set_threads_apart(package, copies.values(), number)
    follow = following(sheet.name, name, {old.casefold(): new for old, new in tables.items()})
    follow_in(package, copies.values(), follow)
    if sheet.has_cells:
        name_cells(package.tree(copies[sheet.part]))
    made = _list(parts, sheet, copies[sheet.part], name, number, at)
    _copy_names(workbook, here + (at <= here), at, follow)
    package.changed(parts.workbook)
    forget_order(package, parts.workbook)
    parts.changes.has_moved = True
    return Copied(made.id, tables)


def _list(parts: Parts, sheet: Sheet, part: str, name: str, number: int, at: int) -> Sheet:
    sheets = parts.sheets
    element = etree.Element(main("sheet"))
    element.set("name", name)
    element.set("sheetId", str(number))
    if sheet.element.get(_STATE) is not None:
        element.set(_STATE, sheet.element.get(_STATE, ""))
    element.set(RELATION, Relationships(parts.package, parts.workbook).add(sheet.kind, part))
    if at < len(sheets.all):
        sheets.all[at].element.addprevious(element)
    else:
        sheets.all[-1].element.addnext(element)
    make_room(parts.package.tree(parts.workbook), at)
    return Sheet(element, part, sheet.kind)


def _copy_names(workbook: Element, original: int, copy: int, follow: Callable[[str], str]) -> None:
    """Give the copy its own of each name of the sheet and, as Excel does, of each that stands for a place on it."""
    for each in names_in(workbook):
        scope = scope_of(each)
        text = follow(each.text or "")
        is_of_sheet = scope == original
        stands_for_it = scope is None and text != (each.text or "") and not each.get("name", "").startswith("_xlnm.")
        if not is_of_sheet and not (stands_for_it and find_name(workbook, each.get("name", ""), original) is None):
            continue
        made = deepcopy(each)
        made.text = text
        made.set("localSheetId", str(copy))
        each.addnext(made)


def _name_tables(package: Package, copies: Iterable[str], taken: set[str], ids: set[int]) -> dict[str, str]:
    """Give copied tables ids and names that no other table has; return the new names by the old ones."""
    names: dict[str, str] = {}
    for part in copies:
        if not part.endswith(".xml") or (root := package.tree(part)).tag != main("table"):
            continue
        old = root.get("displayName") or root.get("name") or "Table"
        turn = 2
        while (new := f"{old}_{turn}").casefold() in taken:
            turn += 1
        taken.add(new.casefold())
        ids.add(max(ids, default=0) + 1)
        root.set("id", str(max(ids)))
        root.set("name", new)
        root.set("displayName", new)
        _forget_revisions(root)
        package.changed(part)
        names[old] = new
    return names


def _set_apart(package: Package, part: str) -> None:
    """Take from a copied sheet what only one sheet may say of itself."""
    root = package.tree(part)
    for view in root.iter(main("sheetView")):
        # Sheets that are selected together are written to together.
        view.attrib.pop("tabSelected", None)
    for properties in root.iterchildren(main("sheetPr")):
        properties.attrib.pop("codeName", None)
    _forget_revisions(root)
    package.changed(part)


def _forget_revisions(root: Element) -> None:
    for element in root.iter("*"):
        for attribute in [name for name in map(str, element.attrib) if name.endswith("}uid")]:
            if attribute.startswith(f"{{{_REVISIONS}") and "/revision" in attribute:
                del element.attrib[attribute]


def _set_threads_apart(package: Package, copies: Iterable[str], number: int) -> None:
    """Give the threads of copied comments ids of their own, also where the plain comments name them."""
    given: dict[str, str] = {}
    remarks = [
        part for part in copies if part.endswith(".xml") and str(package.tree(part).tag).lower().endswith("comments")
    ]
    for part in remarks:
        for thread in package.tree(part).iter("{*}threadedComment"):
            old = thread.get("id", "")
            given[old] = "{" + str(uuid5(NAMESPACE_OID, f"{number}/{old}")).upper() + "}"
    for part in remarks if given else ():
        for element in package.tree(part).iter("*"):
            for name, value in dict(element.attrib).items():
                if value in given:
                    element.set(name, given[value])
            if (text := element.text or "").startswith("tc=") and text[3:] in given:
                element.text = f"tc={given[text[3:]]}"
        package.changed(part)
