"""Settlements in the ledger: the one way an attempt ends."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import asyncpg

from officeplane.domain.ids import ClaimId, DocumentId, HoldId, TaskId, WorkerId
from officeplane.domain.lifecycle import STATES, TaskState
from officeplane.domain.outcome import Verdict
from officeplane.domain.priority import TIERS, Tier
from officeplane.domain.revision import NewRevision
from officeplane.domain.task import ClaimedTask
from officeplane.store import documents
from officeplane.store.claims import Claimant, LaneRaceError, claimed_task
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("settlements")
_OF_FAILURES: Final = frozenset({"fingerprint", "alerts"})
OCCUPANT: Final = "tasks_occupant"


class Settled(NamedTuple):
    """The state in which a settlement left a task, and whether more waits in its lane."""

    task_id: TaskId
    state: TaskState
    tier: Tier
    lane_waits: bool
    has_dependents: bool = False


@dataclass(frozen=True, slots=True)
class LapsedClaim:
    """An attempt whose lease ran out, and what its worker had in hand besides."""

    task: ClaimedTask
    worker_id: WorkerId
    handler_started: bool
    worker_is_gone: bool
    held_by_worker: int
    suspects_of_worker: int

    @property
    def is_guilty(self) -> bool:
        """Whether the worker died of this task: it was alone in it, or its one suspect."""
        alone = self.held_by_worker == 1
        return self.worker_is_gone and (alone or (self.task.suspect and self.suspects_of_worker == 1))


async def settle(
    executor: Executor,
    verdicts: Sequence[Verdict],
    *,
    counted_by: str,
    only_lapsed: bool = False,
) -> list[Settled]:
    """End attempts whose claim stands; those that were lost are left out."""
    rows = await executor.fetch(
        _SQL["settle"],
        *_columns(verdicts),
        only_lapsed,
        counted_by,
    )
    return [_settled(row) for row in rows]


async def settle_well(executor: Executor, verdicts: Sequence[Verdict], *, counted_by: str) -> list[Settled]:
    """Do what `settle` does, for attempts of which none failed; those that others wait for are left out."""
    return [_settled(row) for row in await executor.fetch(_SQL["settle_well"], *_well(verdicts), counted_by)]


async def settle_and_claim(
    executor: Executor,
    verdicts: Sequence[Verdict],
    who: Claimant,
    wanted: Sequence[tuple[DocumentId, ClaimId, HoldId]],
    *,
    counted_by: str,
) -> tuple[list[Settled], list[ClaimedTask]]:
    """Do what `settle_well` does and claim what follows in these lanes, in one commit; raises `LaneRaceError`."""
    try:
        rows = await executor.fetch(
            _SQL["settle_and_claim"],
            *_well(verdicts),
            counted_by,
            *map(list, zip(*sorted(wanted), strict=True)),
            who.worker_id,
            who.lease_seconds,
            who.task_types,
            who.may_take_suspect,
        )
    except asyncpg.exceptions.UniqueViolationError as error:
        raise LaneRaceError from error
    return [_settled(row) for row in rows], [claimed_task(row[5:]) for row in rows if row[5] is not None]


@dataclass(frozen=True, slots=True)
class Follower:
    """A task that follows in a lane, and what an edit has to know of it."""

    task: ClaimedTask
    author: str | None
    base_revision: int | None
    on_conflict: str | None


class Rider(NamedTuple):
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
    """How attempts ended, what follows in their lanes, and how long each rider that ended with them had waited."""

    settled: list[Settled]
    followers: list[Follower]
    riders_waited: dict[TaskId, list[float]]


async def settle_edits(
    executor: Executor,
    verdicts: Sequence[Verdict],
    revisions: Mapping[TaskId, NewRevision],
    who: Claimant,
    wanted: Sequence[tuple[DocumentId, ClaimId, HoldId]],
    riders: Sequence[Rider] = (),
    *,
    counted_by: str,
) -> SettledEdits:
    """Do what `settle_and_claim` does, and add the revisions that attempts have made, if these follow their heads.

    Riders end with the attempts before them, as far as they are still next in their lanes.
    """
    try:
        rows = await executor.fetch(
            _SQL["settle_edits"],
            *_well(verdicts),
            counted_by,
            *(map(list, zip(*sorted(wanted), strict=True)) if wanted else ([], [], [])),
            who.worker_id,
            who.lease_seconds,
            who.task_types,
            who.may_take_suspect,
            *documents.revision_columns(list(revisions.items())),
            *documents.piece_columns(revisions.values()),
            *_rider_columns(riders),
        )
    except asyncpg.exceptions.UniqueViolationError as error:
        if error.constraint_name != OCCUPANT:
            raise
        raise LaneRaceError from error
    return SettledEdits(
        [_settled(row) for row in rows],
        [Follower(claimed_task(row[5:-4]), *row[-4:-1]) for row in rows if row[5] is not None],
        {TaskId(str(row[0])): row[-1] for row in rows if row[-1]},
    )


async def suspend(executor: Executor, task: ClaimedTask, spawned_id: TaskId, *, counted_by: str) -> Settled | None:
    """End an attempt that waits for a task it has spawned; None when its claim was lost, or it was asked to stop."""
    rows = await executor.fetch(_SQL["suspend"], task.id, task.claim_id, spawned_id, counted_by)
    return _settled(rows[0]) if rows else None


async def ask_to_stop(executor: Executor, task: ClaimedTask, reason: str) -> None:
    """Ask an attempt to stop, if its claim stands."""
    await executor.fetch(_SQL["ask_to_stop"], task.id, task.claim_id, reason)


async def count_fenced(executor: Executor, task_types: Sequence[str], *, counted_by: str) -> None:
    """Count attempts that were lost before they could be settled."""
    await executor.fetch(_SQL["count_fenced"], counted_by, task_types)


async def rate_limits(executor: Executor, task_ids: Sequence[TaskId]) -> dict[TaskId, int]:
    """Return how many rate limits in a row tasks have met with their last failures; who met none is left out."""
    rows = await executor.fetch(_SQL["rate_limits"], task_ids)
    return {TaskId(str(row["task_id"])): row["n"] for row in rows}


@dataclass(frozen=True, slots=True)
class Standing:
    """A claim that nobody but its owner has touched."""

    settled: Settled
    is_open: bool


async def standing(executor: Executor, claims: Collection[tuple[TaskId, ClaimId]]) -> dict[TaskId, Standing]:
    """Return the claims that stand: still open, or ended by their owner."""
    rows = await executor.fetch(
        _SQL["standing"], [task_id for task_id, _ in claims], [claim_id for _, claim_id in claims]
    )
    return {TaskId(str(row["id"])): Standing(_settled(row), row["open"]) for row in rows}


async def lapsed(executor: Executor, heartbeat_seconds: float) -> list[LapsedClaim]:
    """Return attempts whose lease ran out."""
    return [_lapsed(row) for row in await executor.fetch(_SQL["lapsed"], heartbeat_seconds)]


def _columns(verdicts: Sequence[Verdict]) -> Iterator[Sequence[object]]:
    """Yield the columns of the statement; one without a value is sent empty, which `unnest` fills with nulls."""
    for name, column in zip(Verdict._fields, zip(*sorted(verdicts), strict=True), strict=True):
        yield [] if name in _OF_FAILURES and not any(column) else column


def _well(verdicts: Sequence[Verdict]) -> Iterator[Sequence[object]]:
    """Yield the columns that verdicts have which are no failures."""
    yield from zip(*((v.task_id, v.claim_id, v.state, v.result_json) for v in sorted(verdicts)), strict=True)


def _rider_columns(riders: Sequence[Rider]) -> Iterator[Sequence[object]]:
    rows = [(r.leader_id, r.place, r.task_id, r.claim_id, r.version, r.result_json, r.seconds) for r in riders]
    yield from zip(*rows, strict=True) if rows else [()] * 7


def _settled(row: Row) -> Settled:
    task_id, state, tier, lane_waits, has_dependents, *_ = row
    return Settled(TaskId(str(task_id)), STATES[state], TIERS[tier], lane_waits, has_dependents)


def _lapsed(row: Row) -> LapsedClaim:
    task = ClaimedTask(
        id=TaskId(str(row["id"])),
        claim_id=ClaimId(str(row["claim_id"])),
        hold_id=None if row["hold_id"] is None else HoldId(str(row["hold_id"])),
        task_type=row["task_type"],
        document_id=row["document_id"],
        payload_json="",
        attempt=row["attempt"],
        attempts_charged=row["attempts_charged"],
        crashes=row["crashes"],
        suspect=row["suspect"],
        max_retries=row["max_retries"],
        timeout_seconds=row["timeout_seconds"],
        retry_json=row["retry_policy"],
        checkpoint_json=None,
        parent_id=None if row["parent_id"] is None else TaskId(str(row["parent_id"])),
        root_id=TaskId(str((*row["ancestors"], row["id"])[0])),
        created_at=row["created_at"],
        waited_seconds=0.0,
        has_dependents=row["has_dependents"],
    )
    return LapsedClaim(
        task, WorkerId(row["worker_id"]), row["handler_seen"], not row["alive"], row["held"], row["suspects"]
    )
