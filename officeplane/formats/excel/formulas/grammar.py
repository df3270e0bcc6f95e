"""The grammar of formulas, as far as it takes to tell what Excel could not read."""

from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.formulas.tokens import Kind, Token

_OPERANDS: Final = frozenset({Kind.STRING, Kind.ERROR, Kind.NUMBER, Kind.REFERENCE, Kind.NAME})
_BINARY: Final = frozenset("+-*/^&=<>:")
_BEFORE: Final = frozenset("+-@")
_BEHIND: Final = frozenset("%#")
_PAIRS: Final = frozenset({"<=", ">=", "<>"})
_CLOSES: Final = {")": "(", "}": "{"}
_NESTED_MAX: Final = 64
_ARGUMENTS_MAX: Final = 255
_TEXT_MAX: Final = 255


def check_grammar(formula: str, tokens: list[Token]) -> None:
    """Refuse a formula that is incomplete or beyond Excel's limits; an unread one makes Excel offer a repair."""
    reader = _Reader(formula)
    for token in tokens:
        reader.read(token)
    reader.end()


class _Reader:
    """Reads a formula token by token: either an operand is due, or something that may follow one."""

    def __init__(self, formula: str) -> None:
        self._formula = formula
        self._open: list[str] = []
        self._commas: list[int] = []
        self._is_due = True
        self._before = ""
        self._kind: Kind | None = None
        self._spaced = False

    def read(self, token: Token) -> None:
        """Go on by one token."""
        if token.kind is Kind.OTHER and token.text.isspace():
            self._spaced = True
            return
        if self._kind is Kind.FUNCTION and token.text != "(":
            raise self._refusal(f"{self._before} stands without its arguments")
        if token.kind is Kind.OTHER and token.text in {"'", '"'}:
            raise self._refusal("it has a quotation mark that is not closed")
        if token.kind is Kind.BRACKET and not token.text.endswith("]"):
            raise self._refusal("it has a [ that is not closed")
        if token.kind is Kind.STRING and len(token.text[1:-1].replace('""', '"')) > _TEXT_MAX:
            raise self._refusal(f"a text in it is longer than {_TEXT_MAX} characters; join shorter ones with &")
        if token.text == "," and self._commas:
            self._commas[-1] += 1
            if self._open[-1] == "f(" and self._commas[-1] == _ARGUMENTS_MAX:
                raise self._refusal(f"a function has more than {_ARGUMENTS_MAX} arguments")
        if token.text in _CLOSES and token.kind is Kind.OTHER:
            self._close(token.text)
        elif self._is_due:
            self._operand(token)
        else:
            self._follower(token)
        self._before, self._kind, self._spaced = token.text, token.kind, False

    def end(self) -> None:
        """Check that nothing is missing."""
        if self._open:
            raise self._refusal(f"it has a {self._open[-1][-1]} that is not closed")
        if self._is_due:
            raise self._refusal("it ends too early")

    def _operand(self, token: Token) -> None:
        text = token.text
        if token.kind in _OPERANDS or (token.kind is Kind.BRACKET and self._kind is Kind.SHEET):
            self._is_due = False
        elif token.kind in {Kind.SHEET, Kind.FUNCTION} or text in _BEFORE:
            return
        elif text in {"(", "{"}:
            self._enter("f(" if self._kind is Kind.FUNCTION else text)
        elif text == "," and self._open[-1:] == ["f("]:
            return  # an argument that is left out
        elif self._before + text in _PAIRS and not self._spaced:
            return
        elif text == ";":
            raise self._refusal("arguments are separated by commas")
        else:
            raise self._refusal(f"{text} stands where a value is due")

    def _follower(self, token: Token) -> None:
        text = token.text
        if (token.kind is Kind.OTHER and text in _BINARY) or text == ",":
            self._is_due = True
        elif text == ";":
            if self._open[-1:] != ["{"]:
                raise self._refusal("arguments are separated by commas")
            self._is_due = True
        elif (token.kind is Kind.OTHER and text in _BEHIND) or (token.kind is Kind.BRACKET and self._kind is Kind.NAME):
            return
        elif self._kind is Kind.ERROR and token.kind is Kind.REFERENCE:
            return  # `#REF!A1`, where a sheet was
        elif text == "(" and self._before == ")":
            self._enter("f(")  # what a LAMBDA is called with
            self._is_due = True
        elif self._spaced and (token.kind is not Kind.OTHER or text == "("):
            self._is_due = True
            self._operand(token)
        else:
            raise self._refusal(f"{text} follows {self._before} without anything between them")

    def _enter(self, opened: str) -> None:
        self._open.append(opened)
        self._commas.append(0)
        if opened == "f(" and self._open.count(opened) > _NESTED_MAX:
            raise self._refusal(f"functions stand more than {_NESTED_MAX} deep in one another")

    def _close(self, text: str) -> None:
        opened = self._open.pop() if self._open else ""
        if opened:
            self._commas.pop()
        if opened[-1:] != _CLOSES[text]:
            raise self._refusal(f"it has a {text} too many")
        if self._is_due and not (opened == "f(" and self._before in {"(", ","}):
            raise self._refusal(f"a value is due before {text}")
        self._is_due = False

    def _refusal(self, why: str) -> InvalidEditError:
        return InvalidEditError(f"the formula ={self._formula} cannot be read: {why}")
