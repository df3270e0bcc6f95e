"""Ranks: tasks with a deadline or an ageing of their own are ranked again and again.

So is what urgent work waits for. Everything else keeps the rank it was inserted
with: it ages at one rate.
"""

from collections.abc import Awaitable, Iterable
from typing import Final

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.hint import Hint
from officeplane.domain.ids import TaskId
from officeplane.services.chores.priority_inheritance import inherited_ranks
from officeplane.store import ranks
from officeplane.store.connection import Ledger

# A worker skips what is locked at that moment, and finds it later: few at a time, for a moment each.
RANKED_AT_ONCE: Final = 250
RANKED_MAX: Final = 10_000
WORTH_WRITING: Final = 0.01
"""By how much a rank has to have changed."""


class Ranks:
    """Keeps the order of the lanes true for work whose urgency changes."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell) -> None:
        self._ledger = ledger
        self._doorbell = doorbell

    async def rank_anew(self) -> int:
        """Move tasks to where they belong by now, ring those that rose to another tier; return how many moved."""
        count = 0
        for part in _parts(await ranks.moved(self._ledger, at_least=WORTH_WRITING, limit=RANKED_MAX)):
            count += await self._told(ranks.rank_anew(self._ledger, part))
        return count + await self._inherit()

    async def _inherit(self) -> int:
        """Move what urgent work waits for to that work's place, and back what it no longer waits for."""
        inheriting = await inherited_ranks(self._ledger)
        count = 0
        # Also when nothing inherits any more: what inherited before may have to sink.
        for part in _parts(inheriting) or [[]]:
            ranked = {task_id: inheriting[task_id] for task_id in part}
            count += await self._told(
                ranks.inherit(self._ledger, ranked, keeping=inheriting, at_least=WORTH_WRITING, limit=RANKED_AT_ONCE)
            )
        return count

    async def _told(self, moving: Awaitable[tuple[int, list[Hint]]]) -> int:
        count, risen = await moving
        await self._doorbell.bells.ring(risen)
        return count


def _parts(task_ids: Iterable[TaskId]) -> list[list[TaskId]]:
    many = list(task_ids)
    return [many[start : start + RANKED_AT_ONCE] for start in range(0, len(many), RANKED_AT_ONCE)]
