"""The real program, run as users run it, on a real installation."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

import httpx
import pytest
from pydantic import JsonValue, TypeAdapter
from uuid_utils import uuid4

from tests.conftest import NewDatabase
from tests.forks import Fork, Forks
from tests.support import eventually

PROGRAM = Path(sys.executable).with_name("officeplane")
ROOT = Path(__file__).parents[2]
STOP_SECONDS = 30
LATER = "2100-01-01T00:00:00Z"
JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
OBJECTS: TypeAdapter[list[dict[str, JsonValue]]] = TypeAdapter(list[dict[str, JsonValue]])


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of the program ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> dict[str, JsonValue]:
        """All of stdout, which must be one JSON object."""
        return OBJECT.validate_python(json.loads(self.out))

    @property
    def objects(self) -> list[dict[str, JsonValue]]:
        """All of stdout, which must be one JSON list of objects."""
        return OBJECTS.validate_python(json.loads(self.out))

    @property
    def lines(self) -> list[dict[str, JsonValue]]:
        """All of stdout, which must be a JSON object a line."""
        return [OBJECT.validate_python(json.loads(line)) for line in self.out.splitlines()]


class Officeplane(Protocol):
    """Runs `officeplane` with these arguments to its end."""

    async def __call__(
        self, *arguments: str, env: Mapping[str, str] | None = None, stdin: str = "", within: float = 90
    ) -> Ended: ...


@dataclass(slots=True)
class Background:
    """A program that goes on, and where its remarks go."""

    process: asyncio.subprocess.Process | Fork
    out: Path
    err: Path

    @property
    def address(self) -> str:
        """Where it serves; empty until it does."""
        found = re.search(r"http://\S+", self.err.read_text())
        return found[0] if found else ""

    async def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop, and give its exit code."""
        if self.process.returncode is None:
            self.process.send_signal(sign)
        async with asyncio.timeout(STOP_SECONDS):
            return await self.process.wait()


@dataclass(frozen=True, slots=True)
class Plane:
    """A running installation: the environment of its processes, and where its API answers."""

    url: str
    env: Mapping[str, str]


class Tasks:
    """`officeplane tasks` in this plane."""

    def __init__(self, officeplane: Officeplane, plane: Plane) -> None:
        self._officeplane = officeplane
        self._plane = plane

    async def __call__(self, *arguments: str, stdin: str = "") -> Ended:
        return await self._officeplane("tasks", *arguments, env=self._plane.env, stdin=stdin)

    async def submit(self, task_type: str, **fields: JsonValue) -> str:
        """The id of a task newly submitted, over HTTP: what a test arranges is not what it is about."""
        async with httpx.AsyncClient(base_url=self._plane.url, timeout=30) as client:
            answer = await client.post("/api/tasks", json={"taskType": task_type, **fields})
        return str(OBJECT.validate_json(answer.content)["id"])

    async def read(self, task_id: str) -> dict[str, JsonValue]:
        """The task as the API has it."""
        async with httpx.AsyncClient(base_url=self._plane.url, timeout=30) as client:
            return OBJECT.validate_json((await client.get(f"/api/tasks/{task_id}")).content)


async def run_program(
    *arguments: str, env: Mapping[str, str] | None = None, stdin: str = "", within: float = 90
) -> Ended:
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *arguments,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(within):
            out, err = await process.communicate(stdin.encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Ended(process.returncode or 0, out.decode(), err.decode())


class Start(Protocol):
    """Starts `officeplane` with these arguments; what still runs at the end of the block is killed."""

    def __call__(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> AbstractAsyncContextManager[Background]: ...


@pytest.fixture(scope="session")
def program() -> Officeplane:
    """The program as it is installed, for what is about its start; it takes most of a second to import itself."""
    return run_program


@pytest.fixture(scope="session")
def officeplane(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> Officeplane:
    """The program in a process of its own that has imported everything already."""
    folder, number = tmp_path_factory.mktemp("commands"), count()

    async def run(*arguments: str, env: Mapping[str, str] | None = None, stdin: str = "", within: float = 90) -> Ended:
        given, out, err = (folder / f"{next(number)}-{name}" for name in ("in", "out", "err"))
        given.write_text(stdin)
        process = await forks.begin(arguments, env or {}, out, err, given)
        try:
            code = await process.ended(within=within)
        finally:
            process.send_signal(signal.SIGKILL)
        return Ended(code, out.read_text(), err.read_text())

    return run


@pytest.fixture(scope="session")
def start(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> Start:
    @asynccontextmanager
    async def run(*arguments: str, env: Mapping[str, str] | None = None) -> AsyncGenerator[Background]:
        folder = tmp_path_factory.mktemp(arguments[0])
        out, err = folder / "out", folder / "err"
        for file in (out, err):
            file.touch()
        process = await forks.begin(arguments, env or {}, out, err)
        try:
            yield Background(process, out, err)
        finally:
            process.send_signal(signal.SIGKILL)
            await process.wait()

    return run


@pytest.fixture(scope="session")
async def plane(new_database: NewDatabase, redis_url: str, start: Start) -> AsyncIterator[Plane]:
    """A migrated database, an API and a worker, for all tests of the command line."""
    env = {
        "OFFICEPLANE_DATABASE_URL": await new_database(),
        "OFFICEPLANE_REDIS_URL": redis_url,
        "OFFICEPLANE_KEY_PREFIX": "cli",
        "OFFICEPLANE_HANDLERS": "tests.cli.handlers",
        "OFFICEPLANE_HEARTBEAT_SECONDS": "0.2",
        # Many tests let tasks fail; none of them is about breakers.
        "OFFICEPLANE_BREAKER_FAILURE_THRESHOLD": "1000",
    }
    migrated = await run_program("migrate", env=env)
    assert migrated.code == 0, migrated.err
    async with (
        start("serve", "--port", "0", env=env) as serve,
        start("worker", "--concurrency", "10", env=env) as worker,
    ):
        url = await eventually(lambda: serve.address, within=60, what="the API")
        with_url = {**env, "OFFICEPLANE_URL": url}

        async def done() -> bool:
            return (await run_program("tasks", "submit", "noop", "--wait", "5", env=with_url)).code == 0

        await eventually(done, within=60, what="a first task")
        yield Plane(url, with_url)
        assert await worker.stop() == 0
        assert await serve.stop() == 0


@pytest.fixture
def tasks(officeplane: Officeplane, plane: Plane) -> Tasks:
    return Tasks(officeplane, plane)


class Documents:
    """`officeplane documents` in this plane."""

    def __init__(self, officeplane: Officeplane, plane: Plane, state: Path) -> None:
        self._officeplane = officeplane
        self._plane = plane
        self.state = state

    async def __call__(self, *arguments: str) -> Ended:
        env = {**self._plane.env, "XDG_STATE_HOME": str(self.state)}
        return await self._officeplane("documents", *arguments, env=env)


@pytest.fixture
def documents(officeplane: Officeplane, plane: Plane, tmp_path: Path) -> Documents:
    return Documents(officeplane, plane, tmp_path / "state")


@pytest.fixture
def document_id() -> str:
    """An id that no document has yet."""
    return f"cli-{str(uuid4())[:8]}"
