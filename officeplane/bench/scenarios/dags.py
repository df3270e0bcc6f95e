"""A DAG, submitted over HTTP and worked through, beside as many no-ops that nothing holds together."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import httpx

from officeplane.bench.figures import Figure
from officeplane.bench.handlers import NOOP
from officeplane.bench.installation import PATIENCE_SECONDS, Installation
from officeplane.bench.scenario import Scenario
from officeplane.bench.scenarios.drain import drain
from officeplane.bench.servers import Servers

WIDTH: Final = 100
DEPTH: Final = 100
NEEDS: Final = 3


@dataclass(frozen=True, slots=True)
class WorkedThrough:
    """How quickly a DAG was stored and worked through, and plain tasks in the same run."""

    tasks: int
    submit_seconds: float
    per_second: float
    plain_per_second: float
    status: str
    doubled: int

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("submitted in", 1_000 * self.submit_seconds, "ms"),
            Figure("rate", self.per_second, "tasks/s", "claim_and_complete"),
            Figure("plain no-ops", self.plain_per_second, "tasks/s", "claim_and_complete"),
        ]


async def _measure(servers: Servers) -> WorkedThrough:
    depth = servers.sized(DEPTH)
    tasks = WIDTH * depth
    async with servers.installation() as installation:
        async with installation.plane() as plane:
            await installation.fill(plane, range(tasks))
        await installation.tidy()
        plain = await drain(installation, tasks)
    async with servers.installation() as installation:
        submit_seconds = await _submit(installation, layers(depth))
        await installation.tidy()
        through = await drain(installation, tasks)
        status = str(await installation.ledger.fetchval("SELECT status FROM dags"))
    return WorkedThrough(tasks, submit_seconds, through.per_second, plain.per_second, status, through.doubled)


def layers(depth: int) -> bytes:
    """Return the body of a DAG of layers, each task of which depends on three of the layer before."""
    tasks = [
        {
            "key": f"{layer}-{place}",
            "taskType": NOOP,
            "payload": {"number": layer * WIDTH + place},
            "dependsOn": [f"{layer - 1}-{(place + other) % WIDTH}" for other in range(NEEDS)] if layer else [],
        }
        for layer in range(depth)
        for place in range(WIDTH)
    ]
    return json.dumps({"title": "layers", "tasks": tasks}).encode()


async def _submit(installation: Installation, body: bytes) -> float:
    """Return how long the answer took."""
    async with (
        installation.server() as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_SECONDS, trust_env=False) as client,
    ):
        # Connections are made by the first request.
        (await client.get("/api/dags")).raise_for_status()
        began = time.perf_counter()
        answer = await client.post("/api/dags", content=body, headers={"Content-Type": "application/json"})
        seconds = time.perf_counter() - began
    answer.raise_for_status()
    return seconds


DAGS: Final = Scenario("dags", f"a DAG of {WIDTH * DEPTH:,} no-ops, {WIDTH} wide, and as many plain ones", _measure)
