"""Comparing values, and the conditions that functions such as COUNTIF take as texts."""

import re
from collections.abc import Callable
from typing import Final, TypeAlias
from unicodedata import normalize

from officeplane.formats.excel.cells.values import CellError
from officeplane.formats.excel.recalculation.expressions import Scalar
from officeplane.formats.excel.recalculation.scalars import UnknownError, checked, is_near

Condition: TypeAlias = Callable[[Scalar], bool]

_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)?(.*)", re.DOTALL)
_NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_WORDS: Final = re.compile(r"[^\W\d][^*?~]*")
_LIKE_A_NUMBER: Final = re.compile(r"\s*[-+(]?[.,]?[\d$€£%]")
_TRUTHS: Final = frozenset({"true", "false"})


def compared(operator: str, one: Scalar, other: Scalar) -> bool:
    """Return what a comparison says."""
    one, other = checked(one), checked(other)
    if one is None:
        one = "" if isinstance(other, str) else False if isinstance(other, bool) else 0.0
    if other is None:
        other = "" if isinstance(one, str) else False if isinstance(one, bool) else 0.0
    if isinstance(one, bool) != isinstance(other, bool):
        raise UnknownError
    if isinstance(one, str) or isinstance(other, str):
        if operator not in {"=", "<>"}:
            raise UnknownError
        is_equal = isinstance(one, str) and isinstance(other, str) and same_text(one, other)
        return is_equal == (operator == "=")
    return _ordered(operator, float(one), float(other))


def same_text(one: str, other: str) -> bool:
    """Tell whether two texts are the same, whatever the case of their letters."""
    if one == other:
        return True
    if one.isascii() and other.isascii():
        return one.lower() == other.lower()
    if one.lower() == other.lower():
        return True
    if normalize("NFKC", one).casefold() == normalize("NFKC", other).casefold():
        raise UnknownError
    return False


def condition_of(wanted: Scalar) -> Condition:
    """Return what a condition such as `">5"` asks of a cell."""
    wanted = checked(wanted)
    if isinstance(wanted, float):
        return _number_condition("=", wanted)
    if not isinstance(wanted, str):
        raise UnknownError
    match = _CONDITION.fullmatch(wanted)
    operator, operand = (match[1] or "=", match[2]) if match else ("", "")
    if _NUMBER.fullmatch(operand):
        return _number_condition(operator, float(operand))
    if operator not in {"=", "<>"} or not _WORDS.fullmatch(operand) or operand.lower() in _TRUTHS:
        raise UnknownError
    return _text_condition(operator == "=", operand)


def _number_condition(operator: str, wanted: float) -> Condition:
    def holds(value: Scalar) -> bool:
        if isinstance(value, bool) or (isinstance(value, str) and _LIKE_A_NUMBER.match(value)):
            raise UnknownError
        if isinstance(value, float):
            return _ordered(operator, value, wanted)
        return operator == "<>"

    return holds


def _text_condition(is_wanted: bool, wanted: str) -> Condition:
    def holds(value: Scalar) -> bool:
        if isinstance(value, bool | CellError):
            raise UnknownError
        return (isinstance(value, str) and same_text(value, wanted)) == is_wanted

    return holds


def _ordered(operator: str, one: float, other: float) -> bool:
    if one != other and is_near(one, other):
        raise UnknownError
    match operator:
        case "=":
            return one == other
        case "<>":
            return one != other
        case "<":
            return one < other
        case ">":
            return one > other
        case "<=":
            return one <= other
        case _:
            return one >= other
