"""A rolling upgrade: workers of the previous migration level go on beside new ones, and nothing is lost."""

import asyncio
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

import asyncpg
import pytest

from officeplane.store.migrate import migrate
from tests.conftest import NewDatabase
from tests.journeys.lanes import assert_in_order, assert_one_at_a_time, open_gates_of, tasks_on_documents
from tests.journeys.processes import ROOT, processes
from tests.workers.marks import Marks

PREVIOUS_LEVEL = "f80cedc"
"""The last commit before migration 0003."""

LEVEL_OF_PREVIOUS = ["0001_tasks", "0002_plane"]


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The product as it was one migration level ago."""
    packed = subprocess.run(
        ["git", "archive", PREVIOUS_LEVEL, "officeplane", "workers", "lua", "tests"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if packed.returncode != 0:
        pytest.skip(f"needs the repository's history: git archive {PREVIOUS_LEVEL}: {packed.stderr.decode().strip()}")
    tree = tmp_path_factory.mktemp("previous")
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(tree, filter="data")
    return tree


async def test_workers_of_two_levels_share_the_work_and_new_kinds_of_it_wait_for_new_workers(
    previous: Path, new_database: NewDatabase, redis_url: str, marks: Marks, tmp_path: Path
) -> None:
    database = await new_database()
    async with processes(tmp_path, database_url=database, redis_url=redis_url, key_prefix="journey-upgrade") as new:
        old = new.of_tree(previous)
        assert await (await old.start("migrate")).ended() == 0
        assert await _levels(database) == LEVEL_OF_PREVIOUS
        old_api = await old.serve()
        old_workers = await old.workers(2, concurrency=4)
        before = await old_api.submit_many(tasks_on_documents(marks, 150, 10, seconds=0.005))

        await migrate(database)
        new_api = await new.serve()
        new_worker = await new.worker(concurrency=4)
        bodies = tasks_on_documents(marks, 150, 10, seconds=0.005, first=150, gated=9)
        during = await new_api.submit_many(bodies)
        created = await new_api.post("/api/documents", {"id": "plan", "format": "docx"})
        assert created.status_code == 201, created.text
        edits = await new_api.submit_many(
            [{"taskType": "add_chapter", "documentId": "plan", "payload": {"title": f"{n}"}} for n in range(5)]
        )
        await open_gates_of(marks, bodies)
        # They leave as an upgrade has them leave, in the middle of all that.
        stopping = [asyncio.ensure_future(worker.stop()) for worker in old_workers]

        ended = await new_api.all_final([*before, *during, *edits], within=60)

        assert {task["state"] for task in ended} == {"COMPLETED"}
        assert await asyncio.gather(*stopping) == [0, 0]
        assert_one_at_a_time(marks)
        assert_in_order(marks)
        revisions = (await new_api.get("/api/documents/plan/revisions")).json()
        assert [one["revision"] for one in revisions] == [6, 5, 4, 3, 2, 1]
        assert {mark.pid for mark in marks.all()} > {new_worker.pid}, "both levels took part"
        await old_api.aclose()
        await new_api.aclose()


async def _levels(database: str) -> list[str]:
    connection = await asyncpg.connect(database)
    try:
        return [row["name"] for row in await connection.fetch("SELECT name FROM schema_migrations ORDER BY name")]
    finally:
        await connection.close()
