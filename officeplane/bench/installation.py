"""A scratch installation: submitted to by the Python API, worked on by real processes, looked at from outside."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import asyncpg

from officeplane.bench import handlers, processor, traces
from officeplane.bench.handlers import NOOP
from officeplane.bench.programs import Guard, Program, running
from officeplane.bench.traces import Traces
from officeplane.config import Auth, Settings
from officeplane.dispatch.commands import packed
from officeplane.dispatch.connection import Connection
from officeplane.dispatch.keys import Keyspace
from officeplane.plane import Plane
from officeplane.runtime import open_runtime

Sql: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

PATIENCE_SECONDS: Final = 300.0
BULK: Final = 1_000
_LOOK_SECONDS: Final = 0.002


class TooSlowError(Exception):
    """What was waited for did not happen in minutes: something is wrong rather than slow."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One database, one key prefix, one file of traces."""

    settings: Settings
    name: str
    admin: Sql
    ledger: Sql
    redis: Connection
    traces: Traces
    folder: Path
    guard: Guard

    @asynccontextmanager
    async def plane(self) -> AsyncGenerator[Plane, None]:
        """Give the Python API, as an application opens it."""
        async with open_runtime(self.settings, [handlers]) as runtime:
            yield Plane(runtime)

    def workers(self, *, concurrency: int, count: int = 1) -> AbstractContextManager[Sequence[Program]]:
        """Run worker processes."""
        return self._running("worker", "--concurrency", str(concurrency), count=count)

    @asynccontextmanager
    async def server(self, auth: Auth = "auto") -> AsyncGenerator[int, None]:
        """Run one API process and give its port; `auth` says who is asked for a key."""
        with self._running("serve", "--host", "127.0.0.1", "--port", "0", OFFICEPLANE_AUTH=auth) as (program,):
            said = await program.logged("serve.listening")
            yield int(str(said["url"]).rpartition(":")[2])

    async def fill(self, plane: Plane, numbers: Iterable[int], *, documents: bool = False) -> None:
        """Submit no-ops of these numbers by the thousand, each on a document of its own if so asked."""
        await fill(plane, [no_op(number, document=f"d{number}" if documents else None) for number in numbers])

    async def tidy(self) -> None:
        """Do what autovacuum would have done by now, had the table been filled at its usual pace."""
        await self.ledger.execute("VACUUM ANALYZE")

    async def completed(self) -> int:
        """Return how many tasks are completed and committed, without reading them."""
        return int(
            await self.ledger.fetchval(
                "SELECT coalesce(sum(count), 0)::bigint FROM task_counters WHERE outcome = 'completed'"
            )
        )

    async def counted(self) -> int:
        """Return how many tasks are completed, by counting them."""
        return int(await self.ledger.fetchval("SELECT count(*) FROM tasks WHERE state = 'COMPLETED'"))

    async def stored(self) -> int:
        """Return how many tasks there are."""
        return int(await self.ledger.fetchval("SELECT count(*) FROM tasks"))

    async def rung(self) -> int:
        """Return how many hints wait in Redis."""
        lengths = await self.redis.ask([packed("LLEN", name) for name in Keyspace(self.name).hint_lists])
        return sum(length for length in lengths if isinstance(length, int))

    async def run_out(self, programs: Sequence[Program], count: int, *, handled: int | None = None) -> int:
        """Wait until that many tasks are completed, and return when that was, in nanoseconds.

        `handled` is how many of them have a handler, if not all.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        # The file's length costs next to nothing; the ledger is asked once there is a point in it.
        while len(self.traces) < (handled or count):
            await self._look(programs, deadline, count)
        while await self.completed() < count:
            await self._look(programs, deadline, count)
        return traces.now()

    async def backend_seconds(self) -> float | None:
        """Return the processor time of Postgres's processes that serve this database, if they run here."""
        rows = await self.admin.fetch("SELECT pid FROM pg_stat_activity WHERE datname = $1", self.name)
        return processor.seconds_of_all([row["pid"] for row in rows], "postgres")

    async def transactions(self) -> int:
        """Return how many transactions this database has seen; the question is asked in another one."""
        return int(
            await self.admin.fetchval(
                "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1", self.name
            )
        )

    def _running(self, *arguments: str, count: int = 1, **variables: str) -> AbstractContextManager[Sequence[Program]]:
        environment = {
            "OFFICEPLANE_DATABASE_URL": self.settings.database_url,
            "OFFICEPLANE_REDIS_URL": self.settings.redis_url,
            "OFFICEPLANE_KEY_PREFIX": self.settings.key_prefix,
            "OFFICEPLANE_HANDLERS": handlers.__name__,
            "OFFICEPLANE_LOG_FORMAT": "json",
            traces.VARIABLE: str(self.traces.path),
            **variables,
        }
        return running(*arguments, count=count, environment=environment, folder=self.folder, guard=self.guard)

    async def _look(self, programs: Sequence[Program], deadline: float, count: int) -> None:
        for program in programs:
            program.check()
        if time.monotonic() > deadline:
            raise TooSlowError(f"{await self.completed()} of {count} tasks completed in {PATIENCE_SECONDS:g} s.")
        await asyncio.sleep(_LOOK_SECONDS)


def no_op(number: int, *, document: str | None = None, stumbles: bool = False) -> dict[str, Any]:
    """Return what to submit for a no-op; one that stumbles fails once, and is tried again at once."""
    body: dict[str, Any] = {"task_type": NOOP, "payload": {"number": number}}
    if stumbles:
        body = {"task_type": NOOP, "payload": {"number": number, "stumbles": True}, "retry": {"strategy": "immediate"}}
    return body if document is None else {**body, "document_id": document}


async def fill(plane: Plane, bodies: Sequence[dict[str, Any]]) -> None:
    """Submit tasks by the thousand, in their order."""
    for start in range(0, len(bodies), BULK):
        await plane.submit_many(bodies[start : start + BULK])
