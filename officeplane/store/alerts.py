"""Alerts in the ledger: the outbox of dead letters."""

from collections.abc import Collection, Iterable
from typing import Final

from officeplane.domain.alert import Alert
from officeplane.domain.ids import TaskId
from officeplane.store.connection import Executor
from officeplane.store.dead_letters import letter_in
from officeplane.store.queries import load

_SQL: Final = load("alerts")


async def take(executor: Executor, *, limit: int, for_seconds: float) -> list[Alert]:
    """Return alerts that are due, which nobody else gets for a while."""
    rows = await executor.fetch(_SQL["take"], limit, for_seconds)
    return [Alert(row["alert_id"], row["reason"], row["tries"], letter_in(row)) for row in rows]


async def forget(executor: Executor, alerts: Iterable[Alert]) -> None:
    """Remove alerts that were answered."""
    await executor.fetch(_SQL["forget"], [alert.id for alert in alerts])


async def postpone(executor: Executor, alerts: Collection[Alert]) -> None:
    """Make alerts due again, each after a wait that grows with its tries."""
    await executor.fetch(_SQL["postpone"], [alert.id for alert in alerts], [alert.retry_seconds for alert in alerts])


async def give_up(executor: Executor, *, after_seconds: float, tries: int, limit: int) -> list[TaskId]:
    """Remove alerts that are old and were tried so often at least, and return whom they were about."""
    rows = await executor.fetch(_SQL["give_up"], after_seconds, tries, limit)
    return [TaskId(str(row["task_id"])) for row in rows]
