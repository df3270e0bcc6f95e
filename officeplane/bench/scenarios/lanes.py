"""Lanes: documents of very different popularity, and handlers that take a while.

No arrangement can be quicker than all work shared out over the slots, or than
the longest lane. How much longer it took says what order and exclusion cost.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.figures import Figure
from officeplane.bench.handlers import NAP, NAP_SECONDS
from officeplane.bench.installation import fill
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers
from officeplane.bench.traces import Trace

_DOCUMENTS: Final = 200
_ZIPF: Final = 1.1
_CONCURRENCY: Final = 32
_SEED: Final = 20_250


@dataclass(frozen=True, slots=True)
class InLanes:
    """How long the lanes took, and whether two tasks of one ever met or swapped places."""

    tasks: int
    documents: int
    concurrency: int
    makespan_seconds: float
    ideal_seconds: float
    completed: int
    overlaps: int
    inversions: int

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("makespan to ideal", self.makespan_seconds / self.ideal_seconds, "x"),
            Figure("overlaps", self.overlaps, ""),
            Figure("inversions", self.inversions, ""),
        ]


async def _measure(servers: Servers) -> InLanes:
    tasks = servers.sized(4_000)
    weights = [1 / (document + 1) ** _ZIPF for document in range(_DOCUMENTS)]
    lanes = random.Random(_SEED).choices(range(_DOCUMENTS), weights, k=tasks)
    async with servers.installation() as installation:
        async with installation.plane() as plane:
            await fill(
                plane,
                [
                    {"task_type": NAP, "document_id": f"d{lane}", "payload": {"number": number, "lane": lane}}
                    for number, lane in enumerate(lanes)
                ],
            )
        await installation.tidy()
        with installation.workers(concurrency=_CONCURRENCY) as programs:
            ended = await installation.run_out(programs, tasks)
        traces = installation.traces.read()
        longest = max(Counter(lanes).values())
        return InLanes(
            tasks=tasks,
            documents=_DOCUMENTS,
            concurrency=_CONCURRENCY,
            makespan_seconds=(ended - min(trace.began for trace in traces)) / 1e9,
            ideal_seconds=NAP_SECONDS * max(tasks / _CONCURRENCY, longest),
            completed=await installation.counted(),
            overlaps=overlaps(traces),
            inversions=inversions(traces),
        )


def overlaps(traces: Iterable[Trace]) -> int:
    """Return how many handlers began while an earlier one of their lane still ran."""
    found = 0
    busy_until: dict[int, int] = {}
    for trace in sorted(traces, key=lambda trace: trace.began):
        found += trace.began < busy_until.get(trace.lane, 0)
        busy_until[trace.lane] = max(trace.ended, busy_until.get(trace.lane, 0))
    return found


def inversions(traces: Iterable[Trace]) -> int:
    """Return how many handlers began after one of a younger task of their lane."""
    found = 0
    youngest: dict[int, int] = {}
    for trace in sorted(traces, key=lambda trace: trace.began):
        found += trace.number < youngest.get(trace.lane, -1)
        youngest[trace.lane] = max(trace.number, youngest.get(trace.lane, -1))
    return found


LANES: Final = Scenario("lanes", f"4,000 tasks of 2 ms on {_DOCUMENTS} documents, Zipf {_ZIPF}", _measure)
