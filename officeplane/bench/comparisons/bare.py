"""The bare servers: a table with nothing but what a queue needs, and lines to Redis without a client around them."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import asyncpg

from officeplane.bench.installation import Installation, Sql
from officeplane.dispatch.pools import Line, Reply, open_pool

PAYLOAD: Final = '{"number": 1}'
_TABLE: Final = """
CREATE TABLE bare (id bigint PRIMARY KEY, state text NOT NULL DEFAULT 'QUEUED', payload jsonb NOT NULL,
                   began_at timestamptz, ended_at timestamptz) WITH (fillfactor = 70)
"""
_INSERT: Final = "INSERT INTO bare (id, payload) SELECT * FROM unnest($1::bigint[], $2::jsonb[])"
_AT_ONCE: Final = 1_000


@asynccontextmanager
async def connections(installation: Installation, count: int) -> AsyncGenerator[Sequence[Sql], None]:
    """Give connections to a database with an empty bare table."""
    await installation.ledger.execute(_TABLE)
    opened: list[Sql] = []
    try:
        while len(opened) < count:
            opened.append(await asyncpg.connect(installation.settings.database_url))
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
async def lines(installation: Installation, count: int) -> AsyncGenerator[Sequence[Line], None]:
    """Give connections to Redis."""
    pool = open_pool(installation.settings.redis_url, "officeplane-bench")
    opened: list[Line] = []
    try:
        for _ in range(count):
            line = pool.make_connection()
            opened.append(line)
            await line.connect()
        yield opened
    finally:
        for line in opened:
            await line.disconnect(nowait=True)
        await pool.aclose()


async def ask(line: Line, commands: Sequence[bytes]) -> list[Reply]:
    """Send commands in one packet and return their replies."""
    await line.send_packed_command(b"".join(commands), check_health=False)
    return [await line.read_response() for _ in commands]


def key(installation: Installation, name: str) -> str:
    """Return a key that is removed with the installation."""
    return f"{installation.name}-{name}"


def hundreds(count: int, size: int = 100) -> Iterator[range]:
    """Yield the numbers below `count`, so many at a time."""
    for start in range(0, count, size):
        yield range(start, min(start + size, count))
