"""Words and times as people say them, safe for a terminal."""

import json
from datetime import UTC, datetime
from urllib.parse import urlsplit

from pydantic import JsonValue

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def utc_now() -> datetime:
    """Return the time of this machine."""
    return datetime.now(UTC)


def span(seconds: float) -> str:
    """Say how long something took or will take."""
    if seconds < 0.001:
        return "under 1 ms"
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 10:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    if seconds < 2 * MINUTE:
        return f"{int(seconds)} s"
    if seconds < 2 * HOUR:
        return f"{int(seconds // MINUTE)} min"
    if seconds < 2 * DAY:
        return f"{int(seconds // HOUR)} h"
    return f"{int(seconds // DAY)} d"


def age(then: datetime | None, now: datetime) -> str:
    """Say how long ago something was, or how far ahead it is; nothing for a time that is not known."""
    if then is None:
        return ""
    seconds = (now - then).total_seconds()
    # Two machines' clocks are never quite equal: a second ahead is not the future.
    if abs(seconds) < 1:
        return "now"
    return f"{span(int(seconds))} ago" if seconds > 0 else f"in {span(int(-seconds))}"


def rfc3339(moment: datetime) -> str:
    """Write a time as the API does."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def compact(value: JsonValue) -> str:
    """Write a JSON value on one line."""
    return json.dumps(value, ensure_ascii=False)


def one_line(text: str, limit: int = 100) -> str:
    """Shorten text for people to what fits a cell; never used on an id."""
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def printable(text: str) -> str:
    """Disarm what would move the cursor or recolour the terminal: users' text may hold escape sequences."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)


def without_secrets(url: str) -> str:
    """Return where a URL leads, without its user, password and options."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the URL given"
    if "@" in parts.path + parts.fragment:
        # A password that is not escaped has spilled over: nobody knows where it ends.
        return "the URL given"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
