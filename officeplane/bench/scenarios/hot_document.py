"""A hot document: everything waits in one lane, so nothing can be done side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench import redis_counters
from officeplane.bench.figures import Figure
from officeplane.bench.installation import fill, no_op
from officeplane.bench.scenario import Scenario
from officeplane.bench.scenarios.drain import CONCURRENCY, rate
from officeplane.bench.servers import Servers


@dataclass(frozen=True, slots=True)
class HotDocument:
    """How quickly one lane was worked off, and what that asked of Redis."""

    tasks: int
    per_second: float
    completed: int
    pops_per_task: float
    commands_per_task: float

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("rate", self.per_second, "tasks/s", "one_by_one"),
            Figure("pops", self.pops_per_task, "/task"),
            Figure("Redis commands", self.commands_per_task, "/task"),
        ]


async def _measure(servers: Servers) -> HotDocument:
    tasks = servers.sized(2_000)
    async with servers.installation() as installation:
        async with installation.plane() as plane:
            await fill(plane, [no_op(number, document="hot") for number in range(tasks)])
        await installation.tidy()
        before = await redis_counters.commands(installation.redis)
        with installation.workers(concurrency=CONCURRENCY) as programs:
            ended = await installation.run_out(programs, tasks)
            after = await redis_counters.commands(installation.redis)
        used = {name: calls - before.get(name, 0) for name, calls in after.items()}
        return HotDocument(
            tasks=tasks,
            per_second=rate(installation.traces.read(), ended),
            completed=await installation.counted(),
            pops_per_task=sum(used.get(name, 0) for name in redis_counters.POPS) / tasks,
            commands_per_task=sum(used.values()) / tasks,
        )


HOT_DOCUMENT: Final = Scenario("hot-document", "2,000 no-ops on one document", _measure)
