"""Turns: a limited number of requests have a child at a time, and whoever waits for one has a deadline."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from officeplane.domain.errors import OverloadedError
from officeplane.sandbox.children import Child, Idle

SHORT_AFFINITY_WAIT_SECONDS: Final = 0.02
"""How long a request waits for the child that has its document open while there is a free turn for another child."""
AFFINITY_WAIT_SECONDS: Final = 1.0
"""How long it lets requests for other documents go first, instead of having its document opened once more."""


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
        self.has_waited_shortly = False
        """Whether it may have another child than the one that has its document open, if there is a turn for one."""
        self.turn: asyncio.Future[Child | None] = loop.create_future()


class Turns:
    """At most so many turns at a time; at first no document is opened in a second child.

    Without a `queue` there is no bound on who waits, and the caller has to keep one.
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

        def look_again() -> None:
            # The timer says that the time is over. The clock might not yet: a loop may round it.
            waiting.has_waited_shortly = True
            self._give()

        looking_again = asyncio.get_running_loop().call_later(SHORT_AFFINITY_WAIT_SECONDS, look_again)
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
        """Give what is free to those who wait: at first no second child for a document that is open already."""
        long_ago = asyncio.get_running_loop().time() - AFFINITY_WAIT_SECONDS
        self._give_to(lambda waiting: waiting.began <= long_ago)
        self._give_to(lambda waiting: waiting.has_waited_shortly)

    def _give_to(self, may_have_another: Callable[[_Waiting], bool]) -> None:
        """Give what is free in turn; where a child is at work on the document, only to those who may have another."""
        for waiting in [one for one in self._waiting if not one.turn.cancelled()]:
            if not self._free:
                return
            child = self._idle.take(waiting.document)
            is_open = waiting.document is not None and self._at_work[waiting.document] > 0
            if child is None and is_open and not may_have_another(waiting):
                continue
            self._free -= 1
            self._at_work[waiting.document] += 1
            self._waiting.remove(waiting)
            waiting.turn.set_result(child)
