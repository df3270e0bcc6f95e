"""Riding: edits that are done before their turn, and settled with the one that they follow.

While an edit is being settled, the next ones of its lane are done already, each from
what the last has made. Nothing is claimed for that and nothing is written: what an edit
makes depends on its document's bytes and on itself, and on nothing else. The statement
that ends the attempt takes along those that are still what comes next in the lane; one
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
from officeplane.domain.reference import REF_TEXT
from officeplane.domain.revision import Revisions
from officeplane.domain.task import ClaimedTask
from officeplane.edits.catalogue import all_edits
from officeplane.services.edits.ride import AHEAD_BYTES_MAX, Done, Ride, Start, Step, Work
from officeplane.store import claims
from officeplane.store.claims import Upcoming
from officeplane.store.connection import Ledger
from officeplane.store.documents import Head
from officeplane.store.settlements import Rider

AT_ONCE_MAX: Final = 8
"""How many edits a child is given together."""
UPCOMING_MAX: Final = 32
RIDES_MAX: Final = 64

_log = structlog.stdlib.get_logger(__name__)

Tell = Callable[[Outcome], None]
Edit = Callable[[Head, Sequence[Work], Tell], Awaitable[None]]
"""Does edits one after the other and tells of each how it ended; the first that fails is the last."""


class Riding:
    """The rides of one worker."""

    def __init__(self, ledger: Ledger, edit: Edit) -> None:
        self._ledger = ledger
        self._edit = edit
        self._rides: OrderedDict[DocumentId, Ride] = OrderedDict()
        self._going: set[asyncio.Task[None]] = set()

    def leads_to(self, task: ClaimedTask, head: Head) -> bool:
        """Tell whether a claimed edit was done before its turn, or is about to be."""
        ride = None if task.document_id is None else self._rides.get(task.document_id)
        return ride is not None and ride.leads_to(task, Start.at(head))

    async def run(self, task: ClaimedTask, head: Head) -> Outcome:
        """Return how a claimed edit ends that follows another, and go on with what comes after it."""
        assert task.document_id is not None  # noqa: S101 - it has a head
        start = Start.at(head)
        ride = self._rides.get(task.document_id)
        if ride is None or not ride.leads_to(task, start):
            ride = Ride(task.document_id, head.format, start)
        self._keep(ride)
        while not ride.done:
            if not ride.doing:
                # Whatever becomes of the ride, this one is to be done.
                ride.coming = deque([Step(Work.of(task, head.author), None), *islice(ride.coming, 1, None)])
            await self._step(ride)
        outcome = ride.done.popleft().outcome
        if isinstance(outcome, Edited):
            self._go_on(ride)
        return outcome

    def riders(self, revisions: Revisions, room: Mapping[DocumentId, int]) -> tuple[list[Rider], Revisions]:
        """Return what is done behind these attempts' revisions, so many of a document, and what all of it makes."""
        riders: list[Rider] = []
        made = dict(revisions)
        size = 0
        for leader_id, revision in revisions.items():
            ride = self._rides.get(revision.document_id)
            if size > AHEAD_BYTES_MAX or ride is None or not ride.done or ride.done[0].start != Start.after(revision):
                continue
            for place, one in enumerate(islice(ride.done, room.get(revision.document_id, 0)), 1):
                if (found := one.rider(leader_id, place)) is None:
                    break
                rider, revision_made = found
                size += revision_made.pieces_size
                if size > AHEAD_BYTES_MAX:
                    break
                riders.append(rider)
                made[rider.task_id] = revision_made
        return riders, made

    def settled(self, riders: Sequence[Rider], ended: Collection[TaskId], made: Revisions) -> None:
        """Note which of these riders ended with the attempts before them; the others have been overtaken."""
        for rider in riders:
            ride = self._rides.get(made[rider.task_id].document_id)
            if ride is None:
                continue
            if rider.task_id in ended:
                ride.done.popleft()
            else:
                del self._rides[ride.document_id]

    async def close(self) -> None:
        """Stop what is being done before its turn."""
        going = list(self._going)
        for ride in going:
            ride.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    def _keep(self, ride: Ride) -> None:
        # One that is replaced has nobody who follows it; what it does at the moment ends by itself.
        self._rides[ride.document_id] = ride
        self._rides.move_to_end(ride.document_id)
        if len(self._rides) > RIDES_MAX:
            self._rides.popitem(last=False)

    async def _step(self, ride: Ride) -> None:
        """Wait until the next edit of a ride is done, whose turn has come."""
        going = self._go_on(ride)
        ride.stepped.clear()
        ride.be_patient(for_ever=True)
        try:
            await ride.stepped.wait()
        except asyncio.CancelledError:
            going.cancel()
            await asyncio.wait({going})
            raise
        if ride.trouble is not None and not ride.done:
            raise ride.trouble

    def _go_on(self, ride: Ride) -> asyncio.Task[None]:
        if ride.going is None or ride.going.done():
            ride.trouble = None
            ride.going = asyncio.create_task(self._go(ride), name=f"ride.{ride.document_id}")
            self._going.add(ride.going)
            ride.going.add_done_callback(self._going.discard)
        return ride.going

    async def _go(self, ride: Ride) -> None:
        """Do what comes, and look for more, as long as somebody follows."""
        all_ended = True
        try:
            # What took too long would take so again.
            while ride.is_claimed or (all_ended and self._rides.get(ride.document_id) is ride and ride.may_go_on):
                if not ride.coming:
                    ride.coming.extend(await self._upcoming(ride))
                if not ride.coming:
                    return
                all_ended = await self._do(ride)
        except DatabaseUnavailableError as error:
            ride.trouble = error
        except DocumentNotFoundError:
            # No child has open any more what comes next, and its pieces are not in the ledger before it is settled.
            _log.debug("ride.paused", document_id=ride.document_id)
        except Exception as error:  # noqa: BLE001 - whoever waits raises it
            _log.exception("ride.broke", document_id=ride.document_id)
            ride.trouble = error
        finally:
            ride.stepped.set()

    async def _upcoming(self, ride: Ride) -> list[Step]:
        waiting = await claims.upcoming(self._ledger, ride.document_id, UPCOMING_MAX)
        ids = [upcoming.id for upcoming in waiting]
        begin = 0 if ride.last is None or ride.last not in ids else ids.index(ride.last) + 1
        return [Step.ahead(upcoming, ride.document_id) for upcoming in takewhile(_may_ride, waiting[begin:])]

    async def _do(self, ride: Ride) -> bool:
        """Do the next edits, all in one go, and tell whether all of them came to an end."""
        while ride.coming and len(ride.doing) < AT_ONCE_MAX:
            ride.doing.append(ride.coming.popleft())
        works = [step.work for step in ride.doing]
        began = time.monotonic()

        def tell(outcome: Outcome) -> None:
            nonlocal began
            now = time.monotonic()
            step, start = ride.doing.popleft(), ride.end
            ride.done.append(Done(step, start, outcome, now - began))
            ride.last, began = step.work.task_id, now
            if isinstance(outcome, Edited):
                ride.end = Start.after(outcome.revision)
            ride.be_patient(for_ever=False)
            ride.stepped.set()

        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(None) as ride.patience:
                    ride.be_patient(for_ever=ride.doing[0].version is None)
                    try:
                        await self._edit(Head(ride.format, *ride.end, works[0].author, None, None), works, tell)
                    except DocumentNotFoundError as error:
                        if ride.doing[0].version is not None:
                            raise
                        tell(Failed(Failure(FailureKind.PERMANENT, str(error))))
            return not ride.doing
        finally:
            ride.patience = None
            if ride.doing:
                ride.doing.clear()
                ride.coming.clear()


def _may_ride(upcoming: Upcoming) -> bool:
    return upcoming.rides and upcoming.task_type in all_edits() and REF_TEXT not in upcoming.payload_json
