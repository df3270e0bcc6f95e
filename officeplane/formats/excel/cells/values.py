"""What a cell holds: how a value becomes XML, and how XML reads to people."""

import math
from dataclasses import dataclass
from datetime import date, time
from typing import Final, TypeAlias

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.shared_strings import SharedStrings
from officeplane.formats.excel.cells.texts import LENGTH_MAX, decode, length_of, new_text, read
from officeplane.formats.excel.formulas.formula import Formula
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.tags import FORMULA, INLINE, VALUE
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class CellError:
    """An error as a value, such as `#N/A` where there is nothing to show."""

    text: str


Plain: TypeAlias = str | bool | int | float | date | time | CellError | Formula | None
"""A text stays text whatever it begins with; a date may have a time with it; None empties the cell."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """A value, and how its cell shows numbers from now on."""

    value: Plain
    format: str


Value: TypeAlias = Plain | Formatted

_EXACT_MAX: Final = 2**53
_HELD: Final = frozenset({FORMULA, VALUE, INLINE})
# What a cell says of the value it had: its type, and how it spills or shows something richer.
_SAID: Final = ("t", "cm", "vm")


def empty(cell: Element) -> None:
    """Take a cell's content away; its format stays."""
    for child in list(cell):
        if child.tag in _HELD:
            cell.remove(child)
    for name in _SAID:
        cell.attrib.pop(name, None)


def write(cell: Element, value: str | bool | float | CellError | Formula | None) -> None:
    """Give a cell another content; formulas are checked before, and dates are numbers by then."""
    empty(cell)
    match value:
        case None:
            return
        case Formula():
            _first(cell, FORMULA).text = value.text
        case str():
            cell.set("t", "inlineStr")
            new_text(_first(cell, INLINE), value)
        case bool():
            cell.set("t", "b")
            _first(cell, VALUE).text = "1" if value else "0"
        case CellError():
            cell.set("t", "e")
            _first(cell, VALUE).text = value.text
        case _:
            _first(cell, VALUE).text = number(value)


def _first(cell: Element, tag: str) -> Element:
    # Whatever else a cell holds stands behind its content.
    made = etree.Element(tag)
    cell.insert(0, made)
    return made


def number(value: float) -> str:
    """Return a number as a sheet holds it; one that Excel has no room for is refused."""
    if isinstance(value, int) and abs(value) <= _EXACT_MAX:
        return str(value)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise InvalidEditError("a number is too large for a cell; give it as text")
    return repr(found)


def check_text(text: str) -> None:
    """Refuse a text that no cell can hold."""
    if length_of(text) > LENGTH_MAX:
        raise InvalidEditError(f"a text has more than the {LENGTH_MAX} characters that a cell holds")


def string_item(cell: Element, strings: SharedStrings) -> Element | None:
    """Return the text of a cell that is a text and no result, as it lies."""
    kind = cell.get("t")
    if kind == "s":
        at = shared_number(cell)
        return strings.items[at] if 0 <= at < len(strings.items) else None
    # What is called the text of a result and has no formula is a text like any other.
    return cell.find(INLINE if kind == "inlineStr" else VALUE) if kind in {"inlineStr", "str"} else None


def shared_number(cell: Element) -> int:
    """Return the number of the shared string that a cell names, -1 when it names none."""
    for child in cell:
        if child.tag == VALUE:
            return whole(child.text, -1)
    return -1


def shown(cell: Element, strings: SharedStrings) -> str | None:
    """Return what a cell shows, without its number format; None when that has to be calculated first."""
    kind = cell.get("t")
    if kind == "s":
        at = shared_number(cell)
        return strings.text(at) if 0 <= at < len(strings.items) else ""
    value: Element | None = None
    has_formula = False
    for child in cell:
        if child.tag == VALUE:
            value = child
        elif child.tag == FORMULA:
            has_formula = True
        elif child.tag == INLINE and kind == "inlineStr":
            return read(child)
    if value is None:
        return None if has_formula else ""
    text = value.text or ""
    if kind == "b":
        return "TRUE" if text.strip() == "1" else "FALSE"
    return decode(text) if kind == "str" else text
