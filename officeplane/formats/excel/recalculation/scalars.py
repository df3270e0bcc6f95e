"""Scalars: how values become numbers and texts, where programs that calculate agree about it.

Excel, and LibreOffice with it, look past the last bits of a number in some places:
a difference of nearly equal numbers is nothing, and nearly equal ones are equal.
Where it depends on such bits what comes out, nothing is calculated (`UnknownError`).
"""

import math
from decimal import Decimal
from typing import Final

from officeplane.formats.excel.cells.values import CellError
from officeplane.formats.excel.recalculation.expressions import Scalar

DIVISION: Final = CellError("#DIV/0!")
VALUE: Final = CellError("#VALUE!")
NOT_THERE: Final = CellError("#N/A")

_NEAR: Final = 2.0**-40
_SAME: Final = 2.0**-48
_WHOLE_MAX: Final = 1e15
_SMALLEST: Final = 2.3e-308


class UnknownError(Exception):
    """What comes out cannot be told rightly."""


class FailedError(Exception):
    """What comes out is an error, such as a division by nothing."""

    def __init__(self, error: CellError) -> None:
        super().__init__(error.text)
        self.error = error


def checked(value: Scalar) -> float | str | bool | None:
    """Return a value that is no error."""
    if isinstance(value, CellError):
        raise FailedError(value)
    return value


def number(value: Scalar) -> float:
    """Return a value as a number; of texts it is not told whether they are one."""
    value = checked(value)
    if value is None:
        return 0.0
    if isinstance(value, str):
        raise UnknownError
    return float(value)


def whole(value: Scalar) -> int:
    """Return a number without its fraction."""
    found = number(value)
    if abs(found) >= _WHOLE_MAX or (found != round(found) and is_near(found, round(found))):
        raise UnknownError
    return math.trunc(found)


def text(value: Scalar) -> str:
    """Return a value as a text; how fractions and truth values are written depends on the language."""
    value = checked(value)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not is_whole(value):
        raise UnknownError
    return str(int(value))


def truth(value: Scalar) -> bool:
    """Return a value as true or false."""
    value = checked(value)
    if isinstance(value, str):
        raise UnknownError
    return bool(value)


def finite(value: float) -> float:
    """Return a result that a cell can hold."""
    if not math.isfinite(value) or 0 < abs(value) < _SMALLEST:
        raise UnknownError
    return value


def is_whole(value: float) -> bool:
    """Tell whether a number has no fraction and all of its digits are kept."""
    return abs(value) < _WHOLE_MAX and value == int(value)


def is_near(one: float, other: float) -> bool:
    """Tell whether two numbers that are not equal are so near that they may be meant to be."""
    if is_whole(one) and is_whole(other):
        return False
    return abs(one - other) <= _NEAR * max(abs(one), abs(other))


def difference(one: float, other: float) -> float:
    """Return one number less another."""
    found = one - other
    if found and is_near(one, other):
        raise UnknownError
    return finite(found)


def total(values: list[float]) -> float:
    """Return a sum to fifteen digits; one that depends on the order of its parts beyond that is not told."""
    exact = finite(math.fsum(values)) if values else 0.0
    inexact = sum(values)
    if abs(exact - inexact) > _SAME * abs(exact):
        raise UnknownError
    return exact


def digits(value: float) -> Decimal:
    """Return a number with the fifteen digits that people see."""
    return Decimal(f"{value:.15g}")


def has_all_digits(value: float) -> bool:
    """Tell whether these digits are all that a number has."""
    return float(digits(value)) == value
