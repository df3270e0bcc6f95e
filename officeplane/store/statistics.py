"""Statistics from the ledger: counts for people and for scrapers."""

from dataclasses import dataclass
from typing import Final

from officeplane.domain.lifecycle import TaskState
from officeplane.domain.priority import Tier
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("statistics")


@dataclass(frozen=True, slots=True)
class Count:
    """How many tasks of a tier are in a state."""

    state: TaskState
    tier: Tier
    count: int


@dataclass(frozen=True, slots=True)
class Counter:
    """How many attempts ended in one way since the installation began."""

    task_type: str
    outcome: str
    reason: str
    count: int


async def counts(executor: Executor) -> list[Count]:
    """Return how many tasks are in each state, by tier."""
    rows = await _SQL["counts"].fetch(executor)
    return [Count(TaskState(row["state"]), Tier(row["tier"]), row["count"]) for row in rows]


async def unfinished_counts(executor: Executor) -> list[Count]:
    """Return how many runnable tasks wait, by tier."""
    rows = await _SQL["unfinished_counts"].fetch(executor)
    return [Count(TaskState(row["state"]), Tier(row["tier"]), row["count"]) for row in rows]


async def oldest_wait_seconds(executor: Executor) -> float | None:
    """Return how long the task has waited that waits longest and could run; None when none could."""
    (row,) = await _SQL["oldest_wait"].fetch(executor)
    return None if row["seconds"] is None else float(row["seconds"])


async def unresolved_letters(executor: Executor) -> int:
    """Return how many dead letters wait for a decision."""
    (row,) = await _SQL["unresolved_letters"].fetch(executor)
    return int(row["count"])


async def unsettled_dags(executor: Executor) -> dict[str, int]:
    """Return how many DAGs are under way, and how many have failed."""
    rows = await _SQL["unsettled_dags"].fetch(executor)
    return {"running": 0, "failed": 0} | {row["status"]: row["count"] for row in rows}


async def counters(executor: Executor) -> list[Counter]:
    """Return what has ended so far."""
    rows = await _SQL["counters"].fetch(executor)
    return [Counter(row["task_type"], row["outcome"], row["reason"], row["count"]) for row in rows]
