"""The product's own processes: started with short times, watched, stopped, frozen and killed by tests.

Each writes its log as JSON lines; tests wait for what it says instead of for time to pass.
Only what was started here is ever ended.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import TypeAdapter, ValidationError

from tests.forks import Fork, Forks
from tests.support import eventually

PROGRAM: Final = Path(sys.executable).with_name("officeplane")
ROOT: Final = Path(__file__).parents[2]
HANDLERS: Final = "tests.workers.handlers"
LEASE_SECONDS: Final = 2.0
STOP_SECONDS: Final = 60.0
NOT_KEPT: Final = httpx.Limits(max_keepalive_connections=0)
"""A server closes what is idle for five seconds. Who stood still meanwhile would ask on such a connection."""
_WAIT_SECONDS: Final = 30
"""For how long one request waits: less than its client does."""
REMARK: Final = TypeAdapter(dict[str, Any])
SHORT_LEASE: Final = str(LEASE_SECONDS)
"""For workers whose leases are to run out."""

SHORT_TIMES: Final = {
    # Longer than any machine stands still.
    "LEASE_SECONDS": "30",
    "HEARTBEAT_SECONDS": "0.4",
    "SWEEP_SECONDS": "0.5",
    "POLL_SECONDS": "0.3",
    "LOCK_TTL_SECONDS": "5",
    "BREAKER_FAILURE_THRESHOLD": "1000000",
    "RETRY_INITIAL_SECONDS": "0.2",
    "RETRY_MULTIPLIER": "2",
    "DRAIN_SECONDS": "10",
}


class Process:
    """One process of the product."""

    def __init__(self, name: str, process: asyncio.subprocess.Process | Fork, log: Path) -> None:
        self.name = name
        self._process = process
        self._log = log

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    def said(self, event: str) -> list[dict[str, Any]]:
        """Return every remark of this name in its log."""
        remarks = [_parsed(line) for line in self._log.read_text().splitlines()]
        return [remark for remark in remarks if remark.get("event") == event]

    @property
    def last_line(self) -> str:
        """What it said last, in its log or beside it."""
        return self._log.read_text().splitlines()[-1]

    @property
    def stacks(self) -> list[str]:
        """Whatever in its log has a stack: something that nobody thought of."""
        return [line for line in self._log.read_text().splitlines() if "Traceback (most recent call last)" in line]

    async def says(self, event: str, *, within: float = 60) -> dict[str, Any]:
        """Return its first remark of this name as soon as it is there."""

        def heard() -> list[dict[str, Any]]:
            assert self.is_running, f"{self.name} ended: {self._log.read_text()[-2000:]}"
            return self.said(event)

        return (await eventually(heard, within=within, what=f"{event!r} of {self.name}"))[0]

    async def kill(self) -> None:
        """End it as a crash would."""
        self.signal(signal.SIGKILL)
        await self._process.wait()

    def freeze(self) -> None:
        """Stop it in its tracks."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.signal(signal.SIGCONT)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it still runs."""
        if self.is_running:
            self._process.send_signal(number)

    async def ended(self, *, within: float = STOP_SECONDS) -> int:
        """Return its exit code once it has ended."""
        async with asyncio.timeout(within):
            return await self._process.wait()

    async def stop(self, *, within: float = STOP_SECONDS) -> int:
        """Ask it to stop and return its exit code."""
        self.signal(signal.SIGTERM)
        return await self.ended(within=within)


class Processes:
    """Starts processes on one installation."""

    def __init__(self, folder: Path, environment: Mapping[str, str], forks: Forks | None = None) -> None:
        self._folder = folder
        self._forks = forks
        self._environment = {f"OFFICEPLANE_{name}": value for name, value in {**SHORT_TIMES, **environment}.items()}
        self._program: tuple[str | Path, ...] = (PROGRAM,)
        self._tree = ROOT
        self._started: list[Process] = []

    async def worker(self, *, concurrency: int = 3, **environment: str) -> Process:
        """Start a worker and return it when it works."""
        process = await self.start("worker", "--concurrency", str(concurrency), **environment)
        await process.says("worker.started")
        return process

    async def workers(self, count: int, *, concurrency: int = 3, **environment: str) -> list[Process]:
        """Start several workers and return them when they work."""
        started = [await self.start("worker", "--concurrency", str(concurrency), **environment) for _ in range(count)]
        for process in started:
            await process.says("worker.started")
        return started

    async def serve(self, **environment: str) -> "Server":
        """Start an API server and return it when it answers."""
        process = await self.start("serve", "--port", "0", **environment)
        url = str((await process.says("serve.listening"))["url"])
        server = Server(process, url)

        async def answers() -> bool:
            try:
                return (await server.get("/api/health/live")).status_code == 200
            except httpx.TransportError:
                return False

        await eventually(answers, what="the API")
        return server

    def of_tree(self, tree: Path) -> "Processes":
        """Return what starts the program as another source tree has it, on the same installation."""
        other = Processes(self._folder, {})
        other._environment = {**self._environment, "PYTHONPATH": str(tree)}
        other._program = (sys.executable, "-m", "officeplane.cli.main")
        other._tree = tree
        other._started = self._started
        return other

    async def start(self, *arguments: str, **environment: str) -> Process:
        """Start `officeplane` with these arguments; further settings are named without their prefix."""
        given = {f"OFFICEPLANE_{name}": value for name, value in environment.items()}
        name = f"{arguments[0]}-{len(self._started)}"
        log = self._folder / f"{name}.log"
        settings = {**self._environment, "OFFICEPLANE_LOG_FORMAT": "json", **given}
        if self._forks is not None:
            log.touch()
            process: Fork | asyncio.subprocess.Process = await self._forks.begin(arguments, settings, log, log)
        else:
            process = await self._executed(arguments, settings, log)
        started = Process(name, process, log)
        self._started.append(started)
        return started

    async def _executed(
        self, arguments: Sequence[str], settings: Mapping[str, str], log: Path
    ) -> asyncio.subprocess.Process:
        with log.open("w") as stream:
            return await asyncio.create_subprocess_exec(
                *self._program,
                *arguments,
                cwd=self._tree,
                env={**os.environ, **settings},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
            )

    async def end_all(self, *, but: Process | None = None) -> None:
        """Kill whatever still runs, except perhaps one."""
        for process in self._started:
            if process is not but:
                await process.kill()


class Server:
    """An API server, and a client of it."""

    def __init__(self, process: Process, url: str) -> None:
        self.process = process
        self.url = url
        self._client = httpx.AsyncClient(base_url=url, timeout=40, limits=NOT_KEPT)

    async def get(self, path: str) -> httpx.Response:
        return await self._client.get(path)

    async def post(self, path: str, body: object = None) -> httpx.Response:
        return await self._client.post(path, json=body) if body is not None else await self._client.post(path)

    async def put(self, path: str, body: object) -> httpx.Response:
        return await self._client.put(path, json=body)

    async def submit(self, task_type: str, **fields: Any) -> dict[str, Any]:
        """Submit a task and return it; fields are named as in the API."""
        return _accepted(await self.post("/api/tasks", {"taskType": task_type, **fields}))

    async def submit_batch(self, *children: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
        """Submit a batch and return its parent."""
        return _accepted(await self.post("/api/tasks", {"children": list(children), **fields}))

    async def submit_many(self, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Submit many tasks at once, and return them in the order given."""
        answer = await self.post("/api/tasks/bulk", bodies)
        assert answer.status_code == 201, answer.text
        return list(answer.json())

    async def task(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return a task as it is now."""
        answer = await self.get(f"/api/tasks/{task['id']}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def final(self, task: Mapping[str, Any], *, within: float = 30) -> dict[str, Any]:
        """Return a task once it is final, or fail."""
        deadline = time.monotonic() + within
        while True:
            wait = min(max(deadline - time.monotonic(), 0), _WAIT_SECONDS)
            answer = await self.get(f"/api/tasks/{task['id']}?wait={wait:.1f}")
            assert answer.status_code == 200, answer.text
            ended = dict(answer.json())
            if ended["finishedAt"] is not None:
                return ended
            assert time.monotonic() < deadline, ended

    async def all_final(self, tasks: list[dict[str, Any]], *, within: float = 30) -> list[dict[str, Any]]:
        """Return these tasks once all of them are final."""
        deadline = time.monotonic() + within
        return [await self.final(task, within=max(1, deadline - time.monotonic())) for task in tasks]

    async def comes_to(self, task: Mapping[str, Any], state: str, *, within: float = 30) -> dict[str, Any]:
        """Return a task once it is in this state."""

        async def is_there() -> dict[str, Any]:
            now = await self.task(task)
            assert now["state"] == state
            return now

        return await eventually(is_there, within=within, what=f"{state} of {task['id']}")

    async def cancel(self, task: Mapping[str, Any]) -> httpx.Response:
        return await self.post(f"/api/tasks/{task['id']}/cancel")

    async def retry(self, task: Mapping[str, Any]) -> httpx.Response:
        return await self.post(f"/api/tasks/{task['id']}/retry")

    async def explain(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return why a task waits."""
        return dict((await self.get(f"/api/tasks/{task['id']}/explain")).json())

    async def live_workers(self) -> int:
        """Return how many workers are seen."""
        return int((await self.get("/api/health/ready")).json()["workers"])

    async def aclose(self) -> None:
        await self._client.aclose()


@asynccontextmanager
async def processes(
    folder: Path, *, database_url: str, redis_url: str, key_prefix: str, forks: Forks | None = None
) -> AsyncGenerator[Processes, None]:
    """Start processes on an installation, perhaps as forks; all of them are gone at the end."""
    environment = {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "KEY_PREFIX": key_prefix,
        "HANDLERS": HANDLERS,
    }
    made = Processes(folder, environment, forks)
    try:
        yield made
    finally:
        await made.end_all()


def _parsed(line: str) -> dict[str, Any]:
    try:
        return REMARK.validate_json(line)
    except ValidationError:
        return {}  # a traceback, or a library's own words


def _accepted(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 201, answer.text
    return dict(answer.json())
