"""What one test leaves to the next because making it takes longer than most tests do.

For a fresh connection Postgres starts a process and plans each of the large statements anew,
and a sandbox loads every library for documents before it opens the first one. Only connections
and the sandbox's nursery are kept: the services that use them are each test's own, and the ledger
is emptied in between.
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
from officeplane.store.connection import Connection as LedgerConnection
from officeplane.store.connection import Ledger, open_ledger

T = TypeVar("T")

# Redis may take long: a machine that stands still for a moment is not what is tested here.
_REDIS_SECONDS: Final = 20.0
_DELETES: Final = (
    "SELECT string_agg(format('DELETE FROM %s;', oid::regclass), ' ') FROM pg_class "
    # These tables are filled by migrations and stay as they are.
    "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace "
    "AND relname NOT IN ('schema_migrations', 'task_types_version', 'api_keys_version')"
)


class _Kept(Generic[T]):
    """Things of one kind, lent to one user at a time and ended with the run."""

    def __init__(self, is_at_rest: Callable[[T], Awaitable[bool]]) -> None:
        self._is_at_rest = is_at_rest
        self._idle: dict[Hashable, list[tuple[T, AsyncExitStack]]] = {}

    @asynccontextmanager
    async def lent(self, key: Hashable, make: Callable[[], AbstractAsyncContextManager[T]]) -> AsyncGenerator[T, None]:
        """Lend a thing that nobody has, or make one; keep it afterwards, unless something is still under way in it."""
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
    """End the children, which know documents of the test before; the nursery stays, and will fork others."""
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
    """Keep things for as long as this block lasts, which is as long as the run, and end them then."""
    try:
        yield
    finally:
        _LASTING.clear()
        await _LEDGERS.end()
        await _SANDBOXES.end()


@asynccontextmanager
async def a_ledger(database_url: str) -> AsyncGenerator[Ledger, None]:
    """Give a pool of connections that nobody else has now: a new one as `open_runtime` opens it, or a kept one."""

    def opened() -> AbstractAsyncContextManager[Ledger]:
        return open_ledger(database_url, connections=LEDGER_CONNECTIONS)

    async with _LEDGERS.lent(database_url, opened) if database_url in _LASTING else opened() as ledger:
        yield ledger


@asynccontextmanager
async def a_sandbox(settings: Settings) -> AsyncGenerator[Sandbox | None, None]:
    """Give a sandbox without children as `open_runtime` opens it; None for settings that want another kind."""
    children = max(2, cores())

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Sandbox, None]:
        made = Sandbox(children, READERS)
        yield made
        await made.close()

    if settings.sandbox == "auto" and settings.policy == "strict":
        # Some tests replace the nursery's program, so what is kept for one is not lent to another.
        async with _SANDBOXES.lent((children, nursery_client.NURSERY), opened) as sandbox:
            yield sandbox
    else:
        yield None


async def empty(database_url: str, redis_url: str, key_prefix: str = "") -> None:
    """Empty every table of the ledger, and of Redis the run's number, or only what has this prefix."""

    async def delete(connection: LedgerConnection) -> None:
        # DELETE is far quicker than TRUNCATE for so few rows; when every row goes, no trigger and no reference matters.
        await connection.execute(f"SET LOCAL session_replication_role = replica; {await connection.fetchval(_DELETES)}")

    async with a_ledger(database_url) as ledger:
        # What a process that was killed has asked for may still be done, in another order.
        await ledger.in_transaction(delete)
    redis = Connection(redis_url, Keyspace(key_prefix), Availability())
    try:
        if key_prefix:
            (known,) = await redis.ask([packed("KEYS", f"{key_prefix}:*")], within_seconds=_REDIS_SECONDS)
            assert isinstance(known, list)
            await redis.ask([packed("DEL", str(key)) for key in known], within_seconds=_REDIS_SECONDS)
        else:
            await redis.ask([packed("FLUSHDB")], within_seconds=_REDIS_SECONDS)
    finally:
        await redis.aclose()
