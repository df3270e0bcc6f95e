"""Ranks in the ledger: the places of tasks whose urgency changes while they wait."""

from typing import Final

from officeplane.domain.ids import TaskId
from officeplane.domain.priority import BOOST_PER_MINUTE, Tier
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("ranks")


async def rank_anew(executor: Executor, *, at_least: float, limit: int) -> tuple[int, list[tuple[TaskId, Tier]]]:
    """Rank tasks anew that have moved by so much; return how many, and those that rose to another tier."""
    rows = await executor.fetch(_SQL["rank_anew"], BOOST_PER_MINUTE, at_least, limit)
    return len(rows), [(TaskId(str(row["id"])), Tier(row["rung_tier"])) for row in rows if row["rises"]]
