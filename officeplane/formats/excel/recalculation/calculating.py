"""Calculating: what an expression comes to in a cell, of what cells hold."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from officeplane.formats.excel.cells.addresses import Address, Area
from officeplane.formats.excel.cells.values import CellError
from officeplane.formats.excel.recalculation.book import Book, Rows
from officeplane.formats.excel.recalculation.comparing import compared
from officeplane.formats.excel.recalculation.expressions import (
    Call,
    Expression,
    Literal,
    Missing,
    Operation,
    Reference,
    Scalar,
)
from officeplane.formats.excel.recalculation.scalars import (
    DIVISION,
    FailedError,
    UnknownError,
    difference,
    finite,
    number,
    text,
)

_DEEPEST: Final = 120


class Cells(NamedTuple):
    """Cells that are an argument."""

    sheet: int
    area: Area


class Function(NamedTuple):
    """A function: how many arguments it takes, and what it makes of them."""

    fewest: int
    most: int
    calculate: Callable[["Calculator", tuple[Expression, ...]], Scalar]


class Calculator:
    """Calculates the formula of one cell."""

    def __init__(self, book: Book, functions: Mapping[str, "Function"], sheet: int, at: Address) -> None:
        self.book = book
        self._functions = functions
        self._depth = 0
        self._sheet = sheet
        self._at = at

    def result(self, expression: Expression) -> Scalar:
        """Return what a formula comes to; `UnknownError` when that cannot be told."""
        try:
            found = self.value(expression)
        except FailedError as failed:
            return failed.error
        # What refers to an empty cell shows 0.
        return 0.0 if found is None else found

    def value(self, expression: Expression) -> Scalar:
        """Return one value; what several cells come to where one is due is not told."""
        match expression:
            case Literal(value):
                return value
            case Missing():
                return None
            case Reference():
                cells = self.cells(expression)
                if cells.area.size != 1:
                    raise UnknownError
                return self.book.cell(cells.sheet, cells.area.first)
            case _:
                return self._made(expression)

    def _made(self, expression: Operation | Call) -> Scalar:
        self.book.look(1)
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise UnknownError
            if isinstance(expression, Operation):
                return self._operation(expression.operator, expression.operands)
            return self._call(expression.function, expression.arguments)
        finally:
            self._depth -= 1

    def cells(self, expression: Expression) -> Cells:
        """Return the cells that an argument is."""
        found = self.reference(expression)
        if found is None:
            raise UnknownError
        return found

    def reference(self, expression: Expression) -> Cells | None:
        """Return the cells that an argument is, None when it is a value."""
        if not isinstance(expression, Reference):
            return None
        area = expression.area(self._at)
        if area is None:
            raise UnknownError
        return Cells(self._sheet if expression.sheet is None else expression.sheet, area)

    def rows(self, expression: Expression) -> Rows:
        """Return what the cells hold that an argument is."""
        return self.book.rows(*self.cells(expression))

    def held(self, expression: Expression) -> Iterator[Scalar]:
        """Yield what the cells hold that an argument is, one after another."""
        for row in self.rows(expression):
            yield from row

    def number(self, expression: Expression) -> float:
        """Return an argument as a number."""
        return number(self.value(expression))

    def text(self, expression: Expression) -> str:
        """Return an argument as a text."""
        return text(self.value(expression))

    def numbers(self, arguments: tuple[Expression, ...]) -> list[float]:
        """Return the numbers of arguments; texts and empty cells are none, truth values are judged differently."""
        found: list[float] = []
        for argument in arguments:
            if isinstance(argument, Reference):
                found += numbers_in(self.held(argument))
            else:
                value = self.value(argument)
                if isinstance(value, CellError):
                    raise FailedError(value)
                if not isinstance(value, float):
                    raise UnknownError
                found.append(value)
        return found

    def _call(self, name: str, arguments: tuple[Expression, ...]) -> Scalar:
        function = self._functions.get(name)
        if function is None or not function.fewest <= len(arguments) <= function.most:
            raise UnknownError
        return function.calculate(self, arguments)

    def _operation(self, operator: str, operands: tuple[Expression, ...]) -> Scalar:
        values = [self._or_error(each) for each in operands]
        errors = {value.text for value in values if isinstance(value, CellError)}
        if len(errors) > 1:
            raise UnknownError
        if errors:
            raise FailedError(CellError(errors.pop()))
        match operator:
            case "&":
                return text(values[0]) + text(values[1])
            case "=" | "<>" | "<" | ">" | "<=" | ">=":
                return compared(operator, values[0], values[1])
            case "+1":
                return values[0]
            case _:
                return calculated(operator, *map(number, values))

    def _or_error(self, expression: Expression) -> Scalar:
        try:
            return self.value(expression)
        except FailedError as failed:
            return failed.error


def numbers_in(values: Iterator[Scalar]) -> list[float]:
    """Return the numbers among what cells hold."""
    found: list[float] = []
    errors: set[str] = set()
    for value in values:
        if isinstance(value, bool):
            raise UnknownError
        if isinstance(value, float):
            found.append(value)
        elif isinstance(value, CellError):
            errors.add(value.text)
    if len(errors) > 1:
        raise UnknownError
    if errors:
        raise FailedError(CellError(errors.pop()))
    return found


def calculated(operator: str, one: float, other: float = 0.0) -> float:
    """Return what an operator makes of numbers."""
    match operator:
        case "+":
            return difference(one, -other)
        case "-":
            return difference(one, other)
        case "*":
            return finite(one * other)
        case "/":
            if other == 0:
                raise FailedError(DIVISION)
            return finite(one / other)
        case "^":
            return power(one, other)
        case "-1":
            return -one if one else 0.0
        case "%":
            return finite(one / 100)
        case _:
            raise UnknownError


def power(one: float, other: float) -> float:
    """Return a power; of nothing and of roots of negative numbers programs tell different things."""
    if (one == 0 and other <= 0) or (one < 0 and other != math.trunc(other)):
        raise UnknownError
    try:
        return finite(math.pow(one, other))
    except (OverflowError, ValueError):
        raise UnknownError from None
