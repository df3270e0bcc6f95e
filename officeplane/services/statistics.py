"""Statistics: how much waits, runs and has ended, for people and for Prometheus."""

from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.lifecycle import TaskState
from officeplane.store import statistics, workers
from officeplane.store.connection import Ledger
from officeplane.store.statistics import Count, Counter
from officeplane.store.workers import WorkerInfo


@dataclass(frozen=True, slots=True)
class Stats:
    """The installation in numbers."""

    counts: list[Count]
    oldest_wait_seconds: float | None
    workers: list[WorkerInfo]


# Registries keep their collectors in a set, so this one is compared by identity.
@dataclass(frozen=True, slots=True, eq=False)
class _Snapshot:
    """What one scrape has read; a collector that gives it out and does no I/O."""

    waiting: list[Count]
    oldest_wait_seconds: float | None
    counters: list[Counter]
    workers: list[WorkerInfo]
    redis_available: bool

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics in the order in which they are shown."""
        depth = GaugeMetricFamily(
            "officeplane_task_queue_depth", "Tasks that wait to run.", labels=["status", "priority_tier"]
        )
        for count in self.waiting:
            status = "ready" if count.state is TaskState.QUEUED else count.state.lower()
            depth.add_metric([status, count.tier.name.lower()], count.count)
        yield depth
        yield GaugeMetricFamily(
            "officeplane_task_queue_oldest_wait_seconds",
            "How long the longest waiting runnable task has waited.",
            value=self.oldest_wait_seconds or 0.0,
        )
        yield from self._ended()
        yield GaugeMetricFamily("officeplane_workers", "Worker processes that are alive.", value=len(self.workers))
        yield GaugeMetricFamily(
            "officeplane_worker_slots", "Slots of all live workers.", value=sum(w.concurrency for w in self.workers)
        )
        yield GaugeMetricFamily(
            "officeplane_worker_slots_busy", "Slots in which a task runs.", value=sum(w.running for w in self.workers)
        )
        yield GaugeMetricFamily(
            "officeplane_redis_available", "1 while work is dispatched by Redis.", value=float(self.redis_available)
        )

    def _ended(self) -> Iterator[Metric]:
        completed = CounterMetricFamily("officeplane_tasks_completed", "Tasks that completed.", labels=["type"])
        failed = CounterMetricFamily("officeplane_tasks_failed", "Tasks that gave up.", labels=["type", "reason"])
        retried = CounterMetricFamily("officeplane_tasks_retried", "Attempts to be retried.", labels=["type", "reason"])
        fenced = CounterMetricFamily(
            "officeplane_fenced_commits", "Attempts that were lost before they could be settled.", labels=["type"]
        )
        cancelled = CounterMetricFamily("officeplane_tasks_cancelled", "Tasks that were cancelled.", labels=["type"])
        for counter in self.counters:
            match counter.outcome:
                case "completed":
                    completed.add_metric([counter.task_type], counter.count)
                case "failed" | "timeout":
                    failed.add_metric([counter.task_type, counter.reason or "child"], counter.count)
                case "retrying":
                    retried.add_metric([counter.task_type, counter.reason], counter.count)
                case "cancelled":
                    cancelled.add_metric([counter.task_type], counter.count)
                case "fenced":
                    fenced.add_metric([counter.task_type], counter.count)
                case _:
                    pass
        yield from (completed, failed, retried, cancelled, fenced)


class Statistics:
    """Counts, read when asked for."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, lease_seconds: float) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
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
        registry = CollectorRegistry(auto_describe=False)
        registry.register(
            _Snapshot(
                await statistics.unfinished_counts(self._ledger),
                await statistics.oldest_wait_seconds(self._ledger),
                await statistics.counters(self._ledger),
                await workers.alive(self._ledger, self._lease_seconds),
                self._doorbell.availability.available,
            )
        )
        return generate_latest(registry).decode()
