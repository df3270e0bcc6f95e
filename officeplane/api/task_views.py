"""Tasks as the API shows them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from starlette.responses import Response

from officeplane.api.views import TIER_NAMES, TierName, Time, View, json_answer
from officeplane.domain.demand import AgentTerms, OutputType
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.priority import BOOST_PER_MINUTE, shown, tier_of
from officeplane.domain.space import bare
from officeplane.domain.spending import usd_of
from officeplane.domain.task import AttemptFailure, ChildSummary, TaskDetails
from officeplane.services.observe.explanation import Explanation


class ErrorView(View):
    """Why the last failed attempt failed; what differs from case to case is in fields of its own."""

    # Those of a child of an atomic batch are the batch's.
    model_config = ConfigDict(extra="allow")

    kind: str
    message: str


class FailureView(View):
    """One failed attempt."""

    attempt: int
    worker_id: str | None
    kind: str
    message: str
    started_at: Time | None
    duration_seconds: float
    cost_usd: float
    agent_id: str | None
    model: str | None
    tokens: dict[str, int] | None
    late_result: Any = Field(description="What an agent handed in after this had ended; not shown in lists.")


class ChildView(View):
    """A child of a batch, as its parent lists it."""

    id: str
    task_type: str
    state: TaskState
    key: str | None


class OutputView(View):
    """What an agent is to give back."""

    type: OutputType


class TaskView(View):
    """A task."""

    id: str
    task_type: str
    state: TaskState
    priority: TierName
    priority_value: int
    effective_priority: float
    deadline: Time | None
    boost_per_minute: float
    title: str | None
    document_id: str | None
    payload: Any
    result: Any
    error: ErrorView | None
    attempt: int
    attempts_charged: int
    generation: int
    max_retries: int
    timeout_seconds: float
    on_retry: Literal["block", "yield"]
    run_at: Time
    parent_id: str | None
    position: int | None
    key: str | None
    spawned_by: str | None
    tags: tuple[str, ...]
    worker_id: str | None
    created_by: str | None
    on_behalf_of: str | None
    created_at: Time
    queued_at: Time | None
    started_at: Time | None
    finished_at: Time | None
    cancel_requested_at: Time | None
    cancel_reason: str | None
    progress: Any
    failures: tuple[FailureView, ...]
    children: tuple[ChildView, ...] | None
    child_counts: dict[TaskState, int] | None
    dag_id: str | None
    depends_on: tuple[str, ...]
    blocked_by: tuple[str, ...]
    required_capabilities: tuple[str, ...] | None
    models: tuple[str, ...] | None
    fallback_models: tuple[str, ...] | None
    require_decision_report: bool | None
    output: OutputView | None
    agent_id: str | None = Field(description="The agent that claimed it last; a worker has none.")
    model: str | None
    claimed_at: Time | None
    heartbeat_at: Time | None
    cost_usd: float | None = Field(description="Of all attempts; null: nobody has said.")
    tokens: dict[str, int] | None
    decision_report: Any = Field(description="What was decided, and why; not shown in lists.")


_TASKS: Final = TypeAdapter(list[TaskView])


def one_task(details: TaskDetails, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a task as JSON."""
    return json_answer(task_view(details), status, headers)


def many_tasks(many: Iterable[TaskDetails], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return tasks as a JSON array."""
    return Response(_TASKS.dump_json([task_view(details) for details in many]), status, headers, "application/json")


def task_view(details: TaskDetails) -> TaskView:
    """Return a task as it is shown."""
    task = details.task
    children = details.children
    demand = task.demand
    by_agents = details.by_agents
    terms = None if demand is None else task.agent_terms or AgentTerms()
    return TaskView(
        id=task.id,
        task_type=task.task_type,
        state=task.state,
        priority=TIER_NAMES[tier_of(task.priority)],
        priority_value=task.priority,
        effective_priority=shown(task.effective_priority(datetime.now(UTC))),
        deadline=task.deadline,
        boost_per_minute=BOOST_PER_MINUTE if task.boost_per_minute is None else task.boost_per_minute,
        title=task.title,
        document_id=None if task.document_id is None else bare(task.document_id),
        payload=task.payload,
        result=task.result,
        error=None if task.error is None else ErrorView.model_validate(task.error),
        attempt=task.attempt,
        attempts_charged=task.attempts_charged,
        generation=task.generation,
        max_retries=task.max_retries,
        timeout_seconds=task.timeout_seconds,
        on_retry="yield" if task.yields else "block",
        run_at=task.run_at,
        parent_id=task.parent_id,
        position=task.position,
        key=task.key,
        spawned_by=task.spawned_by,
        tags=task.tags,
        worker_id=task.worker_id if task.demand is None else None,
        created_by=task.created_by,
        on_behalf_of=task.on_behalf_of,
        created_at=task.created_at,
        queued_at=task.queued_at,
        started_at=task.started_at,
        finished_at=task.finished_at,
        cancel_requested_at=task.cancel_requested_at,
        cancel_reason=task.cancel_reason,
        progress=task.progress,
        failures=tuple(map(failure_view, details.failures)),
        children=None if children is None else tuple(map(_child_view, children)),
        child_counts=None if children is None else Counter(child.state for child in children),
        dag_id=task.dag_id,
        depends_on=task.depends_on,
        blocked_by=details.blocked_by,
        required_capabilities=None if demand is None else demand.capabilities,
        models=None if demand is None else demand.models,
        fallback_models=None if demand is None else demand.fallback_models,
        require_decision_report=None if terms is None else terms.require_decision_report,
        output=None if terms is None or terms.output is None else OutputView(type=terms.output),
        agent_id=None if by_agents is None else by_agents.agent_id,
        model=None if by_agents is None else by_agents.model,
        claimed_at=None if by_agents is None else by_agents.claimed_at,
        heartbeat_at=None if by_agents is None else by_agents.heartbeat_at,
        cost_usd=None if by_agents is None else usd_of(by_agents.spent.cost_micros),
        tokens=None if by_agents is None or by_agents.spent.tokens is None else dict(by_agents.spent.tokens),
        decision_report=None if by_agents is None else by_agents.decision_report,
    )


def failure_view(failure: AttemptFailure) -> FailureView:
    """Return a failed attempt as it is shown."""
    return FailureView(
        attempt=failure.attempt,
        worker_id=failure.worker_id,
        kind=failure.kind,
        message=failure.message,
        started_at=failure.started_at,
        duration_seconds=failure.duration_seconds,
        cost_usd=failure.cost_usd,
        agent_id=failure.agent_id,
        model=failure.model,
        tokens=None if failure.tokens is None else dict(failure.tokens),
        late_result=failure.late_result,
    )


def _child_view(child: ChildSummary) -> ChildView:
    return ChildView(id=child.id, task_type=child.task_type, state=child.state, key=child.key)


class ReasonView(View):
    """One thing a task waits for; further fields are its facts."""

    model_config = ConfigDict(extra="allow")

    code: str
    detail: str


class ChangedView(View):
    """What a request for many tasks has changed."""

    changed: int = Field(description="How many tasks changed, those below batches included.")
    next: str | None = Field(description="The `cursor` for the rest; null: nothing is left.")


class ExplanationView(View):
    """Whether a task could run now, and what stands in the way or happens instead."""

    runnable: bool
    reasons: tuple[ReasonView, ...]
    effective_priority: float | None


def explanation_view(explanation: Explanation) -> ExplanationView:
    """Return an explanation as it is shown."""
    reasons = [{**reason.facts, "code": reason.code, "detail": reason.detail} for reason in explanation.reasons]
    return ExplanationView(
        runnable=explanation.runnable,
        reasons=tuple(ReasonView.model_validate(reason) for reason in reasons),
        effective_priority=explanation.effective_priority,
    )
