"""What one test leaves to the next because it costs more than most tests do.

A fresh connection makes Postgres start a process and plan each of the large statements anew; a
sandbox loads every library for documents before it opens the first. Only these are kept: the
services that use them are each test's own, and the ledger is emptied in between.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Final, Generic, TypeVar

from officeplane.config import Settings
from officeplane.cores import cores
from officeplane.dispatch import Availability, Connection, Keyspace
from officeplane.dispatch.commands import packed
from officeplane.runtime import LEDGER_CONNECTIONS, READERS
from officeplane.sandbox import nursery_client
from officeplane.sandbox.pool import Sandbox
from officeplane.store.connection import Ledger, open_ledger

T = TypeVar("T")

# A machine that stands still for a moment is not what is tried here.
_PATIENCE_SECONDS: Final = 20.0
_DELETES: Final = (
    "SELECT string_agg(format('DELETE FROM %s;', oid::regclass), ' ') FROM pg_class "
    # What migrations have put in stays.
    "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace "
    "AND relname NOT IN ('schema_migrations', 'task_types_version')"
)


class _Kept(Generic[T]):
    """Things of one kind, lent to one user at a time and ended with the run."""

    def __init__(self, is_at_rest: Callable[[T], Awaitable[bool]]) -> None:
        self._is_at_rest = is_at_rest
        self._idle: dict[Hashable, list[tuple[T, AsyncExitStack]]] = {}

    @asynccontextmanager
    async def lent(self, key: Hashable, make: Callable[[], AbstractAsyncContextManager[T]]) -> AsyncGenerator[T, None]:
        """Lend what nobody has, or what is made now; it is kept if nothing is under way in it afterwards."""
        idle = self._idle.setdefault(key, [])
        if idle:
            thing, ending = idle.pop()
        else:
            ending = AsyncExitStack()
            thing = await ending.enter_async_context(make())
        try:
            yield thing
        finally:
            if await self._is_at_rest(thing):
                idle.append((thing, ending))
            else:
                await ending.aclose()

    async def end(self) -> None:
        """End what is kept."""
        while self._idle:
            _, things = self._idle.popitem()
            for _, ending in things:
                await ending.aclose()


async def _is_idle(ledger: Ledger) -> bool:
    pool = ledger._pool  # pyright: ignore[reportPrivateUsage]
    return pool.get_idle_size() == pool.get_size()


async def _has_forgotten(sandbox: Sandbox) -> bool:
    """End the children, which know documents of the test that was, and leave the nursery that bears others."""
    turns = (sandbox._turns, sandbox._turns_at_the_gate)  # pyright: ignore[reportPrivateUsage]
    if any(one._at_work for one in turns):  # pyright: ignore[reportPrivateUsage]
        return False
    idle = sandbox._idle  # pyright: ignore[reportPrivateUsage]
    for document in [child.document for child in idle]:
        if (child := idle.take(document)) is not None:
            await child.end()
    return True


_LEDGERS: Final = _Kept(_is_idle)
_SANDBOXES: Final = _Kept(_has_forgotten)
_LASTING: Final = set[str]()


def keep(database_url: str) -> None:
    """Keep the connections to a database that lasts as long as the run does."""
    _LASTING.add(database_url)


@asynccontextmanager
async def kept() -> AsyncGenerator[None, None]:
    """End what is kept at the end of the block, which is the run's."""
    try:
        yield
    finally:
        _LASTING.clear()
        await _LEDGERS.end()
        await _SANDBOXES.end()


@asynccontextmanager
async def a_ledger(database_url: str) -> AsyncGenerator[Ledger, None]:
    """Give a pool that nobody else has, as `open_runtime` opens it, or one that somebody had before."""

    def opened() -> AbstractAsyncContextManager[Ledger]:
        return open_ledger(database_url, connections=LEDGER_CONNECTIONS)

    async with _LEDGERS.lent(database_url, opened) if database_url in _LASTING else opened() as ledger:
        yield ledger


@asynccontextmanager
async def a_sandbox(settings: Settings) -> AsyncGenerator[Sandbox | None, None]:
    """Give a sandbox without children, as `open_runtime` opens it, or None where that has to open another kind."""
    children = max(2, cores())

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Sandbox, None]:
        made = Sandbox(children, READERS)
        yield made
        await made.close()

    if settings.sandbox == "auto":
        # Some tests have nurseries of their own.
        async with _SANDBOXES.lent((children, nursery_client.NURSERY), opened) as sandbox:
            yield sandbox
    else:
        yield None


async def empty(database_url: str, redis_url: str, key_prefix: str = "") -> None:
    """Empty every table of the ledger, and of Redis the run's number, or only what has this prefix."""
    async with a_ledger(database_url) as ledger, ledger.transaction() as connection:
        # Far quicker than TRUNCATE for so few rows; triggers and references need not be asked if everything goes.
        await connection.execute(f"SET LOCAL session_replication_role = replica; {await connection.fetchval(_DELETES)}")
    redis = Connection(redis_url, Keyspace(key_prefix), Availability())
    try:
        if key_prefix:
            (known,) = await redis.ask([packed("KEYS", f"{key_prefix}:*")], within_seconds=_PATIENCE_SECONDS)
            assert isinstance(known, list)
            await redis.ask([packed("DEL", str(key)) for key in known], within_seconds=_PATIENCE_SECONDS)
        else:
            await redis.ask([packed("FLUSHDB")], within_seconds=_PATIENCE_SECONDS)
    finally:
        await redis.aclose()
