"""Lookahead: edits that a worker does before their turn, and settles with the one that they follow.

While an edit is being settled, the next ones of its lane are done already, each from
what the last has made. Nothing is claimed for that and nothing is written: what an edit
makes depends on its document's bytes and on itself, and on nothing else. The statement
that ends the attempt takes along those that are still what comes next in the lane; an edit
that is claimed by itself meanwhile finds its work done. What proves wrong is thrown away.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import Final

import structlog

from officeplane.domain.errors import DatabaseUnavailableError, DocumentNotFoundError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.outcome import Edited, Failed, Outcome
from officeplane.domain.reference import PAYLOAD_BYTES_MAX, REF_TEXT
from officeplane.domain.revision import EditBase, Revisions
from officeplane.domain.task import ClaimedTask
from officeplane.edits.all_edits import all_edits
from officeplane.services.edits.lane_ahead import AHEAD_BYTES_MAX, Done, LaneAhead, Step, Work
from officeplane.store import claims
from officeplane.store.claims import Upcoming
from officeplane.store.connection import Ledger
from officeplane.store.documents import EditStart
from officeplane.store.settlements import AheadEdit

AT_ONCE_MAX: Final = 8
"""How many edits a child is given together."""
UPCOMING_MAX: Final = 32
LANES_MAX: Final = 64

_log = structlog.stdlib.get_logger(__name__)

Tell = Callable[[Outcome], None]
Edit = Callable[[EditBase, Sequence[Work], Tell], Awaitable[None]]
"""Does edits one after the other and tells of each how it ended; the first that fails is the last."""


class Lookahead:
    """What one worker has done of its lanes before its turn."""

    def __init__(self, ledger: Ledger, edit: Edit) -> None:
        self._ledger = ledger
        self._edit = edit
        self._lanes: OrderedDict[DocumentId, LaneAhead] = OrderedDict()
        self._going: set[asyncio.Task[None]] = set()

    def leads_to(self, task: ClaimedTask, start: EditStart) -> bool:
        """Tell whether a claimed edit was done before its turn, or is about to be."""
        lane = None if task.document_id is None else self._lanes.get(task.document_id)
        return lane is not None and lane.leads_to(task, start.base)

    async def run(self, task: ClaimedTask, start: EditStart) -> Outcome:
        """Return how a claimed edit ends that follows another, and go on with what comes after it."""
        assert task.document_id is not None  # noqa: S101 - it has a base
        lane = self._lanes.get(task.document_id)
        if lane is None or not lane.leads_to(task, start.base):
            lane = LaneAhead(start.base)
        self._keep(lane)
        while not lane.done:
            if not lane.doing:
                # Whatever becomes of the edits after it, this one is to be done.
                lane.coming = deque([Step(Work.of(task, start.author), None), *islice(lane.coming, 1, None)])
            await self._step(lane)
        outcome = lane.done.popleft().outcome
        if isinstance(outcome, Edited):
            self._go_on(lane)
        return outcome

    def behind(self, revisions: Revisions, room: Mapping[DocumentId, int]) -> tuple[list[AheadEdit], Revisions]:
        """Return the edits done behind these revisions, at most `room` of a document, and the revisions of all."""
        ahead: list[AheadEdit] = []
        made = dict(revisions)
        size = 0
        for leader_id, revision in revisions.items():
            lane = self._lanes.get(revision.document_id)
            if size > AHEAD_BYTES_MAX or lane is None or not lane.done or lane.done[0].base != revision.as_base:
                continue
            for place, one in enumerate(islice(lane.done, room.get(revision.document_id, 0)), 1):
                if (found := one.behind(leader_id, place)) is None:
                    break
                edit, revision_made = found
                size += revision_made.pieces_size
                if size > AHEAD_BYTES_MAX:
                    break
                ahead.append(edit)
                made[edit.task_id] = revision_made
        return ahead, made

    def settled(self, ahead: Sequence[AheadEdit], ended: Collection[TaskId], made: Revisions) -> None:
        """Note which of these edits ended with the attempts before them; the others have been overtaken."""
        for edit in ahead:
            lane = self._lanes.get(made[edit.task_id].document_id)
            if lane is None:
                continue
            if edit.task_id in ended:
                lane.done.popleft()
            else:
                del self._lanes[lane.document_id]

    async def close(self) -> None:
        """Stop what is being done before its turn."""
        going = list(self._going)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    def _keep(self, lane: LaneAhead) -> None:
        # A lane that is replaced here is followed by nobody; the request that it has under way ends by itself.
        self._lanes[lane.document_id] = lane
        self._lanes.move_to_end(lane.document_id)
        if len(self._lanes) > LANES_MAX:
            self._lanes.popitem(last=False)

    async def _step(self, lane: LaneAhead) -> None:
        """Wait until the next edit of a lane is done: its turn has come."""
        going = self._go_on(lane)
        lane.stepped.clear()
        lane.allow_time(without_end=True)
        try:
            await lane.stepped.wait()
        except asyncio.CancelledError:
            going.cancel()
            await asyncio.wait({going})
            raise
        if lane.trouble is not None and not lane.done:
            raise lane.trouble

    def _go_on(self, lane: LaneAhead) -> asyncio.Task[None]:
        if lane.going is None or lane.going.done():
            lane.trouble = None
            lane.going = asyncio.create_task(self._go(lane), name=f"lookahead.{lane.document_id}")
            self._going.add(lane.going)
            lane.going.add_done_callback(self._going.discard)
        return lane.going

    async def _go(self, lane: LaneAhead) -> None:
        """Do the edits that come, and look for more, until this lane is dropped or has no room."""
        all_ended = True
        try:
            # An edit that took too long would take as long again.
            while lane.is_claimed or (all_ended and self._lanes.get(lane.document_id) is lane and lane.may_go_on):
                if not lane.coming:
                    lane.coming.extend(await self._upcoming(lane))
                if not lane.coming:
                    return
                all_ended = await self._do(lane)
        except DatabaseUnavailableError as error:
            lane.trouble = error
        except DocumentNotFoundError:
            # The child that had the bytes open is gone, and their pieces are in the ledger only when they are settled.
            _log.debug("lookahead.paused", document_id=lane.document_id)
        except Exception as error:  # noqa: BLE001 - the attempt that waits raises it
            _log.exception("lookahead.broke", document_id=lane.document_id)
            lane.trouble = error
        finally:
            lane.stepped.set()

    async def _upcoming(self, lane: LaneAhead) -> list[Step]:
        waiting = await claims.upcoming(self._ledger, lane.document_id, UPCOMING_MAX, PAYLOAD_BYTES_MAX)
        ids = [upcoming.id for upcoming in waiting]
        begin = 0 if lane.last is None or lane.last not in ids else ids.index(lane.last) + 1
        return [Step.ahead(upcoming, lane.document_id) for upcoming in takewhile(_may_go_ahead, waiting[begin:])]

    async def _do(self, lane: LaneAhead) -> bool:
        """Do the next edits, all in one go, and tell whether all of them came to an end."""
        while lane.coming and len(lane.doing) < AT_ONCE_MAX:
            lane.doing.append(lane.coming.popleft())
        works = [step.work for step in lane.doing]
        began = time.monotonic()

        def tell(outcome: Outcome) -> None:
            nonlocal began
            now = time.monotonic()
            step, base = lane.doing.popleft(), lane.end
            lane.done.append(Done(step, base, outcome, now - began))
            lane.last, began = step.work.task_id, now
            if isinstance(outcome, Edited):
                lane.end = outcome.revision.as_base
            lane.allow_time(without_end=False)
            lane.stepped.set()

        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(None) as lane.deadline:
                    lane.allow_time(without_end=lane.doing[0].version is None)
                    try:
                        await self._edit(lane.end, works, tell)
                    except DocumentNotFoundError as error:
                        if lane.doing[0].version is not None:
                            raise
                        tell(Failed(Failure(FailureKind.PERMANENT, str(error))))
            return not lane.doing
        finally:
            lane.deadline = None
            if lane.doing:
                lane.doing.clear()
                lane.coming.clear()


def _may_go_ahead(upcoming: Upcoming) -> bool:
    # What takes something from another document has that read when its turn comes.
    known = all_edits().get(upcoming.task_type)
    may = upcoming.may_go_ahead and known is not None and known.takes_from is None
    return may and REF_TEXT not in upcoming.payload_json
