"""Many files: small edits of ten-page documents, of which a few are popular."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from officeplane.bench.figures import Figure
from officeplane.bench.office import open_office
from officeplane.bench.office_files import lost_or_doubled, name, small_edits, text_document
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

PAGES: Final = 10


@dataclass(frozen=True, slots=True)
class ManyFiles:
    """How quickly edits were carried out, how many revisions are kept, and what is not in the files."""

    edits: int
    documents: int
    per_second: float
    revisions: int
    lost: int

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("rate", self.per_second, "edits/s", "many_files_by_hand"),
            Figure("edits lost or doubled", self.lost, ""),
        ]


class Size(NamedTuple):
    """How much is measured."""

    edits: int
    documents: int


def sized(servers: Servers) -> Size:
    """Return how many edits of how many documents."""
    return Size(servers.sized(2_000), servers.sized(40, at_least=8))


async def _measure(servers: Servers) -> ManyFiles:
    edits_count, documents = sized(servers)
    edits = small_edits(edits_count, documents, PAGES)
    async with open_office(servers) as office:
        for number in range(documents):
            await office.put(name(number), await asyncio.to_thread(text_document, number, PAGES))
        seconds = await office.work_off([edit.task() for edit in edits])
        lost = 0
        for number in range(documents):
            its_own = [edit for edit in edits if edit.document == number]
            lost += lost_or_doubled(await office.content(name(number)), its_own)
        return ManyFiles(edits_count, documents, edits_count / seconds, await office.revisions() - documents, lost)


MANY_FILES: Final = Scenario("many-files", "2,000 small edits of 40 ten-page documents, Zipf 1.1", _measure)
