"""Connections to Postgres: a pool, and one translation of its troubles.

Whatever makes the database unreachable or unwilling for a while becomes
`DatabaseUnavailableError`, so that callers need no list of driver exceptions.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, Protocol, TypeAlias, TypeVar

import asyncpg
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from officeplane.domain.errors import DatabaseUnavailableError

Row: TypeAlias = asyncpg.Record
Connection: TypeAlias = "asyncpg.pool.PoolConnectionProxy[asyncpg.Record] | asyncpg.Connection[asyncpg.Record]"
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Result = TypeVar("Result")


class Executor(Protocol):
    """A connection in a transaction, or the ledger for a statement on its own."""

    async def fetch(self, query: str, *args: object) -> list[Row]:
        """Run one statement and return its rows."""
        ...


CONNECT_SECONDS: Final = 5.0
ACQUIRE_SECONDS: Final = 5.0
RELEASE_SECONDS: Final = 1.0
COMMAND_SECONDS: Final = 10.0
CONFLICT_TRIES: Final = 8

# The server is gone, going, full, read-only or out of connections: it may come back.
_UNAVAILABLE: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.exceptions.OperatorInterventionError,
    asyncpg.exceptions.InsufficientResourcesError,
    asyncpg.exceptions.ReadOnlySQLTransactionError,
    asyncpg.exceptions.PostgresSystemError,
    OSError,
    TimeoutError,
)
LockNotAvailableError = asyncpg.exceptions.LockNotAvailableError
SerializationError = asyncpg.exceptions.SerializationError
# Two transactions met; the loser starts again from the top.
CONFLICTS: Final = (
    asyncpg.exceptions.DeadlockDetectedError,
    SerializationError,
    LockNotAvailableError,
)
# One value cannot be stored; its neighbours in the group can.
UNSTORABLE: Final = (
    asyncpg.exceptions.DataError,
    asyncpg.exceptions.IntegrityConstraintViolationError,
    asyncpg.exceptions.ProgramLimitExceededError,
    UnicodeEncodeError,
)


@contextmanager
def translated() -> Generator[None, None, None]:
    """Turn every trouble of the database as such into `DatabaseUnavailableError`."""
    try:
        yield
    except asyncpg.exceptions.DataError:
        # A value that the driver itself refuses to encode is both this and an InterfaceError.
        raise
    except _UNAVAILABLE as error:
        said = str(error) or "no answer in time"
        message = f"Postgres is not available: {type(error).__name__}: {said}"
        raise DatabaseUnavailableError(message) from error


@contextmanager
def _translated_unless_cancelled() -> Generator[None, None, None]:
    """Do the same, but tell a task that was cancelled of that.

    A statement that is cut short ends with the server's silence if that does not
    hear of it. A task that took this for an outage would go on, and whoever has
    cancelled it would wait for ever.
    """
    try:
        with translated():
            yield
    except DatabaseUnavailableError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from error
        raise


async def _keep(connection: Connection) -> None:
    """Return a connection to the pool as it is: nothing here leaves session state behind."""


class Ledger:
    """The pool, spoken to in whole statements and whole transactions."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def fetch(self, query: str, *args: object) -> list[Row]:
        """Run one statement in a transaction of its own and return its rows."""

        async def once() -> list[Row]:
            with _translated_unless_cancelled():
                async with self._connection() as connection:
                    return await connection.fetch(query, *args)

        return await repeated(once)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Connection, None]:
        """Give a connection inside a transaction, committed when the block ends well."""
        with _translated_unless_cancelled():
            async with self._connection() as connection, connection.transaction():
                yield connection

    async def in_transaction(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Run the work in a transaction; repeat the whole of it when it met another."""

        async def once() -> Result:
            async with self.transaction() as connection:
                return await work(connection)

        return await repeated(once)

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Connection, None]:
        connection = await self._pool.acquire(timeout=ACQUIRE_SECONDS)
        try:
            yield connection
        finally:
            # A statement that was cut short is cancelled on the server first, which a server
            # that went silent does not hear: unless told otherwise the pool waits for it as
            # long as for a connection.
            await self._pool.release(connection, timeout=RELEASE_SECONDS)


async def repeated(work: Callable[[], Awaitable[Result]]) -> Result:
    """Do the work, and again, whole, when it deadlocked or could not wait for a lock."""
    # The first try goes without tenacity, which takes a quarter of a short statement's time.
    try:
        return await work()
    except CONFLICTS:
        pass
    try:
        return await _again(work)
    except CONFLICTS as error:
        message = f"Postgres is too busy with the same rows: {type(error).__name__}"
        raise DatabaseUnavailableError(message) from error


@retry(
    retry=retry_if_exception_type(CONFLICTS),
    stop=stop_after_attempt(CONFLICT_TRIES - 1),
    wait=wait_random_exponential(multiplier=0.01, max=0.2),
    reraise=True,
)
async def _again(work: Callable[[], Awaitable[Result]]) -> Result:
    return await work()


@asynccontextmanager
async def open_ledger(
    database_url: str, *, connections: int = 8, plans_once: bool = False
) -> AsyncGenerator[Ledger, None]:
    """Open the pool; a database that cannot be reached is reported at once.

    `plans_once` is for a worker's few statements: Postgres would plan a settlement
    anew each time, which takes longer than running it. Lists need plans of their own.
    """
    with translated():
        pool = await asyncpg.create_pool(
            database_url,
            # None is kept up for its own sake: during an outage the pool would log each try.
            min_size=0,
            max_size=connections,
            timeout=CONNECT_SECONDS,
            command_timeout=COMMAND_SECONDS,
            max_inactive_connection_lifetime=0,
            # The driver prepares anew, each time, what is longer than this: 0 is no limit.
            max_cacheable_statement_size=0,
            reset=_keep,
            server_settings={
                "application_name": "officeplane",
                "idle_in_transaction_session_timeout": "30s",
                "jit": "off",
                "plan_cache_mode": "force_generic_plan" if plans_once else "auto",
                # A plan made while the table was empty must not read all of it later.
                "enable_seqscan": "off" if plans_once else "on",
            },
        )
    try:
        ledger = Ledger(pool)
        await ledger.fetch("SELECT 1")
        yield ledger
    finally:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await pool.close()
        except (TimeoutError, *_UNAVAILABLE):
            pool.terminate()
