"""Spawns in the ledger: which task a handler has spawned under which key."""

import json
from datetime import datetime
from typing import Final, NamedTuple

from officeplane.domain.ids import ClaimId, DagId, TaskId
from officeplane.domain.lifecycle import STATES, TaskState
from officeplane.domain.principal import SYSTEM, Kind, Principal
from officeplane.domain.space import Space
from officeplane.domain.task import ClaimedTask
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("spawns")


class Found(NamedTuple):
    """What was spawned under a key, and how it stands; no state when it was pruned."""

    task_id: TaskId
    generation: int
    request_hash: bytes
    state: TaskState | None
    result: object


class SpawningTask(NamedTuple):
    """A task that spawns: what it hands on, whether its attempt stands, and what the key led to."""

    generation: int
    priority: int
    tags: tuple[str, ...]
    created_by: str | None
    on_behalf_of: str | None
    space: Space
    deadline: datetime | None
    boost_per_minute: float | None
    dag_id: DagId | None
    stands: bool
    found: Found | None

    @property
    def caller(self) -> Principal:
        """In whose name it spawns: whoever asked for it, in its space."""
        return Principal(self.created_by or SYSTEM.id, Kind.SYSTEM, SYSTEM.scopes, self.space)


class Extent(NamedTuple):
    """How many tasks a task has spawned, and in how deep a line of spawned tasks it stands."""

    spawned: int
    depth: int


async def look(executor: Executor, task_id: TaskId, claim_id: ClaimId, key: str) -> SpawningTask | None:
    """Return a task that spawns, with what its key led to; None when there is no such task."""
    rows = await _SQL["look"].fetch(executor, task_id=task_id, claim_id=claim_id, key=key)
    return _spawner(rows[0]) if rows else None


async def lock(executor: Executor, task_id: TaskId) -> None:
    """Keep a task's attempt from ending until the transaction does."""
    await _SQL["lock"].fetch(executor, task_id=task_id)


async def extent(executor: Executor, task_id: TaskId, *, depth_max: int) -> Extent:
    """Return how much a task has spawned, and how deep it stands itself."""
    (row,) = await _SQL["extent"].fetch(executor, task_id=task_id, depth_max=depth_max)
    return Extent(row["spawned"], row["depth"])


async def remember(
    executor: Executor, task: ClaimedTask, key: str, spawned: TaskId, generation: int, request_hash: bytes
) -> None:
    """Keep what was spawned under a key."""
    await _SQL["remember"].fetch(
        executor, spawned_by=task.id, key=key, task_id=spawned, generation=generation, request_hash=request_hash
    )


async def needs_others(executor: Executor, task_id: TaskId) -> bool:
    """Tell whether a task depends on others, or has some below it that may."""
    (row,) = await _SQL["needs_others"].fetch(executor, task_id=task_id)
    return bool(row["needs_others"])


async def take_turn(executor: Executor) -> None:
    """Be the only one that looks for a circle, until the transaction ends."""
    await _SQL["take_turn"].fetch(executor)


async def leads_back(executor: Executor, task_id: TaskId, waiting: TaskId) -> bool:
    """Tell whether a task needs, however indirectly, the one that is to wait for it."""
    (row,) = await _SQL["leads_back"].fetch(executor, task_id=task_id, waiting_id=waiting)
    return bool(row["leads_back"])


def _spawner(row: Row) -> SpawningTask:
    found: Found | None = None
    if row["task_id"] is not None:
        found = Found(
            TaskId(str(row["task_id"])),
            row["spawned_in"],
            row["request_hash"],
            None if row["state"] is None else STATES[row["state"]],
            None if row["result"] is None else json.loads(row["result"]),
        )
    return SpawningTask(
        row["generation"],
        row["priority"],
        tuple(row["tags"]),
        row["created_by"],
        row["on_behalf_of"],
        row["space"],
        row["deadline"],
        row["boost_per_minute"],
        None if row["dag_id"] is None else DagId(str(row["dag_id"])),
        row["stands"],
        found,
    )
