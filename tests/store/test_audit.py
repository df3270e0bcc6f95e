"""The table of the audit: only added to, and no list of it reads all of it."""

import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import pytest

from officeplane.store.audit import STORED_WITHIN
from officeplane.store.connection import Connection
from officeplane.store.migrate import migrate
from officeplane.store.queries import load
from officeplane.store.roles import admit_app
from tests.conftest import NewDatabase, as_role

ROWS: Final = 20_000
FILL: Final = """
INSERT INTO audit (at, space, caller, kind, action, target, task_ids)
SELECT made.at, CASE WHEN n % 100 = 0 THEN 'acme' ELSE 'default' END,
       'key:bot-' || n % 500, 'key', CASE WHEN n % 20 = 0 THEN 'document.pause' ELSE 'task.submit' END,
       CASE WHEN n % 20 = 0 THEN 'plan-' || n % 1000 END,
       CASE WHEN n % 20 > 0 THEN ARRAY[md5((n * 7919)::text)::uuid, overlay(overlay(md5(n::text) PLACING
           lpad(to_hex((extract(epoch FROM made.at) * 1000)::bigint), 12, '0') FROM 1) PLACING '7' FROM 13)::uuid] END
  FROM generate_series(1, $1::integer) AS n,
       LATERAL (SELECT timestamptz '2026-11-01T00:00:00Z' - make_interval(secs => 2 * ($1 - n)) AS at) made
"""
NEWEST: Final = datetime(2026, 11, 1, tzinfo=UTC)


def of_task(number: int) -> dict[str, Any]:
    """What is asked of the task that a row of this number has stored."""
    at = NEWEST - timedelta(seconds=2 * (ROWS - number))
    digest = hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()
    task_id = str(UUID(f"{round(at.timestamp() * 1000):012x}7{digest[13:]}"))
    return {"target": task_id, "task_id": task_id, "earliest": at - STORED_WITHIN, "latest": at + STORED_WITHIN}


PAGE, OF_TARGET = load("audit")["page"], load("audit")["page_of_target"]
ALL: Final = {"space": "default", "before": 2**63 - 1, "limit": 50}
LISTS: Final[Mapping[str, dict[str, Any]]] = {
    "all": {},
    "of a space": {"space": "acme"},
    "of a caller": {"caller": "key:bot-7"},
    "of nobody": {"caller": "key:nobody"},
    "of an action": {"action": "document.pause"},
    "of what nobody did": {"action": "key.revoke"},
    "submissions": {"action": "task.submit"},
    "of a caller and an action": {"caller": "key:bot-7", "action": "task.submit"},
    "of a document": {"target": "plan-20"},
    "of a task": of_task(7_001),
    "the next page": {"before": 9_000},
}
LOOKED_AT_MAX: Final = 600
"""So many rows at most, for a page of fifty."""


@pytest.fixture(scope="module")
async def filled_url(new_database: NewDatabase) -> str:
    url = await new_database()
    await migrate(url)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(FILL.replace("$1", str(ROWS)))
        await connection.execute("VACUUM ANALYZE audit")
    finally:
        await connection.close()
    return url


@pytest.fixture
async def filled(filled_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(filled_url, server_settings={"jit": "off"})
    try:
        yield connection
    finally:
        await connection.close()


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from _nodes(inner)


def _asked(given: Mapping[str, Any]) -> tuple[str, list[object]]:
    query = OF_TARGET if "target" in given else PAGE
    return query.text, query.in_order({**dict.fromkeys(query.names), **ALL, **given})


# By a target it may be planned once for all; else what is asked for decides.
@pytest.mark.parametrize(
    ("which", "mode"),
    [
        *((which, "force_custom_plan") for which in LISTS),
        *((which, "force_generic_plan") for which, given in LISTS.items() if "target" in given),
    ],
)
async def test_a_page_of_the_audit_looks_at_few_rows(filled: Connection, which: str, mode: str) -> None:
    text, values = _asked(LISTS[which])
    await filled.execute(f"SET plan_cache_mode = {mode}")

    explained = await filled.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", *values)

    nodes = list(_nodes(json.loads(explained)[0]["Plan"]))
    assert [node for node in nodes if node["Node Type"] == "Seq Scan" and node.get("Relation Name") == "audit"] == []
    scans = [node for node in nodes if node["Node Type"].endswith("Scan") and "Relation Name" in node]
    looked_at = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in scans
    )
    assert looked_at <= LOOKED_AT_MAX, [node["Node Type"] for node in nodes]


async def test_who_has_stored_a_task_is_found_by_its_id(filled: Connection) -> None:
    text, values = _asked(of_task(7_001))

    (found,) = await filled.fetch(text, *values)

    assert (found["action"], found["caller"]) == ("task.submit", "key:bot-1")


async def test_a_page_is_found_by_its_index_however_often_lists_were_asked_for(filled: Connection) -> None:
    prepared = await filled.prepare(PAGE.text)
    for given in [given for given in LISTS.values() if "target" not in given] * 3:
        _, values = _asked(given)
        await prepared.fetch(*values)

    (planned,) = await filled.fetch("SELECT generic_plans FROM pg_prepared_statements WHERE statement = $1", PAGE.text)

    assert planned["generic_plans"] == 0


REWRITING: Final = (
    "UPDATE audit SET caller = 'key:somebody-else'",
    "UPDATE audit SET at = at - interval '2 years'",
    "DELETE FROM audit",
    "DELETE FROM audit WHERE at < now() - interval '1 hour'",
    "TRUNCATE audit",
)


@pytest.mark.parametrize("statement", REWRITING)
async def test_what_is_in_the_audit_stays_as_it_is_even_for_the_owner(filled: Connection, statement: str) -> None:
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="only added to"):
        await filled.execute(statement)

    assert await filled.fetchval("SELECT count(*) FROM audit") == ROWS


async def test_the_app_adds_to_the_audit_and_prunes_it_and_can_do_nothing_else(new_database: NewDatabase) -> None:
    owner_url = await new_database()
    await migrate(owner_url)
    app_url = as_role(owner_url, f"app_{secrets.token_hex(4)}", "word")
    await admit_app(owner_url, app_url)
    app = await asyncpg.connect(app_url)
    try:
        for days in (0, 0.5, 2, 400):
            await app.execute(
                "INSERT INTO audit (at, space, caller, kind, action, target) "
                "VALUES (now() - make_interval(secs => $1), 'default', 'local', 'local', 'type.pause', 'noop')",
                days * 86_400,
            )
        for statement in REWRITING:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await app.execute(statement)
        # What it says that it may is no more than what the function would do for it.
        await app.execute("SET officeplane.audit_before = 'infinity'")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await app.execute("DELETE FROM audit")

        assert await app.fetchval("SELECT prune_audit(365 * 86400.0, 100)") == 1
        assert await app.fetchval("SELECT count(*) FROM audit") == 3
        # Whatever it asks for, the last day stays.
        assert await app.fetchval("SELECT prune_audit(0, 100)") == 1
        assert await app.fetchval("SELECT count(*) FROM audit") == 2
    finally:
        await app.close()


async def test_nobody_else_may_have_it_pruned(new_database: NewDatabase) -> None:
    owner_url = await new_database()
    await migrate(owner_url)
    owner = await asyncpg.connect(owner_url)
    stranger = f"stranger_{secrets.token_hex(4)}"
    try:
        await owner.execute(f"CREATE ROLE {stranger} LOGIN PASSWORD 'word'; GRANT USAGE ON SCHEMA public TO {stranger}")
        connection = await asyncpg.connect(as_role(owner_url, stranger, "word"))
        try:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute("SELECT prune_audit(0, 1)")
        finally:
            await connection.close()
    finally:
        await owner.close()
