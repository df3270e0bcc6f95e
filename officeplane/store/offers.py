"""Offers in the ledger: what of all that waits an agent might have, and why it has got nothing."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypedDict

from officeplane.domain.agent import PREVIOUS_SHOWN, Agent, PreviousAttempt, Skipped, WaitingDemand
from officeplane.domain.ids import AgentId, DocumentId, TaskId
from officeplane.domain.space import QualifiedType, Space
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("offers")


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


async def look(
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
    rows = await _SQL["look"].fetch(
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
