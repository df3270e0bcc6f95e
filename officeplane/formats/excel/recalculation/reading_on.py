"""Reading on: what is added by SUMIF is as large as what is compared, however much of it is named."""

from typing import Final

from officeplane.formats.excel.recalculation.expressions import Call, End, Expression, Operation, Reference

READING_ON: Final = frozenset({"AVERAGEIF", "SUMIF"})
"""Functions that may read more cells than their arguments name."""


def reads_on(expression: Expression) -> bool:
    """Tell whether a formula may read cells that it does not name."""
    seen: set[int] = set()
    due = [expression]
    while due:
        found = due.pop()
        # What names stand for may be in it many times.
        if id(found) in seen:
            continue
        seen.add(id(found))
        match found:
            case Operation(_, operands):
                due += operands
            case Call(function, arguments):
                if function in READING_ON and len(arguments) == 3 and not _are_alike(arguments[0], arguments[2]):
                    return True
                due += arguments
            case _:
                pass
    return False


def _are_alike(one: Expression, other: Expression) -> bool:
    if not isinstance(one, Reference) or not isinstance(other, Reference):
        return False
    return _are_as_long(one.top, one.bottom, other.top, other.bottom) and _are_as_long(
        one.left, one.right, other.left, other.right
    )


def _are_as_long(first: End, last: End, other_first: End, other_last: End) -> bool:
    """Tell whether two stretches are equally long, wherever the formula stands."""
    if (first, last) == (other_first, other_last):
        return True
    is_constant = first.is_held == last.is_held and other_first.is_held == other_last.is_held
    return is_constant and last.number - first.number == other_last.number - other_first.number
