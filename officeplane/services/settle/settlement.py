"""Settlement: an attempt ends in exactly one transaction, or was lost before.

Task, new revision, failure row, events, counters, and the batch around the
task: all or none, guarded by the attempt's claim. What fails the guard is
*fenced*: somebody else has ended the attempt, and nothing of it is written.
That is no error. An edit whose document is no longer at the revision it
started from is handed back, to start from the one that is.
"""

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import structlog

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.batch import BATCH_TYPE
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import DagId, TaskId, WorkerId
from officeplane.domain.lifecycle import FINAL, REOPENABLE, TaskState
from officeplane.domain.outcome import Edited, Failed, Outcome, RetryRules, Verdict, Waiting, judge, unstorable
from officeplane.domain.priority import Tier
from officeplane.domain.revision import NewRevision, Revisions
from officeplane.domain.task import ClaimedTask
from officeplane.domain.valve import Strain, strain_of
from officeplane.failpoints import reach
from officeplane.services.claims.following import Following
from officeplane.services.edits.edit_bases import KnownHeads
from officeplane.services.edits.riding import Riding
from officeplane.services.settle.batches import RolledUp, roll_up
from officeplane.services.settle.dead_letters import Letters
from officeplane.services.settle.dependents import follow, lock_around
from officeplane.services.settle.suspension import suspend
from officeplane.services.settle.type_failures import strain
from officeplane.store import documents, settlements, trees, valves
from officeplane.store.claims import Claimant
from officeplane.store.connection import UNSTORABLE, Executor, Ledger
from officeplane.store.documents import PIECES_AT_ONCE
from officeplane.store.settlements import Settled
from officeplane.store.trees import Ended

ENDED: Final = "ended"
# Who was rung a moment ago for one place that became free is not rung for the next.
RUNG_SECONDS: Final = 0.1
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
    """One attempt, what becomes of its task, its revision, what it means for its type, and what it waits for."""

    task: ClaimedTask
    verdict: Verdict
    revision: NewRevision | None = None
    strain: Strain | None = None
    awaits: TaskId | None = None


class Ends(NamedTuple):
    """What is ended now, and what had been before although its worker never heard of it: that leads to nothing more."""

    now: list[Settled]
    before: list[Settled]


@dataclass(frozen=True, slots=True)
class News:
    """What a settlement that is committed has to tell: what ended, what became ready, and whose limits have room."""

    ended: list[TaskId] = field(default_factory=list)
    ready: list[tuple[TaskId, Tier]] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)


class Settlements:
    """The way out."""

    def __init__(
        self,
        ledger: Ledger,
        doorbell: Doorbell,
        rules: RetryRules,
        heads: KnownHeads,
        riding: Riding,
        own_seconds: Mapping[str, float],
        *,
        counted_by: str,
    ) -> None:
        self._heads = heads
        self._riding = riding
        self._ledger = ledger
        self._doorbell = doorbell
        self._rules = rules
        self._own_seconds = own_seconds
        self._counted_by = counted_by
        self._letters = Letters(counted_by, alerts=rules.alerts)

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
        rate_limits = await self._rate_limits(attempts)
        judged = [self._judged(attempt, rate_limits.get(attempt.task.id, 0)) for attempt in attempts]
        news: list[News] = []
        settled: dict[TaskId, Settled] = {}
        if any(one.awaits is not None for one in judged):
            settled, judged = await self._suspended(judged)
        if judged:
            settled |= await self._settled(judged, news, following, only_lapsed=only_lapsed)
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
        freed = Counter(task_type for told in news for task_type in told.freed)
        if freed:
            await self._doorbell.bells.ring(await valves.ring(self._ledger, freed, rung_ago=RUNG_SECONDS))
        await reach("after_ready_rung")

    async def _rate_limits(self, attempts: Sequence[Attempt]) -> Mapping[TaskId, int]:
        """Return how many rate limits in a row those have met before that have met one more, which names no time."""
        met = [
            attempt.task.id
            for attempt in attempts
            if isinstance(attempt.outcome, Failed)
            and attempt.outcome.failure.kind is FailureKind.RATE_LIMITED
            and attempt.outcome.failure.retry_after is None
        ]
        return await settlements.rate_limits(self._ledger, met) if met else {}

    def _judged(self, attempt: Attempt, rate_limits: int) -> Judged:
        task, outcome = attempt
        verdict = judge(task, outcome, self._rules, random.random(), rate_limits)
        match outcome:
            case Edited(revision=revision):
                return Judged(task, verdict, revision)
            case Failed(failure):
                return Judged(task, verdict, strain=strain_of(task, failure, verdict.delay_seconds, self._own_seconds))
            case Waiting(spawned_id):
                return Judged(task, verdict, awaits=spawned_id)
            case _:
                return Judged(task, verdict)

    async def _suspended(self, judged: Sequence[Judged]) -> tuple[dict[TaskId, Settled], list[Judged]]:
        """Let those wait that wait for what they spawned; return them, and what is left to be ended."""
        suspended: dict[TaskId, Settled] = {}
        left: list[Judged] = []
        for one in judged:
            if one.awaits is None:
                left.append(one)
                continue
            how = await suspend(self._ledger, one.task, one.awaits, self._letters)
            if how is None:
                left.append(Judged(one.task, _handed_back(one.verdict), awaits=one.awaits))
            else:
                suspended[one.task.id] = how
        return suspended, left

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
            if following is not None:
                return await self._settled(judged, news, only_lapsed=only_lapsed)
            if len(judged) > 1:
                half = len(judged) // 2
                first = await self._settled(judged[:half], news, only_lapsed=only_lapsed)
                return first | await self._settled(judged[half:], news, only_lapsed=only_lapsed)
        task = judged[0].task
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
        revisions = {one.task.id: one.revision for one in judged if one.revision is not None}
        is_big = sum(new.pieces_size for new in revisions.values()) >= PIECES_AT_ONCE
        if is_big or any(map(_leads_to_more, judged)):
            return await self._together(judged, news, only_lapsed=only_lapsed)
        verdicts = [one.verdict for one in judged]
        rows = await self._well(verdicts, revisions, following)
        ended = [row.task_id for row in rows if row.state in FINAL]
        if following is not None:
            self._heads.learn(following.heads)
            ended += [rider.task_id for rider in following.ridden]
        news.append(News(ended, _ready(rows, verdicts, RolledUp())))
        written = {row.task_id: row for row in rows}
        if len(rows) < len(judged):
            # Lost, or others wait for them since they were claimed.
            missing = [one for one in judged if one.task.id not in written]
            written |= await self._together(missing, news, only_lapsed=False)
        return written

    async def _well(
        self, verdicts: Sequence[Verdict], revisions: Revisions, following: Following | None
    ) -> list[Settled]:
        """End attempts that did not fail and that nobody waits for, in one statement."""

        async def settle(some: Sequence[Verdict]) -> list[Settled]:
            made = {v.task_id: revisions[v.task_id] for v in some if v.task_id in revisions}
            if not made:
                return await settlements.settle_well(self._ledger, some, counted_by=self._counted_by)
            done = await settlements.settle_edits(self._ledger, some, made, _NOBODY, (), counted_by=self._counted_by)
            return done.settled

        rows: list[Settled] | None = None
        if following is not None:
            riders, made = self._riding.riders(revisions, following.room)
            rows = await following.settle(self._ledger, verdicts, made, riders, counted_by=self._counted_by)
            self._riding.settled(riders, {rider.task_id for rider in following.ridden}, made)
        if rows is None:
            rows = await settle(verdicts)
        ends = await self._with_the_rest(self._ledger, rows, verdicts, settle, awaited=False)
        return ends.now + ends.before

    async def _together(
        self, judged: Sequence[Judged], news: list[News], *, only_lapsed: bool
    ) -> dict[TaskId, Settled]:
        """End attempts together with what their ends lead to: revisions, batches, dependents."""
        parents = {one.task.id: one.task.parent_id for one in judged if one.task.parent_id is not None}
        revisions = {one.task.id: one.revision for one in judged if one.revision is not None}
        atomic = {one.task.id for one in judged if one.task.task_type == BATCH_TYPE}
        awaited = {one.task.id for one in judged if one.task.has_dependents}
        roots = {one.task.root_id for one in judged if one.task.parent_id is not None or one.task.id in atomic}
        strains = {one.task.id: one.strain for one in judged if one.strain is not None}

        async def settle(executor: Executor, allowed: Sequence[Verdict]) -> Ends:
            async def some_of(some: Sequence[Verdict]) -> list[Settled]:
                return await settlements.settle(executor, some, counted_by=self._counted_by, only_lapsed=only_lapsed)

            rows = await some_of(allowed)
            if only_lapsed:
                return Ends(rows, [])
            return await self._with_the_rest(executor, rows, allowed, some_of, awaited=True)

        async def together(executor: Executor) -> tuple[list[Settled], list[Verdict], RolledUp]:
            fitting = await _fitting(executor, revisions)
            stale = revisions.keys() - fitting.keys()
            allowed = [_handed_back(one.verdict) if one.task.id in stale else one.verdict for one in judged]
            dag_ids: set[DagId] = set()
            completing = {v.task_id for v in allowed if v.state is TaskState.COMPLETED} & awaited
            ending = {v.task_id for v in allowed if v.state in REOPENABLE} & awaited
            if completing or ending:
                dag_ids = await lock_around(executor, completing=completing, ending=ending, roots=roots)
            elif roots:
                await trees.lock_roots(executor, roots)
            settled, before = await settle(executor, allowed)
            made = [
                (row.task_id, fitting[row.task_id])
                for row in settled
                if row.state is TaskState.COMPLETED and row.task_id in fitting
            ]
            if made:
                await documents.revise(executor, made)
            rolled = RolledUp()
            whole = [row.task_id for row in settled if row.task_id in atomic and row.state in FINAL]
            if whole:
                rolled.ended += await trees.finish_atomic(executor, whole, counted_by=self._counted_by)
            if parents:
                await reach("between_settle_and_roll_up")
                ended = {parents[row.task_id] for row in settled if row.task_id in parents and row.state in FINAL}
                rolled += await roll_up(executor, ended, children_ran=True, counted_by=self._counted_by)
            final = [Ended(row.task_id, row.state, row.has_dependents) for row in settled if row.state in FINAL]
            # What is cancelled may have spawned something that it was about to wait for, or waited for already.
            if any(task.has_dependents or task.state is TaskState.CANCELLED for task in (*final, *rolled.ended)):
                await reach("between_settle_and_release")
                rolled += await follow(executor, [*final, *rolled.ended], dag_ids, completing | ending, self._letters)
            if strains:
                well = {one.task.task_type for one in judged if one.verdict.state is TaskState.COMPLETED}
                await strain(executor, strains, settled, well, self._rules)
            await reach("before_commit")
            return settled + before, allowed, rolled

        rows, verdicts, rolled = await self._ledger.in_transaction(together)
        ended = [row.task_id for row in rows if row.state in FINAL]
        ended += [task.task_id for task in rolled.ended]
        news.append(News(ended, _ready(rows, verdicts, rolled)))
        # What became ready may be in the same lane, which was looked at before that.
        return {row.task_id: row._replace(lane_waits=True) if row.has_dependents else row for row in rows}

    async def _with_the_rest(
        self,
        executor: Executor,
        rows: list[Settled],
        verdicts: Sequence[Verdict],
        settle: Callable[[Sequence[Verdict]], Awaitable[list[Settled]]],
        *,
        awaited: bool,
    ) -> Ends:
        """Add what was not settled at once and is not lost, nor `awaited` by others, unless that is allowed for."""
        if len(rows) == len(verdicts):
            return Ends(rows, [])
        # A row that moved under the statement's snapshot (a renewed lease) is not lost:
        # it is settled in a second statement. One that a lost connection's commit
        # did settle, before the caller tried again, is already as it should be.
        seen = {row.task_id for row in rows}
        missing = [verdict for verdict in verdicts if verdict.task_id not in seen]
        standing = await settlements.standing(executor, [(v.task_id, v.claim_id) for v in missing])
        before = [stand.settled for stand in standing.values() if not stand.is_open]
        again = [
            verdict
            for verdict in missing
            if verdict.task_id in standing
            and standing[verdict.task_id].is_open
            and (awaited or not standing[verdict.task_id].settled.has_dependents)
        ]
        if not again:
            return Ends(rows, before)
        ends = await self._with_the_rest(executor, await settle(again), again, settle, awaited=awaited)
        return Ends(rows + ends.now, before + ends.before)


async def _fitting(executor: Executor, revisions: Mapping[TaskId, NewRevision]) -> dict[TaskId, NewRevision]:
    """Lock the documents, and return the revisions that follow what these are at."""
    if not revisions:
        return {}
    heads = await documents.lock(executor, [revision.document_id for revision in revisions.values()])
    return {task_id: new for task_id, new in revisions.items() if heads.get(new.document_id) == new.base}


def _leads_to_more(one: Judged) -> bool:
    """Tell whether the end of an attempt leads to more than a change of its own task."""
    task = one.task
    return (
        task.parent_id is not None
        or task.has_dependents
        or task.task_type == BATCH_TYPE
        or one.verdict.error_json is not None
        or one.awaits is not None
    )


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
