"""Functions of texts."""

from collections.abc import Mapping
from typing import Final

from officeplane.formats.excel.recalculation.calculating import Calculator, Function
from officeplane.formats.excel.recalculation.expressions import Expression, Scalar
from officeplane.formats.excel.recalculation.scalars import VALUE, FailedError, UnknownError, whole

Arguments = tuple[Expression, ...]
_LENGTH_MAX: Final = 32_767
_PLANE: Final = 0xFFFF


def _text(calculator: Calculator, argument: Expression) -> str:
    """Return a text each of whose characters is one for everybody."""
    found = calculator.text(argument)
    if any(ord(char) > _PLANE for char in found):
        raise UnknownError
    return found


def _count_of(calculator: Calculator, arguments: Arguments, at: int, otherwise: int) -> int:
    found = whole(calculator.value(arguments[at])) if at < len(arguments) else otherwise
    if found < 0:
        raise FailedError(VALUE)
    return found


def _length(calculator: Calculator, arguments: Arguments) -> Scalar:
    return float(len(_text(calculator, arguments[0])))


def _left(calculator: Calculator, arguments: Arguments) -> Scalar:
    return _text(calculator, arguments[0])[: _count_of(calculator, arguments, 1, 1)]


def _right(calculator: Calculator, arguments: Arguments) -> Scalar:
    found, count = _text(calculator, arguments[0]), _count_of(calculator, arguments, 1, 1)
    return found[max(len(found) - count, 0) :]


def _middle(calculator: Calculator, arguments: Arguments) -> Scalar:
    found, first = _text(calculator, arguments[0]), _count_of(calculator, arguments, 1, 1)
    count = _count_of(calculator, arguments, 2, 0)
    if first < 1:
        raise FailedError(VALUE)
    return found[first - 1 : first - 1 + count]


def _trimmed(calculator: Calculator, arguments: Arguments) -> Scalar:
    return " ".join(each for each in calculator.text(arguments[0]).split(" ") if each)


def _upper(calculator: Calculator, arguments: Arguments) -> Scalar:
    found = _text(calculator, arguments[0])
    return _same_letters(found, found.upper())


def _lower(calculator: Calculator, arguments: Arguments) -> Scalar:
    found = _text(calculator, arguments[0])
    return _same_letters(found, found.lower())


def _same_letters(found: str, made: str) -> str:
    """Return a text in another case, if each of its letters has one of its own there and back."""
    if len(made) != len(found) or made.lower() != found.lower() or made.upper() != found.upper():
        raise UnknownError
    return made


def _joined(calculator: Calculator, arguments: Arguments) -> Scalar:
    made = "".join(calculator.text(argument) for argument in arguments)
    if len(made) > _LENGTH_MAX:
        raise UnknownError
    return made


def _is_exact(calculator: Calculator, arguments: Arguments) -> Scalar:
    return calculator.text(arguments[0]) == calculator.text(arguments[1])


def _substituted(calculator: Calculator, arguments: Arguments) -> Scalar:
    found, old, new = (calculator.text(argument) for argument in arguments)
    if not old or not found:
        return found
    made = found.replace(old, new)
    if len(made) > _LENGTH_MAX:
        raise UnknownError
    return made


def _place(calculator: Calculator, arguments: Arguments) -> Scalar:
    wanted, found = _text(calculator, arguments[0]), _text(calculator, arguments[1])
    first = _count_of(calculator, arguments, 2, 1)
    if not wanted or not 1 <= first <= len(found):
        raise UnknownError
    at = found.find(wanted, first - 1)
    if at < 0:
        raise FailedError(VALUE)
    return float(at + 1)


def _repeated(calculator: Calculator, arguments: Arguments) -> Scalar:
    found, count = calculator.text(arguments[0]), _count_of(calculator, arguments, 1, 0)
    if len(found) * count > _LENGTH_MAX:
        raise UnknownError
    return found * count


TEXTS: Final[Mapping[str, Function]] = {
    "CONCATENATE": Function(1, 255, _joined),
    "EXACT": Function(2, 2, _is_exact),
    "FIND": Function(2, 3, _place),
    "LEFT": Function(1, 2, _left),
    "LEN": Function(1, 1, _length),
    "LOWER": Function(1, 1, _lower),
    "MID": Function(3, 3, _middle),
    "REPT": Function(2, 2, _repeated),
    "RIGHT": Function(1, 2, _right),
    "SUBSTITUTE": Function(3, 3, _substituted),
    "TRIM": Function(1, 1, _trimmed),
    "UPPER": Function(1, 1, _upper),
}
