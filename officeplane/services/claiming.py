"""Claiming: from hints to attempts, for one worker process.

A hint leads to a lane; the lane's lock is taken in Redis so that workers do not
crowd one document, and its head is claimed in Postgres, which alone decides.
Without Redis the same claims are made without locks.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final

import structlog
from uuid_utils import uuid7

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.doorbell import Doorbell
from officeplane.dispatch.locks import Hold, LockRequest
from officeplane.domain.ids import ClaimId, DocumentId, HoldId, TaskId, WorkerId
from officeplane.domain.task import ClaimedTask
from officeplane.services.lanes import HeldLane
from officeplane.store import claims
from officeplane.store.claims import Claimant, Hint, LaneRaceError
from officeplane.store.connection import Ledger

LANES_PER_POLL: Final = 1_000
_log = structlog.stdlib.get_logger(__name__)


class Claiming:
    """The worker's way to its tasks."""

    def __init__(
        self, ledger: Ledger, doorbell: Doorbell, worker_id: WorkerId, task_types: Sequence[str], lease_seconds: float
    ) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._worker_id = worker_id
        self._task_types = task_types
        self._lease_seconds = lease_seconds
        self._lanes: dict[DocumentId, HeldLane] = {}
        self._suspect: TaskId | None = None
        self._suspect_sought = False
        self._next_lane = ""

    @property
    def holds(self) -> list[Hold]:
        """The locks this worker has, for renewal."""
        return [lane.hold for lane in self._lanes.values() if lane.is_locked]

    async def claim(self, hints: Collection[str]) -> list[ClaimedTask]:
        """Claim what hints lead to: the tasks themselves, or the heads of their documents' lanes."""
        return await self._claim(await claims.resolve(self._ledger, [TaskId(hint) for hint in hints]))

    async def claim_from_ledger(self, up_to: int) -> list[ClaimedTask]:
        """Claim without hints: what the ledger itself shows to be runnable."""
        polled = await claims.poll(self._ledger, limit=up_to, after_lane=self._next_lane, lanes=LANES_PER_POLL)
        self._next_lane = polled.next_lane
        return await self._claim(polled.hints)

    async def continue_lanes(self, documents: Iterable[DocumentId]) -> list[ClaimedTask]:
        """Claim the next heads of lanes that this worker may stay in; leave the others."""
        now = time.monotonic()
        mine = [lane for document_id in documents if (lane := self._lanes.get(document_id)) is not None]
        staying = [lane for lane in mine if lane.may_continue(now)]
        leaving = [lane.document_id for lane in mine if not lane.may_continue(now)]
        claimed = await self._claim_lanes(staying)
        for task in claimed:
            self._lanes[DocumentId(str(task.document_id))].tasks += 1
        followed = {task.document_id for task in claimed}
        await self._leave([lane for lane in staying if lane.document_id not in followed])
        await self.leave_lanes(leaving)
        return claimed

    async def leave_lanes(self, documents: Iterable[DocumentId]) -> None:
        """Give documents back, and ring for whatever still waits in their lanes."""
        leaving = [lane for document_id in documents if (lane := self._lanes.get(document_id)) is not None]
        if not leaving:
            return
        await self._leave(leaving)
        await self._doorbell.bells.ring(
            await claims.lane_heads(self._ledger, [lane.document_id for lane in leaving])
        )

    def forget_suspect(self, task_id: TaskId) -> None:
        """Note that an attempt has ended, so that the next suspect may be taken."""
        if self._suspect == task_id:
            self._suspect = None

    async def _claim(self, hints: Sequence[Hint]) -> list[ClaimedTask]:
        free = [hint.task_id for hint in hints if hint.document_id is None]
        claimed: list[ClaimedTask] = []
        if free:
            claimed += await self._claim_tasks(free)
        lanes = await self._locked(hints)
        if lanes:
            taken = await self._claim_lanes(lanes)
            occupied = {task.document_id for task in taken}
            self._lanes.update({lane.document_id: lane for lane in lanes if lane.document_id in occupied})
            await self._release([lane for lane in lanes if lane.document_id not in occupied])
            claimed += taken
        return claimed

    async def _locked(self, hints: Sequence[Hint]) -> list[HeldLane]:
        urgent: dict[DocumentId, Hint] = {}
        for hint in hints:
            if hint.document_id is not None:
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
        if not self._doorbell.availability.available:
            return [HeldLane(request.hold, is_locked=False, since=now) for request in requests]
        try:
            granted = await self._doorbell.locks.acquire(requests)
        except RedisUnavailable:
            return [HeldLane(request.hold, is_locked=False, since=now) for request in requests]
        return [
            HeldLane(request.hold, is_locked=True, since=now)
            for request, is_granted in zip(requests, granted, strict=True)
            if is_granted
        ]

    async def _claim_tasks(self, task_ids: Sequence[TaskId]) -> list[ClaimedTask]:
        wanted = [(task_id, ClaimId(str(uuid7()))) for task_id in task_ids]
        return await self._take(lambda who: claims.claim_tasks(self._ledger, who, wanted))

    async def _claim_lanes(self, lanes: Sequence[HeldLane]) -> list[ClaimedTask]:
        if not lanes:
            return []
        wanted = [
            (lane.document_id, ClaimId(str(uuid7())), HoldId(lane.hold.hold_id))
            for lane in sorted(lanes, key=lambda lane: lane.document_id)
        ]
        try:
            return await self._take(lambda who: claims.claim_lanes(self._ledger, who, wanted))
        except LaneRaceError:
            return await self._claim_one_by_one(wanted)

    async def _claim_one_by_one(self, wanted: Sequence[tuple[DocumentId, ClaimId, HoldId]]) -> list[ClaimedTask]:
        # The unique index refused the whole array: somebody was quicker in one of these lanes.
        taken = await claims.occupied(self._ledger, [document_id for document_id, _, _ in wanted])
        claimed: list[ClaimedTask] = []
        for lane in wanted:
            if lane[0] not in taken:
                try:
                    claimed += await self._take(lambda who, lane=lane: claims.claim_lanes(self._ledger, who, [lane]))
                except LaneRaceError:
                    _log.debug("lane.raced", document_id=lane[0])
        return claimed

    async def _take(self, claim: Callable[[Claimant], Awaitable[list[ClaimedTask]]]) -> list[ClaimedTask]:
        # A suspect may have killed its last worker; one at a time, so that a second
        # death tells which of them did it.
        may_take_suspect = self._suspect is None and not self._suspect_sought
        self._suspect_sought = self._suspect_sought or may_take_suspect
        try:
            claimed = await claim(Claimant(self._worker_id, self._lease_seconds, self._task_types, may_take_suspect))
        finally:
            if may_take_suspect:
                self._suspect_sought = False
        for task in claimed:
            if task.suspect:
                self._suspect = task.id
        return claimed

    async def _leave(self, lanes: Sequence[HeldLane]) -> None:
        for lane in lanes:
            if self._lanes.get(lane.document_id) is lane:
                del self._lanes[lane.document_id]
        await self._release(lanes)

    async def _release(self, lanes: Sequence[HeldLane]) -> None:
        locked = [lane.hold for lane in lanes if lane.is_locked]
        if not locked:
            return
        try:
            await self._doorbell.locks.release(locked)
        except RedisUnavailable:
            _log.info("locks.not_released", documents=len(locked))
