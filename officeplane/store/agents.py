"""Agents in the ledger: registered, and holding what they have claimed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.agent import Agent, AgentClaim, AgentDay, AgentStatus, Holder, Registration, worker_of
from officeplane.domain.ids import AgentId, ClaimId
from officeplane.domain.quota import Account
from officeplane.domain.space import Space
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
