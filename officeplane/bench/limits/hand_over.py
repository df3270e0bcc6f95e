"""The shortest way of one task through both servers, by hand: how long until it is claimed, until it is completed."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from officeplane.bench.figures import median
from officeplane.bench.ground import Ground
from officeplane.bench.limits import bare
from officeplane.bench.limits.claims import CLAIM, COMPLETE
from officeplane.bench.scenario import Limit


async def _until_claimed(ground: Ground) -> float:
    claimed, _ = await _journeys(ground)
    return median(claimed)


async def _until_completed(ground: Ground) -> float:
    _, completed = await _journeys(ground)
    return median(completed)


async def _journeys(ground: Ground) -> tuple[Sequence[float], Sequence[float]]:
    claimed: list[float] = []
    completed: list[float] = []
    async with (
        ground.installation() as installation,
        bare.connections(installation, 2) as (submitter, worker),
        bare.client(installation) as client,
    ):
        name = bare.key(installation, "tasks")

        async def work() -> float:
            _, number = await client.execute_command("BRPOP", name, 5)
            await worker.fetch(CLAIM, [int(number)])
            moment = time.perf_counter()
            await worker.fetch(COMPLETE, [int(number)])
            return moment

        for number in range(ground.sized(300, at_least=30)):
            working = asyncio.create_task(work())
            await asyncio.sleep(0.002)
            began = time.perf_counter()
            await bare.insert(submitter, [number])
            await client.execute_command("LPUSH", name, number)
            claimed.append(1_000 * (await working - began))
            completed.append(1_000 * (time.perf_counter() - began))
    return claimed, completed


CLAIMED: Final = Limit("until_claimed", "one INSERT, LPUSH to a blocked BRPOP, one claim: p50", "ms", _until_claimed)
COMPLETED: Final = Limit("until_completed", "the same with its completion: p50", "ms", _until_completed)
