"""Number formats that an edit may give: what Excel could not read makes it offer a repair of the whole file."""

import re
from typing import Final

from officeplane.domain.document import InvalidEditError

_LENGTH_MAX: Final = 255
_SECTIONS_MAX: Final = 4
_PIECE: Final = re.compile(
    r"""
    (?P<quoted>"[^"]*")
  | (?P<escaped>[\\_*].)
  | (?P<bracket>\[[^\[\]"]+\])
  | (?P<section>;)
  | (?P<word>General|AM/PM|A/P)
  | (?P<date>[dmyhsge]+)
  | (?P<sign>[0-9\#?.,%/@ +\-()$:!^&'~{}<>=]|[^\x00-\x7f])
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_IN_BRACKETS: Final = re.compile(
    r"h+|m+|s+|black|blue|cyan|green|magenta|red|white|yellow|color ?(?:[1-9]|[1-4][0-9]|5[0-6])"
    r"|(?:<|>|=|<=|>=|<>)-?[0-9.]+|\$[^\[\]]*|dbnum[1-4]",
    re.IGNORECASE,
)


def check_format_code(code: str) -> None:
    """Refuse a number format that Excel would not read."""
    if not 0 < len(code.encode("utf-16-le", "surrogatepass")) // 2 <= _LENGTH_MAX:
        raise InvalidEditError(f"a number format has from 1 to {_LENGTH_MAX} characters")
    at = 0
    sections = 1
    while at < len(code):
        found = _PIECE.match(code, at)
        if found is None:
            raise InvalidEditError(
                f"the number format {code!r} cannot be read at {code[at : at + 10]!r}: words in it stand in "
                'quotation marks, as in 0 "pieces"'
            )
        if found["bracket"] and _IN_BRACKETS.fullmatch(found["bracket"][1:-1]) is None:
            raise InvalidEditError(
                f"the number format {code!r} has {found['bracket']}; in brackets stand colours such as [Red], "
                "conditions such as [>=100], times such as [h], and currencies such as [$€-407]"
            )
        sections += found["section"] is not None
        at = found.end()
    if sections > _SECTIONS_MAX:
        raise InvalidEditError(f"the number format {code!r} has more than {_SECTIONS_MAX} sections between semicolons")
