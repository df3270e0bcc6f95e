import secrets

import asyncpg
import pytest

from officeplane.store.migrate import migrate
from officeplane.store.roles import RoleError, admit_app
from tests.conftest import NewDatabase, as_role

FORBIDDEN = (
    "CREATE TABLE mine (id integer)",
    "ALTER TABLE tasks ADD COLUMN mine integer",
    "DROP TABLE tasks",
    "TRUNCATE tasks",
    "COPY tasks TO PROGRAM 'true'",
    "COPY tasks TO '/tmp/tasks'",
    "SELECT pg_read_file('/etc/passwd')",
    "CREATE ROLE mine",
    "CREATE DATABASE mine",
    "ALTER TABLE tasks DISABLE TRIGGER ALL",
    "INSERT INTO schema_migrations (name, sha256) VALUES ('mine', '')",
)


@pytest.fixture
async def owner_url(new_database: NewDatabase) -> str:
    database = await new_database()
    await migrate(database)
    return database


@pytest.fixture
def app_url(owner_url: str) -> str:
    return as_role(owner_url, f'app "{secrets.token_hex(4)}"', "it's a p@ss/word")


@pytest.mark.parametrize("statement", FORBIDDEN)
async def test_the_app_cannot_reach_beyond_its_rows(owner_url: str, app_url: str, statement: str) -> None:
    await admit_app(owner_url, app_url)
    connection = await asyncpg.connect(app_url)
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    finally:
        await connection.close()


async def test_the_app_has_no_privilege_of_the_server(owner_url: str, app_url: str) -> None:
    await admit_app(owner_url, app_url)
    connection = await asyncpg.connect(app_url)
    try:
        role = await connection.fetchrow("SELECT * FROM pg_roles WHERE rolname = current_user")
    finally:
        await connection.close()

    assert role is not None
    privileges = ("rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication", "rolbypassrls")
    assert [name for name in privileges if role[name]] == []


async def test_the_app_reads_and_writes_every_table_also_those_that_come_later(owner_url: str, app_url: str) -> None:
    await admit_app(owner_url, app_url)
    owner = await asyncpg.connect(owner_url)
    try:
        await owner.execute("CREATE TABLE of_a_later_version (id bigserial, word text)")
        await admit_app(owner_url, app_url)
        tables = await owner.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    finally:
        await owner.close()

    app = await asyncpg.connect(app_url)
    try:
        for row in tables:
            await app.execute(f'SELECT FROM "{row["tablename"]}" LIMIT 1')
        await app.execute("INSERT INTO of_a_later_version (word) VALUES ('here')")
        await app.execute("UPDATE of_a_later_version SET word = 'there'")
        await app.execute("DELETE FROM of_a_later_version")
    finally:
        await app.close()


async def test_a_new_password_in_the_url_is_the_roles_password_afterwards(owner_url: str, app_url: str) -> None:
    await admit_app(owner_url, app_url)
    name = f'app "{secrets.token_hex(4)}"'
    await admit_app(owner_url, as_role(owner_url, name, "first"))
    await admit_app(owner_url, as_role(owner_url, name, "Passwörter gehen auch"))

    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(as_role(owner_url, name, "first"))
    await (await asyncpg.connect(as_role(owner_url, name, "Passwörter gehen auch"))).close()


async def test_the_owner_is_not_taken_for_the_app(owner_url: str) -> None:
    with pytest.raises(RoleError, match="the same role"):
        await admit_app(owner_url, owner_url)


async def test_an_owner_who_may_not_make_roles_says_so(owner_url: str, app_url: str) -> None:
    lesser = as_role(owner_url, f"owner_{secrets.token_hex(4)}", "word")
    await admit_app(owner_url, lesser)

    with pytest.raises(RoleError, match="CREATEROLE"):
        await admit_app(lesser, app_url)
