"""Gathering: from the servers, at the end of a run, to evidence of what was asked for in the default space."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from typing import Any, Final

import asyncpg
import docx
import httpx
import redis.asyncio

from tests.chaos.evidence import (
    DagEventRow,
    DagRow,
    EdgeRow,
    EventRow,
    FailureRow,
    Remains,
    RevisionRow,
    SpawnRow,
    TaskRow,
)

_TASKS: Final = """
    SELECT id::text, seq, task_type, document_id, title, state, rank, runnable, yields, blockers, unmet, max_retries,
           generation, attempt, attempts_charged, poison_pill, lease_until IS NOT NULL AS has_lease,
           cancel_requested_at IS NOT NULL AS cancel_requested,
           result ->> 'token' AS result_token, (result ->> 'attempt')::integer AS result_attempt,
           result ->> 'echo' AS result_echo,
           CASE WHEN payload -> 'echo' ? '$ref' THEN payload #>> '{echo,$ref}' END AS wanted_echo,
           error ->> 'kind' AS error_kind, parent_id::text, position, on_child_failure,
           dag_id::text, spawned_by::text, spawn_key,
           ARRAY(SELECT (one ->> 'token') || '#' || (one ->> 'attempt')
                   FROM jsonb_array_elements(result -> 'given') WITH ORDINALITY AS given(one, place)
                  ORDER BY place) AS given
      FROM tasks WHERE space = 'default'
"""
_EVENTS: Final = """
    SELECT e.xid || '-' || e.id || '-' || (one.index - 1) AS position, e.id, e.kind, one.task_id::text,
           extract(epoch FROM e.at)::float8 AS at,
           extract(epoch FROM coalesce(pg_xact_commit_timestamp(e.xid::xid), e.at))::float8 AS committed
      FROM events e, unnest(e.task_ids, e.document_ids) WITH ORDINALITY AS one(task_id, place, index)
     WHERE one.task_id IS NOT NULL AND strpos(coalesce(one.place, ''), '/') = 0
     ORDER BY e.id, one.index
"""
_FAILURES: Final = """
    SELECT task_id::text, attempt, worker_id, kind, message,
           extract(epoch FROM started_at)::float8 + duration_seconds AS ended
      FROM task_failures WHERE task_id IN (SELECT id FROM tasks WHERE space = 'default')
"""
_REVISIONS: Final = (
    "SELECT document_id, revision, base, task_id::text FROM revisions WHERE strpos(document_id, '/') = 0"
)
_HEADS: Final = "SELECT id, head FROM documents WHERE space = 'default'"
_COUNTERS: Final = (
    "SELECT outcome, sum(count)::bigint AS n FROM task_counters WHERE strpos(task_type, '/') = 0 GROUP BY 1"
)
_KEYS: Final = r"SELECT key, task_id::text FROM idempotency_keys WHERE strpos(key, E'\n') = 0"
_EDGES: Final = (
    "SELECT task_id::text, depends_on::text FROM task_edges"
    " WHERE task_id IN (SELECT id FROM tasks WHERE space = 'default')"
)
_SPAWNS: Final = "SELECT spawned_by::text, key, task_id::text FROM spawns"
_DAGS: Final = "SELECT id::text, title, status, cancel_requested_at IS NOT NULL FROM dags WHERE space = 'default'"
# The place of such an event is that of its DAG's space: none, of the default one.
_DAG_EVENTS: Final = (
    "SELECT id, dag_id::text, substr(kind, 5) FROM events"
    " WHERE kind LIKE 'dag.%' AND document_ids[1] IS NULL ORDER BY id"
)
_SESSIONS: Final = """
    SELECT count(*) AS sessions, count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS in_transaction
      FROM pg_stat_activity WHERE application_name = 'officeplane'
"""


async def gather_tables(
    database_url: str,
) -> tuple[dict[str, TaskRow], list[EventRow], list[FailureRow], dict[str, int], dict[str, str]]:
    """Return tasks, events, failures, counters by outcome, and the task of each idempotency key."""
    connection = await asyncpg.connect(database_url, timeout=10)
    try:
        tasks = {row["id"]: TaskRow(**dict(row)) for row in await connection.fetch(_TASKS)}
        events = [EventRow(*row.values()) for row in await connection.fetch(_EVENTS)]
        failures = [FailureRow(*row.values()) for row in await connection.fetch(_FAILURES)]
        counted = await connection.fetch(_COUNTERS)
        keys = await connection.fetch(_KEYS)
    finally:
        await connection.close()
    return (
        tasks,
        events,
        failures,
        {row["outcome"]: row["n"] for row in counted},
        {r["key"]: r["task_id"] for r in keys},
    )


async def gather_graphs(
    database_url: str,
) -> tuple[list[EdgeRow], list[SpawnRow], dict[str, DagRow], list[DagEventRow]]:
    """Return what depends on what, what was spawned under which key, the DAGs, and what was told of their ends."""
    connection = await asyncpg.connect(database_url, timeout=10)
    try:
        edges = [EdgeRow(*row.values()) for row in await connection.fetch(_EDGES)]
        spawns = [SpawnRow(*row.values()) for row in await connection.fetch(_SPAWNS)]
        dags = [DagRow(*row.values()) for row in await connection.fetch(_DAGS)]
        told = [DagEventRow(*row.values()) for row in await connection.fetch(_DAG_EVENTS)]
    finally:
        await connection.close()
    return edges, spawns, {dag.id: dag for dag in dags}, told


async def gather_documents(
    database_url: str, urls: Sequence[str]
) -> tuple[list[RevisionRow], dict[str, int], dict[str, list[str]]]:
    """Return every revision, which one each document is at, and the chapters that its file has."""
    connection = await asyncpg.connect(database_url, timeout=10)
    try:
        revisions = [RevisionRow(*row.values()) for row in await connection.fetch(_REVISIONS)]
        heads = {row["id"]: row["head"] for row in await connection.fetch(_HEADS)}
    finally:
        await connection.close()
    async with httpx.AsyncClient(timeout=20, trust_env=False) as http:
        return revisions, heads, {document: await _chapters(http, urls, document) for document in heads}


async def _chapters(http: httpx.AsyncClient, urls: Sequence[str], document: str) -> list[str]:
    for url in urls:
        with suppress(httpx.HTTPError):
            answer = await http.get(f"{url}/api/documents/{document}/content")
            if answer.status_code == 200:
                paragraphs = docx.Document(BytesIO(answer.content)).paragraphs
                return [paragraph.text for paragraph in paragraphs if paragraph.text]
    return ["no API gave the file"]


async def gather_remains(database_url: str, redis_url: str, patience_seconds: float) -> Remains:
    """Return what is left once it is nothing, or what is still left when the patience is over."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_seconds
    while True:
        remains = await _look(database_url, redis_url)
        is_clean = not (remains.hints or remains.locks or remains.parked or remains.sessions_in_transaction)
        if is_clean or loop.time() > deadline:
            return remains
        await asyncio.sleep(0.3)


async def _look(database_url: str, redis_url: str) -> Remains:
    connection = await asyncpg.connect(database_url, timeout=10)
    try:
        sessions = await connection.fetchrow(_SESSIONS)
    finally:
        await connection.close()
    assert sessions is not None
    client: Any = redis.asyncio.from_url(redis_url, decode_responses=True, encoding_errors="replace")
    try:
        keys: list[str] = sorted([key async for key in client.scan_iter("officeplane:*")])
        types = {key: await client.type(key) for key in keys}
        hints = sum([await client.llen(key) for key, kind in types.items() if kind == "list" and "aside" not in key])
        unbounded = [key for key, kind in types.items() if kind != "list" and await client.ttl(key) == -1]
    finally:
        await client.aclose()
    return Remains(
        hints=hints,
        locks=tuple(key for key in keys if ":doclock:" in key),
        parked=tuple(key for key in keys if ":parked:" in key),
        without_ttl=tuple(unbounded),
        sessions=sessions["sessions"],
        sessions_in_transaction=sessions["in_transaction"],
    )
