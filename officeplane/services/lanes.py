"""Lanes in a worker's hands: how long it may stay in a document before others get a turn."""

from dataclasses import dataclass
from typing import Final

from officeplane.dispatch.locks import Hold
from officeplane.domain.ids import DocumentId

HOLD_TASKS_MAX: Final = 32
HOLD_SECONDS_MAX: Final = 5.0


@dataclass(slots=True)
class HeldLane:
    """One stay in one document's lane."""

    hold: Hold
    is_locked: bool
    since: float
    tasks: int = 1

    @property
    def document_id(self) -> DocumentId:
        """The document whose lane is held."""
        return DocumentId(self.hold.document_id)

    def may_continue(self, now: float) -> bool:
        """Whether the next task of the lane may follow without giving the document back."""
        return self.tasks < HOLD_TASKS_MAX and now - self.since < HOLD_SECONDS_MAX
