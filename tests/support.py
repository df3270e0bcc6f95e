"""What many tests lean on."""

import asyncio
import inspect
import threading
import time
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TypeVar, overload

T = TypeVar("T")

_TICK_SECONDS, _LONGEST_TICK_SECONDS = 0.005, 0.02
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.002, 0.05


@overload
async def eventually(fact: Callable[[], Awaitable[T | None]], *, within: float = 20.0, what: str = "") -> T: ...
@overload
async def eventually(fact: Callable[[], T | None], *, within: float = 20.0, what: str = "") -> T: ...
async def eventually(fact: Callable[[], object], *, within: float = 20.0, what: str = "") -> object:
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
    with stopped_clock() as seconds_at:
        yield lambda: seconds_at(time.monotonic_ns())


@contextmanager
def stopped_clock() -> Generator[Callable[[int], float], None, None]:
    """Tell for a moment of the machine's clock, in nanoseconds, the seconds until then in which it did not stand still.

    What was before counts as the beginning.
    """
    moments, seconds = [time.monotonic_ns()], [0.0]
    over = threading.Event()

    def tick() -> None:
        while not over.wait(_TICK_SECONDS):
            now = time.monotonic_ns()
            # The seconds first: who looks a moment up finds them.
            seconds.append(seconds[-1] + min((now - moments[-1]) / 1e9, _LONGEST_TICK_SECONDS))
            moments.append(now)

    ticking = threading.Thread(target=tick)
    ticking.start()
    try:
        yield lambda moment: seconds[max(bisect_right(moments, moment) - 1, 0)]
    finally:
        over.set()
        ticking.join()


@contextmanager
def deadline_watch() -> Generator[Callable[[], float], None, None]:
    """Count as `stopwatch` does, less what an answer was given in addition: as long as the machine had stood still."""
    began = time.monotonic()
    with stopwatch() as seconds:

        def waited() -> float:
            stood_still = time.monotonic() - began - seconds()
            return seconds() - stood_still

        yield waited
