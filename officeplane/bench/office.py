"""An office: an API server and a worker that have documents, spoken to as their users speak to them."""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx

from officeplane.bench.client import Client
from officeplane.bench.installation import BULK, PATIENCE_SECONDS, Installation, TooSlowError
from officeplane.bench.programs import Program
from officeplane.bench.servers import Servers
from officeplane.domain.lifecycle import TaskState

CONCURRENCY: Final = 16
_LOOK_SECONDS: Final = 0.02
_WARM: Final = "warming-up"


class NotDoneError(Exception):
    """The API refused, or an edit failed, that a scenario needs."""


@dataclass(frozen=True, slots=True)
class Office:
    """One installation with its processes."""

    installation: Installation
    port: int
    api: httpx.AsyncClient
    worker: Program

    async def put(self, document_id: str, content: bytes) -> None:
        """Upload a document."""
        _ok(await self.api.put(f"/api/documents/{document_id}", content=content))

    async def warm_up(self) -> None:
        """Have the worker start what it starts once, with a document that nobody measures."""
        _ok(await self.api.post("/api/documents", json={"id": _WARM, "format": "docx"}))
        tasks = [{"taskType": "write_page", "documentId": _WARM, "payload": {"content": "Warm."}}] * 4
        await self.work_off(tasks)

    async def work_off(self, tasks: Sequence[dict[str, Any]]) -> float:
        """Submit tasks and return how many seconds it took until the last of them was completed."""
        done = await self.installation.completed() + len(tasks)
        deadline = time.monotonic() + PATIENCE_SECONDS
        began = time.perf_counter()
        for start in range(0, len(tasks), BULK):
            _ok(await self.api.post("/api/tasks/bulk", json=tasks[start : start + BULK]))
        while await self.installation.completed() < done:
            self.worker.check()
            if time.monotonic() > deadline:
                raise TooSlowError(f"Of {len(tasks)} edits some were not completed in {PATIENCE_SECONDS:g} s.")
            await asyncio.sleep(_LOOK_SECONDS)
        return time.perf_counter() - began

    async def content(self, document_id: str, revision: int | None = None) -> bytes:
        """Download a document."""
        chosen = {} if revision is None else {"revision": revision}
        return _ok(await self.api.get(f"/api/documents/{document_id}/content", params=chosen)).content

    async def revisions(self) -> int:
        """Return how many revisions the ledger has of documents that are measured."""
        query = "SELECT count(*) FROM revisions WHERE document_id <> $1"
        return int(await self.installation.ledger.fetchval(query, _WARM))

    async def retrievable(self, document_id: str) -> int:
        """Return how many revisions of a document can be downloaded and are what they were."""
        query = "SELECT revision, sha256 FROM revisions WHERE document_id = $1"
        rows = await self.installation.ledger.fetch(query, document_id)
        found = 0
        for row in rows:
            content = await self.content(document_id, row["revision"])
            found += hashlib.sha256(content).hexdigest() == row["sha256"]
        return found

    async def stored_bytes(self) -> int:
        """Return what documents, their revisions and pieces take in the database, with indexes and all."""
        names = ["documents", "revisions", "pieces"]
        query = "SELECT sum(pg_total_relation_size(name::regclass))::bigint FROM unnest($1::text[]) AS name"
        return int(await self.installation.ledger.fetchval(query, names))


@asynccontextmanager
async def open_office(servers: Servers) -> AsyncGenerator[Office, None]:
    """Run an API server and a worker on an empty installation."""
    async with servers.installation() as installation, installation.server() as port:
        with installation.workers(concurrency=CONCURRENCY) as (worker,):
            await worker.logged("worker.started")
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as api:
                office = Office(installation, port, api, worker)
                await office.warm_up()
                yield office


async def submit_and_wait(client: Client, task: dict[str, Any]) -> None:
    """Have one edit done."""
    submitted = json.loads(await client.post("/api/tasks", task))
    done = json.loads(await client.get(f"/api/tasks/{submitted['id']}?wait=30"))
    if done["state"] != TaskState.COMPLETED:
        raise NotDoneError(f"An edit is {done['state']}: {done['error']}")


def _ok(answer: httpx.Response) -> httpx.Response:
    if answer.is_error:
        raise NotDoneError(f"{answer.request.url}: {answer.status_code} {answer.text[:500]}")
    return answer
