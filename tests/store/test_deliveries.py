"""The outbox across an upgrade: the version before knows it as a table `alerts`."""

import json
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final

import asyncpg
import pytest

from officeplane.store.connection import Connection
from officeplane.store.migrate import migrate
from tests.conftest import NewDatabase, as_role
from tests.store.test_migrations import an_older_installation, connected

LAST_WITH_ALERTS: Final = 15
TASK: Final = "0192f000-0000-7000-8000-000000000001"
DUE: Final = datetime(2030, 1, 1, tzinfo=UTC)

# What the version before asks, as it asks it.
INSERT: Final = "INSERT INTO alerts (task_id, generation, reason) SELECT $1::uuid, 2, 'escalated'"
TAKE: Final = """
WITH due AS MATERIALIZED (
    SELECT id FROM alerts WHERE due_at <= clock_timestamp() ORDER BY due_at, id LIMIT $1::integer
       FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
    UPDATE alerts SET tries = tries + 1, due_at = clock_timestamp() + make_interval(secs => $2::float8)
      FROM due WHERE alerts.id = due.id
    RETURNING alerts.id, alerts.reason, alerts.tries, alerts.task_id, alerts.generation
)
SELECT taken.id AS alert_id, taken.reason, taken.tries, taken.task_id::text AS task_id, taken.generation FROM taken
"""
POSTPONE: Final = """
UPDATE alerts SET due_at = clock_timestamp() + make_interval(secs => p.seconds)
  FROM unnest($1::bigint[], $2::float8[]) AS p(id, seconds)
 WHERE alerts.id = p.id
RETURNING alerts.id
"""
GIVE_UP: Final = """
DELETE FROM alerts WHERE id IN (
    SELECT id FROM alerts
     WHERE due_at <= clock_timestamp() AND tries >= $2::integer
       AND created_at < clock_timestamp() - make_interval(secs => $1::float8)
     ORDER BY due_at LIMIT $3::integer FOR NO KEY UPDATE SKIP LOCKED)
RETURNING task_id, tries
"""
FORGET: Final = "DELETE FROM alerts WHERE id = ANY($1::bigint[]) RETURNING id"
UNDELIVERED: Final = "SELECT count(*)::integer AS alerts FROM alerts WHERE tries > $1::integer"
WAITING: Final = "SELECT id, destination, body, due_at, tries FROM deliveries ORDER BY id"


@pytest.fixture
async def before(new_database: NewDatabase) -> str:
    """A database of the version before, with an alert that was sent and one that waits."""
    database = await new_database()
    await an_older_installation(database, of=LAST_WITH_ALERTS)
    async with connected(database) as connection:
        await connection.execute(INSERT, TASK)
        await connection.execute("DELETE FROM alerts")
        await connection.execute(INSERT, TASK)
        await connection.execute("UPDATE alerts SET due_at = $1, tries = 3", DUE)
    return database


@pytest.fixture
async def old_worker(before: str) -> AsyncIterator[Connection]:
    """A connection that was open while the ledger was migrated, and has asked each of its statements once."""
    async with connected(before) as connection:
        await connection.fetch(INSERT, TASK)
        await connection.fetch(TAKE, 0, 0.0)
        await connection.fetch(POSTPONE, [], [])
        await connection.fetch(GIVE_UP, 0.0, 0, 0)
        await connection.fetch(FORGET, [])
        await connection.fetch(UNDELIVERED, 0)
        await migrate(before)
        await connection.execute("DELETE FROM deliveries")
        yield connection


async def test_an_alert_that_waits_is_kept_with_its_id_its_tries_and_its_time(before: str) -> None:
    await migrate(before)

    async with connected(before) as connection:
        (row,) = await connection.fetch(WAITING)
    assert (row["id"], row["destination"], row["due_at"], row["tries"]) == (2, "alerts", DUE, 3)
    assert json.loads(row["body"]) == {"taskId": TASK, "generation": 2, "reason": "escalated"}


async def test_no_id_that_a_receiver_may_know_is_given_again(before: str) -> None:
    async with connected(before) as connection:
        await connection.execute("DELETE FROM alerts")
    await migrate(before)

    async with connected(before) as connection:
        await connection.execute("INSERT INTO deliveries (destination, body) VALUES ('alerts', '{}')")
        (row,) = await connection.fetch(WAITING)
    assert row["id"] > 2


async def test_an_alert_of_a_worker_of_the_version_before_is_a_delivery(old_worker: Connection) -> None:
    await old_worker.fetch(INSERT, TASK)

    (row,) = await old_worker.fetch(WAITING)
    assert (row["destination"], row["tries"]) == ("alerts", 0)
    assert json.loads(row["body"]) == {"taskId": TASK, "generation": 2, "reason": "escalated"}


async def test_a_worker_of_the_version_before_goes_on_sending_alerts_and_nothing_else(old_worker: Connection) -> None:
    await old_worker.execute("INSERT INTO deliveries (destination, body) VALUES ('elsewhere', '{}')")
    await old_worker.fetch(INSERT, TASK)

    (taken,) = await old_worker.fetch(TAKE, 100, 30.0)
    assert dict(taken).items() >= {"reason": "escalated", "tries": 1, "task_id": TASK, "generation": 2}.items()
    assert await old_worker.fetch(TAKE, 100, 30.0) == []
    assert len(await old_worker.fetch(POSTPONE, [taken["alert_id"]], [0.0])) == 1
    (again,) = await old_worker.fetch(TAKE, 100, 0.0)
    assert (again["alert_id"], again["tries"]) == (taken["alert_id"], 2)
    assert [row["alerts"] for row in await old_worker.fetch(UNDELIVERED, 1)] == [1]
    assert await old_worker.fetch(GIVE_UP, 86_400.0, 1, 100) == []
    assert len(await old_worker.fetch(FORGET, [taken["alert_id"]])) == 1
    assert [row["destination"] for row in await old_worker.fetch(WAITING)] == ["elsewhere"]


async def test_a_worker_of_the_version_before_gives_up_what_is_old(old_worker: Connection) -> None:
    await old_worker.fetch(INSERT, TASK)
    await old_worker.execute("UPDATE deliveries SET created_at = now() - interval '25 hours'")

    (lost,) = await old_worker.fetch(GIVE_UP, 86_400.0, 0, 100)

    assert (str(lost["task_id"]), lost["tries"]) == (TASK, 0)
    assert await old_worker.fetch(WAITING) == []


async def test_the_apps_role_has_its_rights_to_the_outbox_before_they_are_granted_anew(before: str) -> None:
    # As the version granted it that had no outbox: this one's grants name tables that were not there.
    role = f"app_{secrets.token_hex(4)}"
    owner = await asyncpg.connect(before)
    try:
        await owner.execute(
            f"CREATE ROLE {role} LOGIN PASSWORD 'word'; GRANT USAGE ON SCHEMA public TO {role};"
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role};"
            f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}"
        )
    finally:
        await owner.close()
    await migrate(before)

    connection = await asyncpg.connect(as_role(before, role, "word"))
    try:
        await connection.fetch(INSERT, TASK)
        await connection.execute("INSERT INTO deliveries (destination, body) VALUES ('elsewhere', '{}')")
        await connection.execute("UPDATE alerts SET due_at = now()")
        assert len(await connection.fetch(TAKE, 100, 30.0)) == 2
        assert await connection.fetch(FORGET, [1, 2, 3, 4]) != []
    finally:
        await connection.close()
