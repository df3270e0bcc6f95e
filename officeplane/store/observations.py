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
    await _SQL["add"].fetch(
        executor,
        counted_by=worker_id,
        report=report,
        measures=[one.bucket.measure for one in observed],
        task_types=[one.bucket.task_type for one in observed],
        up_tos=[one.bucket.up_to for one in observed],
        counts=[one.times for one in observed],
        seconds=[one.seconds for one in observed],
    )


async def totals(executor: Executor) -> list[Observed]:
    """Return what all workers have measured since the installation began, by bucket upward."""
    rows = await _SQL["totals"].fetch(executor)
    return [
        Observed(Bucket(Measure(row["measure"]), row["task_type"], row["up_to"]), row["count"], row["seconds"])
        for row in rows
    ]


async def fold(executor: Executor) -> None:
    """Put what workers measured that are off the list into one row for each bucket."""
    await _SQL["fold"].fetch(executor)
