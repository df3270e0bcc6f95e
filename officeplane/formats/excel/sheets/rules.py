"""Rules of cells: the formulas in them, and the ranges that they are for."""

from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from typing import Final, TypeAlias

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.addresses import Area, area
from officeplane.formats.excel.cells.dates import calendar_of
from officeplane.formats.excel.cells.values import number
from officeplane.formats.excel.formulas.formula import Formula, storable
from officeplane.formats.excel.formulas.references import shift
from officeplane.formats.excel.formulas.tokens import Kind, tokens
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

Bound: TypeAlias = str | int | float | date | Formula
"""What cells are compared with; a date may have a time with it."""

_FORMULAS: Final = tuple(map(main, ("formula", "formula1", "formula2")))


class RuleFormulas:
    """Writes what a rule compares with; what Excel does not take in a rule is refused."""

    def __init__(self, parts: Parts, *, may_name_sheets: bool) -> None:
        self._names = parts.sheets.names
        self._tables = frozenset(table.name.casefold() for table in parts.all_tables())
        self._calendar = calendar_of(parts.package, parts.workbook)
        self._may_name_sheets = may_name_sheets

    def text(self, bound: Bound) -> str:
        """Return a bound as a rule holds it."""
        match bound:
            case Formula():
                return self._checked(bound)
            case str():
                return quoted_text(bound)
            case date():
                return number(self._calendar.number(bound))
            case _:
                return number(bound)

    def pair(self, operator: str, value: Bound | None, other: Bound | None) -> list[str]:
        """Return the one or two bounds that an operator needs."""
        needs_two = operator in {"between", "notBetween"}
        if value is None or (other is None) == needs_two:
            wants = "value and value2, the least and the greatest" if needs_two else "value, and no value2"
            raise InvalidEditError(f"a rule with the operator {operator} needs {wants}")
        return [self.text(each) for each in (value, other) if each is not None]

    def _checked(self, formula: Formula) -> str:
        stored = storable(formula, self._names, self._tables)
        for token in tokens(stored):
            if token.kind is Kind.BRACKET:
                raise InvalidEditError(
                    f"the rule ={formula.text} refers to the columns of a table, which Excel does not take in rules: "
                    "write the cells, such as $B$2:$B$9, or a defined name"
                )
            if token.kind is Kind.OTHER and token.text in "{@#":
                raise InvalidEditError(
                    f"the rule ={formula.text} has {token.text} in it, which Excel does not take there"
                )
            if token.kind is Kind.SHEET and not self._may_name_sheets:
                raise InvalidEditError(
                    f"the rule ={formula.text} refers to a sheet by name, which this rule cannot: write the cells "
                    "alone if they are on the same sheet, else define a name for them and write that"
                )
        return stored


def quoted_text(text: str) -> str:
    """Return a text as it stands in a formula."""
    return '"' + text.replace('"', '""') + '"'


def ranges_of(text: str | None) -> list[Area]:
    """Return the ranges that a rule is for; one that cannot be read is refused."""
    found: list[Area] = []
    for word in (text or "").split():
        place = area(word)
        if place is None:
            raise InvalidEditError(
                f"a rule of this sheet is for {word}, which cannot be read: remove it in Excel first"
            )
        found.append(place)
    return found


def cut(holder: Element, place: Area) -> list[Element]:
    """Return what becomes of a rule, or a group of them, that is no longer to be for a range: itself or copies.

    What its formulas refer to is counted from its first cell. So where that may be
    another afterwards, each range that is left gets a copy with formulas of its own.
    """
    before = ranges_of(holder.get("sqref"))
    left = [piece for each in before for piece in each.without(place)]
    if left == before:
        return [holder]
    if not left:
        return []
    if not any(_is_relative(each.text or "") for each in holder.iter(*_FORMULAS)):
        holder.set("sqref", " ".join(map(str, left)))
        return [holder]
    first = before[0].first
    if (min(each.top for each in before), min(each.left for each in before)) != first:
        raise InvalidEditError(
            f"the rule for {holder.get('sqref')} cannot be taken from {place} alone: name all of its range"
        )
    return list(_copies(holder, left, first.row, first.column))


def replace(holder: Element, others: list[Element]) -> None:
    """Put what became of a rule in its place."""
    for each in others:
        if each is not holder:
            holder.addprevious(each)
    parent = holder.getparent()
    if parent is not None and not any(each is holder for each in others):
        parent.remove(holder)


def _copies(holder: Element, left: list[Area], row: int, column: int) -> Iterator[Element]:
    for piece in left:
        copy = deepcopy(holder)
        copy.set("sqref", str(piece))
        for each in copy.iter(*_FORMULAS):
            each.text = shift(each.text or "", piece.top - row, piece.left - column)
        yield copy


def _is_relative(formula: str) -> bool:
    return shift(formula, 1, 1) != formula
