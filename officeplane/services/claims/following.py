"""Following: a lane's next head is claimed by the statement that ends the one before.

Between two tasks of a lane is then one round trip and one commit instead of
two of each. What cannot follow this way goes on as before: `continue_lanes`
has a statement, and so a snapshot, of its own.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

import structlog
from uuid_utils import uuid7

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import ClaimId, DocumentId, HoldId, TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Verdict
from officeplane.domain.revision import NewRevision, Revisions
from officeplane.domain.task import ClaimedTask
from officeplane.failpoints import reach
from officeplane.services.claims.lanes import HeldLane
from officeplane.store import settlements
from officeplane.store.claims import Claimant, LaneRaceError
from officeplane.store.connection import Executor
from officeplane.store.documents import Head
from officeplane.store.settlements import Follower, Rider, Settled

_log = structlog.stdlib.get_logger(__name__)

LaneClaim: TypeAlias = tuple[DocumentId, ClaimId, HoldId]
Take: TypeAlias = Callable[
    [Iterable[ClaimId], Callable[[Claimant], Awaitable[list[ClaimedTask]]]], Awaitable[list[ClaimedTask]]
]


class Ridden(NamedTuple):
    """A rider that ended with the attempt before it."""

    task_id: TaskId
    task_type: str
    document_id: DocumentId
    waited_seconds: float
    ran_seconds: float


def lane_claims(lanes: Iterable[HeldLane]) -> list[LaneClaim]:
    """Return a new claim on each of these lanes, in the order of their documents."""
    return sorted((lane.document_id, ClaimId(str(uuid7())), HoldId(lane.hold.hold_id)) for lane in lanes)


class Following:
    """The lanes that may go on when what runs in them ends, and the heads that did follow."""

    def __init__(self, take: Take, lanes: Sequence[HeldLane]) -> None:
        self._take = take
        self._lanes = lanes
        self._claimed: list[ClaimedTask] = []
        self.ridden: list[Ridden] = []
        """The riders that ended with these attempts."""
        self.heads: dict[ClaimId, Head] = {}
        """What the documents of those that followed are at, where the same statement put it there."""

    @property
    def claim_ids(self) -> list[ClaimId]:
        """The claims of the heads that followed."""
        return [task.claim_id for task in self._claimed]

    @property
    def room(self) -> dict[DocumentId, int]:
        """How many more tasks may run in each lane before it is left, besides the next that is claimed."""
        return {lane.document_id: lane.room - 1 for lane in self._lanes}

    async def settle(
        self,
        executor: Executor,
        verdicts: Sequence[Verdict],
        revisions: Revisions,
        riders: Sequence[Rider] = (),
        *,
        counted_by: str,
    ) -> list[Settled] | None:
        """End attempts and claim what follows in their lanes; None when nothing may follow, and nothing was done."""
        rows: list[Settled] = []

        async def both(who: Claimant) -> list[ClaimedTask]:
            if not revisions:
                settled, claimed = await settlements.settle_and_claim(
                    executor, verdicts, who, wanted, counted_by=counted_by
                )
            else:
                done = await settlements.settle_edits(
                    executor, verdicts, revisions, who, wanted, riders, counted_by=counted_by
                )
                settled, claimed = done.settled, [follower.task for follower in done.followers]
                self.ridden = list(_ridden(riders, done.riders_waited, revisions))
                # One that was asked to stop has ended all the same, and its revision is nowhere.
                completed = {row.task_id for row in settled if row.state is TaskState.COMPLETED}
                completed |= {rider.task_id for rider in self.ridden}
                self._heads_of(done.followers, [new for of, new in revisions.items() if of in completed])
            rows.extend(settled)
            return claimed

        wanted = lane_claims(self._lanes)
        if not wanted:
            return None
        try:
            self._claimed += await self._take([claim_id for _, claim_id, _ in wanted], both)
        except LaneRaceError:
            _log.debug("lane.raced", lanes=len(wanted))
            return None
        return rows

    def _heads_of(self, followers: Iterable[Follower], revisions: Iterable[NewRevision]) -> None:
        # Of each document the last: they are in the order of their turns.
        made = {revision.document_id: revision for revision in revisions}
        for follower in followers:
            revision = made.get(follower.task.document_id or DocumentId(""))
            if revision is not None:
                self.heads[follower.task.claim_id] = Head(
                    revision.format, revision.base + 1, revision.sha256, revision.recipe,
                    follower.author, follower.base_revision, follower.on_conflict,
                )  # fmt: skip

    async def claimed(self) -> list[ClaimedTask]:
        """Return the heads that followed."""
        followed = {task.document_id for task in self._claimed}
        rode = Counter(rider.document_id for rider in self.ridden)
        for lane in self._lanes:
            lane.tasks += rode[lane.document_id] + (lane.document_id in followed)
        if followed:
            with in_hand(self._claimed):
                await before_going_on()
                await after_going_on()
        return self._claimed


def _ridden(
    riders: Iterable[Rider], waited: Mapping[TaskId, Sequence[float]], made: Revisions
) -> Generator[Ridden, None, None]:
    for rider in riders:
        waits = waited.get(rider.leader_id, ())
        if rider.place <= len(waits):
            yield Ridden(
                rider.task_id, rider.task_type, made[rider.task_id].document_id, waits[rider.place - 1], rider.seconds
            )


async def before_going_on() -> None:
    """Pass the point at which a group is settled and its lanes are held."""
    await reach("before_continue")


async def after_going_on() -> None:
    """Pass the point at which the next heads are claimed and not started."""
    await reach("after_continue")


@contextmanager
def in_hand(claimed: Sequence[ClaimedTask]) -> Generator[None, None, None]:
    """Go on without the database if anything was claimed before it was lost: it has to be run.

    Nobody else would until its lease is over, and a worker whose suspect is never
    run would take no other. Hints that are dropped here are the sweeper's work.
    """
    try:
        yield
    except DatabaseUnavailableError as error:
        if not claimed:
            raise
        _log.warning("claim.cut_short", tasks=len(claimed), error=str(error))
