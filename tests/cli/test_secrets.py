"""Secrets: no other process of the same user gets at those of a running command."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from officeplane import open_plane
from officeplane.domain.lifecycle import TaskState
from officeplane.embedded.ports import free_port
from officeplane.store.migrate import migrate
from tests.cli.conftest import PROGRAM, Plane
from tests.conftest import NewDatabase
from tests.neighbours import READ, REFUSED, is_closed, seen_of, without_rights
from tests.sandbox.processes import is_alive
from tests.support import eventually


@asynccontextmanager
async def running(*command: str | Path, env: Mapping[str, str]) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Run a program as a process of its user like any other, and end it."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **env},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        preexec_fn=without_rights,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def closed(pid: int) -> None:
    """Return once a process that begins is closed to its neighbours."""

    def is_it() -> bool:
        if not is_alive(pid):
            pytest.fail(f"process {pid} has ended before it was closed")
        return is_closed(pid)

    await eventually(is_it, within=120, what="a process that is closed")


async def test_a_program_that_hides_nothing_is_open_to_its_neighbours() -> None:
    async with running(sys.executable, "-c", "import time; time.sleep(600)", env={}) as process:
        seen = seen_of(process.pid)

    assert [seen[what] for what in ("environ", "maps", "what a descriptor leads to")] == [READ] * 3


@pytest.mark.parametrize(
    "command",
    [("serve", "--port", "0"), ("worker",), ("tasks", "watch", "--all")],
    ids=" ".join,
)
async def test_a_neighbour_gets_at_nothing_of(plane: Plane, command: tuple[str, ...]) -> None:
    async with running(PROGRAM, *command, env=plane.env) as process:
        await closed(process.pid)

        assert is_alive(process.pid)


async def test_a_neighbour_gets_at_nothing_of_what_brings_all_up(tmp_path: Path) -> None:
    env = {"OFFICEPLANE_DATA_DIR": str(tmp_path / "data"), "OFFICEPLANE_PORT": str(free_port())}
    async with running(PROGRAM, "up", env=env) as process:
        await closed(process.pid)

        assert is_alive(process.pid)


async def test_a_plain_handler_gets_at_nothing_of_its_worker(plane: Plane, new_database: NewDatabase) -> None:
    # Of a worker that may do less than those of the others.
    url = await new_database()
    await migrate(url)
    env = {**plane.env, "OFFICEPLANE_DATABASE_URL": url, "OFFICEPLANE_KEY_PREFIX": "secrets"}
    async with running(PROGRAM, "worker", env=env), open_plane(url, handlers=["tests.cli.handlers"]) as opened:
        task = await opened.submit("cli.look_at_worker")

        looked = await opened.wait(task.id)

    assert looked.state is TaskState.COMPLETED
    seen = cast("dict[str, str]", looked.result)
    assert set(seen.values()) <= REFUSED, seen
