"""Agents and what they have claimed, as the API shows them."""

import json
import math
from typing import Any, Final, Literal

from pydantic import Field

from officeplane.api.task_views import TaskView, task_view
from officeplane.api.views import Time, View
from officeplane.domain.agent import AgentClaim, AgentDay, AgentStatus, Directive, Holder, PreviousAttempt, Skipped
from officeplane.domain.space import bare
from officeplane.domain.task import TaskDetails

MICROS: Final = 1_000_000


class TodayView(View):
    """What became of the claims that an agent has made since midnight, UTC."""

    claims: int
    completed: int
    failed: int
    cost_usd: float | None = Field(description="What they have cost so far; null: nobody has said.")


class AgentView(View):
    """An agent."""

    id: str
    type: str | None
    title: str | None
    capabilities: tuple[str, ...]
    task_types: tuple[str, ...]
    models: tuple[str, ...]
    max_concurrent_tasks: int
    version: str | None
    heartbeat_seconds: float
    start_seconds: float
    status: Literal["active", "paused", "draining", "offline"] = Field(
        description="`offline`: silent for as long as a lease lasts, and not paused."
    )
    held_by: Holder | None = Field(description="Who keeps it from claiming: itself, a person, or the installation.")
    current_tasks: int
    today: TodayView
    registered_by: str
    registered_at: Time
    last_seen_at: Time


class PreviousAttemptView(View):
    """A failed attempt, as whoever tries next is told of it."""

    attempt: int
    kind: str
    message: str
    agent_id: str | None
    model: str | None
    late_result: Any = Field(description="What was handed in when it could not count any more.")


class ClaimView(View):
    """A task in an agent's hands."""

    claim_id: str
    task: TaskView
    checkpoint: Any = Field(description="What the attempt before has left behind.")
    previous_attempts: tuple[PreviousAttemptView, ...]
    model: str | None = Field(description="By which model it is to be done; null: by any.")
    lease_until: Time
    heartbeat_seconds: float
    reserved_usd: float | None


class SkippedView(View):
    """Why something that waits was not given, as far as a short look tells."""

    capability: bool
    budget: bool
    model: bool
    paused: bool
    excluded: bool


class ClaimsView(View):
    """What an agent was given, and what it is told."""

    claims: tuple[ClaimView, ...]
    directive: Directive
    retry_after_seconds: float | None = Field(
        description="When a type that waits for its time goes on; null: none of this agent's does."
    )
    skipped: SkippedView


def agent_view(day: AgentDay) -> AgentView:
    """Return an agent as it is shown."""
    agent = day.agent
    return AgentView(
        id=bare(agent.id),
        type=agent.kind,
        title=agent.title,
        capabilities=agent.capabilities,
        task_types=agent.task_types,
        models=agent.models,
        max_concurrent_tasks=agent.max_concurrent_tasks,
        version=agent.version,
        heartbeat_seconds=agent.heartbeat_seconds,
        start_seconds=agent.start_seconds,
        status=_status(day),
        held_by=agent.held_by,
        current_tasks=day.current_tasks,
        today=TodayView(
            claims=day.claims,
            completed=day.completed,
            failed=day.failed,
            cost_usd=None if day.cost_micros is None else day.cost_micros / MICROS,
        ),
        registered_by=agent.registered_by,
        registered_at=agent.registered_at,
        last_seen_at=agent.last_seen_at,
    )


def claim_view(
    claim: AgentClaim, details: TaskDetails, attempts: tuple[PreviousAttempt, ...], heartbeat_seconds: float
) -> ClaimView:
    """Return a claim as it is shown: its task with what its payload refers to."""
    shown = task_view(details).model_copy(update={"payload": json.loads(claim.task.payload_json)})
    checkpoint = claim.task.checkpoint_json
    return ClaimView(
        claim_id=claim.id,
        task=shown,
        checkpoint=None if checkpoint is None else json.loads(checkpoint),
        previous_attempts=tuple(map(_attempt_view, attempts)),
        model=claim.model,
        lease_until=claim.lease_until,
        heartbeat_seconds=heartbeat_seconds,
        reserved_usd=None,
    )


def claims_view(
    claims: tuple[ClaimView, ...], directive: Directive, skipped: Skipped, seconds: float | None
) -> ClaimsView:
    """Return what an agent was given as it is shown."""
    # Whoever comes back a moment too early comes in vain.
    retry_after = None if seconds is None else math.ceil(seconds * 1_000) / 1_000
    return ClaimsView(
        claims=claims,
        directive=directive,
        retry_after_seconds=retry_after,
        skipped=SkippedView.model_validate(skipped._asdict()),
    )


def _status(day: AgentDay) -> Literal["active", "paused", "draining", "offline"]:
    status = day.agent.status
    # That somebody has paused it is what matters when it comes back.
    if day.is_silent and status is not AgentStatus.PAUSED:
        return "offline"
    return status.value


def _attempt_view(attempt: PreviousAttempt) -> PreviousAttemptView:
    return PreviousAttemptView(
        attempt=attempt.attempt,
        kind=attempt.kind,
        message=attempt.message,
        agent_id=None if attempt.agent_id is None else bare(attempt.agent_id),
        model=attempt.model,
        late_result=attempt.late_result,
    )
