"""Statistics from the ledger: counts for people and for scrapers, of all spaces or of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypedDict

from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import Sight
from officeplane.domain.priority import Tier
from officeplane.domain.valve import BreakerState
from officeplane.store.connection import Executor
from officeplane.store.queries import load
from officeplane.store.sights import SightValues, seen_by

_SQL: Final = load("statistics")
OTHER: Final = "other"
"""What all spaces are called together of which no figures of their own are shown."""


class Shown(NamedTuple):
    """What is counted, and of which spaces it is told apart besides the default one."""

    sight: Sight
    spaces: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Count:
    """How many tasks of a tier are in a state."""

    state: TaskState
    tier: Tier
    count: int


@dataclass(frozen=True, slots=True)
class Counter:
    """How many attempts of a type ended in one way since the installation began."""

    space: str
    task_type: str
    outcome: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class HeldType:
    """What keeps, or once kept, a type in a space, or in any of several that are shown as one."""

    space: str
    task_type: str
    is_paused: bool
    breakers: frozenset[BreakerState]


class _ShownValues(SightValues):
    spaces: Sequence[str]


class _TypeValues(TypedDict):
    seen_space: str | None
    seen_types: Sequence[str] | None
    spaces: Sequence[str]


async def largest_spaces(executor: Executor, limit: int) -> list[str]:
    """Return the spaces besides the default one of which most has ended, of those that there still are."""
    return [row["space"] for row in await _SQL["largest_spaces"].fetch(executor, limit=limit)]


async def counts(executor: Executor, sight: Sight) -> list[Count]:
    """Return how many tasks are in each state, by tier."""
    rows = await _SQL["counts"].fetch(executor, **seen_by(sight))
    return [Count(TaskState(row["state"]), Tier(row["tier"]), row["count"]) for row in rows]


async def unfinished_counts(executor: Executor, shown: Shown) -> dict[tuple[str, TaskState, Tier], int]:
    """Return how many runnable tasks wait, by space, state and tier."""
    rows = await _SQL["unfinished_counts"].fetch(executor, **_values(shown))
    return {(row["space"], TaskState(row["state"]), Tier(row["tier"])): row["count"] for row in rows}


async def oldest_waits_seconds(executor: Executor, shown: Shown) -> dict[str, float]:
    """Return how long the task has waited, by space, that waits longest and could run; without one where none could."""
    rows = await _SQL["oldest_wait"].fetch(executor, **_values(shown))
    return {row["space"]: float(row["seconds"]) for row in rows}


async def unresolved_letters(executor: Executor, shown: Shown) -> dict[str, int]:
    """Return how many dead letters wait for a decision, by space."""
    rows = await _SQL["unresolved_letters"].fetch(executor, **_values(shown))
    return {row["space"]: row["count"] for row in rows}


async def unsettled_dags(executor: Executor, shown: Shown) -> dict[tuple[str, str], int]:
    """Return how many DAGs are under way, and how many have failed, by space and status."""
    rows = await _SQL["unsettled_dags"].fetch(executor, **_values(shown))
    return {(row["space"], row["status"]): row["count"] for row in rows}


async def held_types(executor: Executor, shown: Shown) -> list[HeldType]:
    """Return what keeps types, or once kept them."""
    rows = await _SQL["held_types"].fetch(executor, **_type_values(shown))
    return [
        HeldType(row["space"], row["task_type"], row["paused"], frozenset(map(BreakerState, row["breakers"])))
        for row in rows
    ]


async def counters(executor: Executor, shown: Shown) -> list[Counter]:
    """Return what has ended so far; nothing for those who see only some documents: that is not told apart."""
    if shown.sight.documents is not None:
        return []
    rows = await _SQL["counters"].fetch(executor, **_type_values(shown))
    return [Counter(row["space"], row["task_type"], row["outcome"], row["reason"], row["count"]) for row in rows]


def _values(shown: Shown) -> _ShownValues:
    return {**seen_by(shown.sight), "spaces": shown.spaces}


def _type_values(shown: Shown) -> _TypeValues:
    return {"seen_space": shown.sight.space, "seen_types": shown.sight.task_types, "spaces": shown.spaces}
