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
from datetime import UTC, datetime
from typing import Any, Final

import asyncpg
import pytest

from officeplane.store.connection import Connection
from officeplane.store.migrate import migrate
from officeplane.store.queries import Query, load
from tests.conftest import NewDatabase

HISTORY, BACKLOG = "long history", "deep backlog"
ROWS: Final = {HISTORY: (20_000, 400), BACKLOG: (2_000, 20_000)}

FILL = """
INSERT INTO tasks (id, task_type, document_id, payload, state, priority, rank, runnable, yields, blockers, run_at,
                   max_retries, timeout_seconds, parent_id, position, tags, created_by, on_behalf_of,
                   created_at, queued_at, rung_at, rung_tier, finished_at)
SELECT gen_random_uuid(), 'noop', CASE WHEN n % 3 > 0 THEN 'document-' || n % 1000 END, '{}', s.state, 50,
       50 + n / 600.0, true, false, CASE WHEN s.state = 'PENDING' AND n % 20 = 0 THEN 1 ELSE 0 END, now(), 3, 600,
       CASE WHEN n % 10 = 0 THEN md5((n / 100)::text)::uuid END, CASE WHEN n % 10 = 0 THEN n END,
       CASE WHEN n % 50 = 0 THEN ARRAY['tag-' || n % 500] ELSE '{}' END, 'key:' || n % 500, 'user-' || n % 500,
       now(), now(), now(), 2,
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
SEEN: Final = {"seen_space": "'default'", "seen_documents": "NULL", "seen_types": "NULL"}
"""What a caller of the default space sees."""
SHOWN: Final = {"spaces": "ARRAY['acme']"}


@dataclass(frozen=True, slots=True)
class Hot:
    """A statement that runs all day, the indexes it may look into and the values it is given."""

    noun: str
    name: str
    indexes: frozenset[str]
    values: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.noun}.{self.name}"

    @property
    def query(self) -> Query:
        return load(self.noun)[self.name]


def hot(noun: str, name: str, *indexes: str, **values: str) -> Hot:
    return Hot(noun, name, frozenset(f"tasks_{index}" for index in indexes), values)


WELL: Final = {"task_ids": IDS, "claim_ids": IDS, "states": STATES, "results": JSONS, "counted_by": "'w'"}
FAILED: Final = WELL | {
    "errors": JSONS,
    "delays_seconds": NUMBERS,
    "charged": BOOLEANS,
    "crashed": BOOLEANS,
    "poisoned": BOOLEANS,
    "fingerprints": "'{}'",
    "alerts": "'{}'",
    "only_lapsed": "false",
}
CLAIMANT: Final = {
    "worker_id": "'w'",
    "lease_seconds": "30",
    "reserves": "false",
    "task_types": "ARRAY['noop']",
    "may_take_suspect": "true",
    "admitted": IDS,
    "demand_ids": "NULL",
}
LANES: Final = {"lane_document_ids": DOCUMENTS, "lane_claim_ids": IDS, "lane_hold_ids": IDS}
REVISIONS: Final = {
    "revision_task_ids": IDS,
    "revision_document_ids": DOCUMENTS,
    "revision_task_types": TEXTS,
    "bases": NUMBERS,
    "authors": TEXTS,
    "notes": TEXTS,
    "sha256s": TEXTS,
    "sizes": NUMBERS,
    "recipes": TEXTS,
    "titles": TEXTS,
    "names": TEXTS,
}
PIECES: Final = {"piece_document_ids": DOCUMENTS, "piece_keys": TEXTS, "pieces": TEXTS}
AHEAD: Final = {
    "ahead_leader_ids": IDS,
    "ahead_places": NUMBERS,
    "ahead_task_ids": IDS,
    "ahead_claim_ids": IDS,
    "ahead_versions": TEXTS,
    "ahead_results": JSONS,
    "ahead_seconds": NUMBERS,
}
CUTOFFS: Final = f"ARRAY[{', '.join([NOW] * 8)}]::timestamptz[]"
HOT: Final = [
    hot("claims", "claim_hinted", "pkey", task_ids=IDS, claim_ids=IDS, **CLAIMANT),
    hot("claims", "claim_lanes", "pkey", "lane", "occupant", **LANES, **CLAIMANT),
    hot("claims", "upcoming", "lane", document_id="'document-1'", limit="32", payload_bytes="16384"),
    hot("claims", "occupied", "occupant", document_ids=DOCUMENTS),
    hot("claims", "lane_heads", "lane", document_ids=DOCUMENTS),
    hot(
        "claims",
        "poll",
        *("lane", "by_urgency", "by_ring", "occupant", "active", "of_other_spaces", "waiting_in_spaces"),
        limit="32",
        after_lane="''",
        lanes="1000",
        task_types="ARRAY['noop']",
        may_take_suspect="true",
        admitted="'{}'",
        demand_ids="NULL",
    ),
    hot("claims", "renew", "pkey", task_ids=IDS, claim_ids=IDS, lease_seconds="30"),
    hot("claims", "cancelled", "pkey", task_ids=IDS, claim_ids=IDS),
    hot("claims", "report_progress", "pkey", task_ids=IDS, claim_ids=IDS, progress=JSONS),
    hot("claims", "save_checkpoint", "pkey", task_id=AN_ID, claim_id=AN_ID, checkpoint="'{}'"),
    hot("claims", "results_of_siblings", "of_parent", parent_id=AN_ID, keys="ARRAY['a']"),
    hot("settlements", "settle", "pkey", "lane", **FAILED),
    hot("settlements", "settle_well", "pkey", "lane", **WELL),
    hot("settlements", "settle_and_claim", "pkey", "lane", "occupant", **WELL, **LANES, **CLAIMANT),
    hot(
        "settlements",
        "settle_edits",
        *("pkey", "lane", "occupant"),
        **WELL,
        **LANES,
        **CLAIMANT,
        **REVISIONS,
        **PIECES,
        **AHEAD,
    ),
    hot("settlements", "standing", "pkey", task_ids=IDS, claim_ids=IDS),
    hot("settlements", "lapsed", "active", heartbeat_seconds="5"),
    hot("trees", "lock_roots", "pkey", root_ids=IDS),
    hot("trees", "lock_nodes", "pkey", "of_parent", root_ids=IDS),
    hot("trees", "siblings", "pkey", "of_parent", parent_ids=IDS),
    hot("trees", "start", "pkey", task_ids=IDS),
    hot("trees", "first_children", "of_parent", parent_ids=IDS),
    hot(
        "trees",
        "finish",
        *("pkey", "of_parent"),
        parent_ids=IDS,
        states="ARRAY['FAILED']",
        errors=JSONS,
        counted_by="'w'",
    ),
    hot("trees", "cancel", "pkey", ending=IDS, asked=IDS, reason="NULL", counted_by="'w'"),
    hot("ranks", "rank_anew", "pkey", task_ids=IDS),
    hot("ranks", "ahead", "pkey", "of_parent", task_ids=IDS, are_whole=BOOLEANS),
    hot("chores", "ring_times", "pkey", task_ids=IDS),
    hot("chores", "promote", "pkey", "due", limit="1000"),
    hot("chores", "due_retries", "pkey", "due", limit="1000"),
    hot("chores", "next_due", "due"),
    hot("tasks", "fetch", "pkey", task_ids=IDS, **SEEN),
    hot("tasks", "states", "pkey", task_ids=IDS),
    hot("tasks", "seq_at", "seq", moment=NOW),
    hot("tasks", "children", "of_parent", parent_ids=IDS, **SEEN),
    hot("tasks", "lane_position", "lane", "occupant", document_id="'document-1'", rank="50", seq="1", run_at=NOW),
    hot("tasks", "earlier_siblings", "of_parent", parent_id=AN_ID, task_id=AN_ID),
    hot("valves", "contenders", "pkey", "lane", "active", task_ids=IDS, document_ids=DOCUMENTS),
    hot("valves", "rooms", "active", task_types="ARRAY['noop']"),
    hot(
        "chores",
        "prune",
        *("pkey", "of_parent", "seq"),
        after_seq="0",
        completed_seconds="86400",
        failed_seconds="86400",
        limit="1000",
    ),
]
WAITING: Final = ("pkey", "lane", "by_urgency", "by_ring", "occupant", "active")
WATCHFUL: Final = [
    hot(
        "chores",
        "unrung",
        *("pkey", "lane", "by_ring", "by_urgency", "occupant"),
        cutoffs=CUTOFFS,
        spaces="ARRAY['default']",
        limit="5000",
        task_types="ARRAY['noop']",
    ),
    hot("chores", "waiting_lanes", "lane", "by_urgency", "occupant", limit="5000"),
    hot("ranks", "moved", "ranked_anew", at_least="0.01", limit="10000"),
    hot("ranks", "behind_less_urgent", "ranked_anew", limit="1000"),
    hot(
        "ranks",
        "inherit",
        *("pkey", "ranked_anew"),
        task_ids=IDS,
        ranks=NUMBERS,
        keeping=IDS,
        at_least="0.01",
        limit="250",
    ),
    hot(
        "valves",
        "ring",
        *WAITING,
        task_types="ARRAY['noop']",
        wanted="ARRAY[32]",
        rung_ago="0.1",
        cutoffs=CUTOFFS,
        spaces="ARRAY['default']",
    ),
    hot("valves", "choose_probes", *WAITING, task_types="ARRAY['noop']", task_ids=IDS, seconds="30"),
    hot("valves", "admissible", *WAITING, limit="32"),
    # Either index of what waits in other spaces will do: which is smaller depends on what the others are.
    hot("statistics", "largest_spaces", "by_urgency", "waiting_in_spaces", "of_other_spaces", limit="50"),
    hot("statistics", "unfinished_counts", "by_urgency", **SEEN, **SHOWN),
    hot("statistics", "oldest_wait", "by_urgency", "lane", "active", "due", **SEEN, **SHOWN),
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
            # Most of the parents are not there, as after a pruning.
            await connection.execute("ALTER TABLE tasks DISABLE TRIGGER tasks_refer_to_their_space")
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
    await connection.execute(f"PREPARE hot AS {statement.query.text}")
    given = statement.query.in_order(statement.values)
    values = f"({', '.join(map(str, given))})" if given else ""
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
    [it for it in (*HOT, *WATCHFUL) if "paused_documents" in it.query.text and it.noun != "statistics"],
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
    "created in a time": ("seq", {"since": datetime.now(UTC), "at_least": 20_000}),
    "that gave up": ("gave_up", {"states": ["FAILED", "TIMEOUT"]}),
}
PAGE: Final = load("tasks")["page"]


def _values(given: Mapping[str, object]) -> list[object]:
    """Return the values of a page that shows no more than what is asked for."""
    return PAGE.in_order({**dict.fromkeys(PAGE.names), "before": 2**63 - 1, "limit": 50, **given})


@pytest.mark.parametrize("which", LISTS)
async def test_a_page_of_a_list_is_found_by_its_index(long_history: Connection, which: str) -> None:
    index, given = LISTS[which]

    explained = await long_history.fetchval(f"EXPLAIN (FORMAT JSON) {PAGE.text}", *_values(given))

    plan = Plan.of(explained)
    assert "tasks" not in plan.read_whole
    assert f"tasks_{index}" in plan.indexes


async def test_a_page_of_a_document_is_found_by_its_index_however_often_lists_were_asked_for(
    long_history: Connection,
) -> None:
    page = await long_history.prepare(PAGE.text)
    for which in [*LISTS] * 4:
        _, given = LISTS[which]
        await page.fetch(*_values(given))

    (planned,) = await long_history.fetch(
        "SELECT generic_plans FROM pg_prepared_statements WHERE statement = $1", PAGE.text
    )

    assert planned["generic_plans"] == 0


CLAIMING: Final = [it for it in HOT if (it.noun, it.name) in {("claims", "claim_hinted"), ("claims", "claim_lanes")}]
MANY_VALVES: Final = "INSERT INTO valves (task_type) SELECT 'space-' || n || '/noop' FROM generate_series(1, 5000) AS n"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("statement", CLAIMING, ids=str)
async def test_nobody_who_claims_reads_the_valves_of_all_spaces(
    long_history: Connection, statement: Hot, mode: str
) -> None:
    undone = long_history.transaction()
    await undone.start()
    await long_history.execute(MANY_VALVES)
    await long_history.execute("ANALYZE valves")

    plan = await plan_of(long_history, statement, mode)

    await undone.rollback()
    assert "valves" not in plan.read_whole
