"""Draining: no-ops that wait already, and how quickly worker processes are through with them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from officeplane.bench import redis_counters
from officeplane.bench.figures import Figure
from officeplane.bench.installation import Installation
from officeplane.bench.programs import Program
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers
from officeplane.bench.traces import Trace

CONCURRENCY: Final = 500
TASKS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Drained:
    """How a queue was emptied. Processor times are microseconds a task, without the workers' start, where known."""

    tasks: int
    workers: int
    documents: bool
    per_second: float
    completed: int
    handler_runs: int
    doubled: int
    worker_us: float | None
    postgres_us: float | None
    redis_us: float

    def figures(self) -> Sequence[Figure]:
        limit = "lock_claim_and_complete" if self.documents else "claim_and_complete"
        processor = {"worker": self.worker_us, "Postgres": self.postgres_us, "Redis": self.redis_us}
        return [
            Figure("rate", self.per_second, "tasks/s", limit),
            *(Figure(f"CPU of {who}", used, "us/task") for who, used in processor.items() if used is not None),
        ]


async def _measure(servers: Servers, *, documents: bool, workers: int) -> Drained:
    tasks = servers.sized(TASKS)
    async with servers.installation() as installation:
        async with installation.plane() as plane:
            await installation.fill(plane, range(tasks), documents=documents)
        await installation.tidy()
        return await drain(installation, tasks, documents=documents, workers=workers)


async def drain(
    installation: Installation, tasks: int, *, documents: bool = False, workers: int = 1, handled: int | None = None
) -> Drained:
    """Let workers empty the queue, in which that many tasks wait, of which handlers run so many: all, if not told."""
    redis_before = await redis_counters.processor_seconds(installation.redis)
    backends_before = await installation.backend_seconds()
    with installation.workers(concurrency=CONCURRENCY, count=workers) as programs:
        starting = await asyncio.gather(*map(_start, programs))
        ended = await installation.run_out(programs, tasks, handled=handled or tasks)
        backends_after = await installation.backend_seconds()
        redis_after = await redis_counters.processor_seconds(installation.redis)
        used = [program.processor_seconds for program in programs]
    traces = installation.traces.read()
    return Drained(
        tasks=tasks,
        workers=workers,
        documents=documents,
        per_second=rate(traces, ended),
        completed=await installation.counted(),
        handler_runs=len(traces),
        doubled=len(traces) - len({trace.number for trace in traces}),
        worker_us=_microseconds(starting, used, tasks),
        postgres_us=_microseconds([backends_before], [backends_after], tasks),
        redis_us=1e6 * (redis_after - redis_before) / tasks,
    )


def rate(traces: Sequence[Trace], ended: int) -> float:
    """Return tasks a second from when the last of the workers had begun; their start is not counted."""
    first: dict[int, int] = {}
    for trace in traces:
        first[trace.process] = min(first.get(trace.process, trace.began), trace.began)
    began = max(first.values())
    counted = sum(trace.began >= began for trace in traces)
    return 1e9 * counted / (ended - began)


async def _start(program: Program) -> float | None:
    await program.logged("worker.started")
    return program.processor_seconds


def _microseconds(before: Sequence[float | None], after: Sequence[float | None], tasks: int) -> float | None:
    """Return processor time a task, where the system tells."""
    used = [late - early for early, late in zip(before, after, strict=True) if early is not None and late is not None]
    return 1e6 * sum(used) / tasks if len(used) == len(before) else None


PLAIN: Final = Scenario(
    "drain", f"drain of {TASKS:,} no-ops, one worker", partial(_measure, documents=False, workers=1)
)
DOCUMENTS: Final = Scenario(
    "drain-documents", "the same, each on a document of its own", partial(_measure, documents=True, workers=1)
)
TWO_WORKERS: Final = Scenario(
    "drain-two-workers", f"drain of {TASKS:,} no-ops, two workers", partial(_measure, documents=False, workers=2)
)
DOCUMENTS_TWO_WORKERS: Final = Scenario(
    "drain-documents-two-workers",
    "the same, each on a document of its own",
    partial(_measure, documents=True, workers=2),
)
