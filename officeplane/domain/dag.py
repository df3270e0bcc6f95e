"""DAGs: tasks that belong together, and what they add up to."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from officeplane.domain.ids import DagId, TaskId
from officeplane.domain.lifecycle import TaskState

TASKS_MAX: Final = 10_000
EDGES_MAX: Final = 100_000
"""How many times its tasks, and what is below them, may say that they depend on another."""

PATH_BOOST: Final = 5.0
"""What being on the longest path takes off a task's priority: whatever waits there makes the whole wait."""


class DagStatus(StrEnum):
    """How a DAG stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Dag:
    """What the ledger knows of a DAG besides its tasks."""

    id: DagId
    seq: int
    title: str | None
    status: DagStatus
    is_stuck: bool
    created_by: str | None
    on_behalf_of: str | None
    created_at: datetime
    finished_at: datetime | None
    cancel_requested_at: datetime | None


class DagTask(NamedTuple):
    """A task of a DAG, without what is below it."""

    id: TaskId
    key: str | None
    task_type: str
    state: TaskState
    depends_on: tuple[TaskId, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """What the tasks of a DAG add up to; `going_on` is whether any can run, now or once another outside has ended."""

    going_on: bool
    waiting: int = 0
    gave_up: int = 0
    completed: int = 0
    cancel_requested: bool = False


def status_of(tally: Tally) -> DagStatus:
    """Return the status that the tasks of a DAG add up to; it is final as soon as none of them can run."""
    if tally.going_on:
        return DagStatus.RUNNING
    if tally.cancel_requested and not tally.waiting:
        return DagStatus.CANCELLED
    # Whatever waits and cannot run waits behind a failure.
    if tally.gave_up or tally.waiting:
        return DagStatus.FAILED
    return DagStatus.COMPLETED if tally.completed else DagStatus.CANCELLED
