"""Aftermath: what a settlement that is committed has to tell, and to whom it is told."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL, TaskState
from officeplane.domain.outcome import Verdict
from officeplane.domain.priority import Tier
from officeplane.failpoints import reach
from officeplane.services.settle.batches import TreeEffects
from officeplane.store import valves
from officeplane.store.connection import Ledger
from officeplane.store.settlements import Settled

ENDED: Final = "ended"
"""The announcement that tasks have ended for good."""
# A task that was rung a moment ago for a place that became free is not rung for the next place.
RUNG_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What ended, what became ready, and whose limits have room."""

    ended: list[TaskId] = field(default_factory=list[TaskId])
    ready: list[tuple[TaskId, Tier]] = field(default_factory=list[tuple[TaskId, Tier]])
    freed: list[str] = field(default_factory=list[str])


def aftermath_of(rows: Sequence[Settled], verdicts: Sequence[Verdict], effects: TreeEffects) -> Aftermath:
    """Return what these ends and what they led to have to tell."""
    at_once = {v.task_id for v in verdicts if v.state is TaskState.RETRYING and not v.delay_seconds}
    ready = [(moved.task_id, moved.tier) for moved in effects.queued]
    ready += [
        (row.task_id, row.tier)
        for row in rows
        if row.state is TaskState.QUEUED or (row.state is TaskState.RETRYING and row.task_id in at_once)
    ]
    ended = [row.task_id for row in rows if row.state in FINAL] + [task.task_id for task in effects.ended]
    return Aftermath(ended, ready)


async def tell(ledger: Ledger, doorbell: Doorbell, told: Sequence[Aftermath]) -> None:
    """Announce what has ended, ring for what became ready."""
    await doorbell.announcements.announce(ENDED, [task_id for one in told for task_id in one.ended])
    await doorbell.bells.ring([hint for one in told for hint in one.ready])
    freed = Counter(task_type for one in told for task_type in one.freed)
    if freed:
        await doorbell.bells.ring(await valves.ring(ledger, freed, rung_ago=RUNG_SECONDS))
    await reach("after_ready_rung")
