"""Continuation: a lane's next head is claimed by the statement that ends the task before it.

Between two tasks of a lane is then one round trip and one commit instead of
two of each. Edits that were done ahead of their turn end with the one before
them. What cannot continue this way does so by `WorkerDesk.continue_lanes`, which
has a statement, and so a snapshot, of its own.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import structlog

from officeplane.domain.ids import ClaimId, DocumentId, TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Verdict
from officeplane.domain.revision import NewRevision, Revisions
from officeplane.domain.task import ClaimedTask
from officeplane.services.claims.companion import Companion
from officeplane.services.claims.lanes import LaneStay, lane_claims
from officeplane.services.edits.edit_bases import EditBaseCache
from officeplane.services.edits.lookahead import Lookahead
from officeplane.store import settlements
from officeplane.store.claims import Claimant, LaneClaim, LaneRaceError
from officeplane.store.connection import Executor
from officeplane.store.documents import EditStart
from officeplane.store.settlements import Follower, Settled

_log = structlog.stdlib.get_logger(__name__)


class EndedAhead(NamedTuple):
    """An edit, done ahead of its turn, that ended with the attempt before it."""

    task_id: TaskId
    task_type: str
    document_id: DocumentId
    waited_seconds: float
    ran_seconds: float


class Continuation:
    """The lanes that may go on when what runs in them ends; afterwards, what went on."""

    def __init__(
        self, who: Claimant, companion: Companion, lanes: Sequence[LaneStay], lookahead: Lookahead, bases: EditBaseCache
    ) -> None:
        self._who = who
        self._companion = companion
        self._lookahead = lookahead
        self._bases = bases
        self.lanes = lanes
        self.claimed: list[ClaimedTask] = []
        """The heads that were claimed."""
        self.ended_ahead: list[EndedAhead] = []
        """The edits, done ahead of their turn, that ended with these attempts."""

    async def settle(
        self, executor: Executor, verdicts: Sequence[Verdict], revisions: Revisions, *, counted_by: str
    ) -> list[Settled] | None:
        """End attempts and claim what follows in their lanes; None when another was quicker, and nothing was done."""
        wanted = lane_claims(self.lanes)
        try:
            with self._companion.around(self._who, [claim_id for _, claim_id, _ in wanted]) as statement:
                if revisions:
                    settled, statement.claimed = await self._settle_edits(
                        executor, verdicts, revisions, statement.who, wanted, counted_by=counted_by
                    )
                else:
                    settled, statement.claimed = await settlements.settle_and_claim(
                        executor, verdicts, statement.who, wanted, counted_by=counted_by
                    )
        except LaneRaceError:
            _log.debug("lane.raced", lanes=len(wanted))
            return None
        self.claimed = statement.claimed
        return settled

    async def _settle_edits(
        self,
        executor: Executor,
        verdicts: Sequence[Verdict],
        revisions: Revisions,
        who: Claimant,
        wanted: Sequence[LaneClaim],
        *,
        counted_by: str,
    ) -> tuple[list[Settled], list[ClaimedTask]]:
        """Do the same for edits, with those done ahead of their turn; note what the documents are at afterwards."""
        ahead, made = self._lookahead.behind(revisions, {lane.document_id: lane.room - 1 for lane in self.lanes})
        try:
            done = await settlements.settle_edits(executor, verdicts, made, who, wanted, ahead, counted_by=counted_by)
        except LaneRaceError:
            self._lookahead.settled(ahead, (), made)
            raise
        for edit in ahead:
            waits = done.ahead_waited.get(edit.leader_id, ())
            if edit.place <= len(waits):
                document_id, waited = made[edit.task_id].document_id, waits[edit.place - 1]
                self.ended_ahead.append(EndedAhead(edit.task_id, edit.task_type, document_id, waited, edit.seconds))
        ended_ahead = {edit.task_id for edit in self.ended_ahead}
        self._lookahead.settled(ahead, ended_ahead, made)
        # An attempt that was asked to stop has ended all the same, but its revision was not added.
        completed = {row.task_id for row in done.settled if row.state is TaskState.COMPLETED} | ended_ahead
        self._bases.learn(_bases(done.followers, [new for task_id, new in made.items() if task_id in completed]))
        return done.settled, [follower.task for follower in done.followers]


def _bases(followers: Iterable[Follower], revisions: Iterable[NewRevision]) -> dict[ClaimId, EditStart]:
    # The last revision of each document is kept: they are in the order of their turns.
    made = {revision.document_id: revision for revision in revisions}
    return {
        follower.task.claim_id: EditStart(
            revision.as_base, follower.author, follower.base_revision, follower.on_conflict
        )
        for follower in followers
        if (revision := made.get(follower.task.document_id or DocumentId(""))) is not None
    }  # fmt: skip
