"""Valves in the ledger: a row per type of which something was ever held."""

from collections.abc import Mapping
from typing import Final

from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.priority import BOOST_PER_MINUTE, Tier
from officeplane.domain.valve import Breaker, BreakerState, Limits, Valve
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("valves")


async def set_paused(executor: Executor, task_type: str, *, paused: bool) -> None:
    """Say whether a type is paused."""
    await executor.fetch(_SQL["set_paused"], task_type, paused)


async def pause_document(executor: Executor, document_id: DocumentId) -> None:
    """Keep everything of a document from being claimed."""
    await executor.fetch(_SQL["pause_document"], document_id)


async def resume_document(executor: Executor, document_id: DocumentId) -> None:
    """Let a document's lane go on."""
    await executor.fetch(_SQL["resume_document"], document_id)


async def is_paused(executor: Executor, document_id: DocumentId) -> bool:
    """Tell whether a document's lane is paused."""
    (row,) = await executor.fetch(_SQL["is_paused"], document_id)
    return bool(row["paused"])


async def fetch(executor: Executor, task_type: str) -> Valve | None:
    """Return the valve of a type; None when nothing ever kept its tasks."""
    rows = await executor.fetch(_SQL["fetch"], task_type)
    return _valve(rows[0]) if rows else None


async def every(executor: Executor) -> list[Valve]:
    """Return the valves that were ever touched."""
    return [_valve(row) for row in await executor.fetch(_SQL["all"])]


async def ring(executor: Executor, wanted: Mapping[str, int]) -> list[tuple[TaskId, Tier]]:
    """Mark as rung, and return, the most urgent tasks of types, so many of each."""
    rows = await executor.fetch(_SQL["ring"], list(wanted), list(wanted.values()), BOOST_PER_MINUTE)
    return [(TaskId(str(row["id"])), Tier(row["rung_tier"])) for row in rows]


def _valve(row: Row) -> Valve:
    breaker = Breaker(
        BreakerState(row["breaker"]),
        row["failures"],
        row["opened_at"],
        row["retry_at"],
        row["failure_threshold"],
        row["half_open_after_seconds"],
    )
    limits = Limits(row["rate_per_second"], row["concurrency"])
    return Valve(row["task_type"], row["paused"], row["slow_until"], breaker, limits)
