"""Work that goes on in the background for as long as a block lasts."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Final

AGAIN_SECONDS: Final = 0.5


@asynccontextmanager
async def in_background(work: Coroutine[None, None, None]) -> AsyncGenerator["asyncio.Task[None]", None]:
    """Run the work beside the block and end it with the block; raise what it failed of."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        # Clients of both servers have been seen to swallow a cancellation that came as a connection broke.
        while not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=AGAIN_SECONDS)
    if not task.cancelled():
        task.result()
