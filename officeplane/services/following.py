"""Following: a lane's next head is claimed by the statement that ends the one before.

Between two tasks of a lane is then one round trip and one commit instead of
two of each. What cannot follow this way goes on as before: `continue_lanes`
has a statement, and so a snapshot, of its own.
"""

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import structlog
from uuid_utils import uuid7

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import ClaimId, DocumentId, HoldId
from officeplane.domain.outcome import Verdict
from officeplane.domain.task import ClaimedTask
from officeplane.services.failpoints import reach
from officeplane.services.lanes import HeldLane
from officeplane.store import settlements
from officeplane.store.claims import Claimant, LaneRaceError
from officeplane.store.connection import Executor
from officeplane.store.settlements import Settled

_log = structlog.stdlib.get_logger(__name__)

LaneClaim: TypeAlias = tuple[DocumentId, ClaimId, HoldId]
Take: TypeAlias = Callable[
    [Iterable[ClaimId], Callable[[Claimant], Awaitable[list[ClaimedTask]]]], Awaitable[list[ClaimedTask]]
]


def lane_claims(lanes: Iterable[HeldLane]) -> list[LaneClaim]:
    """Return a new claim on each of these lanes, in the order of their documents."""
    return sorted((lane.document_id, ClaimId(str(uuid7())), HoldId(lane.hold.hold_id)) for lane in lanes)


class Following:
    """The lanes that may go on when what runs in them ends, and the heads that did follow."""

    def __init__(self, take: Take, lanes: Sequence[HeldLane]) -> None:
        self._take = take
        self._lanes = lanes
        self._claimed: list[ClaimedTask] = []

    @property
    def claim_ids(self) -> list[ClaimId]:
        """The claims of the heads that followed."""
        return [task.claim_id for task in self._claimed]

    async def settle(self, executor: Executor, verdicts: Sequence[Verdict], *, counted_by: str) -> list[Settled]:
        """End attempts as `settlements.settle` does, and claim what follows in their lanes."""
        rows: list[Settled] = []

        async def both(who: Claimant) -> list[ClaimedTask]:
            settled, claimed = await settlements.settle_and_claim(
                executor, verdicts, who, wanted, counted_by=counted_by
            )
            rows.extend(settled)
            return claimed

        wanted = lane_claims(self._lanes)
        if wanted:
            try:
                self._claimed += await self._take([claim_id for _, claim_id, _ in wanted], both)
            except LaneRaceError:
                _log.debug("lane.raced", lanes=len(wanted))
            else:
                return rows
        return await settlements.settle(executor, verdicts, counted_by=counted_by)

    async def claimed(self) -> list[ClaimedTask]:
        """Return the heads that followed."""
        followed = {task.document_id for task in self._claimed}
        for lane in self._lanes:
            lane.tasks += lane.document_id in followed
        if followed:
            with in_hand(self._claimed):
                await before_going_on()
                await after_going_on()
        return self._claimed


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
