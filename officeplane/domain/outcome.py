"""Outcomes: how an attempt ended, and the verdict that the ledger stores of it."""

import json
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from officeplane.domain.dead_letter import fingerprint
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import AgentId, ClaimId, TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.retry import GiveUp, Retry, RetryPolicy, RetryState, next_step
from officeplane.domain.revision import NewRevision
from officeplane.domain.task import ClaimedTask

RESULT_BYTES_MAX: Final = 1024 * 1024
"""How large a result may be, as JSON: of a handler, or of all edits of an attempt."""


class Succeeded(NamedTuple):
    """The handler returned; its result is JSON text, or None."""

    result_json: str | None


@dataclass(frozen=True, slots=True)
class Edited:
    """The attempt made a new revision of its document, which counts if the document is still what it was."""

    result_json: str
    revision: NewRevision


@dataclass(frozen=True, slots=True)
class Failed:
    """The handler failed; `killed_its_child` when its own process died with it."""

    failure: Failure
    killed_its_child: bool = False


@dataclass(frozen=True, slots=True)
class HandedBack:
    """The attempt was stopped before it could end, for no fault of its own."""

    after_seconds: float = 0.0
    """How long nobody is to have it."""


@dataclass(frozen=True, slots=True)
class Lapsed:
    """The lease ran out: the worker is gone, or as good as gone."""

    handler_started: bool
    is_guilty: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """The handler waits for a task that it has spawned, and is to run again when that has completed."""

    spawned_id: TaskId


Outcome: TypeAlias = Succeeded | Edited | Failed | HandedBack | Lapsed | Waiting


class ByAgent(NamedTuple):
    """Whose attempt it was, if it was an agent's, and which agents have failed at the task before."""

    agent_id: AgentId
    failed_before: frozenset[str] = frozenset()

    def failed_with(self, *, charged: bool) -> frozenset[str]:
        """Return the agents that have failed at the task once this attempt is counted, if it is."""
        return self.failed_before.union([self.agent_id] if charged else [])


class Verdict(NamedTuple):
    """What a settlement writes for one attempt; the columns of its statement."""

    task_id: TaskId
    claim_id: ClaimId
    state: TaskState
    result_json: str | None = None
    error_json: str | None = None
    delay_seconds: float = 0.0
    charged: bool = False
    crashed: bool = False
    poisoned: bool = False
    fingerprint: str | None = None
    alerts: bool | None = None


@dataclass(frozen=True, slots=True)
class RetryRules:
    """What the installation says about failures, where a task or its type does not: retries, alerts, breakers."""

    default: RetryPolicy
    poison_crashes: int
    alerts: bool = False
    failure_threshold: int = 5
    """After how many failed attempts in a row the breaker of a type opens."""
    half_open_after_seconds: float = 60.0


def judge(
    task: ClaimedTask,
    outcome: Outcome,
    rules: RetryRules,
    chance: float,
    rate_limits: int = 0,
    by_agent: ByAgent | None = None,
) -> Verdict:
    """Return what becomes of a task after an attempt; `chance` in [0, 1) spreads retries.

    `rate_limits` is how many in a row it has met before.
    """
    match outcome:
        case Succeeded(result_json) | Edited(result_json):
            return Verdict(task.id, task.claim_id, TaskState.COMPLETED, result_json)
        case HandedBack(after_seconds):
            state = TaskState.RETRYING if after_seconds > 0 else TaskState.QUEUED
            return Verdict(task.id, task.claim_id, state, delay_seconds=after_seconds)
        case Waiting():
            return Verdict(task.id, task.claim_id, TaskState.PENDING)
        case Failed(failure, killed_its_child):
            return _after_failure(
                task, failure, rules, chance,
                charged=failure.is_charged, crashed=killed_its_child, rate_limits=rate_limits, by_agent=by_agent,
            )  # fmt: skip
        case Lapsed(handler_started, is_guilty):
            who = "worker" if by_agent is None else "agent"
            failure = Failure(FailureKind.CRASH, f"its {who} stopped answering before the attempt ended")
            return _after_failure(
                task, failure, rules, chance, charged=handler_started, crashed=is_guilty, by_agent=by_agent
            )


def _after_failure(
    task: ClaimedTask,
    failure: Failure,
    rules: RetryRules,
    chance: float,
    *,
    charged: bool,
    crashed: bool,
    rate_limits: int = 0,
    by_agent: ByAgent | None = None,
) -> Verdict:
    failed = frozenset[str]() if by_agent is None else by_agent.failed_with(charged=charged)
    used = RetryState(
        attempts_charged=task.attempts_charged + charged,
        retries_max=task.max_retries,
        crashes=task.crashes + crashed,
        crashes_max=rules.poison_crashes,
        # A lapse that cleared nobody leaves a suspect; one that convicted it leaves a count.
        has_crashed_before=task.suspect or task.crashes > 0 or (by_agent is not None and task.attempts_charged > 0),
        rate_limits=rate_limits,
        agents_failed=len(failed),
    )
    policy = rules.default if task.retry_json is None else RetryPolicy.model_validate_json(task.retry_json)
    poisoned = (crashed and used.is_poisoned) or used.is_beyond_agents
    verdict = Verdict(
        task.id,
        task.claim_id,
        TaskState.RETRYING,
        error_json=json.dumps(
            dict(failure.facts)
            | {"kind": failure.kind, "message": _told(failure, poisoned=poisoned, used=used)}
            | ({} if failure.child is None else {"child": failure.child})
        ),
        charged=charged,
        crashed=crashed,
        poisoned=poisoned,
        fingerprint=fingerprint(task.task_type, failure.kind, failure.message),
    )
    match next_step(failure, used, policy, chance):
        case Retry(after_seconds):
            return verdict._replace(delay_seconds=after_seconds)
        case GiveUp():
            timed_out = failure.kind is FailureKind.TIMEOUT and not poisoned
            state = TaskState.TIMEOUT if timed_out else TaskState.FAILED
            return verdict._replace(state=state, alerts=rules.alerts)


def _told(failure: Failure, *, poisoned: bool, used: RetryState) -> str:
    if not poisoned:
        return failure.message
    if used.is_beyond_agents:
        failed = f"{used.agents_failed} agents failed at it in {used.attempts_charged} attempts"
        return f"{failure.message} (poison pill: {failed})"
    return f"{failure.message} (poison pill: it took its process down {used.crashes} times)"


def unstorable(task: ClaimedTask, rules: RetryRules) -> Verdict:
    """Return the verdict for a task whose own outcome the ledger cannot store."""
    error = {"kind": FailureKind.INVALID_OUTPUT, "message": "its result could not be stored"}
    return Verdict(
        task.id,
        task.claim_id,
        TaskState.FAILED,
        error_json=json.dumps(error),
        charged=True,
        fingerprint=fingerprint(task.task_type, **error),
        alerts=rules.alerts,
    )
