"""A grid: rows that come and go in the midst of 20,000, while 20,000 formulas refer to them."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.client import clients
from officeplane.bench.figures import Figure, percentile
from officeplane.bench.office import open_office, submit_and_wait
from officeplane.bench.office_files import name, sheet
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

ROWS: Final = 20_000
COLUMNS: Final = 6


@dataclass(frozen=True, slots=True)
class Grid:
    """Milliseconds until a row is in its place, the workbook open already."""

    edits: int
    p50_ms: float

    def figures(self) -> Sequence[Figure]:
        return [Figure("a row inserted, p50", self.p50_ms, "ms")]


async def _measure(servers: Servers) -> Grid:
    edits = servers.sized(10, at_least=3)
    waited: list[float] = []
    async with open_office(servers) as office, clients(office.port, 1) as (client,):
        await office.put(name(0), await asyncio.to_thread(sheet, ROWS, COLUMNS, with_formulas=True))
        for edit in range(1 + edits):
            payload = {"sheet": "Data", "insertRows": {"at": 2 + edit * 1_000}}
            began = time.perf_counter()
            await submit_and_wait(client, {"taskType": "edit_grid", "documentId": name(0), "payload": payload})
            waited.append(time.perf_counter() - began)
    return Grid(edits, 1_000 * percentile(waited[1:], 0.5))


GRID: Final = Scenario("grid", "a row inserted in 20,000 x 6 with 20,000 formulas, open already", _measure)
