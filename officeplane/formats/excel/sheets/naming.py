"""Naming: defining names for cells and values, and taking them back."""

import re
from collections.abc import Iterator
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import address
from officeplane.formats.excel.formulas.formula import Formula, storable
from officeplane.formats.excel.formulas.holders import formula_holders
from officeplane.formats.excel.formulas.references import sheets_of, shift
from officeplane.formats.excel.formulas.tokens import Kind, Token, tokens
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.defined_names import drop_name, find_name, set_name
from officeplane.formats.excel.sheets.sheet_list import Sheet

_LENGTH_MAX: Final = 255
_NAME: Final = re.compile(r"(?:[^\W\d]|[_\\])[\w.?\\]*")
_LIKE_A_CELL: Final = re.compile(r"[Rr]\d*(?:[Cc]\d*)?|[Cc]\d*", re.ASCII)
_WORDS: Final = frozenset({"true", "false"})


def define_name(parts: Parts, name: str, text: str, sheet_name: str | None, comment: str | None) -> str:
    """Have a name stand for cells or a value, in the workbook or on one sheet; return its node id."""
    scope = _scope(parts, sheet_name)
    workbook = parts.package.tree(parts.workbook)
    tables = frozenset(table.name.casefold() for table in parts.all_tables())
    _check_name(name, tables)
    stored = storable(Formula(text), parts.sheets.names, tables)
    _check_references(stored)
    made = set_name(workbook, name, stored, scope)
    if comment is not None:
        made.set("comment", comment)
    _settle(parts, name)
    return f"name-{made.get('name')}"


def delete_name(parts: Parts, name: str, sheet_name: str | None) -> list[str]:
    """Take a name back; return the places that used it and that nothing stands for now."""
    scope = _scope(parts, sheet_name)
    workbook = parts.package.tree(parts.workbook)
    if name.casefold().startswith("_xlnm."):
        raise InvalidEditError(f"the name {name} is Excel's own, for printing and filters: it cannot be deleted here")
    if not drop_name(workbook, name, scope):
        where = "" if sheet_name is None else f" of the sheet {sheet_name!r}"
        raise InvalidEditError(f"there is no name {name}{where}; `sheets` lists the names, with the sheet of each")
    _settle(parts, name)
    return list(dict.fromkeys(_uses(parts, name, scope)))


def _scope(parts: Parts, sheet_name: str | None) -> int | None:
    if sheet_name is None:
        return None
    sheet = parts.sheets.get(sheet_name)
    return next(at for at, each in enumerate(parts.sheets.all) if each.name == sheet.name)


def _check_name(name: str, tables: frozenset[str]) -> None:
    if len(name.encode("utf-16-le")) // 2 > _LENGTH_MAX or _NAME.fullmatch(name) is None:
        raise InvalidEditError(
            f"{name!r} cannot be a name: it begins with a letter or _, goes on with letters, digits, . and _, without "
            f"spaces, and has at most {_LENGTH_MAX} characters"
        )
    if name.casefold().startswith("_xlnm."):
        raise InvalidEditError(f"the name {name} is Excel's own, for printing and filters: choose another")
    if address(name) is not None or _LIKE_A_CELL.fullmatch(name) or name.casefold() in _WORDS:
        raise InvalidEditError(f"{name!r} cannot be a name: Excel reads it as a cell or a value; put _ behind it")
    if name.casefold() in tables:
        raise InvalidEditError(f"{name!r} is the name of a table: choose another")


def _check_references(formula: str) -> None:
    """Refuse references that would mean other cells in each cell that uses the name."""
    found = [token for token in tokens(formula) if not token.text.isspace()]
    for at, token in enumerate(found):
        if token.kind is not Kind.REFERENCE:
            continue
        # The second cell of `Plan!$A$1:$B$2` is on the sheet of the first.
        first = at - 2 if at > 2 and found[at - 1].text == ":" and found[at - 2].kind is Kind.REFERENCE else at
        if first == 0 or found[first - 1].kind is not Kind.SHEET:
            raise InvalidEditError(
                f"={formula} refers to {token.text} of no sheet: write the sheet before it, as in =Plan!$B$2:$B$9"
            )
        if shift(token.text, 1, 1) != token.text:
            raise InvalidEditError(
                f"={formula} refers to {token.text} without $, which would mean other cells wherever the name is "
                f"used: write {_absolute(token.text)}"
            )


def _absolute(reference: str) -> str:
    parts = [re.fullmatch(r"\$?([A-Za-z]*)\$?(\d*)", part) for part in reference.split(":")]
    return ":".join("".join(f"${each}" for each in found.groups() if each) if found else reference for found in parts)


def _uses(parts: Parts, name: str, scope: int | None) -> Iterator[str]:
    """Yield the places where formulas use a name that is gone, and no other of that name takes its place."""
    sheets = parts.sheets.all
    workbook = parts.package.tree(parts.workbook)
    by_part = {sheet.part: at for at, sheet in enumerate(sheets)}
    if scope is not None and find_name(workbook, name, None) is not None:
        return
    for part, holder in formula_holders(parts.package):
        text = holder.text or ""
        if name.casefold() not in text.casefold():
            continue
        here = by_part.get(part)
        for meant in _scopes_meant(text, name, here, sheets):
            is_of_it = (
                meant == scope if scope is not None else meant is None or find_name(workbook, name, meant) is None
            )
            if is_of_it:
                parent = holder.getparent()
                cell = None if parent is None else parent.get("r")
                yield _place(part, cell, holder.get("name"), None if here is None else sheets[here])


def _scopes_meant(text: str, name: str, here: int | None, sheets: list[Sheet]) -> Iterator[int | None]:
    """Yield, for each time that a formula uses a name, the sheet where it is looked for first."""
    before: Token | None = None
    for token in tokens(text):
        if token.kind in {Kind.NAME, Kind.FUNCTION} and token.text.casefold() == name.casefold():
            if before is not None and before.kind is Kind.SHEET:
                named = sheets_of(before)[0].casefold()
                yield next((at for at, each in enumerate(sheets) if each.name.casefold() == named), None)
            else:
                yield here
        before = token


def _place(part: str, cell: str | None, name: str | None, sheet: Sheet | None) -> str:
    if sheet is not None:
        return f"{sheet.name}!{cell}" if cell else f"the sheet {sheet.name}"
    return f"the name {name}" if name else f"the part {part}"


def _settle(parts: Parts, name: str) -> None:
    parts.changes.names.add(name.casefold())
    parts.package.changed(parts.workbook)
