"""Load: many callers side by side, each doing the next thing as soon as its last is done."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def rate(count: int, lanes: int, step: Callable[[int, int], Awaitable[object]]) -> float:
    """Return how many steps a second were done, by that many callers side by side; a step gets caller and number."""
    numbers = iter(range(count))

    async def call(lane: int) -> None:
        for number in numbers:
            await step(lane, number)

    began = time.perf_counter()
    await asyncio.gather(*(call(lane) for lane in range(lanes)))
    return count / (time.perf_counter() - began)
