"""The kernel of claiming: who claims, and what is wanted, become attempts.

It keeps nothing from one call to the next, so any process can claim with it: a
worker through its desk, the API for somebody outside. A task without a document
is claimed where its hint is looked up. A task of a document is claimed as the
head of its lane, which the caller has entered before. Postgres alone decides.
"""

from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import ClaimId, TaskId
from officeplane.domain.task import ClaimedTask
from officeplane.failpoints import reach
from officeplane.services.claims.admission import admit
from officeplane.services.claims.companion import NOBODY, Companion
from officeplane.store import claims
from officeplane.store.claims import Claimant, Hinted, LaneClaim, LaneRaceError, TaskClaim, new_claim_id
from officeplane.store.connection import Ledger

_log = structlog.stdlib.get_logger(__name__)


class Claims:
    """Claims tasks, and remembers nothing of it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def follow_hints(self, who: Claimant, task_ids: Iterable[TaskId], companion: Companion = NOBODY) -> Hinted:
        """Claim those of these tasks that have no document, and tell to which lanes the others lead."""
        wanted = [(task_id, new_claim_id()) for task_id in dict.fromkeys(task_ids)]
        if not wanted:
            return Hinted([], [], limits=False)
        with companion.around(who, [claim_id for _, claim_id in wanted]) as statement:
            found = await claims.claim_hinted(self._ledger, statement.who, wanted)
            statement.claimed = found.claimed
        claimed = found.claimed
        with in_hand(claimed):
            await reach("after_resolve")
            if found.limits:
                taken = {task.id for task in claimed}
                claimed += await self._admit(who, [one for one in wanted if one[0] not in taken], [], companion)
        return found._replace(claimed=claimed)

    async def take_heads(
        self, who: Claimant, lanes: Sequence[LaneClaim], companion: Companion = NOBODY, *, limits: bool
    ) -> list[ClaimedTask]:
        """Claim the heads of lanes; `limits` as the last look has told."""
        claimed: list[ClaimedTask] = []
        if limits:
            # Limited heads go first: the statement below passes over one that yields, even if there is room for it.
            claimed = await self._admit(who, [], lanes, companion)
            taken = {task.document_id for task in claimed}
            lanes = [lane for lane in lanes if lane[0] not in taken]
        with in_hand(claimed):
            try:
                claimed += await self._take(who, lanes, companion)
            except LaneRaceError:
                claimed += await self._take_one_by_one(who, lanes, companion)
        return claimed

    async def recover(self, who: Claimant, claim_ids: Collection[ClaimId]) -> list[ClaimedTask]:
        """Return what is held under claims whose answer was never heard."""
        return await claims.recover(self._ledger, who.worker_id, claim_ids)

    async def start(self, task: ClaimedTask) -> bool:
        """Let a task run that was reserved; False when its claim was lost, or it runs already."""
        return await claims.start(self._ledger, task.id, task.claim_id)

    async def validate(self, task: ClaimedTask) -> bool:
        """Have the output of an attempt checked before it counts; False when its claim was lost, or it does not run."""
        return await claims.validate(self._ledger, task.id, task.claim_id)

    async def _take(self, who: Claimant, lanes: Sequence[LaneClaim], companion: Companion) -> list[ClaimedTask]:
        if not lanes:
            return []
        with companion.around(who, [claim_id for _, claim_id, _ in lanes]) as statement:
            statement.claimed = await claims.claim_lanes(self._ledger, statement.who, lanes)
        return statement.claimed

    async def _take_one_by_one(
        self, who: Claimant, lanes: Sequence[LaneClaim], companion: Companion
    ) -> list[ClaimedTask]:
        # The unique index refused the whole array: somebody was quicker in one of these lanes.
        taken = await claims.occupied(self._ledger, [document_id for document_id, _, _ in lanes])
        claimed: list[ClaimedTask] = []
        with in_hand(claimed):
            for lane in lanes:
                if lane[0] not in taken:
                    try:
                        claimed += await self._take(who, [lane], companion)
                    except LaneRaceError:
                        _log.debug("lane.raced", document_id=lane[0])
        return claimed

    async def _admit(
        self, who: Claimant, tasks: Sequence[TaskClaim], lanes: Sequence[LaneClaim], companion: Companion
    ) -> list[ClaimedTask]:
        if not tasks and not lanes:
            return []
        claim_ids = [claim_id for _, claim_id in tasks] + [claim_id for _, claim_id, _ in lanes]
        try:
            with companion.around(who, claim_ids) as statement:
                statement.by_limits = True
                statement.claimed = await admit(self._ledger, statement.who, tasks, lanes)
        except LaneRaceError:
            _log.debug("lane.raced", lanes=len(lanes))
            return []
        return statement.claimed


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
