"""Judgement: what becomes of the tasks whose attempts have ended, before any of it is written."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from officeplane.domain.batch import BATCH_TYPE
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import AgentId, TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import (
    ByAgent,
    Edited,
    Failed,
    HandedBack,
    Lapsed,
    Outcome,
    RetryRules,
    Succeeded,
    Verdict,
    Waiting,
    judge,
)
from officeplane.domain.revision import NewRevision, Revisions
from officeplane.domain.task import ClaimedTask
from officeplane.domain.valve import TypeFailure, type_failure_of
from officeplane.store import agent_claims, settlements
from officeplane.store.connection import Ledger


class EndedAttempt(NamedTuple):
    """One attempt that has ended, and how."""

    task: ClaimedTask
    outcome: Outcome
    at: float = 0.0
    """When, by the clock of a process that may try more than once to settle it."""
    agent_id: AgentId | None = None
    """Whose it was, if no worker's."""

    @property
    def leads_to_more(self) -> bool:
        """Whether its end leads to more than a change of its own task, a revision included."""
        return _is_related(self.task) or not isinstance(self.outcome, Succeeded | Edited | HandedBack)

    @property
    def went_well(self) -> bool:
        """Whether it did what it was there for."""
        return isinstance(self.outcome, Succeeded | Edited)


class Judged(NamedTuple):
    """One attempt, what becomes of its task, its revision, what it means for its type, and what it waits for."""

    task: ClaimedTask
    verdict: Verdict
    revision: NewRevision | None = None
    type_failure: TypeFailure | None = None
    awaits: TaskId | None = None

    @property
    def leads_to_more(self) -> bool:
        """Whether the end of the attempt leads to more than a change of its own task, a revision included."""
        is_put_off = self.verdict.state is TaskState.RETRYING
        return _is_related(self.task) or is_put_off or self.verdict.error_json is not None or self.awaits is not None


async def judged(
    ledger: Ledger, attempts: Sequence[EndedAttempt], rules: RetryRules, own_seconds: Mapping[str, float]
) -> list[Judged]:
    """Return what becomes of these tasks; `own_seconds` are the timeouts of their types."""
    rate_limits = await _rate_limits(ledger, attempts)
    agents = await _agents(ledger, attempts)

    def judged_alone(attempt: EndedAttempt) -> Judged:
        task, outcome = attempt.task, attempt.outcome
        verdict = judge(task, outcome, rules, random.random(), rate_limits.get(task.id, 0), agents.get(task.id))
        match outcome:
            case Edited(revision=revision):
                return Judged(task, verdict, revision)
            case Failed(failure):
                own = own_seconds
                if attempt.agent_id is not None:
                    # Agents fail each by itself, and hold no type back; but who was told to wait speaks for all.
                    is_limited = failure.kind is FailureKind.RATE_LIMITED
                    own = {task.task_type: task.timeout_seconds} if is_limited else {}
                found = type_failure_of(task, failure, verdict.delay_seconds, own)
                return Judged(task, verdict, type_failure=found)
            case Waiting(spawned_id):
                return Judged(task, verdict, awaits=spawned_id)
            case _:
                return Judged(task, verdict)

    return [judged_alone(attempt) for attempt in attempts]


def handed_back(verdict: Verdict) -> Verdict:
    """Return the verdict for an attempt that is to begin once more, uncharged."""
    return Verdict(verdict.task_id, verdict.claim_id, TaskState.QUEUED)


def revisions_of(judged: Iterable[Judged]) -> Revisions:
    """Return what these attempts have made of their documents."""
    return {one.task.id: one.revision for one in judged if one.revision is not None}


def _is_related(task: ClaimedTask) -> bool:
    return task.parent_id is not None or task.has_dependents or task.task_type == BATCH_TYPE


async def _rate_limits(ledger: Ledger, attempts: Sequence[EndedAttempt]) -> Mapping[TaskId, int]:
    """Return how many rate limits in a row those have met before that have met one more, which names no time."""
    met = [
        attempt.task.id
        for attempt in attempts
        if isinstance(attempt.outcome, Failed)
        and attempt.outcome.failure.kind is FailureKind.RATE_LIMITED
        and attempt.outcome.failure.retry_after is None
    ]
    return await settlements.rate_limits(ledger, met) if met else {}


async def _agents(ledger: Ledger, attempts: Sequence[EndedAttempt]) -> Mapping[TaskId, ByAgent]:
    """Return whose attempts these were, of agents', and who has failed before at what has failed."""
    by_agent = {one.task.id: ByAgent(one.agent_id) for one in attempts if one.agent_id is not None}
    failing = [one.task.id for one in attempts if one.agent_id is not None and isinstance(one.outcome, Failed | Lapsed)]
    if failing:
        for task_id, agent_ids in (await agent_claims.failed_at(ledger, failing)).items():
            by_agent[task_id] = by_agent[task_id]._replace(failed_before=agent_ids)
    return by_agent
