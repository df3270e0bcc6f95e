"""Valves: what keeps the tasks of a type from being claimed, in each space by itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.lifecycle import ACTIVE, CLAIMABLE, TaskState
from officeplane.domain.space import QualifiedType
from officeplane.domain.task import ClaimedTask

_K = FailureKind

OF_ITS_OWN: Final = frozenset({
    _K.INVALID_EDIT, _K.EDIT_CONFLICT, _K.PERMANENT, _K.CANCELLED, _K.RATE_LIMITED, _K.BUDGET_EXCEEDED,
    _K.INFRASTRUCTURE,
})  # fmt: skip
"""Failures that are about one task and not about its type: a user's mistake closes a type to nobody else."""


class BreakerState(StrEnum):
    """Whether a type's failures keep it from being tried."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a type may be done at once and how fast; None is no limit."""

    rate_per_second: float | None = None
    concurrency: int | None = None


class Room(NamedTuple):
    """How many tasks of a type its limits admit now, and which alone, if its breaker is half-open."""

    tasks: int
    only: TaskId | None = None


class Contender(NamedTuple):
    """A task that could be claimed if the limits of its type admit it."""

    task_id: TaskId
    document_id: DocumentId | None
    task_type: QualifiedType


def admitted(contenders: Iterable[Contender], rooms: Mapping[QualifiedType, Room]) -> list[Contender]:
    """Return those that there is room for; who comes first, comes in first."""
    left = {task_type: room.tasks for task_type, room in rooms.items()}
    found: list[Contender] = []
    for one in contenders:
        room = rooms.get(one.task_type)
        if room is not None and left[one.task_type] > 0 and room.only in (None, one.task_id):
            left[one.task_type] -= 1
            found.append(one)
    return found


@dataclass(frozen=True, slots=True)
class Breaker:
    """The breaker of a type as it stands."""

    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    opened_at: datetime | None = None
    retry_at: datetime | None = None
    failure_threshold: int | None = None
    """The type's own; None is the installation's. So is the next."""
    half_open_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Valve:
    """Everything that may keep the tasks of one type of a space."""

    task_type: str
    """As those who call know it."""
    is_paused: bool = False
    slow_until: datetime | None = None
    breaker: Breaker = Breaker()
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Probe:
    """The one task of a half-open type that is let through, and how it stands."""

    task_type: QualifiedType
    task_id: TaskId | None
    state: TaskState | None
    may_be_claimed: bool

    @property
    def succeeded(self) -> bool:
        """Whether it has shown that the type works again."""
        return self.state is TaskState.COMPLETED

    @property
    def is_under_way(self) -> bool:
        """Whether no other may be let through: it runs, or may still be claimed."""
        return self.state in ACTIVE or (self.state in CLAIMABLE and self.may_be_claimed)


@dataclass(frozen=True, slots=True)
class TypeFailure:
    """What one failed attempt means for everything of its type in its space."""

    task_type: QualifiedType
    slow_seconds: float | None = None
    """For how long the type slows down; None: it is counted as a failure."""
    crashed_by: str | None = None
    """The document, or else the task, that a process died of: all its crashes in a row count as one."""


def type_failure_of(
    task: ClaimedTask, failure: Failure, wait_seconds: float, own_seconds: Mapping[str, float]
) -> TypeFailure | None:
    """Return what a failure means for its type, if anything; its task is tried again after the wait.

    `own_seconds` is how long attempts may take by their types, of those that have a breaker. Who gave
    an attempt less than that has made it fail, and nothing is known of the type.
    """
    own = own_seconds.get(task.task_type)
    if own is None or failure.kind in OF_ITS_OWN - {FailureKind.RATE_LIMITED}:
        return None
    match failure.kind:
        case FailureKind.RATE_LIMITED:
            return TypeFailure(task.qualified_type, slow_seconds=wait_seconds / 2)
        case FailureKind.TIMEOUT if task.timeout_seconds < own:
            return None
        case FailureKind.CRASH:
            return TypeFailure(task.qualified_type, crashed_by=task.document_id or task.id)
        case _:
            return TypeFailure(task.qualified_type)
