"""Turns: so many requests have a child at a time, and who waits for one has a deadline."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from officeplane.domain.errors import OverloadedError
from officeplane.sandbox.children import Child, Idle

SHORT_AFFINITY_WAIT_SECONDS: Final = 0.02
"""How long a request waits for the child that has its document open while there is a turn for another."""
AFFINITY_WAIT_SECONDS: Final = 1.0
"""How long it does while the others have enough to do with documents of their own."""


class Queue(NamedTuple):
    """How many may wait at once, and how long each."""

    length_max: int
    seconds_max: float


class _Waiting:
    """A request that waits for its turn."""

    def __init__(self, document: str | None) -> None:
        loop = asyncio.get_running_loop()
        self.document = document
        self.began = loop.time()
        self.turn: asyncio.Future[Child | None] = loop.create_future()


class Turns:
    """So many at a time: first where the document is open and its child is free, or open nowhere.

    Without a `queue` whoever waits is bounded by the caller.
    """

    def __init__(
        self,
        turns_max: int,
        idle: Idle,
        queue: Queue | None,
    ) -> None:
        self._free = turns_max
        self._idle = idle
        self._queue = queue
        self._waiting: list[_Waiting] = []
        self._at_work: Counter[str | None] = Counter()

    @asynccontextmanager
    async def turn(self, document: str | None) -> AsyncGenerator[Child | None, None]:
        """Wait for the child that has a document open, or for leave to have another born."""
        child = await self._come(document)
        try:
            yield child
        finally:
            self._end(document)

    async def _come(self, document: str | None) -> Child | None:
        if self._queue is not None and len(self._waiting) >= self._queue.length_max:
            message = f"{self._queue.length_max} requests wait already for a process that opens documents"
            raise OverloadedError(message)
        waiting = _Waiting(document)
        self._waiting.append(waiting)
        self._give()
        if waiting.turn.done():
            return waiting.turn.result()
        looking_again = asyncio.get_running_loop().call_later(SHORT_AFFINITY_WAIT_SECONDS, self._give)
        try:
            async with asyncio.timeout(None if self._queue is None else self._queue.seconds_max):
                return await waiting.turn
        except BaseException as error:
            self._leave(waiting)
            if isinstance(error, TimeoutError):
                message = "every process that opens documents has been at work for too long"
                raise OverloadedError(message) from None
            raise
        finally:
            looking_again.cancel()

    def _leave(self, waiting: _Waiting) -> None:
        if waiting in self._waiting:
            self._waiting.remove(waiting)
        elif not waiting.turn.cancelled():
            child = waiting.turn.result()
            if child is not None:
                self._idle.put(child)
            self._end(waiting.document)

    def _end(self, document: str | None) -> None:
        self._free += 1
        self._at_work[document] -= 1
        if not self._at_work[document]:
            del self._at_work[document]
        self._give()

    def _give(self) -> None:
        """Give what is free to those who wait: first without another child for an open document."""
        now = asyncio.get_running_loop().time()
        for seconds in (AFFINITY_WAIT_SECONDS, SHORT_AFFINITY_WAIT_SECONDS):
            for waiting in [one for one in self._waiting if not one.turn.cancelled()]:
                if not self._free:
                    return
                child = self._idle.take(waiting.document)
                is_open = waiting.document is not None and self._at_work[waiting.document] > 0
                if child is None and is_open and now < waiting.began + seconds:
                    continue
                self._free -= 1
                self._at_work[waiting.document] += 1
                self._waiting.remove(waiting)
                waiting.turn.set_result(child)
