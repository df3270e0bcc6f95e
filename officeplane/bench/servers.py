"""The two servers that are measured on, and a scratch installation on them for every measurement.

Each has a database and a key prefix of its own, so that nothing of an earlier
measurement, and nothing that users have there, is touched or in the way.
"""

import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from officeplane.bench.installation import Installation, Sql
from officeplane.bench.programs import Guard
from officeplane.bench.traces import Traces
from officeplane.config import Settings
from officeplane.dispatch.commands import packed
from officeplane.dispatch.doorbell import Doorbell, open_doorbell
from officeplane.store.connection import CONNECT_SECONDS
from officeplane.store.doctor import reached
from officeplane.store.migrate import migrate

NAME: Final = "officeplane_bench_"
_KEYS_AT_ONCE: Final = 1_000


class NotAllowedError(Exception):
    """A server answers and does not let us do what measuring takes."""


@dataclass(frozen=True, slots=True)
class Servers:
    """Where and how much is measured. `admin` is a connection to the database that was given, `folder` is ours."""

    database_url: str
    redis_url: str
    admin: Sql
    doorbell: Doorbell
    folder: Path
    scale: float
    guard: Guard

    def sized(self, count: int, *, at_least: int = 1) -> int:
        """Return how many of something to take instead of that many."""
        return max(at_least, round(count * self.scale))

    @asynccontextmanager
    async def installation(self) -> AsyncGenerator[Installation, None]:
        """Give an empty installation; its database and keys are gone at the end."""
        name = f"{NAME}{secrets.token_hex(6)}"
        database_url = urlunsplit(urlsplit(self.database_url)._replace(path=f"/{name}"))
        folder = self.folder / name
        folder.mkdir()
        async with AsyncExitStack() as leaving:
            leaving.push_async_callback(self._forget, name)
            try:
                await self.admin.execute(f'CREATE DATABASE "{name}"')
            except asyncpg.InsufficientPrivilegeError as error:
                raise NotAllowedError(f"Postgres does not let this user make a database: {error}") from error
            await migrate(database_url)
            # What the measurement before this one has left to be written is not to be this one's burden.
            await self._checkpoint()
            ledger = await asyncpg.connect(database_url)
            leaving.push_async_callback(ledger.close)
            yield Installation(
                settings=Settings(database_url=database_url, redis_url=self.redis_url, key_prefix=name),
                name=name,
                admin=self.admin,
                ledger=ledger,
                redis=self.doorbell.connection,
                traces=Traces(folder / "traces"),
                folder=folder,
                guard=self.guard,
            )

    async def _checkpoint(self) -> None:
        try:
            await self.admin.execute("CHECKPOINT")
        except asyncpg.InsufficientPrivilegeError:
            return

    async def _forget(self, name: str) -> None:
        await self.admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        redis, cursor = self.doorbell.connection, "0"
        while True:
            (reply,) = await redis.ask(
                [packed("SCAN", cursor, "MATCH", name + "*", "COUNT", str(_KEYS_AT_ONCE))], within_seconds=10
            )
            match reply:
                case [str(cursor), list(keys)]:
                    if keys:
                        await redis.ask([packed("UNLINK", *map(str, keys))], within_seconds=10)
                case _:
                    return
            if cursor == "0":
                return


@asynccontextmanager
async def open_servers(
    database_url: str, redis_url: str, *, folder: Path, scale: float, guard: Guard
) -> AsyncGenerator[Servers, None]:
    """Connect to both servers; raises `DatabaseUnavailableError` or `RedisUnavailable` when one does not answer."""
    with reached():
        admin = await asyncpg.connect(database_url, timeout=CONNECT_SECONDS)
    try:
        async with open_doorbell(Settings(database_url=database_url, redis_url=redis_url)) as doorbell:
            await doorbell.connection.ask([packed("PING")])
            yield Servers(database_url, redis_url, admin, doorbell, folder, scale, guard)
    finally:
        await admin.close()
