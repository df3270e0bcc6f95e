"""Submitting one task a call, by many callers of the Python API side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.figures import Figure
from officeplane.bench.handlers import NOOP
from officeplane.bench.load import rate
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

CALLERS: Final = 32


@dataclass(frozen=True, slots=True)
class Submitted:
    """How quickly tasks were stored and rung for."""

    tasks: int
    callers: int
    per_second: float
    stored: int
    rung: int

    def figures(self) -> Sequence[Figure]:
        return [Figure("rate", self.per_second, "tasks/s", "single_inserts")]


async def _measure(servers: Servers) -> Submitted:
    tasks = servers.sized(30_000)
    async with servers.installation() as installation:
        async with installation.plane() as plane:

            async def submit(_caller: int, number: int) -> None:
                await plane.submit(NOOP, payload={"number": number})

            per_second = await rate(tasks, CALLERS, submit)
        return Submitted(tasks, CALLERS, per_second, await installation.stored(), await installation.rung())


SUBMIT: Final = Scenario("submit", f"submit, {CALLERS} callers, a task a call", _measure)
