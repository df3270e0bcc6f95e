"""Claims of agents in the ledger: they outlive their attempts, and what was spent is booked in them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

import asyncpg

from officeplane.domain.agent import AgentStatus, worker_of
from officeplane.domain.agent_claim import Answer, KnownClaim, Verb, directive_on_claims
from officeplane.domain.failure import UNCHARGED, FailureKind
from officeplane.domain.ids import AgentId, ClaimId, TaskId, WorkerId
from officeplane.domain.lifecycle import STATES, TaskState
from officeplane.domain.space import Space, bare
from officeplane.domain.spending import Spending, total_of, usd_of
from officeplane.domain.task import AttemptFailure, ByAgents
from officeplane.store.claims import claimed_task
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load
from officeplane.store.trees import none_younger

_SQL: Final = load("agent_claims")
_PREFIX: Final = worker_of(AgentId(""))
DECLINES_TOLD: Final = 5
"""After how many refusals of a task it is told that nobody wants it."""
LAPSES_TOLERATED: Final = 10
"""How many claims in a row an agent may let run out before it is paused."""


class TooLateError(Exception):
    """Something has begun anew since the lease ran out."""


def agent_in(worker_id: WorkerId) -> AgentId | None:
    """Return the agent that is meant where a worker is named; None: it is a worker."""
    return AgentId(worker_id.removeprefix(_PREFIX)) if worker_id.startswith(_PREFIX) else None


async def look(executor: Executor, claim_ids: Collection[ClaimId]) -> dict[ClaimId, KnownClaim]:
    """Return how claims stand; those that were never made, or whose tasks are gone, are left out."""
    rows = await _SQL["look"].fetch(executor, claim_ids=list(claim_ids))
    return {claim.id: claim for claim in map(_claim, rows)}


async def book(executor: Executor, spent: Mapping[ClaimId, Spending]) -> None:
    """Book what claims have cost so far, whatever has become of them; of two totals the larger one counts."""
    told = {claim_id: one for claim_id, one in spent.items() if one.is_told}
    if told:
        await _SQL["book"].fetch(
            executor,
            claim_ids=list(told),
            costs=[one.cost_micros for one in told.values()],
            tokens=[json.dumps(one.tokens) if one.tokens else None for one in told.values()],
        )


async def go_on(
    executor: Executor, claim: KnownClaim, lease_seconds: float, checkpoint_json: str | None = None
) -> bool:
    """Start what was only reserved, extend the lease, keep a checkpoint; False when the claim has ended."""
    rows = await _SQL["go_on"].fetch(
        executor, task_id=claim.task_id, claim_id=claim.id, lease_seconds=lease_seconds, checkpoint=checkpoint_json
    )
    return bool(rows)


async def beat(executor: Executor, heard: Mapping[ClaimId, str | None], lease_seconds: float) -> None:
    """Extend the leases of claims, and keep what was told of their progress."""
    await _SQL["beat"].fetch(
        executor, claim_ids=list(heard), progress=list(heard.values()), lease_seconds=lease_seconds
    )


async def answered(executor: Executor, claim: KnownClaim, verb: Verb, answer: Answer, report_json: str | None) -> None:
    """Note with which verb a claim was ended in this transaction, and what that is answered."""
    await _SQL["answered"].fetch(
        executor,
        claim_id=claim.id,
        verb=verb,
        answer=json.dumps(answer.as_json()),
        late=answer.late,
        report=report_json,
        state=answer.state,
    )


async def take_up(executor: Executor, claim: KnownClaim, lease_seconds: float) -> None:
    """Take an attempt up again whose lease ran out; raise `TooLateError` when something has begun anew since.

    Raises `SerializationError` when the transaction's number is too low to tell of it.
    """
    try:
        rows = await _SQL["take_up"].fetch(
            executor,
            task_id=claim.task_id,
            claim_id=claim.id,
            worker_id=worker_of(claim.agent_id),
            attempt=claim.task.attempt,
            generation=claim.generation,
            lease_seconds=lease_seconds,
        )
    except asyncpg.exceptions.UniqueViolationError:
        raise TooLateError from None
    if not none_younger(rows):
        raise TooLateError


async def keep_late(executor: Executor, claim_id: ClaimId, result_json: str) -> None:
    """Keep a result that came too late to count."""
    await _SQL["keep_late"].fetch(executor, claim_id=claim_id, result=result_json)


async def decline(executor: Executor, task_id: TaskId, agent_id: AgentId) -> None:
    """Note that an agent does not want a task."""
    await _SQL["decline"].fetch(executor, task_id=task_id, agent_id=agent_id, times_told=DECLINES_TOLD)


async def seen(executor: Executor, agent_id: AgentId, *, ended: bool = False) -> None:
    """Note that an agent is there, and whether it has ended a claim itself."""
    await _SQL["seen"].fetch(executor, agent_id=agent_id, ended=ended)


class Standing(NamedTuple):
    """What there is to know of an agent when it beats."""

    status: AgentStatus
    heartbeat_seconds: float


async def status(executor: Executor, agent_ids: Collection[AgentId]) -> dict[AgentId, Standing]:
    """Return the status of agents; who is not registered is left out."""
    rows = await _SQL["status"].fetch(executor, agent_ids=list(agent_ids))
    return {AgentId(row["id"]): Standing(AgentStatus(row["status"]), row["heartbeat_seconds"]) for row in rows}


async def ended_among(executor: Executor, claim_ids: Collection[ClaimId]) -> set[ClaimId]:
    """Return which of these claims have ended."""
    rows = await _SQL["ended_among"].fetch(executor, claim_ids=list(claim_ids))
    return {ClaimId(str(row["claim_id"])) for row in rows}


async def count_lapses(executor: Executor, lapsed: Sequence[tuple[AgentId, TaskId]], *, alerts: bool) -> list[AgentId]:
    """Count claims that agents have let run out; return the agents that are paused for it."""
    rows = await _SQL["count_lapses"].fetch(
        executor,
        agent_ids=[agent_id for agent_id, _ in lapsed],
        task_ids=[task_id for _, task_id in lapsed],
        lapses_max=LAPSES_TOLERATED,
        alerts=alerts,
    )
    return [AgentId(row["id"]) for row in rows]


async def failed_at(executor: Executor, task_ids: Collection[TaskId]) -> dict[TaskId, frozenset[str]]:
    """Return which agents have failed at tasks before; those that none has failed at are left out."""
    rows = await _SQL["failed_at"].fetch(executor, task_ids=list(task_ids), uncharged=sorted(UNCHARGED))
    return {TaskId(str(row["task_id"])): frozenset(row["agent_ids"]) for row in rows}


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """A claim as its task shows it."""

    attempt: int
    agent_id: str
    model: str | None
    claimed_at: datetime
    beaten_at: datetime | None
    spent: Spending
    decision_report: Mapping[str, Any] | None
    late_result: object


async def of_tasks(executor: Executor, task_ids: Collection[TaskId], *, whole: bool) -> dict[TaskId, list[ClaimRecord]]:
    """Return the claims of tasks that agents do, in order; without reports and late results, unless they are wanted."""
    found: dict[TaskId, list[ClaimRecord]] = {}
    for row in await _SQL["of_tasks"].fetch(executor, task_ids=list(task_ids), whole=whole):
        found.setdefault(TaskId(str(row["task_id"])), []).append(_record(row))
    return found


def shown(records: Sequence[ClaimRecord]) -> ByAgents | None:
    """Return what a task shows of its claims; None if there are none."""
    if not records:
        return None
    last = records[-1]
    reports = [one.decision_report for one in records if one.decision_report is not None]
    return ByAgents(
        bare(last.agent_id),
        last.model,
        last.claimed_at,
        last.beaten_at,
        total_of(one.spent for one in records),
        reports[-1] if reports else None,
    )


def failed(failure: AttemptFailure, records: Sequence[ClaimRecord]) -> AttemptFailure:
    """Return a failed attempt with what is known of it from its claim, if an agent made it."""
    record = next((one for one in records if one.attempt == failure.attempt), None)
    if record is None:
        return failure
    return replace(
        failure,
        worker_id=None,
        agent_id=bare(record.agent_id),
        model=record.model,
        cost_usd=usd_of(record.spent.cost_micros) or 0.0,
        tokens=record.spent.tokens,
        late_result=record.late_result,
    )


async def prune(executor: Executor, *, late_seconds: float, key_seconds: float, limit: int) -> int:
    """Forget results that came too late, and requests to claim; return how many."""
    (row,) = await _SQL["prune"].fetch(executor, late_seconds=late_seconds, key_seconds=key_seconds, limit=limit)
    return int(row["forgotten"])


def _claim(row: Row) -> KnownClaim:
    return KnownClaim(
        id=ClaimId(str(row["claim_id"])),
        agent_id=AgentId(row["agent_id"]),
        space=Space(row["space"]),
        task=claimed_task(row),
        generation=row["generation"],
        is_open=row["is_open"],
        has_started=row["has_started"],
        lease_until=row["lease_until"] if row["is_open"] else None,
        verb=None if row["verb"] is None else Verb(row["verb"]),
        answer=_json(row["answer"]),
        task_state=STATES[row["state"]],
        is_latest=row["is_latest"],
        failed_with=None if row["failed_with"] is None else FailureKind(row["failed_with"]),
        was_cancelled=row["ended_as"] == TaskState.CANCELLED,
        document_is_deleted=row["document_is_deleted"],
        directive=directive_on_claims(row["status"]),
        heartbeat_seconds=row["heartbeat_seconds"],
        requires_report=row["requires_report"],
        result_schema_json=row["result_schema"],
    )


def _record(row: Row) -> ClaimRecord:
    return ClaimRecord(
        row["attempt"],
        row["agent_id"],
        row["model"],
        row["claimed_at"],
        row["beaten_at"],
        Spending(row["cost_micros"], _json(row["tokens"])),
        _json(row["decision_report"]),
        _json(row["late_result"]),
    )


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
