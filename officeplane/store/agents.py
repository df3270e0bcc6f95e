"""Agents in the ledger: registered, offered what waits, and holding what they have claimed."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypedDict

from officeplane.domain.agent import (
    PREVIOUS_SHOWN,
    Agent,
    AgentClaim,
    AgentDay,
    AgentStatus,
    Holder,
    PreviousAttempt,
    Registration,
    Skipped,
    WaitingDemand,
    worker_of,
)
from officeplane.domain.ids import AgentId, ClaimId, DocumentId, TaskId
from officeplane.domain.quota import Account
from officeplane.domain.space import QualifiedType, Space
from officeplane.store.claims import agent_claim
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("agents")


@dataclass(frozen=True, slots=True)
class AgentSight:
    """Which agents a caller may see, and for how long one may be silent."""

    space: Space
    agents: Sequence[str] | None
    silent_seconds: float


async def page(executor: Executor, sight: AgentSight, *, after: str, limit: int) -> list[AgentDay]:
    """Return agents by id, after one, as they stand."""
    rows = await _SQL["page"].fetch(
        executor,
        seen_space=sight.space,
        seen_agents=sight.agents,
        silent_seconds=sight.silent_seconds,
        after=after,
        limit=limit,
    )
    return [_day(row) for row in rows]


async def fetch(executor: Executor, sight: AgentSight, agent_id: AgentId) -> AgentDay | None:
    """Return an agent as it stands; None when there is none."""
    rows = await _SQL["fetch"].fetch(
        executor,
        seen_space=sight.space,
        seen_agents=sight.agents,
        silent_seconds=sight.silent_seconds,
        agent_id=agent_id,
    )
    return _day(rows[0]) if rows else None


async def lock(executor: Executor, agent_id: AgentId) -> Agent | None:
    """Return an agent, which nobody else changes, and who claims nothing, until the transaction ends."""
    rows = await _SQL["lock"].fetch(executor, agent_id=agent_id)
    return _agent(rows[0]) if rows else None


async def greet(executor: Executor, agent_id: AgentId) -> Agent | None:
    """Do the same, and note that it was heard of."""
    rows = await _SQL["greet"].fetch(executor, agent_id=agent_id)
    return _agent(rows[0]) if rows else None


async def register(
    executor: Executor, agent_id: AgentId, space: Space, said: Registration, heartbeat_seconds: float, caller: str
) -> None:
    """Add an agent, or put it in the place of what it was."""
    await _SQL["register"].fetch(
        executor,
        agent_id=agent_id,
        space=space,
        kind=said.kind,
        title=said.title,
        capabilities=said.capabilities,
        task_types=said.task_types,
        models=said.models,
        max_concurrent_tasks=said.max_concurrent_tasks,
        version=said.version,
        heartbeat_seconds=heartbeat_seconds,
        start_seconds=said.start_seconds,
        registered_by=caller,
    )


async def set_status(executor: Executor, agent_id: AgentId, status: AgentStatus, held_by: Holder | None) -> None:
    """Have an agent claim, or claim no more."""
    await _SQL["set_status"].fetch(executor, agent_id=agent_id, status=status, held_by=held_by)


async def remove(executor: Executor, agent_id: AgentId) -> None:
    """Remove an agent."""
    await _SQL["remove"].fetch(executor, agent_id=agent_id)


async def count(executor: Executor, account: Account) -> int:
    """Return how many agents a space has, or how many of those that one caller has registered."""
    (row,) = await _SQL["count"].fetch(executor, space=account.space, caller=account.caller)
    return int(row["count"])


async def count_held(executor: Executor, agent_id: AgentId) -> int:
    """Return how many claims an agent holds."""
    (row,) = await _SQL["count_held"].fetch(executor, agent_id=agent_id)
    return int(row["count"])


async def held(executor: Executor, agent_id: AgentId, claim_ids: Sequence[ClaimId] | None = None) -> list[AgentClaim]:
    """Return what an agent holds, or of that what it has under these claims."""
    rows = await _SQL["held"].fetch(executor, worker_id=worker_of(agent_id), claim_ids=claim_ids)
    return [agent_claim(row) for row in rows]


async def claimed_under(executor: Executor, agent_id: AgentId, key: str) -> list[ClaimId] | None:
    """Return the claims that an agent was given under a key; None when the key is new."""
    rows = await _SQL["claimed_under"].fetch(executor, agent_id=agent_id, key=key)
    return [ClaimId(str(claim_id)) for claim_id in rows[0]["claim_ids"]] if rows else None


async def keep_key(executor: Executor, agent_id: AgentId, key: str, claim_ids: Sequence[ClaimId]) -> None:
    """Keep what an agent was given under a key."""
    await _SQL["keep_key"].fetch(executor, agent_id=agent_id, key=key, claim_ids=claim_ids)


@dataclass(frozen=True, slots=True)
class Seeker:
    """An agent that looks for something to do: what it can, and what it may."""

    agent: Agent
    task_types: Sequence[str]
    """Those of its types that its caller may have to do with."""
    documents: Sequence[str] | None
    """What its caller sees of documents, as SQL compares it; None: all."""
    lane_names: Sequence[DocumentId]
    """Those of these that are names."""
    declined_seconds: float
    """For how long it is not offered what it has declined."""


class _KnownValues(TypedDict):
    space: Space
    task_types: Sequence[str]
    capabilities: Sequence[str]
    models: Sequence[str]


def _known(seeker: Seeker) -> _KnownValues:
    agent = seeker.agent
    return {
        "space": agent.space,
        "task_types": seeker.task_types,
        "capabilities": agent.capabilities,
        "models": agent.models,
    }


async def demands_met(executor: Executor, seeker: Seeker) -> list[int]:
    """Return the demands that an agent meets of which something waits."""
    return [row["id"] for row in await _SQL["demands_met"].fetch(executor, **_known(seeker))]


async def demands_waiting(executor: Executor, task_types: Sequence[str]) -> list[WaitingDemand]:
    """Return the demands of these types of which something may be claimed by its time."""
    return [
        WaitingDemand(
            row["id"],
            Space(row["space"]),
            row["task_type"],
            frozenset(row["capabilities"]),
            frozenset([*row["models"], *row["fallback_models"]]) if row["models"] else frozenset(),
        )
        for row in await _SQL["demands_waiting"].fetch(executor, task_types=task_types)
    ]


class Offer(NamedTuple):
    """A task that an agent may claim."""

    task_id: TaskId
    document_id: DocumentId | None
    limited_type: QualifiedType | None
    """Its type, if limits have to admit it."""


class Offers(NamedTuple):
    """What an agent may claim, most urgent first, and where the next look at lanes begins."""

    offers: list[Offer]
    next_lane: str


async def offers(
    executor: Executor,
    seeker: Seeker,
    demand_ids: Sequence[int],
    *,
    after_lane: str,
    each: int,
    lanes: int,
    limit: int,
) -> Offers:
    """Return what an agent may claim: `each` of a demand are looked at, and so many lanes of each."""
    rows = await _SQL["offers"].fetch(
        executor,
        agent_id=seeker.agent.id,
        models=seeker.agent.models,
        seen_documents=seeker.documents,
        lane_names=seeker.lane_names,
        declined_seconds=seeker.declined_seconds,
        demand_ids=demand_ids,
        after_lane=after_lane,
        each=each,
        lanes=lanes,
        limit=limit,
    )
    found = [
        Offer(
            TaskId(str(row["id"])),
            None if row["document_id"] is None else DocumentId(row["document_id"]),
            row["qualified_type"] if row["limited"] else None,
        )
        for row in rows
        if row["id"] is not None
    ]
    return Offers(found, rows[0]["last_lane"] or "")


async def skipped(executor: Executor, seeker: Seeker, *, each: int) -> tuple[Skipped, float | None]:
    """Return why an agent was given nothing of what waits, and in how many seconds a type goes on that waits for it."""
    (row,) = await _SQL["skipped"].fetch(
        executor,
        agent_id=seeker.agent.id,
        seen_documents=seeker.documents,
        declined_seconds=seeker.declined_seconds,
        each=each,
        **_known(seeker),
    )
    reasons = Skipped(capability=row["capability"], model=row["model"], paused=row["paused"], excluded=row["excluded"])
    return reasons, row["seconds"]


async def previous_attempts(
    executor: Executor, task_ids: Sequence[TaskId]
) -> dict[TaskId, tuple[PreviousAttempt, ...]]:
    """Return the last failed attempts of tasks, the latest last."""
    found: defaultdict[TaskId, list[PreviousAttempt]] = defaultdict(list)
    for row in await _SQL["previous_attempts"].fetch(executor, task_ids=task_ids, limit=PREVIOUS_SHOWN):
        late = row["late_result"]
        found[TaskId(str(row["task_id"]))].append(
            PreviousAttempt(
                row["attempt"],
                row["kind"],
                row["message"],
                None if row["agent_id"] is None else AgentId(row["agent_id"]),
                row["model"],
                None if late is None else json.loads(late),
            )
        )
    return {task_id: tuple(attempts) for task_id, attempts in found.items()}


def _agent(row: Row) -> Agent:
    return Agent(
        id=AgentId(row["id"]),
        space=Space(row["space"]),
        kind=row["kind"],
        title=row["title"],
        capabilities=tuple(row["capabilities"]),
        task_types=tuple(row["task_types"]),
        models=tuple(row["models"]),
        max_concurrent_tasks=row["max_concurrent_tasks"],
        version=row["version"],
        heartbeat_seconds=row["heartbeat_seconds"],
        start_seconds=row["start_seconds"],
        status=AgentStatus(row["status"]),
        held_by=None if row["held_by"] is None else Holder(row["held_by"]),
        registered_by=row["registered_by"],
        registered_at=row["registered_at"],
        last_seen_at=row["last_seen_at"],
    )


def _day(row: Row) -> AgentDay:
    return AgentDay(
        _agent(row),
        row["is_silent"],
        row["current_tasks"],
        row["claims"],
        row["completed"],
        row["failed"],
        row["cost_micros"],
    )
