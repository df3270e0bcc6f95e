"""References in formulas: which sheets and tables they name, and how they follow when these change."""

import re
from collections.abc import Callable
from typing import Final

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, column_number, letters
from officeplane.formats.excel.formulas.tokens import Kind, Token, tokens

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_LIKE_A_CELL: Final = re.compile(r"[A-Za-z]{1,3}\d+|[Rr]\d*(?:[Cc]\d*)?|[Cc]\d*|true|false", re.IGNORECASE)
_PART: Final = re.compile(r"(\$?)([A-Za-z]{1,3})?(\$?)(\d+)?")
_ITEM: Final = re.compile(r"\[((?:'.|[^\[\]'])*)\]")
LOST: Final = "#REF!"
"""What stands where a reference has nothing to refer to."""


def quoted(*sheets: str) -> str:
    """Return the prefix, without its exclamation mark, by which formulas name a sheet or a stretch of sheets."""
    text = ":".join(sheets)
    if all(_PLAIN.fullmatch(name) and not _LIKE_A_CELL.fullmatch(name) for name in sheets):
        return text
    return "'" + text.replace("'", "''") + "'"


def sheets_of(token: Token) -> list[str]:
    """Return the one or two sheets that a prefix names."""
    text = token.text.removesuffix("!")
    if text.startswith("'"):
        text = text[1:-1].replace("''", "'")
    # Another workbook, perhaps with the path to it.
    return [text] if set(text) & set("[\\/") else text.split(":")


def rename(formula: str, old: str, new: str) -> str:
    """Return a formula in which a sheet has its new name."""

    def follow(token: Token) -> str:
        names = sheets_of(token)
        if not any(name.casefold() == old.casefold() for name in names):
            return token.text
        return quoted(*(new if name.casefold() == old.casefold() else name for name in names)) + "!"

    return _with_sheets(formula, follow)


def lose(formula: str, sheet: str, order: list[str], tables: frozenset[str]) -> str:
    """Return a formula after a sheet is gone, and with it these tables (in small letters).

    `order` holds all sheets as they were; a stretch of sheets that began or ended
    at the lost one is shorter now.
    """
    lost = sheet.casefold()
    places = {name.casefold(): at for at, name in enumerate(order)}

    def follow(token: Token) -> str:
        names = sheets_of(token)
        if all(name.casefold() != lost for name in names):
            return token.text
        if (
            len(names) != 2
            or names[0].casefold() == names[1].casefold()
            or any(n.casefold() not in places for n in names)
        ):
            return LOST
        first, last = sorted(places[name.casefold()] for name in names)
        remaining = [name for name in order[first : last + 1] if name.casefold() != lost]
        return quoted(*dict.fromkeys((remaining[0], remaining[-1]))) + "!"

    text = _with_sheets(formula, follow)
    return lose_tables(text, tables) if tables else text


def rename_column(formula: str, table: str, old: str, new: str) -> str:
    """Return a formula in which a column of a table has its new name."""
    if "[" not in formula:
        return formula
    before, after = _escaped(old).casefold(), _escaped(new)
    parts: list[str] = []
    table_before = False
    for token in tokens(formula):
        text = token.text
        if token.kind is Kind.BRACKET and table_before:
            inner = text[1:-1]
            if inner.casefold() == before:
                text = f"[{after}]"
            else:
                text = re.sub(re.escape(f"[{_escaped(old)}]"), lambda _: f"[{after}]", text, flags=re.IGNORECASE)
        parts.append(text)
        table_before = token.kind in {Kind.NAME, Kind.REFERENCE} and text.casefold() == table.casefold()
    return "".join(parts)


def lose_tables(formula: str, tables: frozenset[str]) -> str:
    """Return a formula after tables, in small letters, are gone."""
    parts: list[str] = []
    lost_before = False
    for token in tokens(formula):
        if token.kind is Kind.NAME and token.text.casefold() in tables:
            parts.append(LOST)
            lost_before = True
            continue
        if not (token.kind is Kind.BRACKET and lost_before):
            parts.append(token.text)
        lost_before = False
    return "".join(parts)


def lose_columns(formula: str, table: str, gone: frozenset[str], order: list[str]) -> str:
    """Return a formula after columns of a table are gone; `order` holds all as they were.

    A stretch of columns that began or ended at one of them is shorter now.
    """
    if "[" not in formula or table.casefold() not in formula.casefold():
        return formula
    names = [_escaped(name) for name in order]
    lost = frozenset(_escaped(name).casefold() for name in gone)
    parts: list[str] = []
    table_before = False
    for token in tokens(formula):
        if token.kind is Kind.BRACKET and table_before:
            narrowed = _narrowed(token.text, names, lost)
            parts[-1:] = [LOST] if narrowed is None else [parts[-1], narrowed]
        else:
            parts.append(token.text)
        table_before = token.kind in {Kind.NAME, Kind.REFERENCE} and token.text.casefold() == table.casefold()
    return "".join(parts)


def _narrowed(bracket: str, order: list[str], gone: frozenset[str]) -> str | None:
    """Return which columns of a table are meant still, None when none is."""
    inner = bracket[1:-1]
    if not inner.startswith("["):
        return None if inner.casefold() in gone else bracket
    items = _ITEM.findall(inner)
    columns = [item for item in items if not item.startswith("#")]
    if all(column.casefold() not in gone for column in columns):
        return bracket
    places = [at for at, name in enumerate(order) if name.casefold() in {column.casefold() for column in columns}]
    left = [name for name in order[min(places) : max(places) + 1] if name.casefold() not in gone] if places else []
    if not left:
        return None
    stretch = ":".join(f"[{name}]" for name in dict.fromkeys((left[0], left[-1])))
    return f"[{','.join([*(f'[{item}]' for item in items if item.startswith('#')), stretch])}]"


def shift(formula: str, rows: int, columns: int) -> str:
    """Return a formula as it reads when it is copied so many rows down and columns to the right."""
    return "".join(_shifted(t.text, rows, columns) if t.kind is Kind.REFERENCE else t.text for t in tokens(formula))


def _shifted(reference: str, rows: int, columns: int) -> str:
    moved: list[str] = []
    for part in reference.split(":"):
        match = _PART.fullmatch(part)
        if match is None:
            return reference
        # In `$5` the dollar belongs to the row, in `$A` to the column.
        column, row = match[2], match[4]
        column_dollar, row_dollar = (match[1], match[3]) if column else ("", match[1] or match[3])
        if column and not column_dollar:
            number = column_number(column) + columns
            if not 1 <= number <= COLUMNS_MAX:
                return LOST
            column = letters(number)
        if row and not row_dollar:
            to = int(row) + rows
            if not 1 <= to <= ROWS_MAX:
                return LOST
            row = str(to)
        moved.append(f"{column_dollar}{column or ''}{row_dollar}{row or ''}")
    return ":".join(moved)


def _with_sheets(formula: str, follow: Callable[[Token], str]) -> str:
    if "!" not in formula:
        return formula
    parts: list[str] = []
    in_other_workbook = False
    for token in tokens(formula):
        parts.append(follow(token) if token.kind is Kind.SHEET and not in_other_workbook else token.text)
        in_other_workbook = token.kind is Kind.BRACKET
    return "".join(parts)


def _escaped(column: str) -> str:
    return re.sub(r"(['\[\]#])", r"'\1", column)
