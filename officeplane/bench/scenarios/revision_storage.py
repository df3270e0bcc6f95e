"""What history takes: a thousand edits of a document with images, all revisions kept."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.bench.figures import Figure
from officeplane.bench.office import open_office
from officeplane.bench.office_files import name, small_edits, text_document
from officeplane.bench.scenario import Scenario
from officeplane.bench.servers import Servers

PAGES: Final = 50
IMAGES: Final = 5
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class RevisionStorage:
    """Megabytes in the database before the edits and after, with indexes and dead rows."""

    edits: int
    file_mb: float
    before_mb: float
    after_mb: float
    revisions: int

    def figures(self) -> Sequence[Figure]:
        return [
            Figure("the file", self.file_mb, "MB"),
            Figure("stored at first", self.before_mb, "MB"),
            Figure("stored with every revision", self.after_mb, "MB"),
        ]


async def _measure(servers: Servers) -> RevisionStorage:
    edits = small_edits(servers.sized(1_000), 1, PAGES)
    file = await asyncio.to_thread(text_document, 0, PAGES, IMAGES)
    async with open_office(servers) as office:
        await office.put(name(0), file)
        before = await office.stored_bytes()
        await office.work_off([edit.task() for edit in edits])
        after = await office.stored_bytes()
        revisions = await office.revisions() - 1
    return RevisionStorage(len(edits), len(file) / _MEGABYTE, before / _MEGABYTE, after / _MEGABYTE, revisions)


REVISION_STORAGE: Final = Scenario("revision-storage", "1,000 one-paragraph edits of 5 MB with images", _measure)
