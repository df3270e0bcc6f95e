"""Spans of time as people type them: `30d`, `12h`, `90s`."""

import re
from typing import Final

from officeplane.cli.exits import UsageError
from officeplane.cli.texts import DAY, HOUR, MINUTE

_UNITS: Final = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY}
# More days than this lie beyond any calendar.
_SPAN: Final = re.compile(r"([0-9]{1,5})([smhd])|0")


def seconds_in(option: str, given: str) -> float:
    """Return how many seconds a span has that an option was given."""
    found = _SPAN.fullmatch(given.strip())
    if found is None:
        raise UsageError(f"{option}: {given!r} is no span of time; write 90s, 15m, 12h or 30d.")
    number, unit = found.groups()
    return float(number) * _UNITS[unit] if unit else 0.0
