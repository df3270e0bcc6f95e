"""Batches: a parent holds ordered children and ends with the last of them."""

from dataclasses import dataclass
from typing import Final, Literal

from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState

BATCH_TYPE: Final = "batch_edit"
CHILDREN_MAX: Final = 500
DEPTH_MAX: Final = 5

OnChildFailure = Literal["abort", "continue"]

ALL_OR_NOTHING: Final = "all"
"""What an atomic batch has in place of a rule: it is claimed itself, and its children end with it."""


@dataclass(frozen=True, slots=True)
class Siblings:
    """What a parent's children add up to, read under the parent's lock."""

    parent_id: TaskId
    on_child_failure: OnChildFailure
    cancel_requested: bool
    has_turn: bool
    busy: int
    gave_up: int
    next_pending: TaskId | None


@dataclass(frozen=True, slots=True)
class StartChild:
    """The turn of the next child has come."""

    child_id: TaskId


@dataclass(frozen=True, slots=True)
class EndBatch:
    """The parent is final; children that still wait end CANCELLED with it."""

    state: TaskState


@dataclass(frozen=True, slots=True)
class KeepWaiting:
    """A child is still under way, or the batch itself waits for its turn."""


def advance(siblings: Siblings) -> StartChild | EndBatch | KeepWaiting:
    """Return what a batch does now that one of its children has ended."""
    if siblings.busy:
        return KeepWaiting()
    if siblings.cancel_requested:
        return EndBatch(TaskState.CANCELLED)
    if siblings.gave_up and siblings.on_child_failure == "abort":
        return EndBatch(TaskState.FAILED)
    if siblings.next_pending is not None:
        # A batch that waits for its own turn gives none: one of its children was cancelled ahead of time.
        return StartChild(siblings.next_pending) if siblings.has_turn else KeepWaiting()
    return EndBatch(TaskState.FAILED if siblings.gave_up else TaskState.COMPLETED)
