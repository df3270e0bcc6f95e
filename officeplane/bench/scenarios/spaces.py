"""Spaces: how long a task of one waits beside a flood of another, and how long it waits otherwise."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench import handlers, traces
from officeplane.bench.figures import Figure, percentile
from officeplane.bench.handlers import NAP, NOOP
from officeplane.bench.installation import Installation, fill
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers
from officeplane.domain.principal import Kind, Principal, Scope
from officeplane.domain.space import Space
from officeplane.plane import Plane
from officeplane.runtime import open_runtime

SLOTS: Final = 16
_WARM_UP: Final = 10
_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.001, 0.02


@dataclass(frozen=True, slots=True)
class Beside:
    """Milliseconds from the call of `submit` to the handler's start, without a flood and beside it."""

    flood: int
    left: int
    tasks: int
    usual_p50_ms: float
    beside_p50_ms: float
    beside_p99_ms: float

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("until the handler starts, p50", self.beside_p50_ms, "ms"),
            Figure("until the handler starts, p99", self.beside_p99_ms, "ms"),
            Figure("to that without a flood", self.beside_p50_ms / self.usual_p50_ms, "x"),
        ]


async def _measure(servers: Servers) -> Beside:
    flood, tasks = servers.sized(100_000, at_least=2_000), servers.sized(200, at_least=20)
    async with servers.installation() as installation, open_runtime(installation.settings, [handlers]) as runtime:
        few, many = (Plane(runtime, _somebody_of(name)) for name in ("few", "many"))
        with installation.workers(concurrency=SLOTS):
            usual = await _waits(installation, few, range(_WARM_UP + tasks))
        await fill(many, [{"task_type": NAP, "payload": {"number": -1}} for _ in range(flood)])
        await installation.tidy()
        with installation.workers(concurrency=SLOTS):
            beside = await _waits(installation, few, range(_WARM_UP + tasks, 2 * (_WARM_UP + tasks)))
            left = flood - sum(trace.number == -1 for trace in installation.traces.read())
    return Beside(flood, left, tasks, percentile(usual, 0.5), percentile(beside, 0.5), percentile(beside, 0.99))


async def _waits(installation: Installation, plane: Plane, numbers: range) -> list[float]:
    submitted: dict[int, int] = {}
    for number in numbers:
        # At random, so as not to fall in step with anything that happens every so often.
        await asyncio.sleep(random.uniform(_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS))
        submitted[number] = traces.now()
        task = await plane.submit(NOOP, payload={"number": number})
        await plane.wait(task.id)
    began = {trace.number: trace.began for trace in installation.traces.read()}
    return [(began[number] - submitted[number]) / 1e6 for number in numbers[_WARM_UP:]]


def _somebody_of(name: str) -> Principal:
    return Principal(name, Kind.KEY, frozenset(Scope), Space(name))


SPACES: Final = Scenario("spaces", "one task at a time beside another space's flood", _measure)
