"""What many tests lean on."""

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TypeVar, overload

T = TypeVar("T")

_TICK_SECONDS, _LONGEST_TICK_SECONDS = 0.005, 0.02
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


@contextmanager
def stopwatch() -> Generator[Callable[[], float], None, None]:
    """Count the seconds in which this machine did not stand still: a guest of a busy one does, now and then."""
    seconds = 0.0
    over = threading.Event()

    def tick() -> None:
        nonlocal seconds
        last = time.monotonic()
        while not over.wait(_TICK_SECONDS):
            now = time.monotonic()
            seconds += min(now - last, _LONGEST_TICK_SECONDS)
            last = now

    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        yield lambda: seconds
    finally:
        over.set()
        ticking.join()
