"""Patches in the ledger: waiting tasks are changed, and put where they belong by now."""

import json
from collections.abc import Sequence
from typing import Final, NamedTuple

from officeplane.domain.ids import TaskId
from officeplane.domain.patch import Change
from officeplane.domain.priority import Tier
from officeplane.domain.space import Space
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("patches")


class Rescheduled(NamedTuple):
    """A task that may run now, on another list than before or at another time."""

    task_id: TaskId
    tier: Tier
    tier_before: Tier
    space: Space


async def apply(executor: Executor, changes: Sequence[Change]) -> list[Rescheduled]:
    """Change tasks of a locked tree; return those to ring, which became due or went to another tier."""
    rows = await _SQL["apply"].fetch(
        executor,
        task_ids=[change.id for change in changes],
        titles=[change.title for change in changes],
        tags=[json.dumps(change.tags) for change in changes],
        priorities=[change.priority for change in changes],
        deadlines=[change.deadline for change in changes],
        run_ats=[change.run_at for change in changes],
    )
    return [
        Rescheduled(TaskId(str(row["id"])), Tier(row["tier"]), Tier(row["tier_before"]), Space(row["space"]))
        for row in rows
    ]
