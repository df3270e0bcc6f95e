"""What the ledger holds, as a value: read, reduced to what matters, and written back.

Of times it matters only whether they are past, long past or to come; claims are called after their
task and attempt. So states that differ only by when and under which names they were reached are one.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

import asyncpg

Fact: TypeAlias = dict[str, Any]
Tables: TypeAlias = dict[str, list[Fact]]

ORDERS: Final[Mapping[str, str]] = {
    "tasks": "seq",
    "task_failures": "task_id, attempt",
    "demands": "id",
    "agents": "id",
    "agent_claims": "task_id, attempt",
    "agent_claim_keys": "agent_id, key",
    "agent_declines": "task_id, agent_id",
}
"""The tables of which a state is made; all others are the same in every state."""

LAPSING: Final = {("tasks", "lease_until"), ("tasks", "run_at")}
"""Times of which it matters whether they have come."""
AGEING: Final = {("tasks", "started_at"), ("agent_declines", "declined_at")}
"""Times of which it matters whether they are long past."""
BESIDE: Final[Mapping[tuple[str, str], object]] = {
    ("task_failures", "duration_seconds"): 0,
    ("agents", "lapses_in_row"): 0,
    ("tasks", "hold_id"): None,
    ("tasks", "rung_tier"): 2,
}
"""What differs from one run to the next and decides nothing here, with what stands for it."""

PAST, OLD, TO_COME = "past", "old", "to come"
_AGES: Final = {PAST: timedelta(seconds=-30), OLD: timedelta(hours=-3), TO_COME: timedelta(hours=1)}
_LONG_SECONDS: Final = -3600.0
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_OURS: Final = re.compile(r"00000000-0000-7000-8000-([0-9a-f]{8})([0-9a-f]{4})")


class Reading(NamedTuple):
    """The tables with their claims called as they are always, and as what those were called in the ledger."""

    tables: Tables
    renamed: dict[str, str]
    events: list[tuple[str, str]]
    """What was told in the ledger's events: kind and task."""


class Rows:
    """Reads and writes the tables of a state."""

    def __init__(self, times: frozenset[tuple[str, str]]) -> None:
        self._times = times
        held = ", ".join(
            f"'{table}', (SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY {order}), '[]') FROM {table} t)"  # noqa: S608
            for table, order in ORDERS.items()
        )
        told = "SELECT coalesce(jsonb_agg(jsonb_build_array(kind, task_ids)), '[]') FROM events"
        self._read = f"SELECT jsonb_build_object({held}, 'events', ({told}), 'now', clock_timestamp())"
        written = ", ".join(
            f"{table}_ AS (INSERT INTO {table} OVERRIDING SYSTEM VALUE "  # noqa: S608
            f"SELECT * FROM jsonb_populate_recordset(NULL::{table}, $1::jsonb -> '{table}'))"
            for table in ORDERS
        )
        self._write = f"WITH {written} SELECT"

    async def read(self, connection: "asyncpg.Connection[asyncpg.Record]") -> Reading:
        """Return what the tables hold now."""
        text = await connection.fetchval(self._read)
        renamed = _names(json.loads(text))
        tables = json.loads(_UUID.sub(lambda found: renamed.get(found[0], found[0]), text))
        now = datetime.fromisoformat(tables.pop("now"))
        events = [(kind, task_id) for kind, task_ids in tables.pop("events") for task_id in task_ids]
        for table, facts in tables.items():
            for fact in facts:
                for column in fact:
                    if (table, column) in self._times:
                        fact[column] = _age(table, column, fact[column], now)
                    elif (table, column) in BESIDE:
                        fact[column] = BESIDE[table, column]
        return Reading(tables, renamed, events)

    async def write(self, connection: "asyncpg.Connection[asyncpg.Record]", tables: Tables) -> None:
        """Fill the empty tables; no trigger looks."""
        now = datetime.now().astimezone()
        moments = {age: (now + ago).isoformat() for age, ago in _AGES.items()}
        dated = {
            table: [
                {
                    name: moments[value] if value and (table, name) in self._times else value
                    for name, value in row.items()
                }
                for row in facts
            ]
            for table, facts in tables.items()
        }
        await connection.execute("SET LOCAL session_replication_role = replica")
        await connection.execute(self._write, json.dumps(dated))
        await connection.execute("SET LOCAL session_replication_role = origin")


async def rows_of(connection: "asyncpg.Connection[asyncpg.Record]") -> Rows:
    """Return a reader and writer for the schema as it is."""
    times = await connection.fetch(
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'public' AND table_name = ANY($1) AND data_type = 'timestamp with time zone'",
        list(ORDERS),
    )
    return Rows(frozenset((row[0], row[1]) for row in times))


def claim_name(task_id: str, attempt: int) -> str:
    """Return the id that the claim of an attempt has in every state."""
    return f"{task_id[:-4]}{attempt:04x}"


def task_name(number: int) -> str:
    """Return the id that a world's task has in every run."""
    return f"00000000-0000-7000-8000-{number:08x}0000"


def short(text: str) -> str:
    """Return a text with tasks and claims called as people would call them."""
    return _OURS.sub(
        lambda found: f"t{int(found[1], 16)}" + (f"#{int(found[2], 16)}" if int(found[2], 16) else ""), text
    )


def _names(tables: Tables) -> dict[str, str]:
    named = {
        row["claim_id"]: claim_name(row["id"], row["attempt"]) for row in tables["tasks"] if row["claim_id"] is not None
    }
    for row in tables["agent_claims"]:
        named[row["claim_id"]] = claim_name(row["task_id"], row["attempt"])
    return {there: here for there, here in named.items() if there != here}


def _age(table: str, column: str, value: str | None, now: datetime) -> str | None:
    if value is None:
        return None
    seconds = (datetime.fromisoformat(value) - now).total_seconds()
    if (table, column) in LAPSING and seconds > 0:
        return TO_COME
    return OLD if (table, column) in AGEING and seconds < _LONG_SECONDS else PAST
