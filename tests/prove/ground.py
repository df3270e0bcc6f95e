"""The ground: servers of a part's own, a database in them, processes, and a look at the tables."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg
import redis.asyncio

from officeplane.embedded.stack import EmbeddedStack, embedded_stack
from officeplane.store.migrate import migrate
from tests.journeys.processes import Processes
from tests.workbench import Workbench, open_workbench
from tests.workers.marks import Marks

HANDLERS: Final = "tests.prove.handlers,tests.workers.handlers"
# As installed, except for the lease, for which nobody would wait here.
AS_INSTALLED: Final[dict[str, Any]] = {
    "LEASE_SECONDS": "5",
    "HEARTBEAT_SECONDS": "1",
    "SWEEP_SECONDS": "2",
    "POLL_SECONDS": "1",
    "LOCK_TTL_SECONDS": "600",
}
LEASE_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Ground:
    """Everything a part stands on."""

    folder: Path
    stack: EmbeddedStack
    processes: Processes
    bench: Workbench
    redis: "redis.asyncio.Redis"
    marks: Marks

    async def sql(self, query: str, *arguments: object) -> list[dict[str, Any]]:
        """Ask the tables."""
        connection = await asyncpg.connect(self.stack.database_url, timeout=5)
        try:
            return [dict(row) for row in await connection.fetch(query, *arguments, timeout=120)]
        finally:
            await connection.close()

    async def number(self, query: str, *arguments: object) -> float:
        """Return the one number that a query gives."""
        ((value,),) = [tuple(row.values()) for row in await self.sql(query, *arguments)]
        return float(value or 0)

    async def submit(self, bodies: Iterable[Mapping[str, Any]]) -> list[str]:
        """Submit tasks in bulk, past the API, and return their ids."""
        return [task.id for task in await self.bench.submit_many(bodies)]

    async def all_final(self, *, within: float) -> float:
        """Return how long it took until every task had ended; raise when it took longer than that."""
        began = time.monotonic()

        async def none_left() -> bool:
            return not await self.sql("SELECT FROM tasks WHERE finished_at IS NULL LIMIT 1")

        await until(none_left, within, "the end of every task")
        return time.monotonic() - began

    async def states(self) -> dict[str, int]:
        """Return how many tasks are in which state."""
        return {row["state"]: row["n"] for row in await self.sql("SELECT state, count(*) AS n FROM tasks GROUP BY 1")}

    async def completions(self) -> tuple[int, int]:
        """Return how many tasks were completed, and how often."""
        (row,) = await self.sql(
            "SELECT count(DISTINCT task_id) AS tasks, count(*) AS times FROM events, unnest(task_ids) AS task_id "
            "WHERE kind = 'task.completed'"
        )
        return row["tasks"], row["times"]

    async def counted(self, outcome: str) -> int:
        """Return how often attempts ended in this way."""
        return int(await self.number("SELECT sum(count) FROM task_counters WHERE outcome = $1", outcome))


@asynccontextmanager
async def ground(
    folder: Path, *, durable: bool = False, data: Path | None = None, **settings: str
) -> AsyncGenerator[Ground, None]:
    """Bring servers up for one part, and take down everything that was started on them."""
    folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as leaving:
        stack = await leaving.enter_async_context(embedded_stack(data or folder / "data", durable=durable))
        await migrate(stack.database_url)
        client = redis.asyncio.from_url(stack.redis_url)
        leaving.push_async_callback(client.aclose)
        prefix = f"prove-{secrets.token_hex(4)}"
        bench = await leaving.enter_async_context(
            open_workbench(stack.database_url, stack.redis_url, HANDLERS.split(","), key_prefix=prefix)
        )
        environment = {
            "DATABASE_URL": stack.database_url,
            "REDIS_URL": stack.redis_url,
            "KEY_PREFIX": prefix,
            "HANDLERS": HANDLERS,
        }
        started = Processes(folder, {**environment, **settings})
        leaving.push_async_callback(started.end_all)
        yield Ground(folder, stack, started, bench, client, Marks(folder))


async def until(fact: Callable[[], Awaitable[bool]], seconds: float, what: str, *, every: float = 0.02) -> None:
    """Return once it is so; raise when it did not come true in time."""
    deadline = time.monotonic() + seconds
    while not await fact():
        if time.monotonic() > deadline:
            message = f"{what} did not come true within {seconds:g} s"
            raise TimeoutError(message)
        await asyncio.sleep(every)
