"""The latency of an edit: nothing else to do, from POST until its caller sees it completed."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.client import clients
from officeplane.bench.figures import Figure, percentile
from officeplane.bench.office import open_office, submit_and_wait
from officeplane.bench.office_files import name, small_edits, text_document
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

PAGES: Final = 10
_WARM_UP: Final = 5
_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.005, 0.03


@dataclass(frozen=True, slots=True)
class EditLatency:
    """Milliseconds from POST to the answer that says COMPLETED."""

    edits: int
    p50_ms: float
    p99_ms: float

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("POST to COMPLETED, p50", self.p50_ms, "ms"),
            Figure("POST to COMPLETED, p99", self.p99_ms, "ms"),
        ]


async def _measure(servers: Servers) -> EditLatency:
    edits = small_edits(_WARM_UP + servers.sized(300, at_least=40), 1, PAGES)
    waited: list[float] = []
    async with open_office(servers) as office, clients(office.port, 1) as (client,):
        await office.put(name(0), await asyncio.to_thread(text_document, 0, PAGES))
        for edit in edits:
            await asyncio.sleep(random.uniform(_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS))
            began = time.perf_counter()
            await submit_and_wait(client, edit.task())
            waited.append(1_000 * (time.perf_counter() - began))
    waited = waited[_WARM_UP:]
    return EditLatency(len(waited), percentile(waited, 0.5), percentile(waited, 0.99))


EDIT_LATENCY: Final = Scenario("edit-latency", "one edit of a ten-page document, idle system", _measure)
