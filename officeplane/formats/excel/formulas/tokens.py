"""Formulas as they are stored, cut into tokens whose texts together are the formula again."""

import re
from enum import Enum
from typing import Final, NamedTuple


class Kind(Enum):
    """What a token is."""

    STRING = "string"
    ERROR = "error"
    SHEET = "sheet"
    """A prefix with its exclamation mark: `Sheet1!`, `'My sheet'!`, `A:C!`."""
    FUNCTION = "function"
    REFERENCE = "reference"
    """`A1`, `$B$2`, or one of whole columns or rows such as `A:C`."""
    NAME = "name"
    BRACKET = "bracket"
    """What stands in square brackets, these included: columns of a table, or a workbook."""
    NUMBER = "number"
    OTHER = "other"


class Token(NamedTuple):
    """A stretch of a formula."""

    kind: Kind
    text: str


# Excel takes most of what is beyond ASCII, such as a dot in the middle, for a letter of a name. Whatever the formula,
# the time is by its length: nothing gives back what it took (`++`), and no sheet is looked for inside of a word, or
# inside of quotation marks, where the same letters were looked through before.
SHEET: Final = (
    r"(?:(?<!')'(?:[^']|'')++'!"
    r"|(?<![\w.]|[^\x00-\x7f\s])(?:[\w.]|[^\x00-\x7f\s])++(?::(?:[\w.]|[^\x00-\x7f\s])++)?!)"
)
"""A prefix that names a sheet or a stretch of sheets, as a pattern."""
TEXT: Final = r'"(?:[^"]|"")*+"'
"""A text, as a pattern."""

_PATTERN: Final = re.compile(
    rf"(?P<string>{TEXT})"
    r"""
  | (?P<error>\#(?:REF!|DIV/0!|N/A|NAME\?|NULL!|NUM!|VALUE!|SPILL!|CALC!|FIELD!|BLOCKED!|UNKNOWN!|CONNECT!|BUSY!
      |GETTING_DATA))
  | (?P<sheet>"""
    rf"{SHEET})"
    r"""
  | (?P<function>[^\W\d][\w.]*(?=\s*\())
  | (?P<reference>\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}(?![\w.\[])
      |\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3}(?![\w.(])
      |\$?[1-9]\d{0,6}:\$?[1-9]\d{0,6}(?![\w.]))
  | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>(?:[^\W\d]|[^\x00-\x7f\s])(?:[\w.?\\]|[^\x00-\x7f\s])*+|\\[\w.?\\]*)
    """,
    re.VERBOSE,
)

_REFERENCE: Final = re.compile(r"\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}(?![\w.\[!])")


def tokens(formula: str) -> list[Token]:
    """Return a formula's tokens; what fits nothing is a token of one character."""
    found: list[Token] = []
    at = 0
    while at < len(formula):
        if formula[at] == "[":
            end = _end_of_bracket(formula, at)
            found.append(Token(Kind.BRACKET, formula[at:end]))
        elif found and found[-1].kind is Kind.SHEET and (match := _REFERENCE.match(formula, at)):
            # In `Sheet1!A1:Sheet1!B2` the stretch `A1:Sheet1!` names no sheets.
            end = match.end()
            found.append(Token(Kind.REFERENCE, match.group()))
        elif match := _PATTERN.match(formula, at):
            end = match.end()
            found.append(Token(Kind(match.lastgroup), match.group()))
        else:
            end = at + 1
            found.append(Token(Kind.OTHER, formula[at]))
        at = end
    return found


def _end_of_bracket(formula: str, at: int) -> int:
    depth = 0
    while at < len(formula):
        char = formula[at]
        if char == "'":
            at += 1  # the next character stands for itself
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(formula)
