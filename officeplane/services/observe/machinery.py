"""Machinery: what tasks of all spaces run on, as Prometheus wants it: workers, how long things took, Redis."""

from collections import Counter as Counts
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from officeplane.domain.observation import BOUNDS_SECONDS, Measure, Observed
from officeplane.store.workers import WorkerInfo


# Registries keep their collectors in a set, so this one is compared by identity.
@dataclass(frozen=True, slots=True, eq=False)
class Machinery:
    """What one scrape has read of it; a collector that gives it out and does no I/O."""

    task_types: Collection[str]
    observed: list[Observed]
    workers: list[WorkerInfo]
    redis_available: bool

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics in the order in which they are shown."""
        yield self._histogram(
            "officeplane_task_queue_wait_seconds", "From when a task could run until it was claimed.", Measure.WAIT
        )
        yield self._histogram(
            "officeplane_task_run_seconds", "From the start of an attempt to its end, however it ended.", Measure.RUN
        )
        yield CounterMetricFamily(
            "officeplane_wasted_pops",
            "Hints that were taken from Redis and led to no claim.",
            value=sum(seen.times for seen in self.observed if seen.bucket.measure is Measure.WASTED_POP),
        )
        yield GaugeMetricFamily("officeplane_workers", "Worker processes that are alive.", value=len(self.workers))
        yield GaugeMetricFamily(
            "officeplane_worker_slots", "Slots of all live workers.", value=sum(w.concurrency for w in self.workers)
        )
        yield GaugeMetricFamily(
            "officeplane_worker_slots_busy", "Slots in which a task runs.", value=sum(w.running for w in self.workers)
        )
        yield self._blocked()
        yield GaugeMetricFamily(
            "officeplane_redis_available", "1 while work is dispatched by Redis.", value=float(self.redis_available)
        )

    def _histogram(self, name: str, documentation: str, measure: Measure) -> Metric:
        histogram = HistogramMetricFamily(name, documentation, labels=["type"])
        of_measure = (seen for seen in self.observed if seen.bucket.measure is measure)
        for task_type, buckets in groupby(of_measure, lambda seen: seen.bucket.task_type):
            seen = list(buckets)
            histogram.add_metric([task_type], _cumulated(seen), sum(bucket.seconds for bucket in seen))
        return histogram

    def _blocked(self) -> Metric:
        """Return who is kept by a handler that does not let its event loop turn; no type: by something else."""
        blocked = GaugeMetricFamily(
            "officeplane_workers_blocked", "Live workers whose event loop is blocked, by whom.", labels=["type"]
        )
        found = Counts((worker.blocked.task_type or "") for worker in self.workers if worker.blocked is not None)
        for task_type in sorted({*self.task_types, *found}):
            blocked.add_metric([task_type], found[task_type])
        return blocked


def _cumulated(seen: Sequence[Observed]) -> list[tuple[str, float]]:
    """Return for each bound how much was no longer than it."""
    # A bucket of another version, with a bound that is none of ours, is counted in the next larger of ours.
    return [
        ("+Inf" if bound == inf else str(bound), sum(one.times for one in seen if one.bucket.up_to <= bound))
        for bound in BOUNDS_SECONDS
    ]
