"""Statistics: how much waits, runs and has ended, for people and for Prometheus."""

from dataclasses import dataclass

from officeplane.dispatch.doorbell import Doorbell
from officeplane.handlers.catalogue import Catalogue
from officeplane.services.observe.metrics import Snapshot, exposed
from officeplane.store import observations, statistics, valves, workers
from officeplane.store.connection import Ledger
from officeplane.store.statistics import Count
from officeplane.store.workers import WorkerInfo


@dataclass(frozen=True, slots=True)
class Stats:
    """The installation in numbers."""

    counts: list[Count]
    oldest_wait_seconds: float | None
    workers: list[WorkerInfo]


class Statistics:
    """Counts, read when asked for."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, catalogue: Catalogue, lease_seconds: float) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._catalogue = catalogue
        self._lease_seconds = lease_seconds

    async def stats(self) -> Stats:
        """Return counts by state and tier, the oldest wait and the live workers."""
        return Stats(
            await statistics.counts(self._ledger),
            await statistics.oldest_wait_seconds(self._ledger),
            await workers.alive(self._ledger, self._lease_seconds),
        )

    async def metrics(self) -> str:
        """Return the same for Prometheus, without a look at what has ended long ago."""
        return exposed(
            Snapshot(
                self._catalogue.types,
                [name for name, known in self._catalogue.types.items() if not known.has_breaker],
                await statistics.unfinished_counts(self._ledger),
                await statistics.oldest_wait_seconds(self._ledger),
                await statistics.counters(self._ledger),
                await observations.totals(self._ledger),
                await statistics.unresolved_letters(self._ledger),
                await statistics.unsettled_dags(self._ledger),
                await valves.every(self._ledger),
                await workers.alive(self._ledger, self._lease_seconds),
                self._doorbell.availability.available,
            )
        )
