"""Sheet names: what Excel accepts as one."""

import re
from collections.abc import Iterable
from typing import Final

from officeplane.domain.document import InvalidEditError

_LENGTH_MAX: Final = 31
_FORBIDDEN: Final = re.compile(r"[\[\]:*?/\\\x00-\x1f]")


def check_sheet_name(name: str, others: Iterable[str]) -> None:
    """Refuse a name that Excel would not accept beside these other sheets."""
    if not name.strip():
        raise InvalidEditError("a sheet needs a name that is not blank")
    # Excel counts what its strings are made of: a character outside the basic plane is two.
    if len(name.encode("utf-16-le")) // 2 > _LENGTH_MAX:
        raise InvalidEditError(f"the sheet name {name!r} is longer than {_LENGTH_MAX} characters: choose a shorter one")
    if found := _FORBIDDEN.search(name):
        raise InvalidEditError(f"the sheet name {name!r} has {found[0]!r} in it; [ ] : * ? / \\ are not allowed")
    if name.startswith("'") or name.endswith("'"):
        raise InvalidEditError(f"the sheet name {name!r} begins or ends with an apostrophe: leave it out")
    if name.casefold() == "history":
        raise InvalidEditError("Excel keeps the sheet name 'History' for itself: choose another")
    for other in others:
        if other.casefold() == name.casefold():
            raise InvalidEditError(f"there is a sheet named {other!r} already: choose another name")


def name_of_copy(name: str, others: Iterable[str]) -> str:
    """Return what Excel would call a copy of a sheet: `Plan (2)`."""
    taken = {other.casefold() for other in others}
    turn = 2
    while True:
        end = f" ({turn})"
        begin = name
        while len((begin + end).encode("utf-16-le")) // 2 > _LENGTH_MAX:
            begin = begin[:-1]
        if (begin + end).casefold() not in taken:
            return begin + end
        turn += 1
