"""The shortest way of one task through both servers, by hand: how long until it is claimed, until it is completed."""

import asyncio
import time
from typing import Final

from officeplane.bench.comparisons import bare
from officeplane.bench.comparisons.claims import CLAIM, COMPLETE
from officeplane.bench.figures import median
from officeplane.bench.scenario import Comparison, Limit
from officeplane.bench.servers import Servers
from officeplane.dispatch.commands import packed

_SETTLING_SECONDS: Final = 0.002

CLAIMED: Final = Limit("until_claimed", "one INSERT, LPUSH to a blocked BRPOP, one claim: p50", "ms")
COMPLETED: Final = Limit("until_completed", "the same with its completion: p50", "ms")


async def _measure(servers: Servers) -> list[float]:
    claimed: list[float] = []
    completed: list[float] = []
    async with (
        servers.installation() as installation,
        bare.connections(installation, 2) as (submitter, worker),
        bare.lines(installation, 2) as (ringing, waiting),
    ):
        name = bare.key(installation, "tasks")

        async def work(number: int) -> float:
            await bare.ask(waiting, [packed("BRPOP", name, "5")])
            await worker.fetch(CLAIM, [number])
            moment = time.perf_counter()
            await worker.fetch(COMPLETE, [number])
            return moment

        for number in range(servers.sized(500, at_least=50)):
            working = asyncio.create_task(work(number))
            await asyncio.sleep(_SETTLING_SECONDS)
            began = time.perf_counter()
            await bare.insert(submitter, [number])
            await bare.ask(ringing, [packed("LPUSH", name, str(number))])
            claimed.append(1_000 * (await working - began))
            completed.append(1_000 * (time.perf_counter() - began))
    return [median(claimed), median(completed)]


COMPARISON: Final = Comparison((CLAIMED, COMPLETED), _measure)
