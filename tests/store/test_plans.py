"""Plans of the hot statements, on a table that the planner has statistics of.

An empty table shows nothing: only once the planner has learnt that almost no
row waits or runs does it choose between a handful of index entries and a walk
through everything. Both a long history and a deep backlog are tried, and each
plan with its values known and unknown, as prepared statements have them.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import asyncpg
import pytest

from officeplane.store.connection import Connection
from officeplane.store.migrate import migrate
from officeplane.store.queries import load
from tests.conftest import NewDatabase

HISTORY, BACKLOG = "long history", "deep backlog"
ROWS: Final = {HISTORY: (20_000, 400), BACKLOG: (2_000, 20_000)}

FILL = """
INSERT INTO tasks (id, task_type, document_id, payload, state, priority, rank, runnable, yields, blockers, run_at,
                   max_retries, timeout_seconds, parent_id, position, tags, created_at, queued_at, rung_at, rung_tier,
                   finished_at)
SELECT gen_random_uuid(), 'noop', CASE WHEN n % 3 > 0 THEN 'document-' || n % 1000 END, '{}', s.state, 50,
       50 + n / 600.0, true, false, CASE WHEN s.state = 'PENDING' AND n % 20 = 0 THEN 1 ELSE 0 END, now(), 3, 600,
       CASE WHEN n % 10 = 0 THEN md5((n / 100)::text)::uuid END, CASE WHEN n % 10 = 0 THEN n END,
       CASE WHEN n % 50 = 0 THEN ARRAY['tag-' || n % 500] ELSE '{}' END, now(), now(), now(), 2,
       CASE WHEN $1::text IS NOT NULL THEN now() END
  FROM generate_series(1, $2::integer) AS n,
       LATERAL (SELECT CASE WHEN $1::text IS NOT NULL THEN $1::text WHEN n % 10 = 0 THEN 'PENDING'
                            WHEN n % 10 = 1 THEN 'RETRYING' ELSE 'QUEUED' END AS state) s
"""

MANY: Final = 32
IDS: Final = "'{%s}'" % ",".join(f"0192f000-0000-7000-8000-{n:012}" for n in range(MANY))
DOCUMENTS: Final = "'{%s}'" % ",".join(f"document-{n}" for n in range(MANY))
BOOLEANS: Final = "'{%s}'" % ",".join(["true"] * MANY)
NUMBERS: Final = "'{%s}'" % ",".join(["0"] * MANY)
JSONS: Final = "'{%s}'" % ",".join(['"{}"'] * MANY)
STATES: Final = "'{%s}'" % ",".join(["COMPLETED"] * MANY)
AN_ID: Final = "'0192f000-0000-7000-8000-000000000000'"
NOW: Final = "'2030-01-01T00:00:00Z'"


@dataclass(frozen=True, slots=True)
class Hot:
    """A statement that runs all day, the values it is given and the indexes it may look into."""

    noun: str
    name: str
    values: str
    indexes: frozenset[str]

    def __str__(self) -> str:
        return f"{self.noun}.{self.name}"


def hot(noun: str, name: str, values: str, *indexes: str) -> Hot:
    return Hot(noun, name, values, frozenset(f"tasks_{index}" for index in indexes))


SETTLED: Final = f"{IDS}, {IDS}, {STATES}, {JSONS}, {JSONS}, {NUMBERS}, {BOOLEANS}, {BOOLEANS}, {BOOLEANS}, false, 'w'"
CUTOFFS: Final = f"ARRAY[{NOW}, {NOW}, {NOW}, {NOW}]::timestamptz[]"
PAGE: Final = "{before}, {states}, {document}, {type}, NULL, NULL, {parent}, {tag}, 50"


def page(**values: str) -> str:
    given = {"before": "9223372036854775807", **dict.fromkeys(("states", "document", "type", "parent", "tag"), "NULL")}
    return PAGE.format_map({**given, **values})


HOT: Final = [
    hot("claims", "resolve", IDS, "pkey"),
    hot("claims", "claim_tasks", f"{IDS}, {IDS}, 'w', 30, ARRAY['noop'], true", "pkey"),
    hot("claims", "claim_lanes", f"{DOCUMENTS}, {IDS}, 'w', 30, ARRAY['noop'], true, {IDS}", "pkey", "lane", "occupant"),
    hot("claims", "occupied", DOCUMENTS, "occupant"),
    hot("claims", "lane_heads", f"{DOCUMENTS}, 0.1", "lane"),
    hot("claims", "poll", "32, '', 1000, 0.1, '{noop}', true", "lane", "by_urgency", "by_ring", "occupant", "active"),
    hot("claims", "renew", f"{IDS}, {IDS}, 30", "pkey"),
    hot("claims", "cancelled", f"{IDS}, {IDS}", "pkey"),
    hot("claims", "report_progress", f"{IDS}, {IDS}, {JSONS}", "pkey"),
    hot("claims", "save_checkpoint", f"{AN_ID}, {AN_ID}, '{{}}'", "pkey"),
    hot("claims", "results_of_siblings", f"{AN_ID}, ARRAY['a']", "of_parent"),
    hot("settlements", "settle", SETTLED, "pkey"),
    hot("settlements", "standing", f"{IDS}, {IDS}", "pkey"),
    hot("settlements", "lapsed", "5", "active"),
    hot("trees", "lock_roots", IDS, "pkey"),
    hot("trees", "lock_nodes", AN_ID, "pkey", "of_parent"),
    hot("trees", "siblings", IDS, "pkey", "of_parent"),
    hot("trees", "start", f"{IDS}, 0.1", "pkey"),
    hot("trees", "first_children", IDS, "of_parent"),
    hot("trees", "finish", f"{IDS}, ARRAY['FAILED'], {JSONS}, 'w'", "pkey", "of_parent"),
    hot("chores", "ring_times", IDS, "pkey"),
    hot("chores", "unrung", f"{CUTOFFS}, 5000, 0.1", "pkey", "lane", "by_ring", "by_urgency", "occupant"),
    hot("chores", "waiting_lanes", "5000", "lane", "occupant"),
    hot("chores", "promote", "1000, 0.1", "pkey", "due"),
    hot("chores", "due_retries", "1000, 0.1", "pkey", "due"),
    hot("chores", "next_due", "", "due"),
    hot("tasks", "fetch", IDS, "pkey"),
    hot("tasks", "states", IDS, "pkey"),
    hot("tasks", "children", IDS, "of_parent"),
    hot("tasks", "lane_position", "'document-1', 50, 1, '2030-01-01T00:00:00Z'", "lane", "occupant"),
    hot("tasks", "earlier_siblings", f"{AN_ID}, {AN_ID}", "of_parent"),
    hot("statistics", "unfinished_counts", "", "by_urgency"),
]
"""With their values known or not, these never read the table from end to end."""


@pytest.fixture(scope="module")
async def urls(new_database: NewDatabase) -> Mapping[str, str]:
    """Databases with statistics: one for each way a table of tasks may look."""
    found: dict[str, str] = {}
    for name, (finished, waiting) in ROWS.items():
        found[name] = await new_database()
        await migrate(found[name])
        connection = await asyncpg.connect(found[name])
        try:
            await connection.execute("ALTER SEQUENCE task_seq CACHE 1000")
            await connection.execute(FILL.replace("$1", "'COMPLETED'").replace("$2", str(finished)))
            await connection.execute(FILL.replace("$1", "NULL").replace("$2", str(waiting)))
            await connection.execute("VACUUM ANALYZE tasks")
        finally:
            await connection.close()
    return found


@pytest.fixture(params=ROWS)
async def ledger(request: pytest.FixtureRequest, urls: Mapping[str, str]) -> AsyncIterator[Connection]:
    """A connection to one of them."""
    connection = await asyncpg.connect(urls[request.param], server_settings={"jit": "off"})
    yield connection
    await connection.close()


@dataclass(slots=True)
class Plan:
    """How Postgres means to answer: the tables it reads from end to end, and the indexes it looks into."""

    read_whole: set[str] = field(default_factory=set[str])
    indexes: set[str] = field(default_factory=set[str])
    unbounded: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, explained: str) -> "Plan":
        """Return what matters of an explained plan."""
        plan = cls()
        for node in _nodes(json.loads(explained)[0]["Plan"]):
            match node["Node Type"]:
                case "Seq Scan":
                    plan.read_whole.add(node["Relation Name"])
                case "Index Scan" | "Index Only Scan" | "Bitmap Index Scan":
                    plan.indexes.add(node["Index Name"])
                    if "Index Cond" not in node:
                        plan.unbounded.add(node["Index Name"])
                case _:
                    pass
        return plan


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for inner in node.get("Plans", ()):
        yield from _nodes(inner)


async def plan_of(connection: Connection, statement: Hot, mode: str) -> Plan:
    await connection.execute(f"SET plan_cache_mode = {mode}")
    await connection.execute(f"PREPARE hot AS {load(statement.noun)[statement.name]}")
    values = f"({statement.values})" if statement.values else ""
    return Plan.of(await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE hot{values}"))


MODES: Final = ["force_custom_plan", "force_generic_plan"]
WHOLE_INDEXES: Final = {"tasks_lane", "tasks_by_urgency", "tasks_by_ring", "tasks_active", "tasks_due"}
"""Small whatever the history: they hold what waits or runs, and the chores look at all of it."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("statement", HOT, ids=str)
async def test_a_hot_statement_finds_its_rows_by_index(ledger: Connection, statement: Hot, mode: str) -> None:
    plan = await plan_of(ledger, statement, mode)

    assert "tasks" not in plan.read_whole
    assert {name for name in plan.indexes if name.startswith("tasks_")} <= statement.indexes
    assert plan.unbounded <= WHOLE_INDEXES
