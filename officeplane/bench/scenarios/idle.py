"""Idling: what a worker without work costs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench import redis_counters
from officeplane.bench.figures import Figure
from officeplane.bench.scenario import Scenario
from officeplane.bench.scenarios.drain import CONCURRENCY
from officeplane.bench.servers import Servers

_SECONDS: Final = 30.0
# Postgres counts what a session did up to ten seconds after that has fallen idle.
_SETTLING_SECONDS: Final = 12.0


@dataclass(frozen=True, slots=True)
class Idle:
    """What an idle worker used a second. Every statement that it sends is a transaction of its own."""

    seconds: float
    worker_processor_percent: float | None
    transactions_per_second: float
    commands_per_second: float

    def figures(self) -> Sequence[Figure]:
        processor = self.worker_processor_percent
        return [
            *([] if processor is None else [Figure("CPU of the worker", processor, "%")]),
            Figure("statements in Postgres", self.transactions_per_second, "/s"),
            Figure("commands in Redis", self.commands_per_second, "/s"),
        ]


async def _measure(servers: Servers) -> Idle:
    seconds = _SECONDS * servers.scale
    async with servers.installation() as installation:
        with installation.workers(concurrency=CONCURRENCY) as (worker,):
            async with installation.plane() as plane:
                await installation.fill(plane, range(10))
                await installation.run_out([worker], 10)
            await asyncio.sleep(_SETTLING_SECONDS)
            transactions = await installation.transactions()
            commands = await _commands(servers)
            used = worker.processor_seconds
            await asyncio.sleep(seconds)
            used_after = worker.processor_seconds
            # The question itself was one of them.
            commands = await _commands(servers) - commands - 1
            transactions = await installation.transactions() - transactions
    return Idle(
        seconds=seconds,
        worker_processor_percent=None if used is None or used_after is None else 100 * (used_after - used) / seconds,
        transactions_per_second=transactions / seconds,
        commands_per_second=commands / seconds,
    )


async def _commands(servers: Servers) -> int:
    return sum((await redis_counters.commands(servers.doorbell.connection)).values())


IDLE: Final = Scenario("idle", "a worker without work", _measure)
