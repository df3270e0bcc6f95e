"""Agents: programs of others, which claim over HTTP what their kind does."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from officeplane.domain.ids import AgentId, ClaimId, WorkerId
from officeplane.domain.space import Space
from officeplane.domain.task import ClaimedTask

START_SECONDS: Final = 30.0
"""How long a claim may be held before it is started, if its agent says nothing else."""
BEATS_PER_LEASE: Final = 3
"""How often an agent is to be heard of while its lease lasts, if it says nothing else."""
PREVIOUS_SHOWN: Final = 3


class AgentStatus(StrEnum):
    """Whether an agent claims."""

    ACTIVE = "active"
    PAUSED = "paused"
    DRAINING = "draining"


class Holder(StrEnum):
    """By whom an agent is kept from claiming."""

    AGENT = "agent"
    PERSON = "person"
    SYSTEM = "system"


class Directive(StrEnum):
    """What an agent is told to do."""

    CONTINUE = "continue"
    CANCEL = "cancel"
    PAUSE = "pause"
    DRAIN = "drain"


DIRECTIVES: Final[Mapping[AgentStatus, Directive]] = {
    AgentStatus.ACTIVE: Directive.CONTINUE,
    AgentStatus.PAUSED: Directive.PAUSE,
    AgentStatus.DRAINING: Directive.DRAIN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What an agent says of itself."""

    kind: str | None
    title: str | None
    capabilities: tuple[str, ...]
    task_types: tuple[str, ...]
    models: tuple[str, ...]
    max_concurrent_tasks: int
    version: str | None
    heartbeat_seconds: float | None
    """How often it means to be heard of; None: as often as its lease asks for."""
    start_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent as it was registered."""

    id: AgentId
    space: Space
    kind: str | None
    title: str | None
    capabilities: tuple[str, ...]
    task_types: tuple[str, ...]
    models: tuple[str, ...]
    max_concurrent_tasks: int
    version: str | None
    heartbeat_seconds: float
    start_seconds: float
    status: AgentStatus
    held_by: Holder | None
    registered_by: str
    registered_at: datetime
    last_seen_at: datetime

    @property
    def directive(self) -> Directive:
        """What it is told to do."""
        return DIRECTIVES[self.status]


class AgentDay(NamedTuple):
    """How an agent stands, and what became of its claims of this day."""

    agent: Agent
    is_silent: bool
    current_tasks: int
    claims: int
    completed: int
    failed: int
    cost_micros: int | None
    """None: nobody has said what anything cost."""


class AgentClaim(NamedTuple):
    """A claim in an agent's hands."""

    task: ClaimedTask
    lease_until: datetime
    model: str | None
    """By which model the task is to be done; None: it asks for none."""

    @property
    def id(self) -> ClaimId:
        """What the claim is known by."""
        return self.task.claim_id


class PreviousAttempt(NamedTuple):
    """A failed attempt, as whoever tries next is told of it."""

    attempt: int
    kind: str
    message: str
    agent_id: AgentId | None
    """None: it was none of an agent."""
    model: str | None
    late_result: Any


class Skipped(NamedTuple):
    """Why an agent was given nothing of what waits, as far as a short look tells."""

    capability: bool = False
    budget: bool = False
    model: bool = False
    paused: bool = False
    excluded: bool = False


class WaitingDemand(NamedTuple):
    """A demand of which something waits."""

    id: int
    space: Space
    task_type: str
    capabilities: frozenset[str]
    models: frozenset[str]
    """All that may do, first or later; none: any."""


def meets(agent: Agent, demand: WaitingDemand) -> bool:
    """Tell whether there may be something for an agent among what makes a demand."""
    return (
        demand.space == agent.space
        and demand.task_type in agent.task_types
        and demand.capabilities.issubset(agent.capabilities)
        and (not demand.models or not demand.models.isdisjoint(agent.models))
    )


def worker_of(agent_id: AgentId) -> WorkerId:
    """Return the name under which tasks are in an agent's hands."""
    return WorkerId(f"agent:{agent_id}")
