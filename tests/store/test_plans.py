"""Plans of the hot statements, on a table that the planner has statistics of.

An empty table shows nothing: only once the planner has learnt that almost no
row waits or runs does it choose between a handful of index entries and a walk
through everything. Both a long history and a deep backlog are tried, and each
plan with its values known and unknown, as prepared statements have them.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
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

PAUSED: Final = {HISTORY: 3, BACKLOG: 20_000}
PAUSE: Final = "INSERT INTO paused_documents (document_id) SELECT 'paused-' || n FROM generate_series(1, $1) AS n"
MANY: Final = 32


def _array(items: Iterable[str]) -> str:
    """Return an array as SQL spells it."""
    return "'{" + ",".join(items) + "}'"


IDS: Final = _array(f"0192f000-0000-7000-8000-{n:012}" for n in range(MANY))
DOCUMENTS: Final = _array(f"document-{n}" for n in range(MANY))
BOOLEANS: Final = _array(["true"] * MANY)
NUMBERS: Final = _array(["0"] * MANY)
TEXTS: Final = _array(["x"] * MANY)
JSONS: Final = _array(['"{}"'] * MANY)
STATES: Final = _array(["COMPLETED"] * MANY)
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


SETTLED: Final = (
    f"{IDS}, {IDS}, {STATES}, {JSONS}, {JSONS}, {NUMBERS}, {BOOLEANS}, {BOOLEANS}, {BOOLEANS}, "
    "'{}', '{}', false, 'w'"
)
WELL: Final = f"{IDS}, {IDS}, {STATES}, {JSONS}, 'w'"
CUTOFFS: Final = f"ARRAY[{NOW}, {NOW}, {NOW}, {NOW}]::timestamptz[]"
HOT: Final = [
    hot("claims", "claim_hinted", f"{IDS}, {IDS}, 'w', 30, ARRAY['noop'], true, {IDS}", "pkey"),
    hot(
        "claims",
        "claim_lanes",
        f"{DOCUMENTS}, {IDS}, 'w', 30, ARRAY['noop'], true, {IDS}, {IDS}",
        "pkey",
        "lane",
        "occupant",
    ),
    hot("claims", "upcoming", "'document-1', 32", "lane"),
    hot("claims", "occupied", DOCUMENTS, "occupant"),
    hot("claims", "lane_heads", f"{DOCUMENTS}, 0.1", "lane"),
    hot("claims", "poll", "32, '', 1000, '{noop}', true", "lane", "by_urgency", "by_ring", "occupant", "active"),
    hot("claims", "renew", f"{IDS}, {IDS}, 30", "pkey"),
    hot("claims", "cancelled", f"{IDS}, {IDS}", "pkey"),
    hot("claims", "report_progress", f"{IDS}, {IDS}, {JSONS}", "pkey"),
    hot("claims", "save_checkpoint", f"{AN_ID}, {AN_ID}, '{{}}'", "pkey"),
    hot("claims", "results_of_siblings", f"{AN_ID}, ARRAY['a']", "of_parent"),
    hot("settlements", "settle", SETTLED, "pkey", "lane"),
    hot("settlements", "settle_well", WELL, "pkey", "lane"),
    hot(
        "settlements",
        "settle_and_claim",
        f"{WELL}, {DOCUMENTS}, {IDS}, {IDS}, 'w', 30, ARRAY['noop'], true",
        "pkey",
        "lane",
        "occupant",
    ),
    hot(
        "settlements",
        "settle_edits",
        f"{WELL}, {DOCUMENTS}, {IDS}, {IDS}, 'w', 30, ARRAY['noop'], true, {IDS}, {DOCUMENTS}, {NUMBERS}, {TEXTS}, "
        f"{TEXTS}, {TEXTS}, {TEXTS}, {NUMBERS}, {TEXTS}, {TEXTS}, {DOCUMENTS}, {TEXTS}, {TEXTS}, "
        f"{IDS}, {NUMBERS}, {IDS}, {IDS}, {TEXTS}, {JSONS}, {NUMBERS}",
        "pkey",
        "lane",
        "occupant",
    ),
    hot("settlements", "standing", f"{IDS}, {IDS}", "pkey"),
    hot("settlements", "lapsed", "5", "active"),
    hot("trees", "lock_roots", IDS, "pkey"),
    hot("trees", "lock_nodes", IDS, "pkey", "of_parent"),
    hot("trees", "siblings", IDS, "pkey", "of_parent"),
    hot("trees", "start", f"{IDS}, 0.1", "pkey"),
    hot("trees", "first_children", IDS, "of_parent"),
    hot("trees", "finish", f"{IDS}, ARRAY['FAILED'], {JSONS}, 'w'", "pkey", "of_parent"),
    hot("trees", "cancel", f"{IDS}, {IDS}, NULL, 'w'", "pkey"),
    hot("ranks", "rank_anew", f"0.1, {IDS}", "pkey"),
    hot("ranks", "ahead", f"{IDS}, {BOOLEANS}", "pkey", "of_parent"),
    hot("chores", "ring_times", IDS, "pkey"),
    hot("chores", "promote", "1000, 0.1", "pkey", "due"),
    hot("chores", "due_retries", "1000, 0.1", "pkey", "due"),
    hot("chores", "next_due", "", "due"),
    hot("tasks", "fetch", IDS, "pkey"),
    hot("tasks", "states", IDS, "pkey"),
    hot("tasks", "children", IDS, "of_parent"),
    hot("tasks", "lane_position", "'document-1', 50, 1, '2030-01-01T00:00:00Z'", "lane", "occupant"),
    hot("tasks", "earlier_siblings", f"{AN_ID}, {AN_ID}", "of_parent"),
    hot("valves", "contenders", f"{IDS}, {DOCUMENTS}", "pkey", "lane", "active"),
    hot("valves", "rooms", "ARRAY['noop']", "active"),
    hot("chores", "prune", "0, 86400, 86400, 1000", "pkey", "of_parent", "seq"),
]
WAITING: Final = ("pkey", "lane", "by_urgency", "by_ring", "occupant", "active")
WATCHFUL: Final = [
    hot(
        "chores", "unrung", f"{CUTOFFS}, 5000, 0.1, ARRAY['noop']", "pkey", "lane", "by_ring", "by_urgency", "occupant"
    ),
    hot("chores", "waiting_lanes", "5000", "lane", "by_urgency", "occupant"),
    hot("ranks", "moved", "0.1, 0.01, 10000", "ranked_anew"),
    hot("ranks", "lifting", "0.1, 1000", "ranked_anew"),
    hot("ranks", "inherit", f"0.1, {IDS}, {NUMBERS}, {IDS}, 0.01, 250", "pkey", "ranked_anew"),
    hot("valves", "ring", f"ARRAY['noop'], ARRAY[32], 0.1, 0.1, {CUTOFFS}", *WAITING),
    hot("valves", "choose_probes", f"ARRAY['noop'], {IDS}, 30, 0.1", *WAITING),
    hot("valves", "admissible", "32", *WAITING),
    hot("statistics", "unfinished_counts", "", "by_urgency"),
    hot("statistics", "oldest_wait", "", "by_urgency", "lane", "active", "due"),
]
"""These look at everything that waits; only of what is over they must not see anything."""


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
            await connection.execute(PAUSE.replace("$1", str(PAUSED[name])))
            await connection.execute("VACUUM ANALYZE tasks, paused_documents")
        finally:
            await connection.close()
    return found


@asynccontextmanager
async def connected(database_url: str) -> AsyncGenerator[Connection, None]:
    """Connect as the program does."""
    connection = await asyncpg.connect(database_url, server_settings={"jit": "off"})
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture(params=ROWS)
async def ledger(request: pytest.FixtureRequest, urls: Mapping[str, str]) -> AsyncIterator[Connection]:
    """A connection to one of them."""
    async with connected(urls[request.param]) as connection:
        yield connection


@pytest.fixture
async def many_pauses(urls: Mapping[str, str]) -> AsyncIterator[Connection]:
    """A connection to the one in which more documents are paused than anybody meant to."""
    async with connected(urls[BACKLOG]) as connection:
        yield connection


@pytest.fixture
async def long_history(urls: Mapping[str, str]) -> AsyncIterator[Connection]:
    """A connection to the one in which nearly everything is over."""
    async with connected(urls[HISTORY]) as connection:
        yield connection


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
                    name = node["Index Name"]
                    if name.startswith("tasks_"):
                        plan.indexes.add(name)
                    if "Index Cond" not in node and name.startswith(("tasks_", "paused_documents_")):
                        plan.unbounded.add(name)
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
SMALL: Final = {"tasks_by_ring", "tasks_active", "tasks_due"}
"""Small whatever the history: they hold what waits or runs, and these may be walked through."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("statement", HOT, ids=str)
async def test_a_hot_statement_finds_its_rows_by_index(ledger: Connection, statement: Hot, mode: str) -> None:
    plan = await plan_of(ledger, statement, mode)

    assert "tasks" not in plan.read_whole
    assert plan.indexes <= statement.indexes
    assert plan.unbounded <= SMALL


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("statement", WATCHFUL, ids=str)
async def test_a_watchful_statement_does_not_read_the_history(
    long_history: Connection, statement: Hot, mode: str
) -> None:
    plan = await plan_of(long_history, statement, mode)

    assert "tasks" not in plan.read_whole
    assert plan.indexes <= statement.indexes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "statement",
    # A scrape may: it reads all that waits besides.
    [it for it in (*HOT, *WATCHFUL) if "paused_documents" in load(it.noun)[it.name] and it.noun != "statistics"],
    ids=str,
)
async def test_nobody_who_claims_or_rings_reads_all_that_is_paused(
    many_pauses: Connection, statement: Hot, mode: str
) -> None:
    plan = await plan_of(many_pauses, statement, mode)

    assert "paused_documents" not in plan.read_whole
    assert "paused_documents_pkey" not in plan.unbounded


LISTS: Final[dict[str, tuple[str, dict[str, object]]]] = {
    "all, newest first": ("seq", {}),
    "of a document": ("of_document", {"document_id": "document-7"}),
    "of a parent": ("of_parent", {"parent_id": "0192f000-0000-7000-8000-000000000000"}),
    "with a tag": ("with_tags", {"tag": "tag-50"}),
    "that gave up": ("gave_up", {"states": ["FAILED", "TIMEOUT"]}),
}
FILTERS: Final = ("states", "document_id", "task_type", "low", "high", "parent_id", "tag")


@pytest.mark.parametrize("which", LISTS)
async def test_a_page_of_a_list_is_found_by_its_index(long_history: Connection, which: str) -> None:
    index, given = LISTS[which]
    values = [2**63 - 1, *(given.get(name) for name in FILTERS), 50]

    explained = await long_history.fetchval(f"EXPLAIN (FORMAT JSON) {load('tasks')['page']}", *values)

    plan = Plan.of(explained)
    assert "tasks" not in plan.read_whole
    assert f"tasks_{index}" in plan.indexes


async def test_a_page_of_a_document_is_found_by_its_index_however_often_lists_were_asked_for(
    long_history: Connection,
) -> None:
    page = await long_history.prepare(load("tasks")["page"])
    for which in [*LISTS] * 4:
        _, given = LISTS[which]
        await page.fetch(2**63 - 1, *(given.get(name) for name in FILTERS), 50)

    (planned,) = await long_history.fetch(
        "SELECT generic_plans FROM pg_prepared_statements WHERE statement = $1", load("tasks")["page"]
    )

    assert planned["generic_plans"] == 0
