"""Ends that lead to more: failures, children of batches, tasks that others wait for.

Task, revision, failure row, dead letter, batch, dependents, valves: one
transaction for all that ended together, so that none of it is ever half done.
What it may touch is locked first, in the order of ADR 0004.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from officeplane.domain.batch import BATCH_TYPE
from officeplane.domain.ids import DagId, TaskId
from officeplane.domain.lifecycle import FINAL, REOPENABLE, TaskState
from officeplane.domain.outcome import RetryRules, Verdict
from officeplane.domain.revision import Revisions
from officeplane.domain.space import QualifiedType
from officeplane.failpoints import reach
from officeplane.services.settle.aftermath import aftermath_of
from officeplane.services.settle.batches import TreeEffects, roll_up
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.settle.dependents import follow, lock_around
from officeplane.services.settle.judgement import Judged, handed_back, revisions_of
from officeplane.services.settle.plain import Written
from officeplane.services.settle.remainder import Ends, with_the_rest
from officeplane.services.settle.type_failures import count_type_failures
from officeplane.store import documents, settlements, trees
from officeplane.store.connection import Executor, Ledger
from officeplane.store.settlements import Settled
from officeplane.store.trees import EndedTask


class Beside(Protocol):
    """What else is written in the transaction that ends an attempt, by somebody who may have to repeat the answer."""

    async def before(self, executor: Executor) -> None:
        """Write what comes first, once everything around the attempt is locked."""
        ...

    async def after(self, executor: Executor, settled: Sequence[Settled]) -> None:
        """Write what is to be known of the end."""
        ...


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which a settlement is written."""

    rules: RetryRules
    counted_by: str
    only_lapsed: bool
    """End an attempt only if its lease has run out by the ledger's own clock, whatever was read before."""
    succeeded: Collection[QualifiedType]
    """The types, each of its space, of which others succeeded at the same moment.

    Their failures are not failures in a row.
    """
    beside: Beside | None = None

    @property
    def letters(self) -> DeadLetterWriter:
        """Who writes the dead letters of answers that others wait for."""
        return DeadLetterWriter(self.counted_by, alerts=self.rules.alerts)


async def end_together(ledger: Ledger, judged: Sequence[Judged], terms: Terms) -> Written:
    """End attempts together with what their ends lead to; what was lost is left out."""
    transaction = _Together(judged, terms)
    rows, verdicts, effects = await ledger.in_transaction(transaction.carry_out)
    # What became ready may be in the same lane, which was looked at before that.
    settled = {row.task_id: row._replace(lane_waits=True) if row.has_dependents else row for row in rows}
    return Written(settled, aftermath_of(rows, verdicts, effects))


class _Together:
    def __init__(self, judged: Sequence[Judged], terms: Terms) -> None:
        self._judged = judged
        self._terms = terms
        self._revisions = revisions_of(judged)
        self._parents = {one.task.id: one.task.parent_id for one in judged if one.task.parent_id is not None}
        self._atomic = {one.task.id for one in judged if one.task.task_type == BATCH_TYPE}
        self._awaited = {one.task.id for one in judged if one.task.has_dependents}

    async def carry_out(self, executor: Executor) -> tuple[list[Settled], list[Verdict], TreeEffects]:
        """Write it all; whoever calls commits."""
        fitting = await _fitting(executor, self._revisions)
        stale = self._revisions.keys() - fitting.keys()
        verdicts = [handed_back(one.verdict) if one.task.id in stale else one.verdict for one in self._judged]
        dag_ids, foreseen = await self._lock(executor, verdicts)
        beside = self._terms.beside
        if beside is not None:
            await beside.before(executor)
        settled, before = await self._settle(executor, verdicts)
        if beside is not None:
            await beside.after(executor, settled)
        made = [
            (row.task_id, fitting[row.task_id])
            for row in settled
            if row.state is TaskState.COMPLETED and row.task_id in fitting
        ]
        if made:
            await documents.revise(executor, made)
        effects = await self._follow(executor, settled, dag_ids, foreseen)
        failures = {one.task.id: one.type_failure for one in self._judged if one.type_failure is not None}
        if failures:
            well = {one.task.qualified_type for one in self._judged if one.verdict.state is TaskState.COMPLETED}
            succeeded = well.union(self._terms.succeeded)
            await count_type_failures(executor, failures, settled, succeeded, self._terms.rules)
        await reach("before_commit")
        return settled + before, verdicts, effects

    async def _lock(self, executor: Executor, verdicts: Sequence[Verdict]) -> tuple[set[DagId], set[TaskId]]:
        """Lock DAGs and trees around what ends; return the DAGs, and the tasks for which that was done."""
        roots = {
            one.task.root_id for one in self._judged if one.task.parent_id is not None or one.task.id in self._atomic
        }
        completing = {v.task_id for v in verdicts if v.state is TaskState.COMPLETED} & self._awaited
        ending = {v.task_id for v in verdicts if v.state in REOPENABLE} & self._awaited
        if completing or ending:
            return await lock_around(executor, completing=completing, ending=ending, roots=roots), completing | ending
        if roots:
            await trees.lock_roots(executor, roots)
        return set(), set()

    async def _settle(self, executor: Executor, verdicts: Sequence[Verdict]) -> Ends:
        counted_by, only_lapsed = self._terms.counted_by, self._terms.only_lapsed

        async def some_of(some: Sequence[Verdict]) -> list[Settled]:
            return await settlements.settle(executor, some, counted_by=counted_by, only_lapsed=only_lapsed)

        rows = await some_of(verdicts)
        if only_lapsed or len(rows) == len(verdicts):
            return Ends(rows, [])
        return await with_the_rest(executor, rows, verdicts, some_of, awaited=True)

    async def _follow(
        self, executor: Executor, settled: Sequence[Settled], dag_ids: Collection[DagId], foreseen: Collection[TaskId]
    ) -> TreeEffects:
        """Let batches and dependents go on, or end them."""
        counted_by = self._terms.counted_by
        ended = [row for row in settled if row.state in FINAL]
        effects = TreeEffects()
        whole = [row.task_id for row in ended if row.task_id in self._atomic]
        if whole:
            effects.ended += await trees.finish_atomic(executor, whole, counted_by=counted_by)
        if self._parents:
            await reach("between_settle_and_roll_up")
            parents = {self._parents[row.task_id] for row in ended if row.task_id in self._parents}
            effects += await roll_up(executor, parents, children_ran=True, counted_by=counted_by)
        final = [*(EndedTask(row.task_id, row.state, row.has_dependents) for row in ended), *effects.ended]
        # What is cancelled may have spawned something that it was about to wait for, or waited for already.
        if any(task.has_dependents or task.state is TaskState.CANCELLED for task in final):
            await reach("between_settle_and_release")
            effects += await follow(executor, final, dag_ids, foreseen, self._terms.letters)
        return effects


async def _fitting(executor: Executor, revisions: Revisions) -> Revisions:
    """Lock the documents, and return the revisions that follow what these are at."""
    if not revisions:
        return {}
    heads = await documents.lock(executor, [revision.document_id for revision in revisions.values()])
    return {task_id: new for task_id, new in revisions.items() if heads.get(new.document_id) == new.base}
