"""Functions that count or add what fulfils conditions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from officeplane.formats.excel.cells.addresses import Area
from officeplane.formats.excel.recalculation.arithmetic import average
from officeplane.formats.excel.recalculation.calculating import Calculator, Function, numbers_in
from officeplane.formats.excel.recalculation.comparing import Condition, condition_of
from officeplane.formats.excel.recalculation.expressions import Expression, Scalar
from officeplane.formats.excel.recalculation.scalars import UnknownError, total

Arguments = tuple[Expression, ...]
_MANY: Final = 254


def _fulfilling(calculator: Calculator, pairs: Arguments, of: Expression | None) -> Iterator[tuple[bool, Scalar]]:
    """Yield, cell by cell, whether all conditions hold and what the cell holds that is counted or added."""
    areas = [calculator.cells(each).area for each in (*pairs[::2], *(() if of is None else (of,)))]
    if len({_shape(area) for area in areas}) > 1:
        raise UnknownError
    conditions = [condition_of(calculator.value(each)) for each in pairs[1::2]]
    columns = [calculator.rows(each) for each in pairs[::2]]
    added = columns[0] if of is None else calculator.rows(of)
    for rows in zip_longest(added, *columns, fillvalue=()):
        for value, *judged in zip_longest(*rows):
            yield _hold(conditions, judged), value


def _hold(conditions: Sequence[Condition], values: Sequence[Scalar]) -> bool:
    # Each is asked, so that what one of them cannot tell is never passed over.
    return sum(condition(value) for condition, value in zip(conditions, values, strict=True)) == len(conditions)


def _count(calculator: Calculator, arguments: Arguments) -> Scalar:
    if len(arguments) % 2:
        raise UnknownError
    told = [holds for holds, _ in _fulfilling(calculator, arguments, None)]
    # Whole columns are read as far as they hold anything.
    left = calculator.cells(arguments[0]).area.size - len(told)
    conditions = [condition_of(calculator.value(each)) for each in arguments[1::2]]
    return float(sum(told) + (left if left and _hold(conditions, [None] * len(conditions)) else 0))


def _chosen(calculator: Calculator, pairs: Arguments, of: Expression) -> list[float]:
    if len(pairs) % 2:
        raise UnknownError
    return numbers_in(value for holds, value in _fulfilling(calculator, pairs, of) if holds)


def _sum_if(calculator: Calculator, arguments: Arguments) -> Scalar:
    return total(_chosen(calculator, arguments[:2], arguments[-1] if len(arguments) == 3 else arguments[0]))


def _sum_ifs(calculator: Calculator, arguments: Arguments) -> Scalar:
    return total(_chosen(calculator, arguments[1:], arguments[0]))


def _average_if(calculator: Calculator, arguments: Arguments) -> Scalar:
    return average(_chosen(calculator, arguments[:2], arguments[-1] if len(arguments) == 3 else arguments[0]))


def _average_ifs(calculator: Calculator, arguments: Arguments) -> Scalar:
    return average(_chosen(calculator, arguments[1:], arguments[0]))


def _shape(area: Area) -> tuple[int, int]:
    return area.bottom - area.top, area.right - area.left


CONDITIONAL: Final[Mapping[str, Function]] = {
    "AVERAGEIF": Function(2, 3, _average_if),
    "AVERAGEIFS": Function(3, _MANY, _average_ifs),
    "COUNTIF": Function(2, 2, _count),
    "COUNTIFS": Function(2, _MANY, _count),
    "SUMIF": Function(2, 3, _sum_if),
    "SUMIFS": Function(3, _MANY, _sum_ifs),
}
