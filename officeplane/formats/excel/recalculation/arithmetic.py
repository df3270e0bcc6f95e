"""Functions of numbers: sums, averages, roundings."""

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Final

from officeplane.formats.excel.cells.values import CellError
from officeplane.formats.excel.recalculation.calculating import Calculator, Function, numbers_in, power
from officeplane.formats.excel.recalculation.expressions import Expression, Scalar
from officeplane.formats.excel.recalculation.scalars import (
    DIVISION,
    FailedError,
    UnknownError,
    digits,
    finite,
    has_all_digits,
    is_whole,
    total,
    whole,
)

Arguments = tuple[Expression, ...]
_PLACES_MAX: Final = 15
_MANY: Final = 255


def average(values: list[float]) -> float:
    """Return the mean of numbers; of none it is an error."""
    if not values:
        raise FailedError(DIVISION)
    return total(values) / len(values)


def median(values: list[float]) -> float:
    """Return the number in the middle."""
    if not values:
        raise UnknownError
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else finite(total(values[middle - 1 : middle + 1]) / 2)


def rounded(value: float, places: int, way: str) -> float:
    """Return a number with so many digits behind its point, as the fifteen digits say that people see of it."""
    if abs(places) > _PLACES_MAX:
        raise UnknownError
    seen = digits(value)
    step = Decimal(1).scaleb(-places)
    if seen.adjusted() + places > 2 * _PLACES_MAX:
        return value
    found = seen.quantize(step, way)
    is_at_edge = found == seen if way != ROUND_HALF_UP else abs(found - seen) * 2 == step
    if is_at_edge and not has_all_digits(value):
        # What people see is where it turns, and the number itself is not.
        raise UnknownError
    return float(found) + 0.0


def _sum(calculator: Calculator, arguments: Arguments) -> Scalar:
    return total(calculator.numbers(arguments))


def _average(calculator: Calculator, arguments: Arguments) -> Scalar:
    return average(calculator.numbers(arguments))


def _least(calculator: Calculator, arguments: Arguments) -> Scalar:
    return min(calculator.numbers(arguments), default=0.0)


def _largest(calculator: Calculator, arguments: Arguments) -> Scalar:
    return max(calculator.numbers(arguments), default=0.0)


def _median(calculator: Calculator, arguments: Arguments) -> Scalar:
    return median(calculator.numbers(arguments))


def _product(calculator: Calculator, arguments: Arguments) -> Scalar:
    values = calculator.numbers(arguments)
    return finite(math.prod(values)) if values else 0.0


def _count(calculator: Calculator, arguments: Arguments) -> Scalar:
    found = 0
    for argument in arguments:
        for value in calculator.held(argument):
            if isinstance(value, bool):
                raise UnknownError
            found += isinstance(value, float)
    return float(found)


def _count_all(calculator: Calculator, arguments: Arguments) -> Scalar:
    return float(sum(value is not None for argument in arguments for value in calculator.held(argument)))


def _count_blank(calculator: Calculator, arguments: Arguments) -> Scalar:
    rows = calculator.rows(arguments[0])
    held = sum(value is not None and value != "" for row in rows for value in row)
    return float(calculator.cells(arguments[0]).area.size - held)


def _sum_of_products(calculator: Calculator, arguments: Arguments) -> Scalar:
    areas = [calculator.cells(argument).area for argument in arguments]
    shape = (areas[0].bottom - areas[0].top, areas[0].right - areas[0].left)
    if any((area.bottom - area.top, area.right - area.left) != shape for area in areas):
        raise UnknownError
    columns = [[*calculator.held(argument)] for argument in arguments]
    found: list[float] = []
    errors = {value.text for column in columns for value in column if isinstance(value, CellError)}
    if len(errors) > 1:
        raise UnknownError
    if errors:
        raise FailedError(CellError(errors.pop()))
    for values in zip(*columns, strict=False):
        if any(isinstance(value, bool | str) for value in values):
            raise UnknownError
        found.append(
            finite(math.prod(value for value in values if isinstance(value, float)) if None not in values else 0.0)
        )
    return total(found)


def _ranking(*, is_from_top: bool) -> Function:
    def calculate(calculator: Calculator, arguments: Arguments) -> Scalar:
        values = sorted(numbers_in(calculator.held(arguments[0])), reverse=is_from_top)
        place = whole(calculator.value(arguments[1]))
        if not 1 <= place <= len(values):
            raise UnknownError
        return values[place - 1]

    return Function(2, 2, calculate)


def _rounding(way: str) -> Function:
    def calculate(calculator: Calculator, arguments: Arguments) -> Scalar:
        value = calculator.number(arguments[0])
        places = whole(calculator.value(arguments[1])) if len(arguments) > 1 else 0
        return rounded(value, places, way)

    return Function(1 if way == ROUND_DOWN else 2, 2, calculate)


def _truncated(calculator: Calculator, arguments: Arguments) -> Scalar:
    return rounded(calculator.number(arguments[0]), 0, ROUND_FLOOR)


def _to_steps(way: str) -> Function:
    def calculate(calculator: Calculator, arguments: Arguments) -> Scalar:
        value, step = calculator.number(arguments[0]), calculator.number(arguments[1])
        if value <= 0 or step <= 0 or not (has_all_digits(value) and has_all_digits(step)):
            raise UnknownError
        return float((digits(value) / digits(step)).quantize(Decimal(1), way) * digits(step))

    return Function(2, 2, calculate)


def _rest(calculator: Calculator, arguments: Arguments) -> Scalar:
    value, by = calculator.number(arguments[0]), calculator.number(arguments[1])
    if by == 0:
        raise FailedError(DIVISION)
    if not (is_whole(value) and is_whole(by)):
        raise UnknownError
    return float(int(value) % int(by))


def _size(calculator: Calculator, arguments: Arguments) -> Scalar:
    return abs(calculator.number(arguments[0]))


def _sign(calculator: Calculator, arguments: Arguments) -> Scalar:
    value = calculator.number(arguments[0])
    return float((value > 0) - (value < 0))


def _root(calculator: Calculator, arguments: Arguments) -> Scalar:
    value = calculator.number(arguments[0])
    if value < 0:
        raise UnknownError
    return math.sqrt(value)


def _power(calculator: Calculator, arguments: Arguments) -> Scalar:
    return power(calculator.number(arguments[0]), calculator.number(arguments[1]))


ARITHMETIC: Final[Mapping[str, Function]] = {
    "ABS": Function(1, 1, _size),
    "AVERAGE": Function(1, _MANY, _average),
    "CEILING": _to_steps(ROUND_CEILING),
    "COUNT": Function(1, _MANY, _count),
    "COUNTA": Function(1, _MANY, _count_all),
    "COUNTBLANK": Function(1, 1, _count_blank),
    "FLOOR": _to_steps(ROUND_FLOOR),
    "INT": Function(1, 1, _truncated),
    "LARGE": _ranking(is_from_top=True),
    "MAX": Function(1, _MANY, _largest),
    "MEDIAN": Function(1, _MANY, _median),
    "MIN": Function(1, _MANY, _least),
    "MOD": Function(2, 2, _rest),
    "POWER": Function(2, 2, _power),
    "PRODUCT": Function(1, _MANY, _product),
    "ROUND": _rounding(ROUND_HALF_UP),
    "ROUNDDOWN": _rounding(ROUND_DOWN),
    "ROUNDUP": _rounding(ROUND_UP),
    "SIGN": Function(1, 1, _sign),
    "SMALL": _ranking(is_from_top=False),
    "SQRT": Function(1, 1, _root),
    "SUM": Function(1, _MANY, _sum),
    "SUMPRODUCT": Function(1, 30, _sum_of_products),
    "TRUNC": _rounding(ROUND_DOWN),
}
