"""Claiming: from hints to attempts, for one worker process.

A hint leads to a lane; the lane is entered under its lock so that workers do
not crowd one document, and its head is claimed in Postgres, which alone decides.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final

import structlog
from uuid_utils import uuid7

from officeplane.dispatch.doorbell import Doorbell
from officeplane.dispatch.locks import Hold
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import ClaimId, DocumentId, TaskId, WorkerId
from officeplane.domain.task import ClaimedTask
from officeplane.failpoints import reach
from officeplane.services.claims.admission import TaskClaim, admit
from officeplane.services.claims.following import (
    Following,
    LaneClaim,
    after_going_on,
    before_going_on,
    in_hand,
    lane_claims,
)
from officeplane.services.claims.lanes import HeldLane, Lanes
from officeplane.services.observe.metering import Meter
from officeplane.store import claims, valves
from officeplane.store.claims import Claimant, Hint, LaneRaceError
from officeplane.store.connection import Ledger

LANES_PER_POLL: Final = 1_000
_log = structlog.stdlib.get_logger(__name__)


class Claiming:
    """The worker's way to its tasks."""

    def __init__(
        self,
        ledger: Ledger,
        doorbell: Doorbell,
        worker_id: WorkerId,
        task_types: Sequence[str],
        lease_seconds: float,
        meter: Meter,
    ) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._worker_id = worker_id
        self._task_types = task_types
        self._lease_seconds = lease_seconds
        self._meter = meter
        self._lanes = Lanes(doorbell, worker_id)
        self._suspect: TaskId | None = None
        self._suspect_sought = False
        self._next_lane = ""
        # Whether any type has limits, as of the last look; those are claimed by `admit`.
        self._limits = False
        self._admitted: set[TaskId] = set()
        # Claims whose statement may have been committed although its answer never came.
        self._doubtful: set[ClaimId] = set()

    @property
    def holds(self) -> list[Hold]:
        """The locks this worker has, for renewal."""
        return self._lanes.holds

    @property
    def has_doubts(self) -> bool:
        """Whether an earlier claim may have succeeded unheard."""
        return bool(self._doubtful)

    async def claim(self, hints: Collection[str]) -> list[ClaimedTask]:
        """Claim what hints lead to: the tasks themselves, or the heads of their documents' lanes."""
        await reach("after_pop")
        found = await self._recovered()
        with in_hand(found):
            claimed = await self._claim([TaskId(hint) for hint in hints])
            self._meter.popped_in_vain(len(hints) - len(claimed))
            found += claimed
        return found

    async def claim_from_ledger(self, up_to: int) -> list[ClaimedTask]:
        """Claim without hints: what the ledger itself shows to be runnable."""
        found = await self._recovered()
        with in_hand(found):
            polled = await claims.poll(
                self._ledger,
                limit=up_to,
                after_lane=self._next_lane,
                lanes=LANES_PER_POLL,
                task_types=self._task_types,
                may_take_suspect=self._suspect is None,
            )
            self._next_lane, self._limits = polled.next_lane, polled.limits
            task_ids = polled.task_ids
            if self._limits:
                # Limits bound these; half of the slots are bound by nothing else.
                task_ids = [*await valves.admissible(self._ledger, (up_to + 1) // 2), *task_ids][:up_to]
            found += await self._claim(task_ids)
        return found

    async def continue_lanes(self, documents: Iterable[DocumentId]) -> list[ClaimedTask]:
        """Claim the next heads of lanes that this worker may stay in; leave the others."""
        await before_going_on()
        now = time.monotonic()
        mine = self._lanes.held(documents)
        staying = [lane for lane in mine if lane.may_continue(now)]
        leaving = [lane for lane in mine if not lane.may_continue(now)]
        claimed: list[ClaimedTask] = []
        try:
            claimed = await self._claim_lanes(staying)
        finally:
            followed = {task.document_id for task in claimed}
            for lane in staying:
                lane.tasks += lane.document_id in followed
            await self._lanes.leave([*leaving, *(lane for lane in staying if lane.document_id not in followed)])
        with in_hand(claimed):
            await after_going_on()
            await self._ring([lane.document_id for lane in leaving])
        return claimed

    def following(self, documents: Iterable[DocumentId]) -> Following:
        """Return what may follow in these lanes, to be claimed by the statement that ends what runs there."""
        now = time.monotonic()
        return Following(self._take, [lane for lane in self._lanes.held(documents) if lane.may_continue(now)])

    def rode(self, following: Following) -> None:
        """Note what ended in these lanes without a claim of its own."""
        for rider in following.ridden:
            self._meter.waited(rider.task_type, rider.waited_seconds)
            self._meter.ran(rider.task_type, rider.ran_seconds)

    def doubt(self, following: Following) -> None:
        """Have what followed found again by the next claim: the settlement it came with is not through."""
        self._doubtful.update(following.claim_ids)

    async def quit_lanes(self, documents: Iterable[DocumentId]) -> None:
        """Give documents back in whose lanes nothing waits; a hint parked meanwhile is rung."""
        await self._lanes.leave(self._lanes.held(documents))

    async def leave_lanes(self, documents: Iterable[DocumentId]) -> None:
        """Give documents back, and ring for whatever still waits in their lanes."""
        leaving = self._lanes.held(documents)
        await self._lanes.leave(leaving)
        await self._ring([lane.document_id for lane in leaving])

    def forget_suspect(self, task_id: TaskId) -> None:
        """Note that an attempt has ended, so that the next suspect may be taken."""
        if self._suspect == task_id:
            self._suspect = None

    def freed(self, tasks: Iterable[ClaimedTask]) -> list[str]:
        """Return the types of those that limits had admitted: their place is free for another."""
        freed = [task for task in tasks if task.id in self._admitted]
        self._admitted.difference_update([task.id for task in freed])
        return [task.task_type for task in freed]

    async def _ring(self, documents: Sequence[DocumentId]) -> None:
        if documents:
            await self._doorbell.bells.ring(await claims.lane_heads(self._ledger, documents))

    async def _recovered(self) -> list[ClaimedTask]:
        if not self._doubtful:
            return []
        # Whoever looks meanwhile has nothing to find; new doubts are for the next look.
        doubtful, self._doubtful = self._doubtful, set()
        try:
            found = await claims.recover(self._ledger, self._worker_id, doubtful)
        except BaseException:
            self._doubtful |= doubtful
            raise
        self._note_suspects(found)
        for task in found:
            if task.document_id is not None and task.hold_id is not None:
                self._lanes.rejoin(task.document_id, task.hold_id)
        return found

    async def _claim(self, task_ids: Sequence[TaskId]) -> list[ClaimedTask]:
        if not task_ids:
            return []
        wanted = [(task_id, ClaimId(str(uuid7()))) for task_id in dict.fromkeys(task_ids)]
        lanes: list[Hint] = []

        async def claim(who: Claimant) -> list[ClaimedTask]:
            found = await claims.claim_hinted(self._ledger, who, wanted)
            lanes.extend(found.lanes)
            self._limits = found.limits
            return found.claimed

        claimed = await self._take([claim_id for _, claim_id in wanted], claim)
        heads: list[ClaimedTask] = []
        with in_hand(claimed):
            await reach("after_resolve")
            if self._limits:
                taken = {task.id for task in claimed}
                claimed += await self._admit([one for one in wanted if one[0] not in taken], [])
            heads = await self._claim_heads(lanes)
        return claimed + heads

    async def _claim_heads(self, hints: Sequence[Hint]) -> list[ClaimedTask]:
        entered = await self._lanes.enter(hints)
        heads: list[ClaimedTask] = []
        try:
            await reach("after_lock")
            heads = await self._claim_lanes(entered)
            with in_hand(heads):
                await reach("after_claim")
        finally:
            occupied = {task.document_id for task in heads}
            self._lanes.keep(lane for lane in entered if lane.document_id in occupied)
            await self._lanes.leave([lane for lane in entered if lane.document_id not in occupied])
        return heads

    async def _claim_lanes(self, lanes: Sequence[HeldLane]) -> list[ClaimedTask]:
        if not lanes:
            return []
        wanted = lane_claims(lanes)
        claimed: list[ClaimedTask] = []
        if self._limits:
            # First of all: to the others a limited head that yields stands aside, even if there is room for it.
            claimed = await self._admit([], wanted)
            taken = {task.document_id for task in claimed}
            wanted = [lane for lane in wanted if lane[0] not in taken]
        with in_hand(claimed):
            try:
                claimed += await self._take_heads(wanted)
            except LaneRaceError:
                claimed += await self._claim_one_by_one(wanted)
        return claimed

    async def _claim_one_by_one(self, wanted: Sequence[LaneClaim]) -> list[ClaimedTask]:
        # The unique index refused the whole array: somebody was quicker in one of these lanes.
        taken = await claims.occupied(self._ledger, [document_id for document_id, _, _ in wanted])
        claimed: list[ClaimedTask] = []
        with in_hand(claimed):
            for lane in wanted:
                if lane[0] not in taken:
                    try:
                        claimed += await self._take_heads([lane])
                    except LaneRaceError:
                        _log.debug("lane.raced", document_id=lane[0])
        return claimed

    async def _take_heads(self, wanted: Sequence[LaneClaim]) -> list[ClaimedTask]:
        if not wanted:
            return []
        return await self._take(
            [claim_id for _, claim_id, _ in wanted], lambda who: claims.claim_lanes(self._ledger, who, wanted)
        )

    async def _admit(self, tasks: Sequence[TaskClaim], lanes: Sequence[LaneClaim]) -> list[ClaimedTask]:
        if not tasks and not lanes:
            return []
        claim_ids = [claim_id for _, claim_id in tasks] + [claim_id for _, claim_id, _ in lanes]
        try:
            claimed = await self._take(claim_ids, lambda who: admit(self._ledger, who, tasks, lanes))
        except LaneRaceError:
            _log.debug("lane.raced", lanes=len(lanes))
            return []
        self._admitted.update(task.id for task in claimed)
        return claimed

    async def _take(
        self, claim_ids: Iterable[ClaimId], claim: Callable[[Claimant], Awaitable[list[ClaimedTask]]]
    ) -> list[ClaimedTask]:
        # A suspect may have killed its last worker; one at a time, so that a second
        # death tells which of them did it.
        may_take_suspect = self._suspect is None and not self._suspect_sought
        self._suspect_sought = self._suspect_sought or may_take_suspect
        try:
            claimed = await claim(Claimant(self._worker_id, self._lease_seconds, self._task_types, may_take_suspect))
        except DatabaseUnavailableError:
            self._doubtful.update(claim_ids)
            raise
        finally:
            if may_take_suspect:
                self._suspect_sought = False
        self._note_suspects(claimed)
        return claimed

    def _note_suspects(self, claimed: Iterable[ClaimedTask]) -> None:
        for task in claimed:
            if task.suspect:
                self._suspect = task.id
