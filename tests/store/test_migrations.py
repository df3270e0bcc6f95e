import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from officeplane.store.connection import Connection
from officeplane.store.migrate import MigrationChangedError, migrate, migrations, pending
from tests.conftest import NewDatabase

SCHEMA = """
SELECT 'column' AS kind, table_name || '.' || column_name AS name,
       concat_ws(' ', ordinal_position, data_type, is_nullable, column_default, is_identity) AS said
  FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function', proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL SELECT 'storage', relname, array_to_string(reloptions, ',')
  FROM pg_class WHERE relnamespace = 'public'::regnamespace AND reloptions IS NOT NULL
ORDER BY 1, 2, 3
"""


@asynccontextmanager
async def connected(database_url: str) -> AsyncGenerator[Connection, None]:
    connection = await asyncpg.connect(database_url)
    try:
        yield connection
    finally:
        await connection.close()


async def schema_of(database_url: str) -> list[tuple[str, str, str]]:
    async with connected(database_url) as connection:
        return [(row["kind"], row["name"], row["said"]) for row in await connection.fetch(SCHEMA)]


async def applied_to(database_url: str) -> list[str]:
    async with connected(database_url) as connection:
        return [row["name"] for row in await connection.fetch("SELECT name FROM schema_migrations ORDER BY applied_at")]


async def an_older_installation(database_url: str, *, of: int) -> None:
    """Bring a database to where the first so many migrations had left it."""
    async with connected(database_url) as connection:
        await connection.execute("CREATE TABLE schema_migrations (name text PRIMARY KEY, sha256 text NOT NULL,"
                                 " applied_at timestamptz NOT NULL DEFAULT clock_timestamp())")  # fmt: skip
        for migration in migrations()[:of]:
            await connection.execute(migration.sql)
            await connection.execute(
                "INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)", migration.name, migration.sha256
            )


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [int(migration.name[:4]) for migration in migrations()] == list(range(1, len(migrations()) + 1))


@pytest.mark.parametrize("of", range(len(migrations())))
async def test_an_older_installation_comes_to_the_same_schema_as_a_fresh_one(
    new_database: NewDatabase, database_url: str, of: int
) -> None:
    older = await new_database()
    await an_older_installation(older, of=of)

    applied = await migrate(older)

    assert applied == [migration.name for migration in migrations()[of:]]
    assert await schema_of(older) == await schema_of(database_url)


async def test_of_four_who_migrate_at_once_each_migration_is_applied_by_one(new_database: NewDatabase) -> None:
    url = await new_database()

    applied = await asyncio.gather(*(migrate(url) for _ in range(4)))

    names = [migration.name for migration in migrations()]
    assert sorted(name for each in applied for name in each) == names
    assert await applied_to(url) == names


async def test_the_second_time_there_is_nothing_to_do(new_database: NewDatabase) -> None:
    url = await new_database()
    await migrate(url)
    before = await schema_of(url)

    assert await migrate(url) == []

    assert await schema_of(url) == before
    async with connected(url) as connection:
        assert await pending(connection) == []


async def test_a_database_without_a_schema_lacks_every_migration(new_database: NewDatabase) -> None:
    async with connected(await new_database()) as connection:
        assert await pending(connection) == migrations()


async def test_a_migration_that_was_changed_after_it_was_applied_is_refused(new_database: NewDatabase) -> None:
    url = await new_database()
    await migrate(url)
    async with connected(url) as connection:
        await connection.execute("UPDATE schema_migrations SET sha256 = 'other' WHERE name = $1", migrations()[0].name)

    with pytest.raises(MigrationChangedError, match=migrations()[0].name):
        await migrate(url)


async def test_an_older_program_is_content_with_a_newer_schema(new_database: NewDatabase) -> None:
    url = await new_database()
    await migrate(url)
    async with connected(url) as connection:
        await connection.execute("INSERT INTO schema_migrations (name, sha256) VALUES ('9999_future', 'x')")

    assert await migrate(url) == []
