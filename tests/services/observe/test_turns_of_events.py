"""The feed's manners: who has much to catch up with leaves the others their turn."""

import asyncio
from contextlib import aclosing

import pytest

from officeplane.domain.principal import LOCAL
from officeplane.store.events import horizon
from tests.workbench import Workbench

PER_TURN = 100
COUNT = 3_000


@pytest.mark.parametrize("from_memory", [True, False])
async def test_a_follower_that_catches_up_does_not_keep_everybody_else_of_the_process_waiting(
    bench: Workbench, *, from_memory: bool
) -> None:
    feed, heard, most = bench.runtime.events, 0, 0
    beginning = await horizon(bench.runtime.ledger)
    async with aclosing(feed.follow(LOCAL, beginning)) as other:
        if from_memory:
            # Somebody follows already, so that the events are at hand by the time the next one asks.
            first = asyncio.ensure_future(anext(other))
            await bench.submit_many([{"task_type": "noop"}] * COUNT)
            await first
        else:
            await bench.submit_many([{"task_type": "noop"}] * COUNT)

        async def catch_up() -> None:
            nonlocal heard
            async with aclosing(feed.follow(LOCAL, beginning)) as following:
                async for group in following:
                    heard += len(group)
                    if heard == COUNT:
                        return

        catching_up = asyncio.create_task(catch_up())
        while not catching_up.done():
            before = heard
            await asyncio.sleep(0)
            most = max(most, heard - before)

    assert heard == COUNT
    assert most <= PER_TURN
