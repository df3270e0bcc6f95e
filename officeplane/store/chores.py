"""What the chores ask of the ledger: bounded, guarded, harmless when done twice."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from officeplane.domain.hint import Hint
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.session import IDLE_SECONDS, LONGEST_SECONDS
from officeplane.domain.space import Space
from officeplane.store.connection import Executor
from officeplane.store.hints import hint_in
from officeplane.store.queries import load

_SQL: Final = load("chores")


async def ring_times(executor: Executor, task_ids: Collection[TaskId]) -> tuple[dict[TaskId, datetime], datetime]:
    """Return when tasks were last rung, ids that are not there left out, and the time now."""
    rows = await _SQL["ring_times"].fetch(executor, task_ids=list(task_ids))
    return {TaskId(str(row["id"])): row["rung_at"] for row in rows if row["id"] is not None}, rows[0]["now"]


async def anything_waits(executor: Executor) -> bool:
    """Tell whether there is any runnable work, due or not."""
    return bool(await _SQL["anything_waits"].fetch(executor))


class Cutoffs(NamedTuple):
    """Before when a task must have been rung for its hint to be gone; None: that is not known.

    Four moments, one for each tier, of every space that is not named; then four of each that is.
    """

    spaces: list[Space]
    moments: Sequence[datetime | None]


async def unrung(executor: Executor, cutoffs: Cutoffs, task_types: Collection[str], *, limit: int) -> list[Hint]:
    """Mark as rung, and return, runnable work of these types that Redis does not seem to know."""
    rows = await _SQL["unrung"].fetch(
        executor, spaces=cutoffs.spaces, cutoffs=cutoffs.moments, limit=limit, task_types=list(task_types)
    )
    return [hint_in(row) for row in rows]


async def waiting_lanes(executor: Executor, *, limit: int) -> dict[DocumentId, TaskId]:
    """Return the heads of lanes with a runnable head and nobody in them."""
    rows = await _SQL["waiting_lanes"].fetch(executor, limit=limit)
    return {DocumentId(row["document_id"]): TaskId(str(row["head"])) for row in rows}


async def promote(executor: Executor, *, limit: int) -> tuple[int, list[Hint]]:
    """Make tasks whose time has come QUEUED; return how many, and those to ring."""
    rows = await _SQL["promote"].fetch(executor, limit=limit)
    return len(rows), [hint_in(row) for row in rows if row["is_rung"]]


async def due_retries(executor: Executor, *, limit: int) -> list[Hint]:
    """Mark as rung, and return, retries that have become due."""
    rows = await _SQL["due_retries"].fetch(executor, limit=limit)
    return [hint_in(row) for row in rows if row["is_rung"]]


async def next_due_seconds(executor: Executor) -> float | None:
    """Return how long until the next task becomes due; None when nothing is scheduled."""
    (row,) = await _SQL["next_due"].fetch(executor)
    return None if row["seconds"] is None else float(row["seconds"])


async def prune(
    executor: Executor, *, after_seq: int, completed_seconds: float, failed_seconds: float, limit: int
) -> tuple[int | None, int]:
    """Remove old trees from a window; return where the window ends, and how many tasks went."""
    (row,) = await _SQL["prune"].fetch(
        executor, after_seq=after_seq, completed_seconds=completed_seconds, failed_seconds=failed_seconds, limit=limit
    )
    return row["until"], row["removed"]


async def expire_keys(executor: Executor, *, after_seconds: float) -> int:
    """Forget idempotency keys whose task ended long enough ago; return how many."""
    return len(await _SQL["expire_keys"].fetch(executor, after_seconds=after_seconds))


async def prune_callers(executor: Executor, *, login_seconds: float, audit_seconds: float, limit: int) -> int:
    """Remove sessions and links that ended so long ago, and deeds done longer ago; return how many of the last."""
    (row,) = await _SQL["prune_callers"].fetch(
        executor,
        idle_seconds=IDLE_SECONDS,
        longest_seconds=LONGEST_SECONDS,
        login_seconds=login_seconds,
        audit_seconds=audit_seconds,
        limit=limit,
    )
    return int(row["deeds"])
