"""Expressions: a formula as a tree, wherever it stands; what cannot be calculated here has none.

References are kept as they lie from the cell of the formula, so that formulas
that were filled down are one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address, Area
from officeplane.formats.excel.cells.values import CellError
from officeplane.formats.excel.formulas.functions import bare_name
from officeplane.formats.excel.formulas.tokens import Kind, Token

Scalar: TypeAlias = float | str | bool | CellError | None
"""What a cell may hold; None is nothing."""


class End(NamedTuple):
    """A row or column: itself if a `$` holds it, else how far it is from the cell of the formula."""

    number: int
    is_held: bool

    def of(self, own: int) -> int:
        """Return it, seen from a row or column."""
        return self.number if self.is_held else self.number + own


@dataclass(frozen=True, slots=True)
class Reference:
    """Cells of a sheet, by its place among the sheets; None is the formula's own."""

    sheet: int | None
    top: End
    left: End
    bottom: End
    right: End
    is_area: bool = True

    def area(self, at: Address) -> Area | None:
        """Return the cells that are meant from a cell; None where the sheet ends before."""
        top, bottom = self.top.of(at.row), self.bottom.of(at.row)
        left, right = self.left.of(at.column), self.right.of(at.column)
        if top > bottom:
            top, bottom = bottom, top
        if left > right:
            left, right = right, left
        return (
            Area(top, left, bottom, right) if top > 0 < left and bottom <= ROWS_MAX and right <= COLUMNS_MAX else None
        )


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is written out."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Missing:
    """An argument that is left out."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and what it is of: one operand, or two."""

    operator: str
    operands: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its name, and its arguments."""

    function: str
    arguments: tuple["Expression", ...]


Expression: TypeAlias = Reference | Literal | Missing | Operation | Call
Meaning: TypeAlias = Callable[[Sequence[Token], int], tuple[Expression, int] | None]
"""What is meant by the sheets, references, names and tables that begin at a token, and where they end."""

_STRENGTH: Final = {"=": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "<>": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 5}
_PAIRS: Final = frozenset({"<=", ">=", "<>"})
_SIGNED: Final = 6
_TRUTHS: Final = {"TRUE": True, "FALSE": False}
_DEEPEST: Final = 30


class _UnreadError(Exception):
    """It is no expression that is known here."""


def expression_of(tokens: Sequence[Token], meaning: Meaning) -> Expression | None:
    """Return the tree of a formula, None when it has something in it that is not known here."""
    reader = _Reader([*_joined(tokens)], meaning)
    try:
        found = reader.expression(0, 0)
    except _UnreadError:
        return None
    return found if reader.is_at_end else None


def _joined(found: Sequence[Token]) -> list[Token]:
    """Return tokens without spaces, `<=` and the like as one; a space between operands is left, which nobody knows."""
    made: list[Token] = []
    before: Token | None = None
    for token in found:
        if not _is_space(token):
            if before is not None and made and _is_space(before) and _ends(made[-1]) and _begins(token):
                made.append(Token(Kind.OTHER, " "))
            if made and token.kind is Kind.OTHER and made[-1].text + token.text in _PAIRS:
                made[-1] = Token(Kind.OTHER, made[-1].text + token.text)
            else:
                made.append(token)
        before = token
    return made


def _is_space(token: Token) -> bool:
    return token.kind is Kind.OTHER and token.text.isspace()


def _ends(token: Token) -> bool:
    return token.kind is not Kind.OTHER or token.text in {")", "}", "%", "#"}


def _begins(token: Token) -> bool:
    return token.kind is not Kind.OTHER or token.text in {"(", "{"}


class _Reader:
    def __init__(self, tokens: list[Token], meaning: Meaning) -> None:
        self._tokens = tokens
        self._meaning = meaning
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._tokens)

    def expression(self, weakest: int, depth: int) -> Expression:
        if depth > _DEEPEST:
            raise _UnreadError
        left = self._operand(depth)
        while (text := self._sign()) is not None:
            if text == "%":
                self._at += 1
                left = Operation("%", (left,))
                continue
            strength = _STRENGTH.get(text, 0)
            if strength <= weakest:
                break
            self._at += 1
            left = Operation(text, (left, self.expression(strength, depth + 1)))
        return left

    def _sign(self) -> str | None:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        return token.text if token is not None and token.kind is Kind.OTHER else None

    def _operand(self, depth: int) -> Expression:
        if self.is_at_end:
            raise _UnreadError
        token = self._tokens[self._at]
        match token.kind:
            case Kind.NUMBER:
                self._at += 1
                return Literal(float(token.text))
            case Kind.STRING:
                self._at += 1
                return Literal(token.text[1:-1].replace('""', '"'))
            case Kind.ERROR:
                self._at += 1
                return Literal(CellError(token.text))
            case Kind.FUNCTION:
                return self._call(depth)
            case Kind.NAME if token.text.upper() in _TRUTHS:
                self._at += 1
                return Literal(_TRUTHS[token.text.upper()])
            case Kind.OTHER if token.text in {"-", "+"}:
                self._at += 1
                # A sign binds closer than a power: -2^2 is 4.
                operand = self.expression(_SIGNED, depth + 1)
                return Operation(f"{token.text}1", (operand,))
            case Kind.OTHER if token.text == "(":
                self._at += 1
                found = self.expression(0, depth + 1)
                self._expect(")")
                # Not a reference any more: it is one value.
                return found
            case _:
                return self._reference()

    def _reference(self) -> Expression:
        found = self._meaning(self._tokens, self._at)
        if found is None:
            raise _UnreadError
        expression, self._at = found
        return expression

    def _call(self, depth: int) -> Expression:
        name = bare_name(self._tokens[self._at].text)
        self._at += 1
        self._expect("(")
        if self._sign() == ")":
            self._at += 1
            return Call(name, ())
        arguments: list[Expression] = []
        while True:
            arguments.append(Missing() if self._sign() in {",", ")"} else self.expression(0, depth + 1))
            if self._sign() != ",":
                break
            self._at += 1
        self._expect(")")
        return Call(name, tuple(arguments))

    def _expect(self, text: str) -> None:
        if self._sign() != text:
            raise _UnreadError
        self._at += 1
