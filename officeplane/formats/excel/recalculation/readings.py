"""Readings: what a formula reads, and how it is calculated, as far as either can be told.

What reads cells that nobody can name beforehand (`INDIRECT`, a spilled range, a
name that stands for nothing) reads everything: whatever changes, it may change.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.formulas.functions import bare_name
from officeplane.formats.excel.formulas.references import sheets_of
from officeplane.formats.excel.formulas.tokens import Kind, Token, tokens
from officeplane.formats.excel.recalculation.corners import cells_at, reference_of, without_lost
from officeplane.formats.excel.recalculation.expressions import Expression, Reference, expression_of
from officeplane.formats.excel.recalculation.reading_on import READING_ON, reads_on
from officeplane.formats.excel.recalculation.structured import cells_of_table, table_cells
from officeplane.formats.excel.recalculation.surroundings import Surroundings

_READ_EVERYTHING: Final = frozenset({
    "ANCHORARRAY", "CELL", "GETPIVOTDATA", "INDIRECT", "INFO", "NOW", "OFFSET", "RAND", "RANDARRAY", "RANDBETWEEN",
    "TODAY",
})  # fmt: skip
"""They have another result whenever they are calculated, or read what their arguments do not name."""
_OF_PLACES: Final = frozenset({
    "AGGREGATE", "AREAS", "COLUMN", "COLUMNS", "FORMULATEXT", "ISFORMULA", "ROW", "ROWS", "SHEET", "SHEETS", "SUBTOTAL",
})  # fmt: skip
"""Their results are of where cells are, and which are hidden, not only of what is in them."""
_OUTSIDE: Final = re.compile(r"\[\d+\]")
_LENGTH_MAX: Final = 8_192
_NESTED_MAX: Final = 4


@dataclass(slots=True)
class Reading:
    """What a formula reads; `expression` is None where it cannot be calculated here."""

    expression: Expression | None = None
    cells: list[Reference] = field(default_factory=list[Reference])
    names: set[str] = field(default_factory=set[str])
    reads_everything: bool = False
    is_of_places: bool = False


class Reader:
    """Reads the formulas of one sheet."""

    def __init__(self, surroundings: Surroundings, sheet: int, nested: int = 0) -> None:
        self._surroundings = surroundings
        self._sheet = sheet
        self._nested = nested
        self._names: dict[tuple[str, int], Reading | None] = {}

    @property
    def own_sheet(self) -> int:
        """The sheet whose formulas are read, by its place."""
        return self._sheet

    def read(self, formula: str, at: Address) -> Reading:
        """Return what is read by a formula that stands in a cell."""
        if len(formula) > _LENGTH_MAX or not formula:
            return Reading(reads_everything=True)
        found = without_lost(tokens(formula))
        made = Reading()
        scan = _Scan(self, found, at, made)
        scan.look()
        if not made.reads_everything:
            made.expression = expression_of(found, scan.meaning)
            made.reads_everything = scan.may_read_on and (made.expression is None or reads_on(made.expression))
        return made

    def named(self, name: str, sheet: int) -> Reading | None:
        """Return what is read by a name; None when it stands for nothing, or not for the same in every cell."""
        key = (name.casefold(), sheet)
        if key not in self._names:
            self._names[key] = self._meant(name, sheet)
        return self._names[key]

    def _meant(self, name: str, sheet: int) -> Reading | None:
        text = self._surroundings.name(name, sheet)
        if text is None or self._nested == _NESTED_MAX:
            return None
        found = Reader(self._surroundings, sheet, self._nested + 1).read(text, Address(1, 1))
        is_same = all(
            each.sheet is not None and all(end.is_held for end in (each.top, each.left, each.bottom, each.right))
            for each in found.cells
        )
        return found if is_same else None

    def table(self, name: str) -> bool:
        """Tell whether there is a table of a name."""
        return name.casefold() in self._surroundings.tables

    def sheet_places(self, token: Token) -> tuple[int, int] | None:
        """Return the first and the last sheet that a prefix names; None when one is not there."""
        places = [self._surroundings.sheets.get(name.casefold()) for name in sheets_of(token)]
        known = [place for place in places if place is not None]
        return (min(known), max(known)) if len(known) == len(places) else None

    def whole_table(self, name: str) -> Reference:
        """Return all cells of a table."""
        return table_cells(self._surroundings.tables[name.casefold()])

    def part_of_table(self, name: str, bracket: str, at: Address) -> Reference | None:
        """Return the cells of a table that are meant by what stands in brackets; None when that is not known here."""
        table = self._surroundings.tables.get(name.casefold())
        return None if table is None else cells_of_table(table, bracket, self._sheet, at)


class _Scan:
    """One look through a formula's tokens."""

    def __init__(self, reader: Reader, found: Sequence[Token], at: Address, made: Reading) -> None:
        self._reader = reader
        self._tokens = [token for token in found if not (token.kind is Kind.OTHER and token.text.isspace())]
        self._at = at
        self._made = made
        self.may_read_on = False
        """Whether it has a function that may read more cells than its arguments name."""

    def look(self) -> None:
        """Note what is read."""
        made, found = self._made, self._tokens
        passed = 0
        for at, token in enumerate(found):
            if at < passed:
                continue
            match token.kind:
                case Kind.FUNCTION:
                    self._function(token)
                case Kind.SHEET | Kind.REFERENCE:
                    passed = self._cells(at)
                case Kind.NAME:
                    passed = self._name(at)
                case Kind.BRACKET:
                    passed = self._bracket(at)
                case Kind.OTHER if token.text in {":", "#", "|", "@"}:
                    # From what a function gives to elsewhere, a spilled range, another program.
                    made.reads_everything = True
                case _:
                    pass

    def meaning(self, found: Sequence[Token], at: int) -> tuple[Expression, int] | None:
        """Return what the tokens from one on refer to, and where that ends."""
        token = found[at]
        if token.kind is Kind.NAME:
            after = found[at + 1] if at + 1 < len(found) else None
            if after is not None and after.kind is Kind.BRACKET:
                part = self._reader.part_of_table(token.text, after.text, self._at)
                return None if part is None else (part, at + 2)
            if self._reader.table(token.text):
                part = self._reader.part_of_table(token.text, "[]", self._at)
                return None if part is None else (part, at + 1)
            named = self._named(token.text, None)
            return None if named is None or named.expression is None else (named.expression, at + 1)
        if token.kind is Kind.SHEET and at + 1 < len(found) and found[at + 1].kind is Kind.NAME:
            named = self._named(found[at + 1].text, token)
            return None if named is None or named.expression is None else (named.expression, at + 2)
        read = cells_at(found, at)
        if read is None:
            return None
        prefix, texts, end = read
        places = None if prefix is None else self._reader.sheet_places(prefix)
        if prefix is not None and (places is None or places[0] != places[1]):
            return None
        reference = reference_of(texts, None if places is None else places[0], self._at)
        return None if reference is None else (reference, end)

    def _bracket(self, at: int) -> int:
        """Pass a link to another workbook; what else stands in brackets alone may be anything."""
        found = self._tokens
        if _OUTSIDE.fullmatch(found[at].text) is None:
            self._made.reads_everything = True
            return at + 1
        return self._after_link(at + 1)

    def _after_link(self, at: int) -> int:
        """Return where a link ends whose sheet or cells begin at a token."""
        if at >= len(self._tokens):
            return at
        read = cells_at(self._tokens, at)
        has_sheet = self._tokens[at].kind is Kind.SHEET
        return at + 1 + has_sheet if read is None else read[2]

    def _function(self, token: Token) -> None:
        name = bare_name(token.text)
        made = self._made
        made.names.add(token.text.casefold())
        self.may_read_on |= name in READING_ON
        made.reads_everything |= name in _READ_EVERYTHING or token.text.upper().startswith(("_XLL.", "_XLUDF."))
        made.is_of_places |= name in _OF_PLACES
        if (named := self._named(token.text, None)) is not None:
            self._add(named)

    def _cells(self, at: int) -> int:
        """Note the cells of a reference, with its sheets; return where it ends."""
        made, found = self._made, self._tokens
        if found[at].kind is Kind.SHEET and "[" in found[at].text:
            return self._after_link(at)
        if found[at].kind is Kind.SHEET and at + 1 < len(found) and found[at + 1].kind is Kind.NAME:
            made.names.add(found[at + 1].text.casefold())
            named = self._named(found[at + 1].text, found[at])
            if named is None:
                made.reads_everything = True
            else:
                self._add(named)
            return at + 2
        read = cells_at(found, at)
        if read is None:
            made.reads_everything = True
            return at + 1
        prefix, texts, end = read
        places = None if prefix is None else self._reader.sheet_places(prefix)
        if prefix is not None and places is None:
            made.reads_everything = True
            return end
        made.is_of_places |= places is not None and places[0] != places[1]
        for place in (None,) if places is None else range(places[0], places[1] + 1):
            reference = reference_of(texts, place, self._at)
            if reference is None:
                made.reads_everything = True
            else:
                made.cells.append(reference)
        return end

    def _name(self, at: int) -> int:
        made, text = self._made, self._tokens[at].text
        is_before_bracket = at + 1 < len(self._tokens) and self._tokens[at + 1].kind is Kind.BRACKET
        made.names.add(text.casefold())
        if self._reader.table(text):
            made.cells.append(self._reader.whole_table(text))
        elif (named := self._named(text, None)) is not None:
            self._add(named)
        elif text.upper() not in {"TRUE", "FALSE"} and not text.startswith("_xlpm."):
            made.reads_everything = True
        return at + 2 if is_before_bracket else at + 1

    def _named(self, name: str, prefix: Token | None) -> Reading | None:
        places = (self._reader.own_sheet,) * 2 if prefix is None else self._reader.sheet_places(prefix)
        return None if places is None else self._reader.named(name, places[0])

    def _add(self, named: Reading) -> None:
        made = self._made
        made.cells = [*dict.fromkeys((*made.cells, *named.cells))]
        made.names |= named.names
        made.reads_everything |= named.reads_everything
        made.is_of_places |= named.is_of_places
