"""Submitting a thousand tasks a call, by one caller."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.figures import Figure
from officeplane.bench.installation import BULK, fill, no_op
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers


@dataclass(frozen=True, slots=True)
class SubmittedMany:
    """How quickly tasks were stored and rung for."""

    tasks: int
    per_call: int
    per_second: float
    stored: int
    rung: int

    def figures(self) -> Sequence[Figure]:
        return [Figure("rate", self.per_second, "tasks/s", "grouped_inserts")]


async def _measure(servers: Servers) -> SubmittedMany:
    tasks = servers.sized(100_000)
    bodies = [no_op(number) for number in range(tasks)]
    async with servers.installation() as installation:
        async with installation.plane() as plane:
            await fill(plane, bodies[: BULK // 10])  # connections are made by the first call
            began = time.perf_counter()
            await fill(plane, bodies)
            per_second = tasks / (time.perf_counter() - began)
        return SubmittedMany(tasks, BULK, per_second, await installation.stored(), await installation.rung())


SUBMIT_MANY: Final = Scenario("submit-many", f"submit_many, {BULK:,} tasks a call", _measure)
