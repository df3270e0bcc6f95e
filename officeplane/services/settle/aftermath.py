"""Aftermath: what a settlement that is committed has to tell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from officeplane.domain.hint import Hint
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL, TaskState
from officeplane.domain.outcome import Verdict
from officeplane.domain.space import QualifiedType
from officeplane.services.settle.batches import TreeEffects
from officeplane.store.settlements import Settled
from officeplane.store.trees import hints_of

ENDED: Final = "ended"
"""The announcement that tasks have ended for good."""


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What ended, what became ready, and whose limits have room."""

    ended: list[TaskId] = field(default_factory=list[TaskId])
    ready: list[Hint] = field(default_factory=list[Hint])
    freed: list[QualifiedType] = field(default_factory=list[QualifiedType])


def aftermath_of(rows: Sequence[Settled], verdicts: Sequence[Verdict], effects: TreeEffects | None = None) -> Aftermath:
    """Return what these ends, and what they led to, have to tell."""
    at_once = {v.task_id for v in verdicts if v.state is TaskState.RETRYING and not v.delay_seconds}
    ready = [
        Hint(row.task_id, row.tier, row.space)
        for row in rows
        if row.state is TaskState.QUEUED or (row.state is TaskState.RETRYING and row.task_id in at_once)
    ]
    ended = [row.task_id for row in rows if row.state in FINAL]
    if effects is not None:
        ready += hints_of(effects.queued)
        ended += [task.task_id for task in effects.ended]
    return Aftermath(ended, ready)
