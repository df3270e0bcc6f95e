"""Settlements in the ledger: the one way an attempt ends."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypedDict, TypeVar

import asyncpg

from officeplane.domain.ids import ClaimId, TaskId, WorkerId
from officeplane.domain.lifecycle import LET_GO, SETTLEABLE, STATES, TaskState
from officeplane.domain.outcome import Verdict
from officeplane.domain.priority import TIERS, Tier
from officeplane.domain.revision import NewRevision
from officeplane.domain.space import DEFAULT, QualifiedType, Space
from officeplane.domain.task import ClaimedTask
from officeplane.store import documents, pieces
from officeplane.store.claims import Claimant, LaneClaim, LaneRaceError, claimed_task, lane_values
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("settlements")
OCCUPANT: Final = "tasks_occupant"
_Value = TypeVar("_Value")


class Settled(NamedTuple):
    """The state in which a settlement left a task, and whether more waits in its lane."""

    task_id: TaskId
    state: TaskState
    tier: Tier
    lane_waits: bool
    has_dependents: bool = False
    space: Space = DEFAULT


@dataclass(frozen=True, slots=True)
class LapsedClaim:
    """An attempt whose lease ran out, and what its worker had in hand besides."""

    task: ClaimedTask
    worker_id: WorkerId
    has_started: bool
    handler_started: bool
    worker_is_gone: bool
    held_by_worker: int
    suspects_of_worker: int
    is_of_agent: bool
    took_too_long: bool

    @property
    def is_guilty(self) -> bool:
        """Whether the worker died of this task: it was alone in it, or its one suspect. An agent dies of none."""
        if self.is_of_agent:
            return False
        is_accused = self.held_by_worker == 1 or (self.task.suspect and self.suspects_of_worker == 1)
        return self.has_started and self.worker_is_gone and is_accused


async def settle(
    executor: Executor,
    verdicts: Sequence[Verdict],
    *,
    counted_by: str,
    only_lapsed: bool = False,
) -> list[Settled]:
    """End attempts whose claim stands; those that were lost are left out."""
    rows = await _SQL["settle"].fetch(
        executor, **_verdict_values(verdicts), only_lapsed=only_lapsed, counted_by=counted_by
    )
    return [_settled(row) for row in rows]


async def settle_well(executor: Executor, verdicts: Sequence[Verdict], *, counted_by: str) -> list[Settled]:
    """Do what `settle` does, for attempts of which none failed; those that others wait for are left out."""
    rows = await _SQL["settle_well"].fetch(executor, **_outcome_values(verdicts), counted_by=counted_by)
    return [_settled(row) for row in rows]


async def settle_and_claim(
    executor: Executor,
    verdicts: Sequence[Verdict],
    who: Claimant,
    wanted: Sequence[LaneClaim],
    *,
    counted_by: str,
) -> tuple[list[Settled], list[ClaimedTask]]:
    """Do what `settle_well` does and claim what follows in these lanes, in one commit; raises `LaneRaceError`."""
    try:
        rows = await _SQL["settle_and_claim"].fetch(
            executor,
            **_outcome_values(verdicts),
            counted_by=counted_by,
            **lane_values(sorted(wanted)),
            **who.values(),
        )
    except asyncpg.exceptions.UniqueViolationError as error:
        raise LaneRaceError from error
    return [_settled(row) for row in rows], [claimed_task(row) for row in rows if row["id"] is not None]


@dataclass(frozen=True, slots=True)
class Follower:
    """A task that follows in a lane, and what an edit has to know of it."""

    task: ClaimedTask
    author: str | None
    base_revision: int | None
    on_conflict: str | None


class AheadEdit(NamedTuple):
    """An edit that was done before its turn, in its place behind the attempt that it is to be settled with."""

    leader_id: TaskId
    place: int
    task_id: TaskId
    task_type: str
    claim_id: ClaimId
    version: str
    result_json: str
    seconds: float


@dataclass(frozen=True, slots=True)
class SettledEdits:
    """How attempts ended, what follows in their lanes, and how long the edits done ahead had waited."""

    settled: list[Settled]
    followers: list[Follower]
    ahead_waited: dict[TaskId, list[float]]


async def settle_edits(
    executor: Executor,
    verdicts: Sequence[Verdict],
    revisions: Mapping[TaskId, NewRevision],
    who: Claimant,
    wanted: Sequence[LaneClaim],
    ahead: Sequence[AheadEdit] = (),
    *,
    counted_by: str,
) -> SettledEdits:
    """Do what `settle_and_claim` does, and add the revisions that attempts have made, if these follow their heads.

    Edits done ahead end with the attempts before them, as far as they are still next in their lanes.
    """
    try:
        rows = await _SQL["settle_edits"].fetch(
            executor,
            **_outcome_values(verdicts),
            counted_by=counted_by,
            **lane_values(sorted(wanted)),
            **who.values(),
            **documents.revision_values(revisions.items()),
            **pieces.values_of(revisions.values()),
            **_ahead_values(ahead),
        )
    except asyncpg.exceptions.UniqueViolationError as error:
        if error.constraint_name != OCCUPANT:
            raise
        raise LaneRaceError from error
    return SettledEdits(
        [_settled(row) for row in rows],
        [
            Follower(claimed_task(row), row["author"], row["base_revision"], row["on_conflict"])
            for row in rows
            if row["id"] is not None
        ],
        {TaskId(str(row["settled_id"])): row["ahead_waited"] for row in rows if row["ahead_waited"]},
    )


async def suspend(executor: Executor, task: ClaimedTask, spawned_id: TaskId, *, counted_by: str) -> Settled | None:
    """End an attempt that waits for a task it has spawned; None when its claim was lost, or it was asked to stop."""
    rows = await _SQL["suspend"].fetch(
        executor, task_id=task.id, claim_id=task.claim_id, spawned_id=spawned_id, counted_by=counted_by
    )
    return _settled(rows[0]) if rows else None


async def ask_to_stop(executor: Executor, task: ClaimedTask, reason: str) -> None:
    """Ask an attempt to stop, if its claim stands."""
    await _SQL["ask_to_stop"].fetch(executor, task_id=task.id, claim_id=task.claim_id, reason=reason)


async def count_fenced(executor: Executor, task_types: Sequence[QualifiedType], *, counted_by: str) -> None:
    """Count attempts that were lost before they could be settled."""
    await _SQL["count_fenced"].fetch(executor, counted_by=counted_by, task_types=task_types)


async def rate_limits(executor: Executor, task_ids: Sequence[TaskId]) -> dict[TaskId, int]:
    """Return how many rate limits in a row tasks have met with their last failures; who met none is left out."""
    rows = await _SQL["rate_limits"].fetch(executor, task_ids=task_ids)
    return {TaskId(str(row["task_id"])): row["n"] for row in rows}


@dataclass(frozen=True, slots=True)
class Standing:
    """A claim that nobody but its owner has touched."""

    settled: Settled
    is_open: bool

    def may_end_as(self, state: TaskState) -> bool:
        """Whether it is open, and in a state that it can leave for this one; what was reserved can only be let go."""
        return self.is_open and (self.settled.state in SETTLEABLE or state in LET_GO)


async def standing(executor: Executor, claims: Collection[tuple[TaskId, ClaimId]]) -> dict[TaskId, Standing]:
    """Return the claims that stand: still open, or ended by their owner."""
    rows = await _SQL["standing"].fetch(
        executor, task_ids=[task_id for task_id, _ in claims], claim_ids=[claim_id for _, claim_id in claims]
    )
    found = (Standing(_settled(row), row["open"]) for row in rows)
    return {one.settled.task_id: one for one in found}


async def lapsed(executor: Executor, heartbeat_seconds: float) -> list[LapsedClaim]:
    """Return attempts whose lease ran out."""
    return [_lapsed(row) for row in await _SQL["lapsed"].fetch(executor, heartbeat_seconds=heartbeat_seconds)]


class _OutcomeValues(TypedDict):
    """How attempts ended that did not fail, column by column."""

    task_ids: Sequence[TaskId]
    claim_ids: Sequence[ClaimId]
    states: Sequence[TaskState]
    results: Sequence[str | None]


def _outcome_values(verdicts: Sequence[Verdict]) -> _OutcomeValues:
    ordered = sorted(verdicts)
    return {
        "task_ids": [verdict.task_id for verdict in ordered],
        "claim_ids": [verdict.claim_id for verdict in ordered],
        "states": [verdict.state for verdict in ordered],
        "results": [verdict.result_json for verdict in ordered],
    }


class _VerdictValues(_OutcomeValues):
    """How attempts ended of which some failed, column by column."""

    errors: Sequence[str | None]
    delays_seconds: Sequence[float]
    charged: Sequence[bool]
    crashed: Sequence[bool]
    poisoned: Sequence[bool]
    fingerprints: Sequence[str | None]
    alerts: Sequence[bool | None]


def _verdict_values(verdicts: Sequence[Verdict]) -> _VerdictValues:
    ordered = sorted(verdicts)
    return {
        **_outcome_values(ordered),
        "errors": [verdict.error_json for verdict in ordered],
        "delays_seconds": [verdict.delay_seconds for verdict in ordered],
        "charged": [verdict.charged for verdict in ordered],
        "crashed": [verdict.crashed for verdict in ordered],
        "poisoned": [verdict.poisoned for verdict in ordered],
        # Without a value they are sent empty, which `unnest` fills with nulls.
        "fingerprints": _unless_empty([verdict.fingerprint for verdict in ordered]),
        "alerts": _unless_empty([verdict.alerts for verdict in ordered]),
    }


def _unless_empty(column: list[_Value]) -> list[_Value]:
    return column if any(column) else []


class _AheadValues(TypedDict):
    """Edits that were done before their turn, column by column."""

    ahead_leader_ids: Sequence[TaskId]
    ahead_places: Sequence[int]
    ahead_task_ids: Sequence[TaskId]
    ahead_claim_ids: Sequence[ClaimId]
    ahead_versions: Sequence[str]
    ahead_results: Sequence[str]
    ahead_seconds: Sequence[float]


def _ahead_values(ahead: Sequence[AheadEdit]) -> _AheadValues:
    return {
        "ahead_leader_ids": [edit.leader_id for edit in ahead],
        "ahead_places": [edit.place for edit in ahead],
        "ahead_task_ids": [edit.task_id for edit in ahead],
        "ahead_claim_ids": [edit.claim_id for edit in ahead],
        "ahead_versions": [edit.version for edit in ahead],
        "ahead_results": [edit.result_json for edit in ahead],
        "ahead_seconds": [edit.seconds for edit in ahead],
    }


def _settled(row: Row) -> Settled:
    return Settled(
        TaskId(str(row["settled_id"])),
        STATES[row["settled_state"]],
        TIERS[row["settled_tier"]],
        row["lane_waits"],
        row["is_awaited"],
        Space(row["other_space"] or DEFAULT),
    )


def _lapsed(row: Row) -> LapsedClaim:
    return LapsedClaim(
        claimed_task(row),
        WorkerId(row["worker_id"]),
        row["has_started"],
        row["handler_seen"],
        not row["alive"],
        row["held"],
        row["suspects"],
        row["is_of_agent"],
        row["took_too_long"],
    )
