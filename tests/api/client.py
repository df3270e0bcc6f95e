"""The API under test, and what the tests say to it."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import uvicorn
from fastapi import FastAPI

from officeplane.api.state import ServerState
from officeplane.config import Settings
from officeplane.domain.api_key import digest_of
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed, Outcome, Succeeded
from officeplane.domain.principal import LOCAL, Scope
from officeplane.domain.task import ClaimedTask
from officeplane.runtime import Runtime, WorkerServices, worker_services
from officeplane.server import create_app
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.store import api_keys

Json = dict[str, Any]

UNKNOWN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


@dataclass(frozen=True, slots=True)
class Api:
    """A client of an application that runs in this process, and what stands behind it."""

    client: httpx.AsyncClient
    app: FastAPI
    settings: Settings
    worker: WorkerServices

    async def get(self, path: str, **query: str | float | Sequence[str]) -> httpx.Response:
        return await self.client.get(path, params=query)

    async def post(
        self, path: str, body: object = None, headers: Mapping[str, str] | None = None, *, raw: bytes | None = None
    ) -> httpx.Response:
        if raw is None:
            return await self.client.post(path, json=body, headers=headers)
        heads = {"Content-Type": "application/json", **(headers or {})}
        return await self.client.post(path, content=raw, headers=heads)

    async def submit(self, **fields: object) -> Json:
        """Submit a `noop`, or what the fields make of it."""
        kind = {} if "children" in fields else {"taskType": "noop"}
        response = await self.post("/api/tasks", {**kind, **fields})
        assert response.status_code == 201, response.text
        return json_of(response)

    async def task(self, task_id: str) -> Json:
        response = await self.get(f"/api/tasks/{task_id}")
        assert response.status_code == 200, response.text
        return json_of(response)

    async def start(self, task_id: str) -> ClaimedTask:
        """Let a worker claim a task, which is RUNNING from then on."""
        (claimed,) = await self.worker.desk.claim([task_id])
        assert claimed.id == task_id
        return claimed

    async def end(self, claimed: ClaimedTask, outcome: Outcome | None = None) -> None:
        settlements = runtime_of(self.app).settlements
        await settlements.settle([EndedAttempt(claimed, outcome or Succeeded(None))], counted_by=self.worker.worker_id)
        if claimed.document_id is not None:
            await self.worker.desk.leave_lanes([claimed.document_id])

    async def fail(self, task_id: str, message: str = "It broke.") -> None:
        """Let a worker run a task and fail for good."""
        await self.end(await self.start(task_id), Failed(Failure(FailureKind.PERMANENT, message)))

    async def rows(self) -> int:
        """How many rows a request could have stored."""
        connection = await asyncpg.connect(self.settings.database_url)
        try:
            return int(
                await connection.fetchval(
                    "SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM idempotency_keys)"
                )
            )
        finally:
            await connection.close()


@asynccontextmanager
async def running(settings: Settings) -> AsyncGenerator[FastAPI]:
    """The application, started."""
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


def client_of(app: FastAPI) -> httpx.AsyncClient:
    """A client that reaches the application without a socket."""
    # A surprise is answered, and only then raised again for the server to log.
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=30)


def stranger_to(app: FastAPI, key: str = "", *, address: str = "203.0.113.7") -> httpx.AsyncClient:
    """A client that comes from elsewhere, with a key if one is given."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 4711))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers, timeout=30)


async def a_key(app: FastAPI, *scopes: Scope) -> str:
    """A key that has these scopes."""
    made = await runtime_of(app).api_keys.create(LOCAL, f"key-{uuid4()}", scopes)
    return made.text


async def revoke_key(app: FastAPI, text: str) -> None:
    """Revoke a key by its text."""
    runtime = runtime_of(app)
    found = await api_keys.of_digest(runtime.ledger, digest_of(text))
    assert found is not None
    await runtime.api_keys.revoke(LOCAL, found.key.id)


def state_in(app: FastAPI) -> ServerState:
    state = app.state.server
    assert isinstance(state, ServerState)
    return state


def runtime_of(app: FastAPI) -> Runtime:
    runtime = state_in(app).runtime
    assert runtime is not None
    return runtime


def worker_of(app: FastAPI) -> WorkerServices:
    return worker_services(runtime_of(app))


class _Server(uvicorn.Server):
    """A server that leaves signals to the test run."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def served(app: FastAPI) -> AsyncGenerator[str]:
    """The started application on a port, and its URL."""
    config = uvicorn.Config(app, port=0, lifespan="off", log_level="error", access_log=False, http="httptools")
    server = _Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    ((host, port),) = [listener.getsockname()[:2] for one in server.servers for listener in one.sockets]
    try:
        yield f"http://{host}:{port}"
    finally:
        state_in(app).stopping.set()
        server.should_exit = True
        await serving
        state_in(app).stopping.clear()


def json_of(response: httpx.Response) -> Json:
    """The JSON object in an answer."""
    body: Json = response.json()
    return body


def problem_of(response: httpx.Response) -> Json:
    """The problem in an answer, whose form is checked."""
    assert response.headers["Content-Type"] == "application/problem+json", response.text
    body = json_of(response)
    assert body["status"] == response.status_code
    assert body["title"]
    assert body["detail"]
    assert body["type"].endswith(body["code"])
    known = {"type", "title", "status", "detail", "code", "errors", "scope", "outside", "quota", "limit"}
    known |= {"reason", "state", "verb"}
    assert set(body) <= known
    for error in body.get("errors", []):
        assert set(error) == {"field", "message"}
        assert error["message"]
    return body


def code_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, problem_of(response)["code"]


def fields_of(response: httpx.Response) -> list[str]:
    return [error["field"] for error in problem_of(response).get("errors", [])]
