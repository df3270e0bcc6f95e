"""Lanes in a worker's hands: entered under a lock, and left before others starve.

Without Redis lanes are entered all the same, without a lock: what keeps two
workers out of one document is the ledger.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from uuid_utils import uuid7

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.doorbell import Doorbell
from officeplane.dispatch.locks import Hold, LockRequest
from officeplane.domain.ids import DocumentId, HoldId, WorkerId
from officeplane.failpoints import reach
from officeplane.store.claims import LaneClaim, LaneHint, new_claim_id

HOLD_TASKS_MAX: Final = 32
HOLD_SECONDS_MAX: Final = 5.0
_log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True)
class LaneStay:
    """One stay in one document's lane."""

    hold: Hold
    is_locked: bool
    since: float
    tasks: int = 1

    @property
    def document_id(self) -> DocumentId:
        """The document whose lane is held."""
        return DocumentId(self.hold.document_id)

    @property
    def room(self) -> int:
        """How many more tasks may run during this stay."""
        return HOLD_TASKS_MAX - self.tasks

    def may_continue(self, now: float) -> bool:
        """Whether the next task of the lane may follow without giving the document back."""
        return self.room > 0 and now - self.since < HOLD_SECONDS_MAX


def lane_claims(lanes: Iterable[LaneStay]) -> list[LaneClaim]:
    """Return a new claim on each of these lanes, in the order of their documents."""
    return sorted((lane.document_id, new_claim_id(), HoldId(lane.hold.hold_id)) for lane in lanes)


class Lanes:
    """The lanes one worker is in."""

    def __init__(self, doorbell: Doorbell, worker_id: WorkerId) -> None:
        self._doorbell = doorbell
        self._worker_id = worker_id
        self._held: dict[DocumentId, LaneStay] = {}

    @property
    def holds(self) -> list[Hold]:
        """The locks this worker has, for renewal."""
        return [lane.hold for lane in self._held.values() if lane.is_locked]

    def stays(self, documents: Iterable[DocumentId]) -> list[LaneStay]:
        """Return the stays in these documents' lanes."""
        return [lane for document_id in documents if (lane := self._held.get(document_id)) is not None]

    def keep(self, lanes: Iterable[LaneStay]) -> None:
        """Stay in lanes whose head was claimed."""
        self._held.update((lane.document_id, lane) for lane in lanes)

    def rejoin(self, document_id: DocumentId, hold_id: str) -> None:
        """Stay in a lane that was entered without knowing it; its lock may still be there."""
        hold = Hold(document_id, self._worker_id, hold_id)
        self._held[document_id] = LaneStay(hold, is_locked=True, since=time.monotonic())

    async def enter(self, hints: Iterable[LaneHint]) -> list[LaneStay]:
        """Lock the lanes that hints lead to; the hints of those that others hold are parked."""
        urgent: dict[DocumentId, LaneHint] = {}
        for hint in hints:
            known = urgent.setdefault(hint.document_id, hint)
            if hint.tier < known.tier:
                urgent[hint.document_id] = hint
        requests = [
            LockRequest(Hold(document_id, self._worker_id, str(uuid7())), hint.task_id, hint.tier)
            for document_id, hint in sorted(urgent.items())
        ]
        if not requests:
            return []
        now = time.monotonic()
        granted = await self._locked(requests)
        if granted is None:
            return [LaneStay(request.hold, is_locked=False, since=now) for request in requests]
        return [
            LaneStay(request.hold, is_locked=True, since=now)
            for request, is_granted in zip(requests, granted, strict=True)
            if is_granted
        ]

    async def leave(self, lanes: Sequence[LaneStay]) -> None:
        """Give lanes back; what was parked behind their locks is rung."""
        for lane in lanes:
            if self._held.get(lane.document_id) is lane:
                del self._held[lane.document_id]
        locked = [lane.hold for lane in lanes if lane.is_locked]
        if not locked:
            return
        await reach("before_release")
        try:
            await self._doorbell.locks.release(locked)
        except RedisUnavailable:
            _log.info("locks.not_released", documents=len(locked))
        await reach("after_release")

    async def _locked(self, requests: Sequence[LockRequest]) -> list[bool] | None:
        if not self._doorbell.availability.available:
            return None
        try:
            return await self._doorbell.locks.acquire(requests)
        except RedisUnavailable:
            return None
