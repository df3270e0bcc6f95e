"""Numbers in attributes, which a file may hold wrongly."""

import re
from typing import Final

_WHOLE: Final = re.compile(r"\s*([0-9]{1,10})\s*", re.ASCII)
_DIGITS_MAX: Final = 10


def whole(text: str | None, otherwise: int) -> int:
    """Return the number that a text is, or another when it is none."""
    if text is not None and text.isdecimal() and text.isascii() and len(text) <= _DIGITS_MAX:
        return int(text)
    match = _WHOLE.fullmatch(text or "")
    return otherwise if match is None else int(match[1])
