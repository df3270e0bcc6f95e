"""Batches: when a child ends, its parent goes on or ends, in the same transaction.

The caller has locked the roots of all trees concerned, so what is read here
cannot change before it is written.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Self

from officeplane.domain.batch import EndBatch, KeepWaiting, StartChild, advance
from officeplane.domain.ids import TaskId
from officeplane.store import trees
from officeplane.store.connection import Executor
from officeplane.store.trees import EndedTask, Ending, Moved


@dataclass(slots=True)
class TreeEffects:
    """What the end of some children led to."""

    queued: list[Moved] = field(default_factory=list[Moved])
    ended: list[EndedTask] = field(default_factory=list[EndedTask])
    asked: list[TaskId] = field(default_factory=list[TaskId])
    """What runs and was asked to stop."""

    def __iadd__(self, more: "TreeEffects") -> Self:
        """Add what this led to in its turn."""
        self.queued += more.queued
        self.ended += more.ended
        self.asked += more.asked
        return self


async def roll_up(
    executor: Executor, parent_ids: Collection[TaskId], *, children_ran: bool, counted_by: str
) -> TreeEffects:
    """Start next children and end finished batches, from these parents up to their roots."""
    result = TreeEffects()
    level = set(parent_ids)
    while level:
        starts: list[TaskId] = []
        endings: list[Ending] = []
        above: set[TaskId] = set()
        families = await trees.families(executor, level)
        if children_ran:
            # A claim skips a parent's row that is locked at that moment.
            late = [family.siblings.parent_id for family in families if not family.has_begun]
            if late:
                await trees.begin(executor, late)
        for family in families:
            match advance(family.siblings):
                case StartChild(child_id):
                    starts.append(child_id)
                case EndBatch(state):
                    endings.append(Ending(family.siblings.parent_id, state, family.culprit))
                    if family.grandparent_id is not None:
                        above.add(family.grandparent_id)
                case KeepWaiting():
                    pass
        if starts:
            result.queued += await trees.start(executor, starts)
        if endings:
            result.ended += await trees.finish(executor, endings, counted_by=counted_by)
        level = above
    return result
