"""Claims in the ledger: taken by groups, renewed while work goes on."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias, TypedDict

import asyncpg
from pydantic import JsonValue
from uuid_utils import uuid7

from officeplane.domain.agent import AgentClaim
from officeplane.domain.hint import Hint
from officeplane.domain.ids import AgentId, ClaimId, DocumentId, HoldId, TaskId, WorkerId, parse_task_id
from officeplane.domain.priority import TIERS, Tier
from officeplane.domain.space import space_of
from officeplane.domain.task import ClaimedTask
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("claims")

TaskClaim: TypeAlias = tuple[TaskId, ClaimId]
"""A task, and the claim that is to be made on it."""
LaneClaim: TypeAlias = tuple[DocumentId, ClaimId, HoldId]
"""A document's lane, the claim that is to be made on its head, and the hold under which the lane was entered."""


def new_claim_id() -> ClaimId:
    """Return the name of a claim that nobody has made before."""
    return ClaimId(str(uuid7()))


class LaneRaceError(Exception):
    """Somebody else occupied one of the documents at the same moment; nothing was claimed."""


class LaneHint(NamedTuple):
    """A task id that leads to a document's lane."""

    task_id: TaskId
    document_id: DocumentId
    tier: Tier


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who claims, for how long, and what it is able to run."""

    worker_id: WorkerId
    lease_seconds: float
    task_types: Sequence[str]
    may_take_suspect: bool
    reserves: bool = False
    """Whether what is claimed runs only once it is started."""
    demand_ids: Sequence[int] | None = None
    """The demands that an agent meets; None: a worker claims, what makes no demands."""

    def looks_for(self, admitted: Collection[TaskId] = ()) -> "WantedValues":
        """Return what a task must fit; of a type with declared limits only the admitted can be had."""
        return {
            "task_types": self.task_types,
            "may_take_suspect": self.may_take_suspect,
            "admitted": list(admitted),
            "demand_ids": self.demand_ids,
        }

    def values(self, admitted: Collection[TaskId] = ()) -> "ClaimantValues":
        """Return what every statement that claims is told of them."""
        return {
            **self.looks_for(admitted),
            "worker_id": self.worker_id,
            "lease_seconds": self.lease_seconds,
            "reserves": self.reserves,
        }


class WantedValues(TypedDict):
    """What a claim compares tasks with."""

    task_types: Sequence[str]
    may_take_suspect: bool
    admitted: Sequence[TaskId]
    demand_ids: Sequence[int] | None


class ClaimantValues(WantedValues):
    """What a statement is told of who claims."""

    worker_id: WorkerId
    lease_seconds: float
    reserves: bool


class LaneValues(TypedDict):
    """The lanes of which the next heads are wanted, column by column."""

    lane_document_ids: Sequence[DocumentId]
    lane_claim_ids: Sequence[ClaimId]
    lane_hold_ids: Sequence[HoldId]


def lane_values(wanted: Sequence[LaneClaim]) -> LaneValues:
    """Return the values for lanes, in the order given."""
    return {
        "lane_document_ids": [document_id for document_id, _, _ in wanted],
        "lane_claim_ids": [claim_id for _, claim_id, _ in wanted],
        "lane_hold_ids": [hold_id for _, _, hold_id in wanted],
    }


@dataclass(frozen=True, slots=True)
class Polled:
    """Hints read from the ledger, where the next look at the lanes begins, and whether any type has limits."""

    task_ids: list[TaskId]
    next_lane: str
    limits: bool


class Hinted(NamedTuple):
    """The lanes to which hints lead, what was claimed of the rest, and whether any type has limits."""

    lanes: list[LaneHint]
    claimed: list[ClaimedTask]
    limits: bool


async def poll(executor: Executor, who: Claimant, *, limit: int, after_lane: str, lanes: int) -> Polled:
    """Return hints straight from the ledger, most urgent first."""
    rows = await _SQL["poll"].fetch(executor, limit=limit, after_lane=after_lane, lanes=lanes, **who.looks_for())
    task_ids = [TaskId(str(row["id"])) for row in rows if row["id"] is not None]
    return Polled(task_ids, rows[0]["last_lane"] or "", rows[0]["limits"])


async def claim_hinted(
    executor: Executor, who: Claimant, wanted: Sequence[TaskClaim], admitted: Collection[TaskId] = ()
) -> Hinted:
    """Return the lanes to which hints lead, and the claims on those tasks that have no document.

    Tasks of a type with declared limits can be had only if they are among the admitted.
    """
    rows = await _SQL["claim_hinted"].fetch(
        executor,
        task_ids=[task_id for task_id, _ in wanted],
        claim_ids=[claim_id for _, claim_id in wanted],
        **who.values(admitted),
    )
    return Hinted(
        [
            LaneHint(TaskId(str(row["hint"])), DocumentId(row["lane"]), TIERS[row["tier"]])
            for row in rows
            if row["lane"] is not None
        ],
        [claimed_task(row) for row in rows if row["id"] is not None],
        bool(rows) and rows[0]["limits"],
    )


async def claim_lanes(
    executor: Executor,
    who: Claimant,
    wanted: Sequence[LaneClaim],
    admitted: Collection[TaskId] = (),
) -> list[ClaimedTask]:
    """Claim the heads of lanes; documents must be given in order, and limits hold as for `claim_hinted`."""
    try:
        rows = await _SQL["claim_lanes"].fetch(executor, **lane_values(wanted), **who.values(admitted))
    except asyncpg.exceptions.UniqueViolationError as error:
        raise LaneRaceError from error
    return [claimed_task(row) for row in rows]


async def claim_offered(
    executor: Executor,
    who: Claimant,
    agent_id: AgentId,
    models: Sequence[str],
    wanted: Sequence[TaskClaim],
    admitted: Collection[TaskId] = (),
) -> list[AgentClaim]:
    """Claim for an agent what it was offered; tasks must be given in the order of their documents."""
    try:
        rows = await _SQL["claim_offered"].fetch(
            executor,
            task_ids=[task_id for task_id, _ in wanted],
            claim_ids=[claim_id for _, claim_id in wanted],
            agent_id=agent_id,
            models=models,
            **who.values(admitted),
        )
    except asyncpg.exceptions.UniqueViolationError as error:
        raise LaneRaceError from error
    return [agent_claim(row) for row in rows]


def agent_claim(row: Row) -> AgentClaim:
    """Return the claim of an agent that a row has the columns of."""
    return AgentClaim(claimed_task(row), row["lease_until"], row["model"])


class Upcoming(NamedTuple):
    """A task that waits in a lane, as it was read, and whether it may be done before its turn."""

    id: TaskId
    task_type: str
    payload_json: str
    author: str | None
    created_at: datetime
    version: str
    may_go_ahead: bool


async def upcoming(executor: Executor, document_id: DocumentId, limit: int, payload_bytes: int) -> list[Upcoming]:
    """Return what waits in a document's lane, in its order; larger payloads are left out."""
    rows = await _SQL["upcoming"].fetch(executor, document_id=document_id, limit=limit, payload_bytes=payload_bytes)
    return [
        Upcoming(
            TaskId(str(row["id"])),
            row["task_type"],
            row["payload"],
            row["author"],
            row["created_at"],
            row["version"],
            row["may_go_ahead"],
        )
        for row in rows
    ]


async def recover(executor: Executor, worker_id: WorkerId, claim_ids: Iterable[ClaimId]) -> list[ClaimedTask]:
    """Return what a worker holds under claims whose answer it never heard."""
    return [
        claimed_task(row)
        for row in await _SQL["recover"].fetch(executor, worker_id=worker_id, claim_ids=list(claim_ids))
    ]


async def occupied(executor: Executor, document_ids: Iterable[DocumentId]) -> set[DocumentId]:
    """Return which of the documents have an occupant."""
    rows = await _SQL["occupied"].fetch(executor, document_ids=list(document_ids))
    return {DocumentId(row["document_id"]) for row in rows}


async def lane_heads(executor: Executor, document_ids: Iterable[DocumentId]) -> list[Hint]:
    """Return the heads of lanes that could be claimed now."""
    rows = await _SQL["lane_heads"].fetch(executor, document_ids=list(document_ids))
    return [Hint(str(row["id"]), TIERS[row["tier"]], space_of(row["document_id"])) for row in rows]


async def start(executor: Executor, task_id: TaskId, claim_id: ClaimId) -> bool:
    """Let a reserved task run; False when the claim was lost, or it runs already."""
    return bool(await _SQL["start"].fetch(executor, task_id=task_id, claim_id=claim_id))


async def validate(executor: Executor, task_id: TaskId, claim_id: ClaimId) -> bool:
    """Have the output of an attempt checked before it counts; False when the claim was lost, or it does not run."""
    return bool(await _SQL["validate"].fetch(executor, task_id=task_id, claim_id=claim_id))


async def renew(
    executor: Executor, claims: Collection[tuple[TaskId, ClaimId]], lease_seconds: float
) -> dict[TaskId, bool]:
    """Extend leases; the answer says of each task seen whether the claim still stands."""
    rows = await _SQL["renew"].fetch(
        executor,
        task_ids=[task_id for task_id, _ in claims],
        claim_ids=[claim_id for _, claim_id in claims],
        lease_seconds=lease_seconds,
    )
    return {TaskId(str(row["id"])): row["stands"] for row in rows}


async def cancelled(executor: Executor, claims: Collection[tuple[TaskId, ClaimId]]) -> list[TaskId]:
    """Return which claims were asked to stop."""
    rows = await _SQL["cancelled"].fetch(
        executor, task_ids=[task_id for task_id, _ in claims], claim_ids=[claim_id for _, claim_id in claims]
    )
    return [TaskId(str(row["id"])) for row in rows]


async def report_progress(executor: Executor, reports: Sequence[tuple[TaskId, ClaimId, str]]) -> None:
    """Store the latest progress of running attempts."""
    await _SQL["report_progress"].fetch(
        executor,
        task_ids=[task_id for task_id, _, _ in reports],
        claim_ids=[claim_id for _, claim_id, _ in reports],
        progress=[progress_json for _, _, progress_json in reports],
    )


async def save_checkpoint(executor: Executor, task_id: TaskId, claim_id: ClaimId, value_json: str) -> bool:
    """Store a checkpoint; False when the claim was lost."""
    return bool(
        await _SQL["save_checkpoint"].fetch(executor, task_id=task_id, claim_id=claim_id, checkpoint=value_json)
    )


async def results_of_siblings(executor: Executor, parent_id: TaskId, keys: Iterable[str]) -> dict[str, JsonValue]:
    """Return the results of a batch's completed children, by key."""
    rows = await _SQL["results_of_siblings"].fetch(executor, parent_id=parent_id, keys=list(keys))
    return {row["key"]: None if row["result"] is None else json.loads(row["result"]) for row in rows}


async def results_of_dependencies(executor: Executor, task_id: TaskId, names: Iterable[str]) -> dict[str, JsonValue]:
    """Return the results of completed tasks by the names that a task has for them: keys of its DAG, or ids."""
    wanted = list(names)
    ids = {parsed: name for name in wanted if (parsed := parse_task_id(name)) is not None}
    rows = await _SQL["results_of_dependencies"].fetch(executor, task_id=task_id, names=wanted, task_ids=list(ids))
    found: dict[str, JsonValue] = {}
    for row in rows:
        name: str = row["name"]
        found[ids.get(TaskId(name), name)] = None if row["result"] is None else json.loads(row["result"])
    return found


def claimed_task(row: Row) -> ClaimedTask:
    """Return the attempt that a row has the columns of."""
    task_id = TaskId(str(row["id"]))
    hold_id, parent_id, ancestors = row["hold_id"], row["parent_id"], row["ancestors"]
    # In the order of its fields: by name it takes three times as long.
    return ClaimedTask(
        task_id,
        ClaimId(str(row["claim_id"])),
        None if hold_id is None else HoldId(str(hold_id)),
        row["task_type"],
        row["space"],
        row["document_id"],
        row["payload"],
        row["attempt"],
        row["attempts_charged"],
        row["crashes"],
        row["suspect"],
        row["max_retries"],
        row["timeout_seconds"],
        row["retry_policy"],
        row["checkpoint"],
        None if parent_id is None else TaskId(str(parent_id)),
        TaskId(str(ancestors[0])) if ancestors else task_id,
        row["created_at"],
        row["waited_seconds"],
        row["has_dependents"],
    )
