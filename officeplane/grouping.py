"""Grouping: what arrives while one round trip is under way goes with the next.

No delay is added when idle, and a busy caller's hundreds share one commit.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Group(Generic[Item, Result]):
    """Many callers, one at a time flushed together."""

    def __init__(self, flush: Callable[[Sequence[Item]], Awaitable[Sequence[Result | Exception]]], limit: int) -> None:
        self._flush = flush
        self._limit = limit
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._arrived = asyncio.Event()

    async def add(self, item: Item) -> Result:
        """Hand over an item and return its result once its group has been flushed."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._arrived.set()
        return await future

    async def run(self) -> None:
        """Flush groups until cancelled; whoever still waits then is cancelled too."""
        try:
            while True:
                await self._arrived.wait()
                group, self._waiting = self._waiting[: self._limit], self._waiting[self._limit :]
                if not self._waiting:
                    self._arrived.clear()
                # A caller that has gone away needs no answer, and its item is not sent.
                live = [(item, future) for item, future in group if not future.done()]
                if live:
                    await self._flush_group(live)
        finally:
            for _, future in self._waiting:
                future.cancel()

    async def _flush_group(self, group: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._flush([item for item, _ in group])
        except Exception as error:  # noqa: BLE001 - whatever it is, it is every caller's
            results = [error] * len(group)
        except asyncio.CancelledError:
            for _, future in group:
                future.cancel()
            raise
        for (_, future), result in zip(group, results, strict=True):
            if future.done():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)


@asynccontextmanager
async def background(*loops: Callable[[], Coroutine[object, object, None]]) -> AsyncGenerator[None, None]:
    """Run endless loops for as long as the block lasts; a loop that fails ends the block."""
    try:
        async with asyncio.TaskGroup() as tasks:
            started = [tasks.create_task(loop()) for loop in loops]
            try:
                yield
            finally:
                for task in started:
                    task.cancel()
    except BaseExceptionGroup as failed:
        # What the block itself raised reaches its caller as it is, not in a group.
        if len(failed.exceptions) == 1:
            raise failed.exceptions[0] from None
        raise
