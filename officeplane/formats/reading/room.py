"""Room: how much of an answer is given at once, and where the next one goes on."""

import json
from typing import Any, Final, NamedTuple

from officeplane.domain.errors import TooLargeToShowError
from officeplane.formats.shown import SHOWN_BYTES_MAX

TOKEN_BYTES: Final = 4
_AROUND: Final = 120
"""What an answer has besides its items."""

_BETWEEN: Final = 16
"""What stands between an item and the next, or the one that it is in."""


class Part(NamedTuple):
    """A part of what was asked for, and the place at which the next one begins if there is more."""

    items: list[dict[str, Any]]
    next: int | None


class Room:
    """The bytes that an answer may have; without a bound, as many as are shown at all."""

    def __init__(self, tokens_max: int | None) -> None:
        self._is_bound = tokens_max is not None
        self._left = SHOWN_BYTES_MAX if tokens_max is None else tokens_max * TOKEN_BYTES - _AROUND
        self._is_empty = True

    def takes(self, item: dict[str, Any]) -> bool:
        """Tell whether there is room for an item, and take it; the first always has some, for else nothing goes on."""
        told = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
        return self.takes_bytes(len(told.encode("utf-8", "surrogatepass")) + _BETWEEN)

    def takes_bytes(self, size: int) -> bool:
        """Tell the same of something of this size."""
        if size > self._left and not (self._is_bound and self._is_empty):
            if not self._is_bound:
                raise TooLargeToShowError
            return False
        self._left -= size
        self._is_empty = False
        return True


def cut(text: str, begin: int, tokens_max: int | None) -> tuple[str, int | None]:
    """Return a text from a place on, as much as there is room for, and where it goes on; whole lines if possible."""
    rest = text[begin:]
    if tokens_max is None:
        return rest, None
    size = max(tokens_max * TOKEN_BYTES - _AROUND, TOKEN_BYTES)
    told = rest.encode("utf-8", "surrogatepass")
    if len(told) <= size:
        return rest, None
    kept = told[:size].decode("utf-8", "ignore") or rest[:1]
    end = kept.rfind("\n") + 1
    kept = kept[:end] if end > 0 else kept
    return kept, begin + len(kept)
