"""The worker's desk: what one worker process has in hand of its claims.

The kernel claims; here is what it does not remember: the lanes the worker is in,
its one suspect, claims whose answer never came, and which of its tasks limits
have admitted.
"""

import time
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from officeplane.dispatch.doorbell import Doorbell
from officeplane.dispatch.locks import Hold
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import ClaimId, DocumentId, TaskId
from officeplane.domain.space import QualifiedType
from officeplane.domain.task import ClaimedTask
from officeplane.failpoints import reach
from officeplane.services.claims.companion import ClaimStatement
from officeplane.services.claims.continuation import Continuation
from officeplane.services.claims.kernel import Claims, in_hand
from officeplane.services.claims.lanes import Lanes, LaneStay, lane_claims
from officeplane.services.edits.edit_bases import EditBaseCache
from officeplane.services.edits.lookahead import Lookahead
from officeplane.services.observe.observations import Meter
from officeplane.store import claims as ledger_claims
from officeplane.store import valves
from officeplane.store.claims import Claimant, LaneHint
from officeplane.store.connection import Ledger

LANES_PER_POLL: Final = 1_000


class WorkerDesk:
    """Claims for one worker, and remembers what it has in hand."""

    def __init__(
        self,
        ledger: Ledger,
        doorbell: Doorbell,
        claims: Claims,
        who: Claimant,
        meter: Meter,
        lookahead: Lookahead,
        bases: EditBaseCache,
    ) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._claims = claims
        self._who = who
        self._meter = meter
        self._lookahead = lookahead
        self._bases = bases
        self._lanes = Lanes(doorbell, who.worker_id)
        self._suspect: TaskId | None = None
        self._suspect_sought = False
        self._next_lane = ""
        # Whether any type has limits, as of the last look.
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
            polled = await ledger_claims.poll(
                self._ledger,
                replace(self._who, may_take_suspect=self._suspect is None),
                limit=up_to,
                after_lane=self._next_lane,
                lanes=LANES_PER_POLL,
            )
            self._next_lane, self._limits = polled.next_lane, polled.limits
            task_ids = polled.task_ids
            if self._limits:
                # Tasks of limited types get at most half of the slots here; the others are for tasks without limits.
                task_ids = [*await valves.admissible(self._ledger, (up_to + 1) // 2), *task_ids][:up_to]
            found += await self._claim(task_ids)
        return found

    async def continue_lanes(self, documents: Iterable[DocumentId]) -> list[ClaimedTask]:
        """Claim the next heads of lanes that this worker may stay in; leave the others."""
        await _before_continuing()
        now = time.monotonic()
        mine = self._lanes.stays(documents)
        staying = [lane for lane in mine if lane.may_continue(now)]
        leaving = [lane for lane in mine if not lane.may_continue(now)]
        claimed: list[ClaimedTask] = []
        try:
            claimed = await self._take_heads(staying)
        finally:
            followed = {task.document_id for task in claimed}
            for lane in staying:
                lane.tasks += lane.document_id in followed
            await self._lanes.leave([*leaving, *(lane for lane in staying if lane.document_id not in followed)])
        with in_hand(claimed):
            await _after_continuing()
            await self._ring([lane.document_id for lane in leaving])
        return claimed

    def continuation(self, documents: Iterable[DocumentId]) -> Continuation | None:
        """Return the lanes among these that may go on in the statement that ends what runs there, if there are any."""
        now = time.monotonic()
        lanes = [lane for lane in self._lanes.stays(documents) if lane.may_continue(now)]
        return Continuation(self._who, self, lanes, self._lookahead, self._bases) if lanes else None

    async def continued(self, continuation: Continuation) -> list[ClaimedTask]:
        """Note what went on in these lanes, and return the heads that were claimed."""
        claimed = continuation.claimed
        followed = {task.document_id for task in claimed}
        ended_ahead = Counter(edit.document_id for edit in continuation.ended_ahead)
        for lane in continuation.lanes:
            lane.tasks += ended_ahead[lane.document_id] + (lane.document_id in followed)
        for edit in continuation.ended_ahead:
            self._meter.waited(edit.task_type, edit.waited_seconds)
            self._meter.ran(edit.task_type, edit.ran_seconds)
        if claimed:
            with in_hand(claimed):
                await _before_continuing()
                await _after_continuing()
        return claimed

    def doubt(self, continuation: Continuation) -> None:
        """Have what went on found again by the next claim: the settlement it came with is not through."""
        self._doubtful.update(task.claim_id for task in continuation.claimed)

    async def quit_lanes(self, documents: Iterable[DocumentId]) -> None:
        """Give documents back in whose lanes nothing waits; a hint parked meanwhile is rung."""
        await self._lanes.leave(self._lanes.stays(documents))

    async def leave_lanes(self, documents: Iterable[DocumentId]) -> None:
        """Give documents back, and ring for whatever still waits in their lanes."""
        leaving = self._lanes.stays(documents)
        await self._lanes.leave(leaving)
        await self._ring([lane.document_id for lane in leaving])

    def forget_suspects(self, tasks: Iterable[ClaimedTask]) -> None:
        """Note that the attempts of these have ended, so that the next suspect may be taken."""
        if self._suspect is not None and any(task.id == self._suspect for task in tasks):
            self._suspect = None

    def freed(self, tasks: Iterable[ClaimedTask]) -> list[QualifiedType]:
        """Return the types of those that limits had admitted: their place is free for another."""
        if not self._admitted:
            return []
        freed = [task for task in tasks if task.id in self._admitted]
        self._admitted.difference_update([task.id for task in freed])
        return [task.qualified_type for task in freed]

    @contextmanager
    def around(self, who: Claimant, claim_ids: Iterable[ClaimId]) -> Generator[ClaimStatement, None, None]:
        """Let one statement at a time take a suspect, and doubt claims whose answer never came."""
        # A suspect may have killed its last worker; one at a time, so that a second
        # death tells which of them did it.
        seeks = self._suspect is None and not self._suspect_sought
        self._suspect_sought = self._suspect_sought or seeks
        statement = ClaimStatement(who if seeks else replace(who, may_take_suspect=False))
        try:
            yield statement
        except DatabaseUnavailableError:
            self._doubtful.update(claim_ids)
            raise
        finally:
            if seeks:
                self._suspect_sought = False
        self._note_suspects(statement.claimed)
        if statement.by_limits:
            self._admitted.update(task.id for task in statement.claimed)

    async def _ring(self, documents: Sequence[DocumentId]) -> None:
        if documents:
            await self._doorbell.bells.ring(await ledger_claims.lane_heads(self._ledger, documents))

    async def _recovered(self) -> list[ClaimedTask]:
        if not self._doubtful:
            return []
        # A claim that begins meanwhile finds no doubts here; new ones are for the next look.
        doubtful, self._doubtful = self._doubtful, set()
        try:
            found = await self._claims.recover(self._who, doubtful)
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
        lanes, claimed, self._limits = await self._claims.follow_hints(self._who, task_ids, self)
        heads: list[ClaimedTask] = []
        with in_hand(claimed):
            heads = await self._enter(lanes)
        return claimed + heads

    async def _enter(self, hints: Sequence[LaneHint]) -> list[ClaimedTask]:
        """Enter the lanes that hints lead to, and claim their heads; stay where there was one."""
        entered = await self._lanes.enter(hints)
        heads: list[ClaimedTask] = []
        try:
            await reach("after_lock")
            heads = await self._take_heads(entered)
            with in_hand(heads):
                await reach("after_claim")
        finally:
            occupied = {task.document_id for task in heads}
            self._lanes.keep(lane for lane in entered if lane.document_id in occupied)
            await self._lanes.leave([lane for lane in entered if lane.document_id not in occupied])
        return heads

    async def _take_heads(self, lanes: Sequence[LaneStay]) -> list[ClaimedTask]:
        if not lanes:
            return []
        return await self._claims.take_heads(self._who, lane_claims(lanes), self, limits=self._limits)

    def _note_suspects(self, claimed: Iterable[ClaimedTask]) -> None:
        for task in claimed:
            if task.suspect:
                self._suspect = task.id


async def _before_continuing() -> None:
    """Pass the point at which a group is settled and its lanes are held."""
    await reach("before_continue")


async def _after_continuing() -> None:
    """Pass the point at which the next heads are claimed and not started."""
    await reach("after_continue")
