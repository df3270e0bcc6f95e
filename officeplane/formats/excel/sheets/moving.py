"""Moving a sheet to another place among the others, with everything that counts them."""

from collections.abc import Mapping
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.implied_addresses import name_cells
from officeplane.formats.excel.formulas.holders import formula_holders
from officeplane.formats.excel.formulas.references import quoted, sheets_of
from officeplane.formats.excel.formulas.tokens import Kind, Token, tokens
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.defined_names import names_in, scope_of
from officeplane.formats.excel.sheets.indexes import nearest_visible
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

_VIEW: Final = main("workbookView")
_SHEETS_TOLD: Final = 20
_SHEETS: Final = f"{main('sheets')}/{main('sheet')}"


def position_beside(parts: Parts, node_id: str, side: str, beside: str) -> int:
    """Return how many sheets are before one that is put right before or after another."""
    if side == "into":
        raise InvalidEditError("a sheet holds no other sheets: give before or after")
    moved, neighbour = sheet_node(parts, node_id), sheet_node(parts, beside)
    if moved == neighbour:
        raise InvalidEditError(f"{moved!r} cannot stand beside itself: give another sheet")
    others = [sheet.id for sheet in parts.sheets.all if sheet.id != moved]
    return others.index(neighbour) + (side == "after")


def sheet_node(parts: Parts, node_id: str) -> str:
    """Return the id of a sheet; another node is refused."""
    found = parts.sheets.find(node_id)
    if found is None or found.id != node_id:
        known = ", ".join(repr(sheet.id) for sheet in parts.sheets.all[:_SHEETS_TOLD])
        raise InvalidEditError(f"{node_id!r} is no sheet; in a workbook this is for sheets: {known}")
    return found.id


def move_sheet(parts: Parts, name: str, position: int) -> str:
    """Put a sheet where `position` sheets are before it, or at the end; return its node id.

    A stretch of sheets in a formula holds other sheets afterwards, as in Excel; it is the sheet
    beside the moved one that it ends at if the moved one has gone past its other end.
    """
    sheets = parts.sheets
    sheet = sheets.get(name)
    before = sheets.names
    here = next(at for at, each in enumerate(sheets.all) if each.element is sheet.element)
    to = min(position, len(sheets.all) - 1)
    if to == here:
        return sheet.id
    others = [each.element for each in sheets.all if each.element is not sheet.element]
    sheets.element.remove(sheet.element)
    if to < len(others):
        others[to].addprevious(sheet.element)
    else:
        others[-1].addnext(sheet.element)
    order = list(range(len(before)))
    order.insert(to, order.pop(here))
    workbook = parts.package.tree(parts.workbook)
    _count_anew(workbook, {old: new for new, old in enumerate(order)})
    parts.package.changed(parts.workbook)
    _follow(parts, sheet.name, before, [before[old] for old in order])
    parts.changes.has_moved = True
    return sheet.id


def _count_anew(workbook: Element, places: Mapping[int, int]) -> None:
    for name in names_in(workbook):
        scope = scope_of(name)
        if scope is not None and scope in places:
            name.set("localSheetId", str(places[scope]))
    for view in workbook.iter(_VIEW):
        shown = whole(view.get("activeTab"), 0)
        if view.get("activeTab") is not None or places.get(0, 0):
            view.set("activeTab", str(places.get(shown, 0)))
        first = whole(view.get("firstSheet"), 0)
        if view.get("firstSheet") is not None and first in places:
            visible = [each.get("state", "visible") == "visible" for each in workbook.iterfind(_SHEETS)]
            view.set("firstSheet", str(nearest_visible(first, visible)))


def _follow(parts: Parts, moved: str, before: list[str], after: list[str]) -> None:
    """Let stretches of sheets that would run backwards end beside the moved sheet."""
    for part, holder in formula_holders(parts.package):
        text = holder.text or ""
        if ":" not in text or "!" not in text:
            continue
        followed = "".join(_followed(token, moved, before, after) for token in tokens(text))
        if followed != text:
            holder.text = followed
            _changed(parts, part)


def _changed(parts: Parts, part: str) -> None:
    root = parts.package.tree(part)
    if root.tag == main("worksheet"):
        name_cells(root)
    parts.package.changed(part)


def _followed(token: Token, moved: str, before: list[str], after: list[str]) -> str:
    names = sheets_of(token) if token.kind is Kind.SHEET else []
    then, now = ([name.casefold() for name in order] for order in (before, after))
    ends = [name.casefold() for name in names]
    if len(ends) != 2 or ends[0] == ends[1] or moved.casefold() not in ends or any(end not in then for end in ends):
        return token.text
    if (then.index(ends[0]) < then.index(ends[1])) == (now.index(ends[0]) < now.index(ends[1])):
        return token.text
    first, last = sorted(then.index(end) for end in ends)
    rest = [name for name in before[first : last + 1] if name.casefold() != moved.casefold()]
    return quoted(*dict.fromkeys((rest[0], rest[-1]))) + "!"
