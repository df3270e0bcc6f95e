"""Functions that decide, and that tell what a value is."""

from collections.abc import Iterator, Mapping
from typing import Final

from officeplane.formats.excel.cells.values import CellError
from officeplane.formats.excel.recalculation.calculating import Calculator, Function
from officeplane.formats.excel.recalculation.expressions import Expression, Reference, Scalar
from officeplane.formats.excel.recalculation.scalars import NOT_THERE, FailedError, UnknownError, truth, whole

Arguments = tuple[Expression, ...]
_MANY: Final = 255


def _if(calculator: Calculator, arguments: Arguments) -> Scalar:
    if truth(calculator.value(arguments[0])):
        return _chosen(calculator, arguments[1])
    return _chosen(calculator, arguments[2]) if len(arguments) == 3 else False


def _chosen(calculator: Calculator, argument: Expression) -> Scalar:
    found = calculator.value(argument)
    if found is None:
        # An empty cell, and an argument that is left out, are 0 for some and nothing for others.
        raise UnknownError
    return found


def _choose(calculator: Calculator, arguments: Arguments) -> Scalar:
    place = whole(calculator.value(arguments[0]))
    if not 1 <= place < len(arguments):
        raise UnknownError
    return _chosen(calculator, arguments[place])


def _error(calculator: Calculator, argument: Expression) -> tuple[Scalar, CellError | None]:
    try:
        found = calculator.value(argument)
    except FailedError as failed:
        return None, failed.error
    return (None, found) if isinstance(found, CellError) else (found, None)


def _if_error(calculator: Calculator, arguments: Arguments) -> Scalar:
    found, error = _error(calculator, arguments[0])
    if error is None and found is None:
        raise UnknownError
    return found if error is None else _chosen(calculator, arguments[1])


def _if_not_there(calculator: Calculator, arguments: Arguments) -> Scalar:
    found, error = _error(calculator, arguments[0])
    if error is None and found is None:
        raise UnknownError
    if error is None:
        return found
    return _chosen(calculator, arguments[1]) if error == NOT_THERE else error


def _truths(calculator: Calculator, arguments: Arguments) -> Iterator[bool]:
    """Yield all of them before anything is decided, so that errors are told."""
    found: list[bool] = []
    for argument in arguments:
        if isinstance(argument, Reference):
            values = [value for value in calculator.held(argument) if value is not None]
            if not values:
                raise UnknownError
            found += map(truth, values)
        else:
            found.append(truth(calculator.value(argument)))
    yield from found


def _all(calculator: Calculator, arguments: Arguments) -> Scalar:
    return all(_truths(calculator, arguments))


def _any(calculator: Calculator, arguments: Arguments) -> Scalar:
    return any(_truths(calculator, arguments))


def _always(value: Scalar) -> Function:
    def calculate(_calculator: Calculator, _arguments: Arguments) -> Scalar:
        return value

    return Function(0, 0, calculate)


def _not(calculator: Calculator, arguments: Arguments) -> Scalar:
    return not truth(calculator.value(arguments[0]))


def _is_error(calculator: Calculator, arguments: Arguments) -> Scalar:
    return _error(calculator, arguments[0])[1] is not None


def _is_other_error(calculator: Calculator, arguments: Arguments) -> Scalar:
    error = _error(calculator, arguments[0])[1]
    return error is not None and error != NOT_THERE


def _is_not_there(calculator: Calculator, arguments: Arguments) -> Scalar:
    return _error(calculator, arguments[0])[1] == NOT_THERE


def _is_blank(calculator: Calculator, arguments: Arguments) -> Scalar:
    cells = calculator.cells(arguments[0])
    found, error = _error(calculator, arguments[0])
    return cells.area.size == 1 and error is None and found is None


def _is_number(calculator: Calculator, arguments: Arguments) -> Scalar:
    found, _ = _error(calculator, arguments[0])
    if isinstance(found, bool):
        raise UnknownError
    return isinstance(found, float)


def _is_text(calculator: Calculator, arguments: Arguments) -> Scalar:
    return isinstance(_error(calculator, arguments[0])[0], str)


LOGIC: Final[Mapping[str, Function]] = {
    "AND": Function(1, _MANY, _all),
    "CHOOSE": Function(2, _MANY, _choose),
    "FALSE": _always(False),
    "IF": Function(2, 3, _if),
    "IFERROR": Function(2, 2, _if_error),
    "IFNA": Function(2, 2, _if_not_there),
    "ISBLANK": Function(1, 1, _is_blank),
    "ISERR": Function(1, 1, _is_other_error),
    "ISERROR": Function(1, 1, _is_error),
    "ISNA": Function(1, 1, _is_not_there),
    "ISNUMBER": Function(1, 1, _is_number),
    "ISTEXT": Function(1, 1, _is_text),
    "NA": _always(NOT_THERE),
    "NOT": Function(1, 1, _not),
    "OR": Function(1, _MANY, _any),
    "TRUE": _always(True),
}
