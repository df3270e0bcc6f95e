"""Number formats as callers give them: by a name such as `date`, or as a code that Excel must be able to read.

Excel repairs a workbook, and drops formats, where one code cannot be read. So what
is no code is refused, and a letter that is meant as such has to be quoted; other
characters that mean nothing to Excel are quoted here, as it does itself.
"""

import re
from collections.abc import Mapping
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.cells.number_formats import BUILT_IN

NAMED: Final[Mapping[str, str]] = {
    "general": BUILT_IN[0],
    "integer": BUILT_IN[3],
    "number": BUILT_IN[4],
    "percent": BUILT_IN[9],
    "currency": BUILT_IN[7],
    "accounting": BUILT_IN[44],
    "date": BUILT_IN[14],
    "time": BUILT_IN[21],
    "datetime": BUILT_IN[22],
    "scientific": BUILT_IN[11],
    "fraction": BUILT_IN[12],
    "text": BUILT_IN[49],
}
"""What may be said instead of a code."""

_LENGTH_MAX: Final = 255
_SECTIONS_MAX: Final = 4
_TOKEN: Final = re.compile(
    r"""
      (?P<quoted>"[^"]*")
    | (?P<escaped>[\\_*].)
    | (?P<bracket>\[[^\[\]]*\])
    | (?P<general>General)
    | (?P<half>AM/PM|A/P)
    | (?P<power>E[+-](?=[0#?]))
    | (?P<date>y{1,4}|m{1,5}|d{1,4}|h{1,2}|s{1,2}|e{1,2}|g{1,3}|b{2}(?:bb)?)
    | (?P<digit>[0#?])
    | (?P<text>@)
    | (?P<end>;)
    | (?P<sign>[.,%/$\-+():!^&'~{}<>=\ 1-9])
    | (?P<other>[^"\\_*\[\];A-Za-z])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE_PARTS_OF_SECONDS: Final = re.compile(r"s\]?\.0*$", re.IGNORECASE)
_ELAPSED: Final = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_BRACKET: Final = re.compile(
    r"\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow|Color ?(?:[1-9]|[1-4][0-9]|5[0-6])|\$[^\[\]]*|DBNum[1-4]"
    r"|(?:<|<=|>|>=|=|<>)-?[0-9]+(?:\.[0-9]+)?)\]",
    re.IGNORECASE,
)


def number_code(given: str) -> str:
    """Return the code that a name stands for, or a code as Excel can read it; what is none is refused."""
    named = NAMED.get(given.strip().casefold())
    if named is not None:
        return named
    if given in BUILT_IN.values():
        return given
    code, at, sections = "", 0, [set[str]()]
    while at < len(given):
        token = _TOKEN.match(given, at)
        kind = None if token is None else token.lastgroup
        if token is None or kind is None:
            raise _no_code(given, f"{given[at]!r} at position {at} means nothing there")
        text, at = token[0], token.end()
        is_elapsed = kind == "bracket" and _ELAPSED.fullmatch(text) is not None
        if kind == "bracket" and not is_elapsed and not _BRACKET.fullmatch(text):
            raise _no_code(given, f"{text} is no colour, condition, currency or elapsed time")
        if kind == "end":
            sections.append(set())
        else:
            is_date = is_elapsed or (text == "0" and _BEFORE_PARTS_OF_SECONDS.search(given, 0, token.start()))
            sections[-1].add("date" if is_date else kind)
        code += f'"{text}"' if kind == "other" else text
    if '""' not in given:
        # Neighbours are quoted together.
        code = code.replace('""', "")
    if len(sections) > _SECTIONS_MAX:
        raise _no_code(given, f"it has {len(sections)} sections, and there may be {_SECTIONS_MAX}")
    for section in sections:
        if len(section & {"date", "digit", "text", "general"}) > 1 or ("half" in section and "date" not in section):
            raise _no_code(given, "one section is of dates, of digits or of text (@), not of several")
    if len(code) > _LENGTH_MAX:
        raise _no_code(given, f"it is longer than {_LENGTH_MAX} characters")
    return code


def _no_code(given: str, reason: str) -> InvalidEditError:
    return InvalidEditError(
        f"the number format {given!r} is no code that Excel reads: {reason}; give one such as '#,##0.00', 'yyyy-mm-dd' "
        f"or '0.0 \"kg\"' (words stand in quotes), or one of {', '.join(NAMED)}"
    )
