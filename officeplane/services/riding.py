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
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final, NamedTuple

from uuid_utils import uuid7

from officeplane.domain.document import Format
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import ClaimId, DocumentId, TaskId
from officeplane.domain.outcome import Edited, Outcome
from officeplane.domain.reference import REF_TEXT
from officeplane.domain.revision import NewRevision, Recipe
from officeplane.domain.task import ClaimedTask
from officeplane.edits.catalogue import all_edits
from officeplane.store import claims
from officeplane.store.claims import Upcoming
from officeplane.store.connection import Ledger
from officeplane.store.documents import Head
from officeplane.store.settlements import Rider

AT_ONCE_MAX: Final = 8
"""How many edits a child is given together."""
AHEAD_MAX: Final = 16
AHEAD_BYTES_MAX: Final = 1024 * 1024
UPCOMING_MAX: Final = 32
RIDES_MAX: Final = 64
SECONDS_MAX: Final = 10.0
"""What takes longer is left to its own turn, in which its own timeout counts."""

Revisions = Mapping[TaskId, NewRevision]


class Work(NamedTuple):
    """One edit, as a child is given it."""

    task: ClaimedTask
    author: str | None


Tell = Callable[[Outcome], None]
Edit = Callable[[Head, Sequence[Work], Tell], Awaitable[None]]
"""Does edits one after the other and tells of each how it ended; the first that fails is the last."""


class _Start(NamedTuple):
    """What an edit starts from: the same bytes in other pieces are not the same."""

    revision: int
    sha256: str
    recipe: Recipe


class _Step(NamedTuple):
    """An edit of the lane, and the version of its row as it was read; none for one that is claimed."""

    work: Work
    version: str | None

    @property
    def task_id(self) -> TaskId:
        return self.work.task.id


@dataclass(frozen=True, slots=True)
class _Done:
    """An edit that was done, mostly before its turn."""

    step: _Step
    start: _Start
    outcome: Outcome
    seconds: float


class _Ride:
    """What is done of one document's lane before its turn."""

    def __init__(self, document_id: DocumentId, format: Format, start: _Start) -> None:
        self.document_id = document_id
        self.format = format
        self.end = start
        """What the last edit made."""
        self.done: deque[_Done] = deque()
        self.doing: deque[_Step] = deque()
        self.coming: deque[_Step] = deque()
        self.last: TaskId | None = None
        self.going: asyncio.Task[None] | None = None
        self.stepped = asyncio.Event()
        self.patience: asyncio.Timeout | None = None
        self.trouble: DatabaseUnavailableError | None = None

    @property
    def size(self) -> int:
        return sum(one.outcome.revision.pieces_size for one in self.done if isinstance(one.outcome, Edited))

    @property
    def is_claimed(self) -> bool:
        """Whether the turn of what comes next has come."""
        return bool(self.coming) and self.coming[0].version is None

    @property
    def may_go_on(self) -> bool:
        """Whether there is room for more, and what it would start from is sure."""
        is_sure = not self.done or isinstance(self.done[-1].outcome, Edited)
        return is_sure and len(self.done) < AHEAD_MAX and self.size < AHEAD_BYTES_MAX

    def leads_to(self, task: ClaimedTask, start: _Start) -> bool:
        """Tell whether what it has done, does or will do next is this, from there."""
        if self.done:
            return self.done[0].step.task_id == task.id and self.done[0].start == start
        coming = self.doing or self.coming
        return self.end == start and bool(coming) and coming[0].task_id == task.id

    def be_patient(self, *, for_ever: bool) -> None:
        """Let the edit that is being done have its time; one whose turn it is has a timeout of its own."""
        if self.patience is not None and not self.patience.expired():
            self.patience.reschedule(None if for_ever else asyncio.get_running_loop().time() + SECONDS_MAX)


class Riding:
    """The rides of one worker."""

    def __init__(self, ledger: Ledger, edit: Edit) -> None:
        self._ledger = ledger
        self._edit = edit
        self._rides: OrderedDict[DocumentId, _Ride] = OrderedDict()

    def leads_to(self, task: ClaimedTask, head: Head) -> bool:
        """Tell whether a claimed edit was done before its turn, or is about to be."""
        ride = None if task.document_id is None else self._rides.get(task.document_id)
        return ride is not None and ride.leads_to(task, _Start(head.revision, head.sha256, head.recipe))

    async def run(self, task: ClaimedTask, head: Head) -> Outcome:
        """Return how a claimed edit ends that follows another, and go on with what comes after it."""
        assert task.document_id is not None  # noqa: S101 - it has a head
        start = _Start(head.revision, head.sha256, head.recipe)
        while True:
            ride = self._rides.get(task.document_id)
            if ride is None or not ride.leads_to(task, start):
                ride = _Ride(task.document_id, head.format, start)
            self._keep(ride)
            if ride.done:
                break
            if not ride.doing:
                # Whatever becomes of the ride, this one is to be done.
                ride.coming = deque([_Step(Work(task, head.author), None), *islice(ride.coming, 1, None)])
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
            if size >= AHEAD_BYTES_MAX or ride is None or not ride.done or ride.done[0].start != _made(revision):
                continue
            size += ride.size
            for place, one in enumerate(islice(ride.done, room.get(revision.document_id, 0)), 1):
                version = one.step.version
                if version is None or not isinstance(one.outcome, Edited):
                    break
                made[one.step.task_id] = one.outcome.revision
                riders.append(_rider(leader_id, place, one.step.work.task, version, one.outcome, one.seconds))
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
        going = [ride.going for ride in self._rides.values() if ride.going is not None]
        self._rides.clear()
        for ride in going:
            ride.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    def _keep(self, ride: _Ride) -> None:
        # One that is replaced has nobody who follows it; what it does at the moment ends by itself.
        self._rides[ride.document_id] = ride
        self._rides.move_to_end(ride.document_id)
        if len(self._rides) > RIDES_MAX:
            self._rides.popitem(last=False)

    async def _step(self, ride: _Ride) -> None:
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

    def _go_on(self, ride: _Ride) -> asyncio.Task[None]:
        if ride.going is None or ride.going.done():
            ride.trouble = None
            ride.going = asyncio.create_task(self._go(ride), name=f"ride.{ride.document_id}")
        return ride.going

    async def _go(self, ride: _Ride) -> None:
        """Do what comes, and look for more, as long as somebody follows."""
        try:
            while ride.is_claimed or (self._rides.get(ride.document_id) is ride and ride.may_go_on):
                if not ride.coming:
                    ride.coming.extend(await self._upcoming(ride))
                if not ride.coming:
                    return
                await self._do(ride)
        except DatabaseUnavailableError as error:
            ride.trouble = error
        finally:
            ride.stepped.set()

    async def _upcoming(self, ride: _Ride) -> list[_Step]:
        waiting = await claims.upcoming(self._ledger, ride.document_id, UPCOMING_MAX)
        ids = [upcoming.id for upcoming in waiting]
        begin = 0 if ride.last is None or ride.last not in ids else ids.index(ride.last) + 1
        return [
            _Step(Work(_as_claimed(upcoming, ride.document_id), upcoming.author), upcoming.version)
            for upcoming in takewhile(_may_ride, waiting[begin:])
        ]

    async def _do(self, ride: _Ride) -> None:
        """Do the next edits, all in one go."""
        while ride.coming and len(ride.doing) < AT_ONCE_MAX:
            ride.doing.append(ride.coming.popleft())
        works = [step.work for step in ride.doing]
        began = time.monotonic()

        def tell(outcome: Outcome) -> None:
            nonlocal began
            now = time.monotonic()
            step, start = ride.doing.popleft(), ride.end
            ride.done.append(_Done(step, start, outcome, now - began))
            ride.last, began = step.task_id, now
            if isinstance(outcome, Edited):
                ride.end = _made(outcome.revision)
            ride.be_patient(for_ever=False)
            ride.stepped.set()

        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(None) as ride.patience:
                    ride.be_patient(for_ever=ride.doing[0].version is None)
                    await self._edit(Head(ride.format, *ride.end, works[0].author, None, None), works, tell)
        finally:
            ride.patience = None
            if ride.doing:
                ride.doing.clear()
                ride.coming.clear()


def _made(revision: NewRevision) -> _Start:
    return _Start(revision.base + 1, revision.sha256, revision.recipe)


def _rider(leader_id: TaskId, place: int, task: ClaimedTask, version: str, edited: Edited, seconds: float) -> Rider:
    claim_id = ClaimId(str(uuid7()))
    return Rider(leader_id, place, task.id, task.task_type, claim_id, version, edited.result_json, seconds)


def _may_ride(upcoming: Upcoming) -> bool:
    return upcoming.rides and upcoming.task_type in all_edits() and REF_TEXT not in upcoming.payload_json


def _as_claimed(upcoming: Upcoming, document_id: DocumentId) -> ClaimedTask:
    return ClaimedTask(
        id=upcoming.id,
        claim_id=ClaimId(""),
        hold_id=None,
        task_type=upcoming.task_type,
        document_id=document_id,
        payload_json=upcoming.payload_json,
        attempt=1,
        attempts_charged=0,
        crashes=0,
        suspect=False,
        max_retries=0,
        timeout_seconds=SECONDS_MAX,
        retry_json=None,
        checkpoint_json=None,
        parent_id=None,
        root_id=upcoming.id,
        created_at=upcoming.created_at,
        waited_seconds=0.0,
    )
