"""Observations in the ledger: what workers have measured."""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.ids import WorkerId
from officeplane.domain.observation import Bucket, Measure, Observed
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("observations")


async def add(executor: Executor, worker_id: WorkerId, report: int, observed: Sequence[Observed]) -> None:
    """Add a worker's report, once; the reports of a worker are numbered upward."""
    await executor.fetch(
        _SQL["add"],
        worker_id,
        report,
        [one.bucket.measure for one in observed],
        [one.bucket.task_type for one in observed],
        [one.bucket.up_to for one in observed],
        [one.times for one in observed],
        [one.seconds for one in observed],
    )


async def totals(executor: Executor) -> list[Observed]:
    """Return what all workers have measured since the installation began, by bucket upward."""
    rows = await executor.fetch(_SQL["totals"])
    return [
        Observed(Bucket(Measure(row["measure"]), row["task_type"], row["up_to"]), row["count"], row["seconds"])
        for row in rows
    ]


async def fold(executor: Executor) -> None:
    """Put what workers measured that are off the list into one row for each bucket."""
    await executor.fetch(_SQL["fold"])
