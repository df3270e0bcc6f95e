"""Deliveries in the ledger: the outbox, filled by the statements whose facts are to be told."""

import json
from collections.abc import Collection
from typing import Final

from officeplane.domain.delivery import Delivery
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

ALERTS: Final = "alerts"
"""The destination of what `ALERT_URL` is told: which letter, of which generation of a task, and why."""

_SQL: Final = load("deliveries")


async def take(executor: Executor, destination: str, *, limit: int, for_seconds: float) -> list[Delivery]:
    """Return what is due for a destination, which nobody else gets for a while."""
    rows = await _SQL["take"].fetch(executor, destination=destination, limit=limit, for_seconds=for_seconds)
    return [_delivery(row) for row in rows]


async def forget(executor: Executor, delivered: Collection[Delivery]) -> None:
    """Remove what was answered."""
    await _SQL["forget"].fetch(executor, delivery_ids=[delivery.id for delivery in delivered])


async def postpone(executor: Executor, failed: Collection[Delivery]) -> None:
    """Make deliveries due again, each after a wait that grows with its tries."""
    await _SQL["postpone"].fetch(
        executor,
        delivery_ids=[delivery.id for delivery in failed],
        seconds=[delivery.retry_seconds for delivery in failed],
    )


async def give_up(
    executor: Executor, destination: str, *, after_seconds: float, tries: int, limit: int
) -> list[Delivery]:
    """Remove what is old and was tried so often at least, and return it."""
    rows = await _SQL["give_up"].fetch(
        executor, destination=destination, after_seconds=after_seconds, tries=tries, limit=limit
    )
    return [_delivery(row) for row in rows]


def _delivery(row: Row) -> Delivery:
    return Delivery(row["id"], json.loads(row["body"]), row["tries"])
