"""Dead letters in the ledger: read, resolved, remarked upon."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from officeplane.domain.dead_letter import DeadLetter, Decided, Decision, Reviewed, Ruling
from officeplane.domain.ids import DagId, DocumentId, TaskId
from officeplane.domain.principal import Sight
from officeplane.domain.space import Space, qualified
from officeplane.store import tasks, trees
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load
from officeplane.store.sights import seen_by

_SQL: Final = load("dead_letters")


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFilter:
    """Which letters a list shows."""

    resolved: bool | None = None
    task_type: str | None = None
    document_id: str | None = None
    fingerprint: str | None = None

    def within(self, space: Space) -> "LetterFilter":
        """Return the filter with the names that the ledger has for those of a space."""
        if self.document_id is None:
            return self
        return replace(self, document_id=qualified(space, self.document_id))


@dataclass(frozen=True, slots=True)
class Alike:
    """One unresolved letter of many with the same fingerprint."""

    seq: int
    task_id: TaskId
    task_type: str


async def page(executor: Executor, wanted: LetterFilter, sight: Sight, *, before: int, limit: int) -> list[DeadLetter]:
    """Return the newest letters that fit, below a sequence number."""
    if wanted.resolved is False:
        rows = await _SQL["unresolved_page"].fetch(
            executor,
            before=before,
            task_type=wanted.task_type,
            document_id=wanted.document_id,
            fingerprint=wanted.fingerprint,
            limit=limit,
            **seen_by(sight),
        )
    else:
        rows = await _SQL["page"].fetch(
            executor,
            before=before,
            resolved=wanted.resolved,
            task_type=wanted.task_type,
            document_id=wanted.document_id,
            fingerprint=wanted.fingerprint,
            limit=limit,
            **seen_by(sight),
        )
    return [letter_in(row) for row in rows]


async def latest(executor: Executor, task_id: TaskId, sight: Sight) -> DeadLetter | None:
    """Return the letter of the task's latest generation that gave up."""
    rows = await _SQL["latest"].fetch(executor, task_id=task_id, **seen_by(sight))
    return letter_in(rows[0]) if rows else None


async def of_generations(
    executor: Executor, generations: Collection[tuple[TaskId, int]]
) -> dict[tuple[TaskId, int], DeadLetter]:
    """Return those letters of generations of tasks that are still there."""
    rows = await _SQL["of_generations"].fetch(
        executor,
        task_ids=[task_id for task_id, _ in generations],
        generations=[generation for _, generation in generations],
    )
    letters = map(letter_in, rows)
    return {(letter.task_id, letter.generation): letter for letter in letters}


async def lock_latest(executor: Executor, task_id: TaskId) -> DeadLetter | None:
    """Return it, locked until the transaction ends."""
    rows = await _SQL["lock_latest"].fetch(executor, task_id=task_id)
    return letter_in(rows[0]) if rows else None


async def reviewed(executor: Executor, letters: Sequence[DeadLetter], sight: Sight) -> list[Reviewed]:
    """Return letters with the failed attempts of their tasks and what was decided about these."""
    task_ids = list({letter.task_id for letter in letters})
    failures = await tasks.failures(executor, task_ids, sight)
    decisions: dict[TaskId, list[Decided]] = {}
    for row in await _SQL["decisions"].fetch(executor, task_ids=task_ids) if task_ids else ():
        decisions.setdefault(TaskId(str(row["task_id"])), []).append(
            Decided(Decision(row["decision"]), row["decided_by"], row["decided_at"], row["note"], row["generation"])
        )
    return [
        Reviewed(letter, tuple(failures.get(letter.task_id, ())), tuple(decisions.get(letter.task_id, ())))
        for letter in letters
    ]


async def is_known(executor: Executor, fingerprint: str, sight: Sight) -> bool:
    """Tell whether any letter has this fingerprint."""
    return bool(await _SQL["is_known"].fetch(executor, fingerprint=fingerprint, **seen_by(sight)))


async def alike(executor: Executor, fingerprint: str, sight: Sight, *, after: int, limit: int) -> list[Alike]:
    """Return unresolved letters of one fingerprint, the oldest after a sequence number first."""
    rows = await _SQL["alike"].fetch(executor, fingerprint=fingerprint, after=after, limit=limit, **seen_by(sight))
    return [Alike(row["seq"], TaskId(str(row["task_id"])), row["task_type"]) for row in rows]


async def are_unresolved(executor: Executor, task_ids: Collection[TaskId]) -> bool:
    """Tell whether any of these tasks has a letter that is unresolved."""
    return bool(await _SQL["unresolved_among"].fetch(executor, task_ids=list(task_ids)))


async def resolve(executor: Executor, task_ids: Collection[TaskId], ruling: Ruling) -> None:
    """Resolve what letters these tasks still have."""
    await _SQL["resolve"].fetch(
        executor, task_ids=list(task_ids), decision=str(ruling.decision), decided_by=ruling.by, note=ruling.note
    )


async def remark(executor: Executor, task_id: TaskId, ruling: Ruling, *, alerts: bool) -> None:
    """Record a decision that leaves the task's letter unresolved."""
    await _SQL["remark"].fetch(
        executor, task_id=task_id, decision=str(ruling.decision), decided_by=ruling.by, note=ruling.note, alerts=alerts
    )


async def expire(executor: Executor, resolved_seconds: float, undecided_seconds: float, *, limit: int) -> int:
    """Forget letters that were resolved, or lay undecided, for so long; return how many."""
    return len(
        await _SQL["expire"].fetch(
            executor, resolved_seconds=resolved_seconds, undecided_seconds=undecided_seconds, limit=limit
        )
    )


async def write_awaited(executor: Executor, task_ids: Collection[TaskId], *, counted_by: str, alerts: bool) -> None:
    """Write the letters that failures which were mere answers come to have because of tasks that wait for them.

    Raises `SerializationError` when the transaction's number is too low to tell of it.
    """
    trees.none_younger(
        await _SQL["write_awaited"].fetch(executor, task_ids=list(task_ids), alerts=alerts, counted_by=counted_by)
    )


async def replace_payload(executor: Executor, task_id: TaskId, root_id: TaskId, payload_json: str) -> None:
    """Give a task that was reopened in this transaction another payload."""
    await _SQL["replace_payload"].fetch(executor, task_id=task_id, payload=payload_json, root_id=root_id)


def letter_in(row: Row) -> DeadLetter:
    """Return the letter that a row has the columns of."""
    return DeadLetter(
        seq=row["seq"],
        task_id=TaskId(str(row["task_id"])),
        generation=row["generation"],
        task_type=row["task_type"],
        document_id=None if row["document_id"] is None else DocumentId(row["document_id"]),
        dag_id=None if row["dag_id"] is None else DagId(str(row["dag_id"])),
        kind=row["kind"],
        message=row["message"],
        fingerprint=row["fingerprint"],
        poison_pill=row["poison_pill"],
        recurring=row["recurring"],
        total_cost_usd=row["total_cost_usd"],
        dead_lettered_at=row["dead_lettered_at"],
        escalated_at=row["escalated_at"],
        resolution=None if row["resolution"] is None else Decision(row["resolution"]),
        resolved_by=row["resolved_by"],
        resolved_at=row["resolved_at"],
        note=row["note"],
    )
