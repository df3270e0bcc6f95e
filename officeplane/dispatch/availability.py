"""Whether this process can use Redis: one flag, and who waits for it to change."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import structlog

PAUSE_SECONDS: Final = 1.0

_log = structlog.stdlib.get_logger(__name__)


class RedisUnavailable(Exception):  # noqa: N818 - it names a state of the world that callers plan for
    """Redis did not do what it was asked: down, slow, loading, read-only, full or refusing.

    Whatever the cause, nothing may be concluded from it but that: no lock is
    held, no hint was taken, and the same work is to be done without Redis.
    """


class Availability:
    """The process's view of Redis, kept by those who talk to it."""

    def __init__(self, *, configured: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self._configured = configured
        self._clock = clock
        self._lost = asyncio.Event()
        self._regained = asyncio.Event()
        self._next_try = 0.0
        (self._regained if configured else self._lost).set()

    @property
    def available(self) -> bool:
        """Return whether Redis answered as it should when last used."""
        return self._regained.is_set()

    def lost(self, error: BaseException) -> None:
        """Note that Redis failed; the first time is logged."""
        if self.available:
            self._regained.clear()
            self._lost.set()
            _log.warning("redis.lost", error=str(error), kind=type(error).__name__)
        self._next_try = self._clock() + PAUSE_SECONDS

    def regained(self) -> None:
        """Note that Redis took a write; reading alone proves nothing on a full or read-only server."""
        if self._configured and not self.available:
            self._lost.clear()
            self._regained.set()
            _log.info("redis.regained")

    def may_try(self) -> bool:
        """Return whether best-effort work should bother: while Redis is lost, once a second and by one caller."""
        if self.available:
            return True
        if not self._configured or self._clock() < self._next_try:
            return False
        self._next_try = self._clock() + PAUSE_SECONDS
        return True

    async def wait_lost(self) -> None:
        """Return as soon as Redis is lost."""
        await self._lost.wait()

    async def wait_regained(self) -> None:
        """Return as soon as Redis is back; never, when none is configured."""
        await self._regained.wait()
