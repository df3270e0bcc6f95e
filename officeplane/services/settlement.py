"""Settlement: an attempt ends in exactly one transaction, or was lost before.

Task, new revision, failure row, events, counters, and the batch around the
task: all or none, guarded by the attempt's claim. What fails the guard is
*fenced*: somebody else has ended the attempt, and nothing of it is written.
That is no error. An edit whose document is no longer at the revision it
started from is handed back, to start from the one that is.
"""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import structlog

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.batch import BATCH_TYPE
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import TaskId, WorkerId
from officeplane.domain.lifecycle import FINAL, TaskState
from officeplane.domain.outcome import Edited, Outcome, RetryRules, Verdict, judge, unstorable
from officeplane.domain.priority import Tier
from officeplane.domain.revision import NewRevision
from officeplane.domain.task import ClaimedTask
from officeplane.services.batches import RolledUp, roll_up
from officeplane.services.failpoints import reach
from officeplane.services.following import Following, Revisions
from officeplane.services.heads import KnownHeads
from officeplane.store import documents, settlements, trees
from officeplane.store.claims import Claimant
from officeplane.store.connection import UNSTORABLE, Executor, Ledger
from officeplane.store.documents import PIECES_AT_ONCE
from officeplane.store.settlements import Settled

ENDED: Final = "ended"
_NOBODY: Final = Claimant(WorkerId(""), 0.0, (), may_take_suspect=False)
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Fenced:
    """The claim was lost; nothing was written."""

    task_id: TaskId


Settlement: TypeAlias = Settled | Fenced


class Attempt(NamedTuple):
    """One attempt that has ended, and how."""

    task: ClaimedTask
    outcome: Outcome


class Judged(NamedTuple):
    """One attempt, what becomes of its task, and the revision it made."""

    task: ClaimedTask
    verdict: Verdict
    revision: NewRevision | None = None


@dataclass(frozen=True, slots=True)
class News:
    """What a settlement that is committed has to tell: what ended, and what became ready."""

    ended: list[TaskId] = field(default_factory=list)
    ready: list[tuple[TaskId, Tier]] = field(default_factory=list)


class Settlements:
    """The way out."""

    def __init__(
        self, ledger: Ledger, doorbell: Doorbell, rules: RetryRules, heads: KnownHeads, *, counted_by: str
    ) -> None:
        self._heads = heads
        self._ledger = ledger
        self._doorbell = doorbell
        self._rules = rules
        self._counted_by = counted_by

    async def settle(self, attempts: Sequence[Attempt], *, only_lapsed: bool = False) -> list[Settlement]:
        """End attempts together and return, in their order, where each of them stands.

        `only_lapsed` is the reaper's: it ends an attempt only if its lease has
        run out by the ledger's own clock, whatever was read before.
        """
        settlements, news = await self.write(attempts, only_lapsed=only_lapsed)
        await self.tell(news)
        return settlements

    async def write(
        self, attempts: Sequence[Attempt], following: Following | None = None, *, only_lapsed: bool = False
    ) -> tuple[list[Settlement], list[News]]:
        """Do what `settle` does and leave the telling to the caller, who may have something to do that is more urgent.

        What is never told is found by the sweeper, and by those who wait when they look again.
        `following` claims what comes next in the lanes of these attempts, if that can be done at once.
        """
        if not attempts:
            return [], []
        await reach("before_settle")
        judged = [
            Judged(
                a.task,
                judge(a.task, a.outcome, self._rules, random.random()),
                a.outcome.revision if isinstance(a.outcome, Edited) else None,
            )
            for a in attempts
        ]
        news: list[News] = []
        settled = await self._settled(judged, news, following, only_lapsed=only_lapsed)
        # A reaper that comes too late has lost nothing: the attempt has ended, or was found alive.
        if not only_lapsed:
            await self._note_fenced([attempt.task for attempt in attempts if attempt.task.id not in settled])
        return [settled.get(attempt.task.id) or Fenced(attempt.task.id) for attempt in attempts], news

    async def tell(self, news: Sequence[News]) -> None:
        """Announce what has ended, ring for what became ready."""
        if not news:
            return
        await reach("after_settle")
        await self._doorbell.announcements.announce(ENDED, [task_id for told in news for task_id in told.ended])
        await self._doorbell.bells.ring([hint for told in news for hint in told.ready])
        await reach("after_ready_rung")

    async def _note_fenced(self, tasks: Sequence[ClaimedTask]) -> None:
        if not tasks:
            return
        for task in tasks:
            _log.info("attempt.fenced", task_id=task.id, attempt=task.attempt)
        # What could be settled is; a count must not have it settled again.
        with suppress(DatabaseUnavailableError):
            await settlements.count_fenced(
                self._ledger, [task.task_type for task in tasks], counted_by=self._counted_by
            )

    async def _settled(
        self,
        judged: Sequence[Judged],
        news: list[News],
        following: Following | None = None,
        *,
        only_lapsed: bool,
    ) -> dict[TaskId, Settled]:
        try:
            return await self._written(judged, news, following, only_lapsed=only_lapsed)
        except UNSTORABLE:
            # One value in the group is at fault; halving finds it and spares its neighbours.
            if len(judged) > 1:
                half = len(judged) // 2
                first = await self._settled(judged[:half], news, only_lapsed=only_lapsed)
                return first | await self._settled(judged[half:], news, only_lapsed=only_lapsed)
        ((task, _, _),) = judged
        _log.warning("task.unstorable", task_id=task.id)
        return await self._written([Judged(task, unstorable(task, self._rules))], news, only_lapsed=only_lapsed)

    async def _written(
        self,
        judged: Sequence[Judged],
        news: list[News],
        following: Following | None = None,
        *,
        only_lapsed: bool,
    ) -> dict[TaskId, Settled]:
        verdicts = [one.verdict for one in judged]
        parents = {one.task.id: one.task.parent_id for one in judged if one.task.parent_id is not None}
        revisions = {one.task.id: one.revision for one in judged if one.revision is not None}
        atomic = {one.task.id for one in judged if one.task.task_type == BATCH_TYPE}
        rolled = RolledUp()
        if not parents and not atomic and sum(new.pieces_size for new in revisions.values()) < PIECES_AT_ONCE:
            rows = await self._guarded(self._ledger, verdicts, following, revisions, only_lapsed=only_lapsed)
            if following is not None:
                self._heads.learn(following.heads)
        else:
            roots = {one.task.root_id for one in judged if one.task.parent_id is not None or one.task.id in atomic}

            async def together(executor: Executor) -> tuple[list[Settled], list[Verdict], RolledUp]:
                fitting = await _fitting(executor, revisions)
                stale = revisions.keys() - fitting.keys()
                allowed = [_handed_back(v) if v.task_id in stale else v for v in verdicts]
                if roots:
                    await trees.lock_roots(executor, roots)
                settled = await self._guarded(executor, allowed, only_lapsed=only_lapsed)
                made = [
                    (row.task_id, fitting[row.task_id])
                    for row in settled
                    if row.state is TaskState.COMPLETED and row.task_id in fitting
                ]
                if made:
                    await documents.revise(executor, made)
                whole = [row.task_id for row in settled if row.task_id in atomic and row.state in FINAL]
                within = await trees.finish_atomic(executor, whole, counted_by=self._counted_by) if whole else []
                if not parents:
                    return settled, allowed, RolledUp(ended=within)
                await reach("between_settle_and_roll_up")
                ended = {parents[row.task_id] for row in settled if row.task_id in parents and row.state in FINAL}
                rolled = await roll_up(executor, ended, children_ran=True, counted_by=self._counted_by)
                rolled.ended += within
                await reach("before_commit")
                return settled, allowed, rolled

            rows, verdicts, rolled = await self._ledger.in_transaction(together)
        ended = [row.task_id for row in rows if row.state in FINAL]
        news.append(News(ended + rolled.ended, _ready(rows, verdicts, rolled)))
        return {row.task_id: row for row in rows}

    async def _guarded(
        self,
        executor: Executor,
        verdicts: Sequence[Verdict],
        following: Following | None = None,
        revisions: Revisions | None = None,
        *,
        only_lapsed: bool,
    ) -> list[Settled]:
        rows: list[Settled] | None = None
        if following is not None:
            rows = await following.settle(executor, verdicts, revisions or {}, counted_by=self._counted_by)
        if rows is None and revisions:
            rows, _ = await settlements.settle_edits(
                executor, verdicts, revisions, _NOBODY, (), counted_by=self._counted_by
            )
        elif rows is None:
            rows = await settlements.settle(executor, verdicts, counted_by=self._counted_by, only_lapsed=only_lapsed)
        if len(rows) == len(verdicts) or only_lapsed:
            return rows
        # A row that moved under the statement's snapshot (a renewed lease) is not lost:
        # it is settled in a second statement. One that a lost connection's commit
        # did settle, before the caller tried again, is already as it should be.
        seen = {row.task_id for row in rows}
        missing = [verdict for verdict in verdicts if verdict.task_id not in seen]
        standing = await settlements.standing(executor, [(v.task_id, v.claim_id) for v in missing])
        rows += [stand.settled for stand in standing.values() if not stand.is_open]
        again = [v for v in missing if v.task_id in standing and standing[v.task_id].is_open]
        made = {v.task_id: revisions[v.task_id] for v in again if revisions and v.task_id in revisions}
        return rows + (await self._guarded(executor, again, None, made, only_lapsed=False) if again else [])


async def _fitting(executor: Executor, revisions: Mapping[TaskId, NewRevision]) -> dict[TaskId, NewRevision]:
    """Lock the documents, and return the revisions that follow what these are at."""
    if not revisions:
        return {}
    heads = await documents.lock(executor, [revision.document_id for revision in revisions.values()])
    return {task_id: new for task_id, new in revisions.items() if heads.get(new.document_id) == new.base}


def _handed_back(verdict: Verdict) -> Verdict:
    return Verdict(verdict.task_id, verdict.claim_id, TaskState.QUEUED)


def _ready(rows: Sequence[Settled], verdicts: Sequence[Verdict], rolled: RolledUp) -> list[tuple[TaskId, Tier]]:
    """Return what may run at once: given their turn, handed back, or to be retried without a wait."""
    ready = [(moved.task_id, moved.tier) for moved in rolled.queued]
    at_once = {v.task_id for v in verdicts if v.state is TaskState.RETRYING and not v.delay_seconds}
    ready += [
        (row.task_id, row.tier)
        for row in rows
        if row.state is TaskState.QUEUED or (row.state is TaskState.RETRYING and row.task_id in at_once)
    ]
    return ready
