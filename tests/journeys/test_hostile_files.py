"""Hostile files: refused for what they are, whatever they are, while honest edits go on."""

from pathlib import Path

from tests.journeys.conftest import Install
from tests.onslaught.files import some_hostile_files
from tests.onslaught.onslaught import endure


async def test_hostile_files_harm_neither_processes_nor_documents(install: Install, tmp_path: Path) -> None:
    files = some_hostile_files(40)

    async with install() as plane:
        toll = await endure(plane.processes, tmp_path, files, harmless_each=1)

    assert not toll.wrong, "\n".join(toll.wrong[:20])
    assert toll.refused.total() == 2 * len(files)
