"""Numbers in attributes, which a file may hold wrongly."""

import re
from typing import Final

_WHOLE: Final = re.compile(r"\s*([0-9]{1,10})\s*", re.ASCII)


def whole(text: str | None, otherwise: int) -> int:
    """Return the number that a text is, or another when it is none."""
    match = _WHOLE.fullmatch(text or "")
    return otherwise if match is None else int(match[1])
