"""Ranks in the ledger: the places of tasks whose urgency changes while they wait."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from officeplane.domain.hint import Hint
from officeplane.domain.ids import TaskId
from officeplane.domain.priority import Urgency
from officeplane.store.connection import Executor, Row
from officeplane.store.hints import hint_in
from officeplane.store.queries import load

_SQL: Final = load("ranks")


async def moved(executor: Executor, *, at_least: float, limit: int) -> list[TaskId]:
    """Return tasks that by now belong elsewhere by so much, those that have moved furthest first."""
    return [TaskId(str(row["id"])) for row in await _SQL["moved"].fetch(executor, at_least=at_least, limit=limit)]


async def rank_anew(executor: Executor, task_ids: Collection[TaskId]) -> tuple[int, list[Hint]]:
    """Move tasks to where they belong; return how many moved, and those that rose to another tier."""
    return _ranked(await _SQL["rank_anew"].fetch(executor, task_ids=list(task_ids)))


async def urgencies(executor: Executor, task_ids: Iterable[TaskId]) -> dict[TaskId, Urgency]:
    """Return what makes tasks urgent."""
    rows = await _SQL["urgencies"].fetch(executor, task_ids=list(task_ids))
    return {TaskId(str(row["id"])): Urgency(row["priority"], row["deadline"], row["boost_per_minute"]) for row in rows}


class WaitedFor(NamedTuple):
    """A task on the way to what others wait for: all of it has to end, or only what comes before it."""

    task_id: TaskId
    is_whole: bool


async def behind_less_urgent(executor: Executor, *, limit: int) -> dict[TaskId, float]:
    """Return the ranks of tasks that wait behind less urgent work, the most urgent first."""
    rows = await _SQL["behind_less_urgent"].fetch(executor, limit=limit)
    return {TaskId(str(row["id"])): row["rank"] for row in rows}


async def ahead(executor: Executor, places: Collection[WaitedFor]) -> list[tuple[WaitedFor, WaitedFor]]:
    """Return the next step of what places wait for: each with the place that waits for it."""
    rows = await _SQL["ahead"].fetch(
        executor, task_ids=[place.task_id for place in places], are_whole=[place.is_whole for place in places]
    )
    return [
        (
            WaitedFor(TaskId(str(row["behind"])), is_whole=row["was_whole"]),
            WaitedFor(TaskId(str(row["id"])), is_whole=row["is_whole"]),
        )
        for row in rows
    ]


async def inherit(
    executor: Executor, inherited: Mapping[TaskId, float], *, keeping: Collection[TaskId], at_least: float, limit: int
) -> tuple[int, list[Hint]]:
    """Have tasks inherit these ranks, and let so many sink back that inherited one and are not to keep it.

    Return how many moved by as much as asked for, and those that rose to another tier.
    """
    rows = await _SQL["inherit"].fetch(
        executor,
        task_ids=list(inherited),
        ranks=list(inherited.values()),
        keeping=list(keeping),
        at_least=at_least,
        limit=limit,
    )
    return _ranked(rows)


def _ranked(rows: Sequence[Row]) -> tuple[int, list[Hint]]:
    return len(rows), [hint_in(row) for row in rows if row["rises"]]
