"""Short ids: the end of an id instead of the whole, where a window is narrow.

Ids begin with the time when they were made, so those of a list differ at their
ends. Those that a list has shown here are remembered in the user's state
folder, and their ends are as good as they are wherever an id is asked for.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from officeplane.cli.exits import UsageError
from officeplane.cli.state_folder import keep, state_file

SHORTEST: Final = 8
REMEMBERED: Final = 5_000
_WHOLE: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_END: Final = re.compile(r"[0-9a-f-]{4,35}")


def is_id(text: str) -> bool:
    """Tell whether a text is an id that can be shortened."""
    return _WHOLE.fullmatch(text) is not None


def ends_of(ids: Collection[str], shortest: int = SHORTEST) -> dict[str, str]:
    """Return the end of each id, all as long as it takes to tell them apart."""
    apart = {*ids}
    longest = max(map(len, apart), default=shortest)
    length = next(n for n in range(shortest, longest + 1) if len({one[-n:] for one in apart}) == len(apart))
    return {one: one[-length:] for one in apart}


def remember(ids: Iterable[str], place: Path | None = None) -> None:
    """Know these ids by their ends from now on, and forget what was shown long ago; `place` is where, if not here."""
    latest = dict.fromkeys(ids)
    if not latest:
        return
    known = [*latest, *(one for one in remembered(place) if one not in latest)]
    keep(place or state_file("ids"), "\n".join(known[:REMEMBERED]))


def whole_id(given: str, place: Path | None = None) -> str:
    """Return the id shown here that ends so; what is the end of none is returned as it is."""
    end = given.lower()
    if _END.fullmatch(end) is None:
        return given
    found = [one for one in remembered(place) if one.endswith(end)]
    if len(found) > 1:
        raise UsageError(f"Several ids end with {given}:", *(f"  {one}" for one in found))
    return found[0] if found else given


def remembered(place: Path | None = None) -> list[str]:
    """Return the ids that are known by their ends, the latest first."""
    try:
        return (place or state_file("ids")).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
