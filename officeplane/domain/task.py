"""Tasks: the record of one piece of work, and the narrower one a worker holds.

What is made for every task is a named tuple: a frozen dataclass takes three
times as long to make.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from officeplane.domain.batch import ALL_OR_NOTHING
from officeplane.domain.demand import AgentTerms, Demand
from officeplane.domain.ids import ClaimId, DagId, DocumentId, HoldId, TaskId, WorkerId
from officeplane.domain.lifecycle import WAITING, TaskState
from officeplane.domain.priority import Urgency, effective_priority
from officeplane.domain.space import QualifiedType, Space, qualified_type
from officeplane.domain.spending import Spending


class Task(NamedTuple):
    """Everything the ledger knows of one task."""

    id: TaskId
    seq: int
    task_type: str
    document_id: DocumentId | None
    title: str | None
    payload: object
    state: TaskState
    priority: int
    rank: float
    run_at: datetime
    yields: bool
    blockers: int
    max_retries: int
    timeout_seconds: float
    generation: int
    attempt: int
    attempts_charged: int
    poison_pill: bool
    worker_id: WorkerId | None
    cancel_requested_at: datetime | None
    cancel_reason: str | None
    progress: object
    result: object
    error: object
    parent_id: TaskId | None
    ancestors: tuple[TaskId, ...]
    position: int | None
    key: str | None
    on_child_failure: str | None
    tags: tuple[str, ...]
    created_by: str | None
    on_behalf_of: str | None
    space: Space
    created_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    dag_id: DagId | None = None
    spawned_by: TaskId | None = None
    deadline: datetime | None = None
    boost_per_minute: float | None = None
    depends_on: tuple[TaskId, ...] = ()
    unmet: int = 0
    demand: Demand | None = None
    """What it asks of agents, if they do it."""
    agent_terms: AgentTerms | None = None

    def effective_priority(self, now: datetime) -> float:
        """Return how urgent it is, the lower the more; of one that no longer waits, how urgent it was then."""
        moment = now if self.state in WAITING else self.started_at or self.finished_at or now
        minutes = moment.timestamp() / 60
        # A rank has seven digits before its point: what is left of the difference behind six is noise.
        return round(effective_priority(self.rank, minutes), 6)

    @property
    def is_batch(self) -> bool:
        """Whether the task is a parent, ended by its children."""
        return self.on_child_failure is not None

    @property
    def is_atomic(self) -> bool:
        """Whether it is a batch that runs as a whole."""
        return self.on_child_failure == ALL_OR_NOTHING


@dataclass(frozen=True, slots=True)
class AttemptFailure:
    """One failed attempt, as it was recorded."""

    attempt: int
    worker_id: WorkerId | None
    kind: str
    message: str
    started_at: datetime | None
    duration_seconds: float
    cost_usd: float
    agent_id: str | None = None
    """Whose it was, if no worker's."""
    model: str | None = None
    tokens: Mapping[str, int] | None = None
    late_result: object = None
    """What it came to after it had ended."""


@dataclass(frozen=True, slots=True)
class ChildSummary:
    """What a parent shows of one child."""

    id: TaskId
    task_type: str
    state: TaskState
    key: str | None


@dataclass(frozen=True, slots=True)
class TaskDetails:
    """A task with its failed attempts and, for a parent, its children in order."""

    task: Task
    failures: tuple[AttemptFailure, ...]
    children: tuple[ChildSummary, ...] | None
    blocked_by: tuple[TaskId, ...] = ()
    by_agents: "ByAgents | None" = None


@dataclass(frozen=True, slots=True)
class ByAgents:
    """What a task shows of its claims by agents: the last one, and what all of them have cost."""

    agent_id: str
    model: str | None
    claimed_at: datetime
    heartbeat_at: datetime | None
    spent: Spending
    decision_report: object


class ClaimedTask(NamedTuple):
    """One attempt in a worker's hands: what to run, and what proves that it may."""

    id: TaskId
    claim_id: ClaimId
    hold_id: HoldId | None
    task_type: str
    space: Space
    document_id: DocumentId | None
    payload_json: str
    attempt: int
    attempts_charged: int
    crashes: int
    suspect: bool
    max_retries: int
    timeout_seconds: float
    retry_json: str | None
    checkpoint_json: str | None
    parent_id: TaskId | None
    root_id: TaskId
    created_at: datetime
    waited_seconds: float
    has_dependents: bool = False

    @property
    def qualified_type(self) -> QualifiedType:
        """Return what its valve and its counters are known by."""
        return qualified_type(self.space, self.task_type)


class NewTask(NamedTuple):
    """A task about to be inserted."""

    id: TaskId
    task_type: str
    document_id: str | None
    payload_json: str
    priority: int
    runnable: bool
    yields: bool
    blockers: int
    run_at: datetime | None
    max_retries: int
    timeout_seconds: float
    retry_json: str | None
    parent_id: TaskId | None
    ancestors: tuple[TaskId, ...]
    position: int | None
    on_child_failure: str | None
    tags: tuple[str, ...]
    created_by: str | None
    on_behalf_of: str | None
    space: Space
    title: str | None
    key: str | None
    dag_id: DagId | None = None
    spawned_by: TaskId | None = None
    spawn_key: str | None = None
    deadline: datetime | None = None
    boost_per_minute: float | None = None
    path_boost: float = 0.0
    content_hash: bytes | None = None
    unmet: int = 0
    lifts: bool = False
    demand: Demand | None = None
    agent_terms: AgentTerms | None = None

    @property
    def urgency(self) -> Urgency:
        """What makes it urgent."""
        return Urgency(self.priority, self.deadline, self.boost_per_minute)
