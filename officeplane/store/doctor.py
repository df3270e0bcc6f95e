"""What there is to know about an installation's Postgres; facts only, `officeplane doctor` judges them."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.space import DEFAULT, bare, space_of
from officeplane.store.api_keys import working
from officeplane.store.connection import COMMAND_SECONDS, CONNECT_SECONDS, Connection, translated
from officeplane.store.migrate import MigrationChangedError, pending
from officeplane.store.queries import load
from officeplane.store.workers import WorkerInfo, alive

_SQL = load("doctor")
TRIES_OF_A_HICCUP = 2


@dataclass(frozen=True, slots=True)
class PostgresFacts:
    """How the server is set up."""

    version_num: int
    version: str
    fsync: bool
    full_page_writes: bool
    synchronous_commit: str
    max_connections: int
    connections: int
    is_standby: bool
    role: str
    is_superuser: bool
    may_change_schema: bool
    clock_ahead_seconds: float


@dataclass(frozen=True, slots=True)
class SchemaFacts:
    """Which migrations are missing, and whether an applied one is no longer the file it was."""

    pending: tuple[str, ...]
    changed: str | None


@dataclass(frozen=True, slots=True)
class Leader:
    """Who led a chore last, and whether it still does."""

    chore: str
    worker_id: str
    leads: bool


@dataclass(frozen=True, slots=True)
class UnresolvedLetters:
    """How many dead letters nobody has decided about, and what most of them are of."""

    fingerprint: str
    task_type: str
    letters: int
    in_all: int


@dataclass(frozen=True, slots=True)
class PlaneFacts:
    """Whether the work that waits will be done."""

    workers: tuple[WorkerInfo, ...]
    orphaned_types: dict[str, int]
    leaders: tuple[Leader, ...]
    overdue_leases: int
    unresolved_letters: UnresolvedLetters | None
    undelivered_alerts: int
    held_back: dict[str, str]
    """Types and documents that are paused or whose breaker is not closed, and how."""
    working_keys: int


class NotLetInError(DatabaseUnavailableError):
    """Postgres answers and turns us away: another password or database name is needed, not patience."""


@contextmanager
def reached() -> Generator[None]:
    """Turn a server that turns us away into `NotLetInError`, one that is not there into its base."""
    try:
        with translated():
            yield
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError) as error:
        message = f"Postgres does not let us in: {error}"
        raise NotLetInError(message) from error


@asynccontextmanager
async def connected(database_url: str) -> AsyncGenerator[Connection]:
    """Give a connection of its own, for the examinations below; what keeps it away is said as `reached` says it."""
    with reached():
        connection = await asyncpg.connect(database_url, timeout=CONNECT_SECONDS, command_timeout=COMMAND_SECONDS)
        try:
            yield connection
        finally:
            await connection.close()


async def examine_server(connection: Connection) -> PostgresFacts:
    """Return how the server is set up; its clock is compared with the middle of the round trip."""
    asked = datetime.now(UTC)
    (row,) = await _SQL["server"].fetch(connection)
    answered = datetime.now(UTC)
    facts = dict(row)
    now = facts.pop("now")
    return PostgresFacts(**facts, clock_ahead_seconds=(now - asked - (answered - asked) / 2).total_seconds())


async def examine_schema(connection: Connection) -> SchemaFacts:
    """Return what `officeplane migrate` would do."""
    try:
        return SchemaFacts(tuple(migration.name for migration in await pending(connection)), changed=None)
    except MigrationChangedError as error:
        return SchemaFacts((), changed=str(error))


async def examine_plane(connection: Connection, lease_seconds: float) -> PlaneFacts:
    """Return who works and what nobody does; the schema must be up to date."""
    orphaned = await _SQL["orphaned_types"].fetch(connection, within_seconds=lease_seconds)
    leaders = await _SQL["leaders"].fetch(connection)
    (overdue,) = await _SQL["overdue_leases"].fetch(connection, for_seconds=lease_seconds)
    unresolved = await _SQL["unresolved_letters"].fetch(connection)
    (undelivered,) = await _SQL["undelivered_alerts"].fetch(connection, tries=TRIES_OF_A_HICCUP)
    held = await _SQL["held_back"].fetch(connection)
    return PlaneFacts(
        workers=tuple(await alive(connection, lease_seconds)),
        orphaned_types={row["task_type"]: row["waiting"] for row in orphaned},
        leaders=tuple(Leader(**dict(row)) for row in leaders),
        overdue_leases=overdue["overdue"],
        unresolved_letters=UnresolvedLetters(**dict(unresolved[0])) if unresolved else None,
        undelivered_alerts=undelivered["alerts"],
        held_back={_held(row["what"], row["name"]): row["how"] for row in held},
        working_keys=await working(connection),
    )


def _held(what: str, name: str) -> str:
    space = space_of(name)
    return f"{what} {bare(name)}" if space == DEFAULT else f"{what} {bare(name)} of space {space}"
