"""Valves in the ledger: a row for each type of a space of which something was ever held."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from officeplane.domain.hint import Hint
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.lifecycle import STATES
from officeplane.domain.space import QualifiedType, Space, bare, space_of
from officeplane.domain.valve import Breaker, BreakerState, Contender, Limits, Probe, Room, TypeFailure, Valve
from officeplane.store.chores import Cutoffs
from officeplane.store.connection import Executor, Row
from officeplane.store.hints import hint_in
from officeplane.store.queries import load

_SQL: Final = load("valves")


async def set_paused(executor: Executor, task_type: QualifiedType, *, paused: bool) -> None:
    """Say whether a type is paused."""
    await _SQL["set_paused"].fetch(executor, task_type=task_type, paused=paused)


async def pause_document(executor: Executor, document_id: DocumentId) -> bool:
    """Keep everything of a document from being claimed; False when there is nothing of it."""
    return bool(await _SQL["pause_document"].fetch(executor, document_id=document_id, space=space_of(document_id)))


async def resume_document(executor: Executor, document_id: DocumentId) -> bool:
    """Let a document's lane go on; False when there is nothing of it, and it was not paused."""
    return bool(await _SQL["resume_document"].fetch(executor, document_id=document_id))


async def is_paused(executor: Executor, document_id: DocumentId) -> bool:
    """Tell whether a document's lane is paused."""
    (row,) = await _SQL["is_paused"].fetch(executor, document_id=document_id)
    return bool(row["paused"])


async def fetch(executor: Executor, task_type: QualifiedType) -> Valve | None:
    """Return the valve of a type; None when nothing ever kept its tasks."""
    rows = await _SQL["fetch"].fetch(executor, task_type=task_type)
    return _valve(rows[0]) if rows else None


async def lock(executor: Executor, task_type: QualifiedType) -> Valve | None:
    """Return the valve of a type, which nobody else changes until the transaction ends; None as above."""
    rows = await _SQL["lock"].fetch(executor, task_type=task_type)
    return _valve(rows[0]) if rows else None


async def of_space(executor: Executor, space: Space) -> list[Valve]:
    """Return the valves of a space that were ever touched."""
    return [_valve(row) for row in await _SQL["of_space"].fetch(executor, space=space)]


async def ring(
    executor: Executor,
    wanted: Mapping[QualifiedType, int],
    *,
    rung_ago: float = 0.0,
    cutoffs: Cutoffs | None = None,
) -> list[Hint]:
    """Mark as rung, and return, the most urgent tasks of types, so many of each, that were not rung lately."""
    rows = await _SQL["ring"].fetch(
        executor,
        task_types=list(wanted),
        wanted=list(wanted.values()),
        rung_ago=rung_ago,
        spaces=None if cutoffs is None else cutoffs.spaces,
        cutoffs=None if cutoffs is None else cutoffs.moments,
    )
    return [hint_in(row) for row in rows]


async def slow_down(executor: Executor, seconds: Sequence[tuple[QualifiedType, float]]) -> None:
    """Slow types down for at least so many seconds from now."""
    await _SQL["slow_down"].fetch(
        executor, task_types=[task_type for task_type, _ in seconds], seconds=[wait for _, wait in seconds]
    )


async def count_failures(
    executor: Executor,
    failed: Sequence[tuple[TaskId, TypeFailure]],
    *,
    failure_threshold: int,
    half_open_after_seconds: float,
) -> list[QualifiedType]:
    """Count failed attempts in a row; return the types whose breaker opens with them."""
    types = [failure.task_type for _, failure in failed]
    await _SQL["count_failures"].fetch(
        executor, task_types=types, crashed_by=[failure.crashed_by for _, failure in failed]
    )
    rows = await _SQL["open_strained"].fetch(
        executor,
        task_types=types,
        half_open_after_seconds=half_open_after_seconds,
        failure_threshold=failure_threshold,
        task_ids=[task_id for task_id, _ in failed],
    )
    return [row["task_type"] for row in rows]


async def open_by_hand(executor: Executor, task_type: QualifiedType, half_open_after_seconds: float) -> None:
    """Open a type's breaker, for as long as it says itself, or else for so many seconds."""
    await _SQL["open_by_hand"].fetch(executor, task_type=task_type, half_open_after_seconds=half_open_after_seconds)


async def close_by_hand(executor: Executor, task_type: QualifiedType) -> None:
    """Close a type's breaker and forget its failures."""
    await _SQL["close_by_hand"].fetch(executor, task_type=task_type)


async def set_breaker(
    executor: Executor,
    task_type: QualifiedType,
    failure_threshold: int | None,
    half_open_after_seconds: float | None,
    default_seconds: float,
) -> None:
    """Give a type's breaker a threshold and a time of its own; None is the installation's."""
    await _SQL["set_breaker"].fetch(
        executor,
        task_type=task_type,
        failure_threshold=failure_threshold,
        half_open_after_seconds=half_open_after_seconds,
        default_seconds=default_seconds,
    )


class Survey(NamedTuple):
    """Whether valves have to be looked after, and when."""

    next_seconds: float | None
    is_probing: bool
    is_limited: bool


async def survey(executor: Executor) -> Survey:
    """Return what there is to look after."""
    (row,) = await _SQL["survey"].fetch(executor)
    return Survey(row["next_seconds"], row["probing"], row["limited"])


async def end_slowdowns(executor: Executor) -> list[QualifiedType]:
    """End slowdowns whose time is over; return their types."""
    return [row["task_type"] for row in await _SQL["end_slowdowns"].fetch(executor)]


async def half_open(executor: Executor) -> list[QualifiedType]:
    """Let types be tried again whose breaker was open for long enough; return them."""
    return [row["task_type"] for row in await _SQL["half_open"].fetch(executor)]


async def probes(executor: Executor) -> list[Probe]:
    """Return the half-open breakers that may be tried now, with the probes let through, as they stand for now."""
    found = await _SQL["probes"].fetch(executor)
    locked = await _SQL["lock_probes"].fetch(
        executor, task_ids=[row["probe_task_id"] for row in found if row["probe_task_id"]]
    )
    states = {row["id"]: row for row in locked}
    return [_probe(row, states.get(row["probe_task_id"])) for row in found]


async def close_after(executor: Executor, task_ids: Sequence[TaskId]) -> list[QualifiedType]:
    """Close the breakers whose probes these are; return their types."""
    return [row["task_type"] for row in await _SQL["close_after"].fetch(executor, task_ids=task_ids)]


async def choose_probes(executor: Executor, instead_of: Sequence[Probe], seconds: float) -> list[Hint]:
    """Let one task of each type through instead of the last, to be claimed within so many seconds."""
    rows = await _SQL["choose_probes"].fetch(
        executor,
        task_types=[probe.task_type for probe in instead_of],
        task_ids=[probe.task_id for probe in instead_of],
        seconds=seconds,
    )
    return [hint_in(row) for row in rows]


async def set_limits(executor: Executor, task_type: QualifiedType, limits: Limits) -> None:
    """Declare the limits of a type, or lift them."""
    await _SQL["set_limits"].fetch(
        executor, task_type=task_type, rate_per_second=limits.rate_per_second, concurrency=limits.concurrency
    )


async def rooms(executor: Executor, task_types: Sequence[QualifiedType] | None = None) -> dict[QualifiedType, Room]:
    """Return how many tasks of limited types may be claimed now; all of them if none is named."""
    rows = await _SQL["rooms"].fetch(executor, task_types=task_types)
    return {
        row["task_type"]: Room(row["room"], None if row["probe"] is None else TaskId(str(row["probe"]))) for row in rows
    }


async def admissible(executor: Executor, limit: int) -> list[TaskId]:
    """Return the most urgent tasks that limits leave room for, at most so many of a type."""
    return [TaskId(str(row["id"])) for row in await _SQL["admissible"].fetch(executor, limit=limit)]


async def contenders(
    executor: Executor, task_ids: Sequence[TaskId], document_ids: Sequence[DocumentId]
) -> list[Contender]:
    """Return which of these tasks and lanes' heads limits keep, most urgent first."""
    rows = await _SQL["contenders"].fetch(executor, task_ids=task_ids, document_ids=document_ids)
    return [Contender(TaskId(str(row["id"])), _document(row), row["task_type"]) for row in rows]


async def lock_limits(executor: Executor, task_types: Sequence[QualifiedType]) -> None:
    """Have nobody else count against these limits until the transaction ends."""
    await _SQL["lock_limits"].fetch(executor, task_types=task_types)


async def take_tokens(executor: Executor, task_types: Sequence[QualifiedType]) -> None:
    """Take tokens out of buckets, one for each time a type is named."""
    await _SQL["take_tokens"].fetch(executor, task_types=task_types)


def _document(row: Row) -> DocumentId | None:
    return None if row["document_id"] is None else DocumentId(row["document_id"])


def _probe(row: Row, task: Row | None) -> Probe:
    return Probe(
        row["task_type"],
        None if row["probe_task_id"] is None else TaskId(str(row["probe_task_id"])),
        None if task is None else STATES[task["state"]],
        may_be_claimed=row["may_be_claimed"] and task is not None and task["is_due"],
    )


def _valve(row: Row) -> Valve:
    breaker = Breaker(
        BreakerState(row["breaker"]),
        row["failures"],
        row["opened_at"],
        row["retry_at"],
        row["failure_threshold"],
        row["half_open_after_seconds"],
    )
    limits = Limits(row["rate_per_second"], row["concurrency"])
    return Valve(bare(row["task_type"]), row["paused"], row["slow_until"], breaker, limits)
