"""Regulation: holding the tasks of a type or of a document back, and letting them go on.

What is held stays where it is in the ledger; the statements that claim leave it
out. So a worker without Redis knows as soon as one with it, and nobody has to
be told but those who wait: what lets go rings.
"""

from typing import Final

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.ids import DocumentId
from officeplane.handlers.catalogue import Catalogue
from officeplane.store import claims, valves
from officeplane.store.connection import Ledger

RINGS_AT_ONCE: Final = 1_000


class Regulation:
    """What people hold back, and let go on."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, catalogue: Catalogue) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._catalogue = catalogue

    async def pause_type(self, task_type: str) -> None:
        """Keep tasks of a type from being claimed; what runs goes on."""
        self._catalogue.find(task_type)
        await valves.set_paused(self._ledger, task_type, paused=True)

    async def resume_type(self, task_type: str) -> None:
        """Let tasks of a type be claimed again, and ring for the most urgent; the sweeper rings for the rest."""
        if await valves.fetch(self._ledger, task_type) is None:
            self._catalogue.find(task_type)
            return
        await valves.set_paused(self._ledger, task_type, paused=False)
        await self._ring(task_type)

    async def pause_document(self, document_id: DocumentId) -> None:
        """Keep everything of a document's lane from being claimed; what runs goes on."""
        await valves.pause_document(self._ledger, document_id)

    async def resume_document(self, document_id: DocumentId) -> None:
        """Let a document's lane go on, and ring for its head."""
        await valves.resume_document(self._ledger, document_id)
        await self._doorbell.bells.ring(await claims.lane_heads(self._ledger, [document_id]))

    async def _ring(self, task_type: str) -> None:
        await self._doorbell.bells.ring(await valves.ring(self._ledger, {task_type: RINGS_AT_ONCE}))
