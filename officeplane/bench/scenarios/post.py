"""`POST /api/tasks`: one server process, keep-alive clients on the same cores."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.client import clients
from officeplane.bench.figures import Figure, percentile
from officeplane.bench.handlers import NOOP
from officeplane.bench.load import rate
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

CLIENTS: Final = 32
_WARM_UP: Final = 200


@dataclass(frozen=True, slots=True)
class Posted:
    """How quickly the API accepted tasks, and how long each of the callers waited."""

    tasks: int
    clients: int
    per_second: float
    p50_ms: float
    p99_ms: float
    stored: int
    rung: int

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("rate", self.per_second, "requests/s", "single_inserts"),
            Figure("answer, p50", self.p50_ms, "ms"),
            Figure("answer, p99", self.p99_ms, "ms"),
        ]


async def _measure(servers: Servers) -> Posted:
    tasks = servers.sized(10_000)
    async with servers.installation() as installation:
        async with installation.server() as port:
            await post(port, _WARM_UP)
            per_second, waited = await post(port, tasks)
        return Posted(
            tasks,
            CLIENTS,
            per_second,
            percentile(waited, 0.5),
            percentile(waited, 0.99),
            await installation.stored() - _WARM_UP,
            await installation.rung() - _WARM_UP,
        )


async def post(port: int, tasks: int, key: str = "") -> tuple[float, list[float]]:
    """Post no-ops, with a key if one is given; return how many a second, and how many milliseconds each took."""
    waited: list[float] = []
    async with clients(port, CLIENTS, key) as connected:

        async def submit(caller: int, number: int) -> None:
            began = time.perf_counter()
            await connected[caller].post("/api/tasks", {"taskType": NOOP, "payload": {"number": number}})
            waited.append(1_000 * (time.perf_counter() - began))

        per_second = await rate(tasks, CLIENTS, submit)
    return per_second, waited


POST: Final = Scenario("post", f"POST /api/tasks, one server, {CLIENTS} clients", _measure)
