"""How a file holds what people write otherwise: names within a formula, spilled ranges, and single values of ranges.

`LET(x,1,x+1)` is stored as `_xlfn.LET(_xlpm.x,1,_xlpm.x+1)`, `A1#` as `_xlfn.ANCHORARRAY(A1)`, and `@A1:A3` as
`_xlfn.SINGLE(A1:A3)`. As people write them, Excel does not know the names, and offers to repair the file for the signs.
"""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.formulas.tokens import Kind, Token

_NAMING: Final = frozenset({"LET", "LAMBDA"})
_OPERANDS: Final = frozenset({Kind.SHEET, Kind.REFERENCE, Kind.NAME, Kind.FUNCTION})
_NESTED_MAX: Final = 64
_PARAMETER: Final = "_xlpm."


def stored(formula: str, tokens: Sequence[Token], texts: Sequence[str]) -> str:
    """Return a formula of sound grammar as a file holds it; `texts` are what is stored of each token by itself."""
    parts = list(texts)
    for at, token in enumerate(tokens):
        if token.kind is Kind.FUNCTION and _name(token) in _NAMING:
            _mark_parameters(tokens, parts, at)
    for at, token in enumerate(tokens):
        if token == (Kind.OTHER, "#"):
            begin = _begin_of_cell(formula, tokens, at)
            parts[begin] = "_xlfn.ANCHORARRAY(" + parts[begin]
            parts[at] = ")"
    ends: list[int] = []
    for at, token in enumerate(tokens):
        if token == (Kind.OTHER, "@"):
            ends = [*(end for end in ends if end > at), _end_of_operand(formula, tokens, at + 1)]
            if len(ends) > _NESTED_MAX:
                raise InvalidEditError(f"the formula ={formula} cannot be read: @ stands too deep in another")
            parts[at] = "_xlfn.SINGLE("
            parts[ends[-1] - 1] += ")"
    return "".join(parts)


def _name(token: Token) -> str:
    return token.text.upper().removeprefix("_XLFN.")


def _mark_parameters(tokens: Sequence[Token], parts: list[str], at: int) -> None:
    """Mark what a LET or a LAMBDA names, everywhere in it."""
    opened = _after_space(tokens, at + 1)
    given = _arguments(tokens, opened)
    naming = given[:-1:2] if _name(tokens[at]) == "LET" else given[:-1]
    names = {argument[0].text.casefold() for argument in naming if [token.kind for token in argument] == [Kind.NAME]}
    callable_names = {
        name[0].text.casefold()
        for name, value in zip(given[:-1:2], given[1::2], strict=False)
        if _name(tokens[at]) == "LET" and value and value[0].kind is Kind.FUNCTION and _name(value[0]) == "LAMBDA"
    }
    for inner in range(opened, _end_of_brackets(tokens, opened)):
        token = tokens[inner]
        known = names if token.kind is Kind.NAME else callable_names if token.kind is Kind.FUNCTION else ()
        if token.text.casefold() in known and tokens[inner - 1].kind is not Kind.SHEET:
            parts[inner] = _PARAMETER + token.text.removeprefix(_PARAMETER)


def _arguments(tokens: Sequence[Token], opened: int) -> list[list[Token]]:
    """Return the arguments between brackets, each as its tokens without the spaces."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[opened + 1 : _end_of_brackets(tokens, opened) - 1]:
        depth += _step(token)
        if token == (Kind.OTHER, ",") and not depth:
            found.append([])
        elif not token.text.isspace():
            found[-1].append(token)
    return found


def _begin_of_cell(formula: str, tokens: Sequence[Token], at: int) -> int:
    if tokens[at - 1].kind not in {Kind.REFERENCE, Kind.NAME}:
        raise InvalidEditError(f"the formula ={formula} cannot be read: # stands behind no cell")
    return at - 2 if at > 1 and tokens[at - 2].kind is Kind.SHEET else at - 1


def _end_of_operand(formula: str, tokens: Sequence[Token], at: int) -> int:
    """Return where the cells end that begin here, with all that makes them."""
    while True:
        at = _after_space(tokens, at)
        if tokens[at].kind not in _OPERANDS and tokens[at].text != "(":
            raise InvalidEditError(f"the formula ={formula} cannot be read: @ stands before no cells")
        if tokens[at].kind is Kind.SHEET:
            at += 1
        if tokens[at].kind is Kind.FUNCTION:
            at = _after_space(tokens, at + 1)
        at = _end_of_brackets(tokens, at) if tokens[at].text == "(" else at + 1
        while at < len(tokens) and (tokens[at].kind is Kind.BRACKET or tokens[at].text in {"#", "("}):
            at = _end_of_brackets(tokens, at) if tokens[at].text == "(" else at + 1
        if at == len(tokens) or tokens[at].text != ":":
            return at
        at += 1


def _end_of_brackets(tokens: Sequence[Token], opened: int) -> int:
    depth = 0
    for at in range(opened, len(tokens)):
        depth += _step(tokens[at])
        if not depth:
            return at + 1
    return len(tokens)


def _after_space(tokens: Sequence[Token], at: int) -> int:
    while tokens[at].text.isspace():
        at += 1
    return at


def _step(token: Token) -> int:
    return {"(": 1, "{": 1, ")": -1, "}": -1}.get(token.text, 0) if token.kind is Kind.OTHER else 0
