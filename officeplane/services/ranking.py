"""Ranking: what has a deadline or an ageing of its own is given its place again and again.

So is what urgent work waits for. Everything else keeps the rank it was inserted
with: it ages at one rate.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.ids import TaskId
from officeplane.services.lifting import inherited_ranks
from officeplane.store import ranks
from officeplane.store.connection import Ledger

# A worker skips what is locked at that moment, and finds it later: few at a time, for a moment each.
RANKED_AT_ONCE: Final = 250
PARTS_MAX: Final = 40
WORTH_WRITING: Final = 0.01
"""By how much a place has to have changed."""


class Ranking:
    """Keeps the order of the lanes true for work whose urgency changes."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell) -> None:
        self._ledger = ledger
        self._doorbell = doorbell

    async def rank_anew(self) -> int:
        """Move tasks to where they belong by now, ring those that rose to another tier; return how many moved."""
        moved = 0
        for _ in range(PARTS_MAX):
            ranked, risen = await ranks.rank_anew(self._ledger, at_least=WORTH_WRITING, limit=RANKED_AT_ONCE)
            await self._doorbell.bells.ring(risen)
            moved += ranked
            if ranked < RANKED_AT_ONCE:
                break
        return moved + await self._lift()

    async def _lift(self) -> int:
        """Move what urgent work waits for to that work's place, and back what it no longer waits for."""
        lifted = await inherited_ranks(self._ledger)
        moved = 0
        for part in _parts(lifted):
            ranked, risen = await ranks.inherit(
                self._ledger, part, keeping=lifted, at_least=WORTH_WRITING, limit=RANKED_AT_ONCE
            )
            await self._doorbell.bells.ring(risen)
            moved += ranked
        return moved


def _parts(lifted: Mapping[TaskId, float]) -> Iterator[dict[TaskId, float]]:
    """Yield what is lifted part by part; an empty part, if nothing is, for what was."""
    each = iter(lifted.items())
    part = dict(islice(each, RANKED_AT_ONCE))
    while True:
        yield part
        part = dict(islice(each, RANKED_AT_ONCE))
        if not part:
            return
