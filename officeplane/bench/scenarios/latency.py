"""Latency: an idle worker, one task at a time, until its handler starts and until its end is seen."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench import traces
from officeplane.bench.figures import Figure, percentile
from officeplane.bench.handlers import NOOP
from officeplane.bench.scenario import Scenario
from officeplane.bench.scenarios.drain import CONCURRENCY
from officeplane.bench.servers import Servers

_WARM_UP: Final = 10
_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.001, 0.02


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from the call of `submit` to the handler's start, and to the return of `wait`."""

    tasks: int
    started_p50_ms: float
    started_p99_ms: float
    ended_p50_ms: float
    ended_p99_ms: float

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("until the handler starts, p50", self.started_p50_ms, "ms", "until_claimed"),
            Figure("until the handler starts, p99", self.started_p99_ms, "ms", "until_claimed"),
            Figure("until wait returns, p50", self.ended_p50_ms, "ms", "until_completed"),
            Figure("until wait returns, p99", self.ended_p99_ms, "ms", "until_completed"),
        ]


async def _measure(servers: Servers) -> Latency:
    tasks = servers.sized(500, at_least=50)
    submitted: dict[int, int] = {}
    ended: list[float] = []
    async with servers.installation() as installation, installation.plane() as plane:
        with installation.workers(concurrency=CONCURRENCY):
            for number in range(-_WARM_UP, tasks):
                # At random, so as not to fall in step with anything that happens every so often.
                await asyncio.sleep(random.uniform(_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS))
                submitted[number] = traces.now()
                task = await plane.submit(NOOP, payload={"number": number})
                await plane.wait(task.id)
                ended.append((traces.now() - submitted[number]) / 1e6)
        started = [(trace.began - submitted[trace.number]) / 1e6 for trace in installation.traces.read()]
    started, ended = started[_WARM_UP:], ended[_WARM_UP:]
    return Latency(
        len(started),
        percentile(started, 0.5),
        percentile(started, 0.99),
        percentile(ended, 0.5),
        percentile(ended, 0.99),
    )


LATENCY: Final = Scenario("latency", "one task at a time, idle worker", _measure)
