"""What many tests lean on."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar, overload

T = TypeVar("T")

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.002, 0.05


@overload
async def eventually(fact: Callable[[], Awaitable[T | None]], *, within: float = 10.0, what: str = "") -> T: ...
@overload
async def eventually(fact: Callable[[], T | None], *, within: float = 10.0, what: str = "") -> T: ...
async def eventually(fact: Callable[[], object], *, within: float = 10.0, what: str = "") -> object:
    """The fact's first truthy value; a failure once the time is over.

    An AssertionError of the fact means "not yet", so that it may be written with asserts; the last one is shown.
    """
    deadline = time.monotonic() + within
    pause = _FIRST_PAUSE_SECONDS
    while True:
        missing: AssertionError | None = None
        value: object = None
        try:
            given = fact()
            value = await given if inspect.isawaitable(given) else given
        except AssertionError as error:
            missing = error
        if value:
            return value
        if time.monotonic() > deadline:
            message = f"{what or 'it'} did not come true within {within:g} s (last: {missing or value!r})"
            raise AssertionError(message) from missing
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
