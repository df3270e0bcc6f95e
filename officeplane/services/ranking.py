"""Ranking: what has a deadline or an ageing of its own is given its place again and again.

Everything else keeps the rank it was inserted with: it ages at one rate.
"""

from typing import Final

from officeplane.dispatch.doorbell import Doorbell
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
        return moved
