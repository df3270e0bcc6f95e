"""Migrations: numbered SQL files, each applied once, in order, in its own transaction.

They only add; an older worker keeps running beside a newer schema. A file that
was applied and then changed is refused: write the next number instead.
"""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import asyncpg

from officeplane.store.connection import CONNECT_SECONDS, Connection, translated

LOCK: Final = 0x0FF1CE
_CREATE_TABLE: Final = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """The hash that tells whether the file was changed after it was applied."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


class MigrationChangedError(Exception):
    """An applied migration is no longer the file that was applied."""


def migrations() -> list[Migration]:
    """Return all migrations in their order."""
    folder = files("officeplane.store") / "migrations"
    found = [
        Migration(entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if entry.name.endswith(".sql")
    ]
    return sorted(found, key=lambda migration: migration.name)


async def pending(connection: Connection) -> list[Migration]:
    """Return the migrations that this database does not have yet."""
    exists = await connection.fetchval("SELECT to_regclass('schema_migrations') IS NOT NULL")
    rows = await connection.fetch("SELECT name, sha256 FROM schema_migrations") if exists else []
    applied = {row["name"]: row["sha256"] for row in rows}
    known = migrations()
    for migration in known:
        if applied.get(migration.name, migration.sha256) != migration.sha256:
            message = f"Migration {migration.name} was changed after it was applied; restore it and add a new one."
            raise MigrationChangedError(message)
    return [migration for migration in known if migration.name not in applied]


async def migrate(database_url: str) -> list[str]:
    """Apply what is missing and return its names; many processes may try at once."""
    with translated():
        connection = await asyncpg.connect(database_url, timeout=CONNECT_SECONDS)
        try:
            return await _apply(connection)
        finally:
            await connection.close()


async def _apply(connection: Connection) -> list[str]:
    applied: list[str] = []
    while True:
        async with connection.transaction():
            # The lock ends with the transaction, so it is safe behind a pooler.
            await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
            await connection.execute(_CREATE_TABLE)
            missing = await pending(connection)
            if not missing:
                return applied
            migration = missing[0]
            await connection.execute(migration.sql)
            await connection.execute(
                "INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)", migration.name, migration.sha256
            )
            applied.append(migration.name)
