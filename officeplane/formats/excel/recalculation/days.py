"""Functions of dates: days are numbers since the end of 1899, from March 1900 on, where all programs agree."""

from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Final

from officeplane.formats.excel.recalculation.calculating import Calculator, Function
from officeplane.formats.excel.recalculation.expressions import Expression, Scalar
from officeplane.formats.excel.recalculation.scalars import UnknownError, whole

Arguments = tuple[Expression, ...]
_ZERO: Final = date(1899, 12, 30)
_FIRST: Final = 61
_LAST: Final = 2_958_465
_YEARS: Final = range(1900, 10_000)
_MONTHS_MAX: Final = 120_000


def _number(day: date) -> float:
    found = (day - _ZERO).days
    if not _FIRST <= found <= _LAST:
        raise UnknownError
    return float(found)


def _day(calculator: Calculator, argument: Expression) -> date:
    found = whole(calculator.value(argument))
    if not _FIRST <= found <= _LAST:
        raise UnknownError
    return _ZERO + timedelta(days=found)


def _month(year: int, month: int) -> date:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if year not in _YEARS:
        raise UnknownError
    return date(year, month, 1)


def _date(calculator: Calculator, arguments: Arguments) -> Scalar:
    year, month, day = (whole(calculator.value(argument)) for argument in arguments)
    if year not in _YEARS or abs(month) > _MONTHS_MAX or abs(day) > _LAST:
        raise UnknownError
    try:
        return _number(_month(year, month) + timedelta(days=day - 1))
    except OverflowError:
        raise UnknownError from None


def _later(*, is_end: bool) -> Function:
    def calculate(calculator: Calculator, arguments: Arguments) -> Scalar:
        day, months = _day(calculator, arguments[0]), whole(calculator.value(arguments[1]))
        if abs(months) > _MONTHS_MAX:
            raise UnknownError
        first = _month(day.year, day.month + months)
        last = monthrange(first.year, first.month)[1]
        return _number(first.replace(day=last if is_end else min(day.day, last)))

    return Function(2, 2, calculate)


def _part(part: Callable[[date], int]) -> Function:
    def calculate(calculator: Calculator, arguments: Arguments) -> Scalar:
        return float(part(_day(calculator, arguments[0])))

    return Function(1, 1, calculate)


def _weekday(calculator: Calculator, arguments: Arguments) -> Scalar:
    day = _day(calculator, arguments[0]).isoweekday()
    match whole(calculator.value(arguments[1])) if len(arguments) > 1 else 1:
        case 1:
            return float(day % 7 + 1)
        case 2:
            return float(day)
        case 3:
            return float(day - 1)
        case _:
            raise UnknownError


def _days(calculator: Calculator, arguments: Arguments) -> Scalar:
    last, first = (_day(calculator, argument) for argument in arguments)
    return float((last - first).days)


DAYS: Final[Mapping[str, Function]] = {
    "DATE": Function(3, 3, _date),
    "DAY": _part(lambda day: day.day),
    "DAYS": Function(2, 2, _days),
    "EDATE": _later(is_end=False),
    "EOMONTH": _later(is_end=True),
    "MONTH": _part(lambda day: day.month),
    "WEEKDAY": Function(1, 2, _weekday),
    "YEAR": _part(lambda day: day.year),
}
