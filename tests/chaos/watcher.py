"""The watcher: looks at the ledger and at the locks a few times a second, past every proxy.

What it saw is evidence that the final tables no longer hold: how long a lease
was good for, and whose lock lay on a document while somebody worked on it.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import asyncpg
import redis.asyncio
from redis.exceptions import RedisError

from officeplane.domain.lifecycle import FINAL

LOOK_SECONDS: Final = 0.12
ANSWER_SECONDS: Final = 1.0
_HELD: Final = """
    SELECT id::text, attempt, claim_id::text, hold_id::text, worker_id, document_id,
           extract(epoch FROM lease_until)::float8 AS lease_until, extract(epoch FROM started_at)::float8 AS claimed_at
      FROM tasks WHERE space = 'default' AND runnable AND state = 'RUNNING' AND lease_until IS NOT NULL
"""
_STANDING: Final = "SELECT claim_id::text FROM tasks WHERE runnable AND state = 'RUNNING'"
# What waits behind a failure, however indirectly, waits for ever.
_UNFINISHED: Final = f"""
    WITH RECURSIVE held_up AS (
        SELECT e.task_id FROM task_edges e, tasks d
         WHERE d.id = e.depends_on AND d.state IN ('FAILED', 'TIMEOUT')
        UNION
        SELECT e.task_id FROM held_up h, task_edges e WHERE e.depends_on = h.task_id
    )
    SELECT count(*) FROM tasks
     WHERE NOT state = ANY('{{{",".join(FINAL)}}}')
       AND NOT (state = 'PENDING' AND id IN (SELECT task_id FROM held_up))
"""  # noqa: S608 - our own words
_GAVE_UP: Final = (
    "SELECT id::text FROM tasks WHERE space = 'default' AND state IN ('FAILED', 'TIMEOUT', 'CANCELLED')"
    " ORDER BY finished_at DESC LIMIT 40"
)
_SPAWNED: Final = """
    SELECT id::text FROM tasks WHERE spawned_by IS NOT NULL AND state IN ('PENDING', 'QUEUED', 'RUNNING', 'RETRYING')
     ORDER BY seq DESC LIMIT 20
"""
_PROGRESS: Final = "SELECT coalesce(max(id), 0) FROM events"


@dataclass(frozen=True, slots=True)
class Sighting:
    """One attempt seen running, and what lay on its document's lock between two looks that both saw it."""

    at: float
    task_id: str
    attempt: int
    worker_id: str
    document_id: str | None
    hold_id: str | None
    lease_until: float
    claimed_at: float
    lock_seen: bool
    lock_value: str | None


@dataclass(frozen=True, slots=True)
class Look:
    """What clients are told of the ledger."""

    unfinished: int
    """How many tasks are still to end; what waits behind a failure is not."""
    gave_up: list[str]
    """Tasks that can be retried, the latest first."""
    spawned: list[str]
    """Tasks that others have spawned and that have not ended, the latest first."""


class Watcher:
    """Sees and remembers."""

    def __init__(self, database_url: str, redis_url: str, key_prefix: str = "officeplane") -> None:
        self.sightings: list[Sighting] = []
        self.unfinished = 0
        self.last_event = 0
        self.moved_at = time.monotonic()
        self._database_url = database_url
        self._redis_url = redis_url
        self._key_prefix = key_prefix

    async def run(self, tell: Callable[[Look], None]) -> None:
        """Look until cancelled, and tell what clients should know."""
        while True:
            try:
                await self._look_until_it_breaks(tell)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError):
                await asyncio.sleep(0.2)

    async def _look_until_it_breaks(self, tell: Callable[[Look], None]) -> None:
        database = await asyncpg.connect(self._database_url, timeout=2, command_timeout=ANSWER_SECONDS)
        client = redis.asyncio.from_url(
            self._redis_url, decode_responses=True, socket_timeout=0.5, socket_connect_timeout=0.5
        )
        try:
            while True:
                await self._look(database, client)
                self.unfinished = await database.fetchval(_UNFINISHED)
                gave_up, spawned = [
                    [row["id"] for row in await database.fetch(query)] for query in (_GAVE_UP, _SPAWNED)
                ]
                tell(Look(self.unfinished, gave_up, spawned))
                last = await database.fetchval(_PROGRESS)
                if last != self.last_event:
                    self.last_event, self.moved_at = last, time.monotonic()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            database.terminate()
            await client.aclose()

    async def _look(self, database: "asyncpg.Connection[asyncpg.Record]", client: "redis.asyncio.Redis") -> None:
        rows = await database.fetch(_HELD)
        at = time.time()
        documents = sorted({row["document_id"] for row in rows if row["document_id"] is not None})
        locks: dict[str, str | None] | None = {}
        if documents:
            try:
                values: list[Any] = await client.mget(
                    [f"{self._key_prefix}:doclock:{document}" for document in documents]
                )
                locks = dict(zip(documents, values, strict=True))
            except (RedisError, OSError, TimeoutError):
                locks = None
        still = {row["claim_id"] for row in await database.fetch(_STANDING)} if documents else set[str]()
        for row in rows:
            seen = locks is not None and row["document_id"] in locks and row["claim_id"] in still
            self.sightings.append(
                Sighting(
                    at=at,
                    task_id=row["id"],
                    attempt=row["attempt"],
                    worker_id=row["worker_id"],
                    document_id=row["document_id"],
                    hold_id=row["hold_id"],
                    lease_until=row["lease_until"],
                    claimed_at=row["claimed_at"],
                    lock_seen=seen,
                    lock_value=locks.get(row["document_id"]) if seen and locks is not None else None,
                )
            )
