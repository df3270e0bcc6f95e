"""The bare servers: a table with nothing but what a queue needs, and a client without a habit of its own."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, cast

import asyncpg
import redis.asyncio

from officeplane.bench.installation import Installation, Sql

PAYLOAD: Final = '{"number": 1}'
_TABLE: Final = """
CREATE TABLE bare (id bigint PRIMARY KEY, state text NOT NULL DEFAULT 'QUEUED', payload jsonb NOT NULL,
                   began_at timestamptz, ended_at timestamptz) WITH (fillfactor = 70)
"""
_INSERT: Final = "INSERT INTO bare (id, payload) SELECT * FROM unnest($1::bigint[], $2::jsonb[])"
_AT_ONCE: Final = 1_000


class Pipeline(Protocol):
    """What is used of redis-py's pipeline."""

    def execute_command(self, *arguments: str | int) -> object: ...
    async def execute(self) -> list[Any]: ...


class Client(Protocol):
    """What is used of redis-py's client; most of it is unannotated."""

    async def execute_command(self, *arguments: str | int) -> Any: ...
    async def aclose(self) -> None: ...


@asynccontextmanager
async def connections(installation: Installation, count: int) -> AsyncGenerator[Sequence[Sql], None]:
    """Give connections to a database with an empty bare table."""
    await installation.ledger.execute(_TABLE)
    url = installation.settings.database_url
    opened = [await asyncpg.connect(url) for _ in range(count)]
    try:
        yield opened
    finally:
        for connection in opened:
            await connection.close()


async def fill(connection: Sql, count: int) -> None:
    """Fill the bare table with queued rows, as old as those of a queue would be."""
    for ids in hundreds(count, _AT_ONCE):
        await insert(connection, ids)
    await connection.execute("VACUUM ANALYZE bare")


async def insert(connection: Sql, ids: Sequence[int]) -> None:
    """Insert rows in one statement."""
    await connection.execute(_INSERT, ids, [PAYLOAD] * len(ids))


@asynccontextmanager
async def client(installation: Installation) -> AsyncGenerator[Client, None]:
    """Give a client of Redis as its library makes it."""
    opened = redis.asyncio.Redis.from_url(installation.settings.redis_url, decode_responses=True)
    try:
        yield cast("Client", opened)
    finally:
        await opened.aclose()


def pipeline(of: Client) -> Pipeline:
    """Return a pipeline without a transaction around it."""
    return cast("redis.asyncio.Redis", of).pipeline(transaction=False)


def key(installation: Installation, name: str) -> str:
    """Return a key that is removed with the installation."""
    return f"{installation.name}-{name}"


def hundreds(count: int, size: int = 100) -> Iterator[range]:
    """Yield the numbers below `count`, so many at a time."""
    for start in range(0, count, size):
        yield range(start, min(start + size, count))


async def rate(count: int, lanes: int, step: Callable[[int, int], Awaitable[object]]) -> float:
    """Return how many steps a second were done, by that many callers side by side; a step gets caller and number."""
    numbers = iter(range(count))

    async def call(lane: int) -> None:
        for number in numbers:
            await step(lane, number)

    began = time.perf_counter()
    await asyncio.gather(*(call(lane) for lane in range(lanes)))
    return count / (time.perf_counter() - began)
