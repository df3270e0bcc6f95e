"""A hot file: everybody edits the same 200 pages, and every revision can be had afterwards."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.figures import Figure
from officeplane.bench.office import open_office
from officeplane.bench.office_files import lost_or_doubled, name, small_edits, text_document
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

PAGES: Final = 200


@dataclass(frozen=True, slots=True)
class HotFile:
    """How quickly one lane's edits were carried out, and how many revisions were downloaded as they were stored."""

    edits: int
    bytes: int
    per_second: float
    retrievable: int
    lost: int

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("rate", self.per_second, "edits/s", "hot_file_by_hand"),
            Figure("revisions that cannot be had", self.edits + 1 - self.retrievable, ""),
            Figure("edits lost or doubled", self.lost, ""),
        ]


def sized(servers: Servers) -> int:
    """Return how many edits."""
    return servers.sized(500)


async def _measure(servers: Servers) -> HotFile:
    edits = small_edits(sized(servers), 1, PAGES)
    file = await asyncio.to_thread(text_document, 0, PAGES)
    async with open_office(servers) as office:
        await office.put(name(0), file)
        seconds = await office.work_off([edit.task() for edit in edits])
        lost = lost_or_doubled(await office.content(name(0)), edits)
        return HotFile(len(edits), len(file), len(edits) / seconds, await office.retrievable(name(0)), lost)


HOT_FILE: Final = Scenario("hot-file", "500 edits queued on one 200-page document", _measure)
