"""What an agent may have is found by few looks, whatever waits beside it."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import asyncpg
import pytest

from officeplane.store.connection import Connection
from officeplane.store.migrate import migrate
from officeplane.store.queries import Query, load
from tests.conftest import NewDatabase

TASKS: Final = 100_000
DEMANDS: Final = 50
OFFERS: Final = load("offers")
CLAIMS: Final = load("claims")

FILL: Final = """
INSERT INTO demands (digest, space, task_type, capabilities, models, fallback_models)
SELECT sha256(n::text::bytea), 'default', 'code', ARRAY['c' || n], '{}', '{}' FROM generate_series(1, $2::integer) AS n;
"""
TASKS_OF_THEM: Final = """
INSERT INTO tasks (id, task_type, document_id, payload, state, priority, rank, runnable, yields, blockers, run_at,
                   max_retries, timeout_seconds, tags, created_at, queued_at, rung_at, rung_tier, demand_id)
SELECT gen_random_uuid(), 'code',
       -- Half of everything stands in one lane, which is the most urgent; a quarter is in lanes of three.
       CASE n % 4 WHEN 0 THEN 'document-' || n / 12 WHEN 1 THEN NULL ELSE 'deep' END,
       '{}', CASE WHEN n % 7 = 0 THEN 'RETRYING' ELSE 'QUEUED' END, 50, CASE WHEN n % 4 > 1 THEN n ELSE 1e6 + n END,
       true, false, 0, CASE WHEN n % 14 = 0 THEN now() + interval '1 hour' ELSE now() END, 3, 600, '{}',
       now(), now(), now(), 2, 1 + n % $2::integer
  FROM generate_series(1, $1::integer) AS n
"""


@pytest.fixture(scope="module")
async def url(new_database: NewDatabase) -> str:
    """A database in which much waits for agents, and a deep lane is occupied."""
    found = await new_database()
    await migrate(found)
    connection = await asyncpg.connect(found)
    try:
        await connection.execute(FILL.replace("$2", str(DEMANDS)))
        await connection.execute(TASKS_OF_THEM, TASKS, DEMANDS)
        await connection.execute(
            "UPDATE tasks SET state = 'RUNNING', worker_id = 'w', claim_id = id, lease_until = now() "
            "WHERE id = (SELECT id FROM tasks WHERE document_id = 'deep' ORDER BY rank, seq LIMIT 1)"
        )
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()
    return found


@pytest.fixture
async def deep_queue(url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


def offers(demands: int, *, tasks: int) -> dict[str, Any]:
    return {
        "agent_id": "ann",
        "models": [],
        "seen_documents": None,
        "lane_names": [],
        "declined_seconds": 60.0,
        "demand_ids": list(range(1, demands + 1)),
        "after_lane": "",
        "each": 2 * tasks + 6,
        "lanes": max(2, 64 // demands),
        "limit": 2 * tasks + 6,
    }


KNOWN: Final = {
    "space": "default",
    "task_types": ["code"],
    "capabilities": [f"c{n}" for n in range(1, DEMANDS + 1)],
    "models": [],
}
CLAIM: Final = {
    "task_ids": [],
    "claim_ids": [],
    "agent_id": "ann",
    "models": [],
    "task_types": ["code"],
    "may_take_suspect": True,
    "admitted": [],
    "demand_ids": list(range(1, DEMANDS + 1)),
    "worker_id": "agent:ann",
    "lease_seconds": 30.0,
    "reserves": True,
}


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    ("query", "values", "rows_max"),
    [
        (OFFERS["look"], offers(1, tasks=1), 500),
        (OFFERS["look"], offers(DEMANDS, tasks=1), 4_000),
        (OFFERS["look"], offers(DEMANDS, tasks=32), 20_000),
        (OFFERS["demands_met"], KNOWN, 100),
        (OFFERS["demands_waiting"], {"task_types": ["code"]}, 200),
        (
            OFFERS["skipped"],
            {**KNOWN, "agent_id": "ann", "seen_documents": None, "declined_seconds": 60.0, "each": 16},
            1_000,
        ),
        (CLAIMS["claim_offered"], CLAIM, 10),
    ],
    ids=lambda given: given.name if isinstance(given, Query) else None,
)
async def test_of_a_deep_queue_few_rows_are_read(
    deep_queue: Connection, query: Query, values: dict[str, Any], rows_max: int, mode: str
) -> None:
    plan = await explained(deep_queue, query, values, mode)

    assert "Seq Scan" not in {node["Node Type"] for node in nodes(plan) if node.get("Relation Name") == "tasks"}
    assert sum(map(rows_read, nodes(plan))) <= rows_max


async def test_what_stands_behind_an_occupied_lane_is_found(deep_queue: Connection) -> None:
    rows = await deep_queue.fetch(OFFERS["look"].text, *OFFERS["look"].in_order(offers(DEMANDS, tasks=32)))

    found = [row["id"] for row in rows]
    most_urgent = await deep_queue.fetch(
        "SELECT id FROM tasks t WHERE document_id IS NULL AND run_at <= now() ORDER BY rank, seq LIMIT 20"
    )
    assert {row["id"] for row in most_urgent} <= set(found)
    assert "deep" not in {row["document_id"] for row in rows}


async def explained(connection: Connection, query: Query, values: dict[str, Any], mode: str) -> dict[str, Any]:
    await connection.execute(f"SET plan_cache_mode = {mode}")
    async with connection.transaction():
        text = f"EXPLAIN (ANALYZE, FORMAT JSON) {query.text}"
        statement = await connection.prepare(text)
        found: list[dict[str, dict[str, Any]]] = json.loads(await statement.fetchval(*query.in_order(values)))
    return found[0]["Plan"]


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from nodes(inner)


def rows_read(node: dict[str, Any]) -> float:
    """How many rows of tasks a node has looked at."""
    if node.get("Relation Name") != "tasks" or node["Node Type"] == "ModifyTable":
        return 0
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return float((node["Actual Rows"] + removed) * node["Actual Loops"])
