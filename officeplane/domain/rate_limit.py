"""Rate limits: which errors say "not so fast", and how long that asks to wait.

The libraries that raise them are the handlers' own, so an error is known by
its shape: httpx, requests, aiohttp, urllib and the clients of model providers
carry the status and the headers of the answer on themselves or on a
`response`. An error without a status is known by its words.
"""

import math
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple, cast

BASE_SECONDS: Final = 60.0
LONGEST_SECONDS: Final = 3_600.0
JITTER: Final = 0.1
ASKED_SECONDS_MAX: Final = 86_400.0
"""What is asked for beyond a day is taken for a day."""

TOO_MANY_REQUESTS: Final = 429
ERRORS_READ: Final = 20

_WORDS: Final = re.compile(
    r"rate[ _-]?limit|too ?many ?requests|quota exceeded|retry[ _-]after|(?<![\w.])429(?![\w.]*\w)", re.IGNORECASE
)
_AFTER: Final = re.compile(
    r"(?:retry[ _-]after|try again in|retry in)[\s:='\"]*"
    r"(?:(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>ms|milliseconds?|m|min|minutes?|h|hours?|s|sec|seconds?)?\b"
    r"|(?P<date>[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT))",
    re.IGNORECASE,
)
_SECONDS_OF: Final = {"ms": 0.001, "milli": 0.001, "m": 60.0, "h": 3_600.0, "s": 1.0}


class RateLimit(NamedTuple):
    """Somebody said "not so fast", and perhaps for how long."""

    retry_after: float | None


def rate_limit_of(error: BaseException, now: datetime) -> RateLimit | None:
    """Return what an error says of a rate limit; None when it is about something else."""
    for one in _with_causes(error):
        status = _status_of(one)
        if status == TOO_MANY_REQUESTS:
            # To wait for no time at all is not what one who refuses can mean.
            return RateLimit(_asked_by_headers(one, now) or _asked_by_words(_text_of(one), now))
        if status is None and _WORDS.search(_text_of(one)):
            return RateLimit(_asked_by_words(_text_of(one), now))
    return None


def bounded(seconds: float) -> float:
    """Return a wait that was asked for as one that can be waited."""
    return min(max(seconds, 0.0), ASKED_SECONDS_MAX) if math.isfinite(seconds) else ASKED_SECONDS_MAX


def wait_seconds(retry_after: float | None, nth: int, chance: float) -> float:
    """Return how long a task waits after its nth rate limit; `chance` in [0, 1) spreads what nobody asked for."""
    if retry_after is not None:
        return retry_after
    return min(BASE_SECONDS * 2.0 ** min(nth - 1, 16), LONGEST_SECONDS) * (1 + JITTER * chance)


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what it was raised from, and what a group consists of."""
    found: deque[BaseException | None] = deque([error])
    for _ in range(ERRORS_READ):
        one = found.popleft() if found else None
        if one is not None:
            yield one
            found.append(one.__cause__)
            if isinstance(one, BaseExceptionGroup):
                found.extend(cast("BaseExceptionGroup[BaseException]", one).exceptions)


def _status_of(error: BaseException) -> int | None:
    for holder in (getattr(error, "response", None), error):
        for name in ("status_code", "status", "code"):
            status: object = getattr(holder, name, None)
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status <= 599:
                return int(status)
    return None


def _asked_by_headers(error: BaseException, now: datetime) -> float | None:
    for holder in (getattr(error, "response", None), error):
        headers: object = getattr(holder, "headers", None)
        with suppress(Exception):
            for name, value in dict(headers).items():  # type: ignore[call-overload]  # whatever it is, it may have items
                if str(name).lower() == "retry-after":
                    return _asked(str(value), now)
    return None


def _asked(value: str, now: datetime) -> float | None:
    """Return what a `Retry-After` header asks for: seconds, or a date."""
    with suppress(ValueError):
        return bounded(float(value))
    with suppress(ValueError):
        until = parsedate_to_datetime(value.strip())
        return bounded(((until if until.tzinfo else until.replace(tzinfo=UTC)) - now).total_seconds())
    return None


def _asked_by_words(text: str, now: datetime) -> float | None:
    match = _AFTER.search(text)
    if match is None:
        return None
    if match["date"]:
        return _asked(match["date"], now)
    unit = (match["unit"] or "s").lower()
    seconds = next(seconds for begins, seconds in _SECONDS_OF.items() if unit.startswith(begins))
    return bounded(float(match["number"]) * seconds)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a broken __str__ says nothing
        return ""
