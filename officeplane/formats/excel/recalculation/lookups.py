"""Functions that find a value among others; only what is equal is found here, not what is nearest."""

from collections.abc import Iterable, Mapping
from typing import Final

from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.cells.values import CellError
from officeplane.formats.excel.recalculation.calculating import Calculator, Cells, Function
from officeplane.formats.excel.recalculation.expressions import Expression, Scalar
from officeplane.formats.excel.recalculation.scalars import (
    NOT_THERE,
    FailedError,
    UnknownError,
    checked,
    has_all_digits,
    whole,
)

Arguments = tuple[Expression, ...]
_WILD: Final = frozenset("*?~")
_ODD: Final = "odd"


def _keys(values: Iterable[Scalar]) -> dict[object, int]:
    """Return the first place of each value; what is equal for some and not for others is noted as odd."""
    found: dict[object, int] = {}
    for at, value in enumerate(values):
        if value is None:
            continue
        found.setdefault(_key(value), at)
    return found


def _key(value: Scalar) -> object:
    match value:
        case float():
            return value if has_all_digits(value) else _ODD
        case str() if value.isascii():
            return ("text", value.lower())
        case str():
            return ("text", value.lower()) if len(value.casefold()) == len(value) else _ODD
        case _:
            return _ODD


def _place(calculator: Calculator, wanted: Scalar, cells: Cells) -> int:
    """Return the place of a value in a row or column."""
    wanted = checked(wanted)
    if isinstance(wanted, str) and (not wanted or set(wanted) & _WILD):
        raise UnknownError
    key = _key(wanted)
    known = calculator.book.places(*cells, _keys)
    if key == _ODD or _ODD in known:
        raise UnknownError
    if key not in known:
        raise FailedError(NOT_THERE)
    return known[key]


def _is_exact(calculator: Calculator, argument: Expression) -> None:
    """Go on only where what is equal is looked for."""
    value = calculator.value(argument)
    if isinstance(value, str | CellError) or value is None or value:
        raise UnknownError


def _match(calculator: Calculator, arguments: Arguments) -> Scalar:
    _is_exact(calculator, arguments[2])
    cells = calculator.cells(arguments[1])
    if cells.area.top != cells.area.bottom and cells.area.left != cells.area.right:
        raise UnknownError
    return float(_place(calculator, calculator.value(arguments[0]), cells) + 1)


def _vlookup(calculator: Calculator, arguments: Arguments) -> Scalar:
    _is_exact(calculator, arguments[3])
    sheet, area = calculator.cells(arguments[1])
    column = whole(calculator.value(arguments[2]))
    if column < 1:
        raise UnknownError
    if column > area.right - area.left + 1:
        raise UnknownError
    keys = Cells(sheet, Area(area.top, area.left, area.bottom, area.left))
    place = _place(calculator, calculator.value(arguments[0]), keys)
    return _held(calculator, sheet, Address(area.top + place, area.left + column - 1))


def _hlookup(calculator: Calculator, arguments: Arguments) -> Scalar:
    _is_exact(calculator, arguments[3])
    sheet, area = calculator.cells(arguments[1])
    row = whole(calculator.value(arguments[2]))
    if row < 1:
        raise UnknownError
    if row > area.bottom - area.top + 1:
        raise UnknownError
    keys = Cells(sheet, Area(area.top, area.left, area.top, area.right))
    place = _place(calculator, calculator.value(arguments[0]), keys)
    return _held(calculator, sheet, Address(area.top + row - 1, area.left + place))


def _index(calculator: Calculator, arguments: Arguments) -> Scalar:
    sheet, area = calculator.cells(arguments[0])
    first = whole(calculator.value(arguments[1]))
    is_row = area.top == area.bottom
    if len(arguments) == 3:
        row, column = first, whole(calculator.value(arguments[2]))
    elif is_row:
        row, column = 1, first
    else:
        row, column = first, 1
        if area.left != area.right:
            raise UnknownError
    if row < 1 or column < 1:
        raise UnknownError
    if row > area.bottom - area.top + 1 or column > area.right - area.left + 1:
        raise UnknownError
    return _held(calculator, sheet, Address(area.top + row - 1, area.left + column - 1))


def _held(calculator: Calculator, sheet: int, at: Address) -> Scalar:
    return calculator.book.cell(sheet, at)


LOOKUPS: Final[Mapping[str, Function]] = {
    "HLOOKUP": Function(4, 4, _hlookup),
    "INDEX": Function(2, 3, _index),
    "MATCH": Function(3, 3, _match),
    "VLOOKUP": Function(4, 4, _vlookup),
}
