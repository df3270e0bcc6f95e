"""Metrics: what one scrape has read, as Prometheus wants it."""

from collections import Counter as Counts
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from officeplane.domain.failure import ANSWERS, FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.observation import BOUNDS_SECONDS, Measure, Observed
from officeplane.domain.principal import Scope
from officeplane.domain.priority import Tier
from officeplane.domain.valve import BreakerState, Valve
from officeplane.store.statistics import Count, Counter
from officeplane.store.workers import WorkerInfo

DEPTHS: Final = {TaskState.QUEUED: "ready", TaskState.RETRYING: "retrying"}
"""States in which a task waits in a queue, as the label has them."""


# Registries keep their collectors in a set, so this one is compared by identity.
@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What one scrape has read; a collector that gives it out and does no I/O."""

    task_types: Collection[str]
    unbreakable: Collection[str]
    """Those of them that have no breaker."""
    waiting: list[Count]
    oldest_wait_seconds: float | None
    counters: list[Counter]
    observed: list[Observed]
    unresolved_letters: int
    dags: Mapping[str, int]
    valves: list[Valve]
    workers: list[WorkerInfo]
    redis_available: bool

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics in the order in which they are shown."""
        yield self._depth()
        yield GaugeMetricFamily(
            "officeplane_task_queue_oldest_wait_seconds",
            "How long the longest waiting runnable task has waited.",
            value=self.oldest_wait_seconds or 0.0,
        )
        yield self._histogram(
            "officeplane_task_queue_wait_seconds", "From when a task could run until it was claimed.", Measure.WAIT
        )
        yield self._histogram(
            "officeplane_task_run_seconds", "From the start of an attempt to its end, however it ended.", Measure.RUN
        )
        yield from self._ended()
        yield GaugeMetricFamily(
            "officeplane_dead_letters_unresolved",
            "Dead letters that wait for a decision.",
            value=self.unresolved_letters,
        )
        dags = GaugeMetricFamily("officeplane_dags", "DAGs that are under way or have failed.", labels=["status"])
        for status, count in self.dags.items():
            dags.add_metric([status], count)
        yield dags
        yield from self._valves()
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

    def _depth(self) -> Metric:
        """Return every status and tier, so that a queue that has run empty shows as 0 and does not vanish."""
        depth = GaugeMetricFamily(
            "officeplane_task_queue_depth", "Tasks that wait to run.", labels=["status", "priority_tier"]
        )
        found = {(count.state, count.tier): count.count for count in self.waiting}
        for state, status in DEPTHS.items():
            for tier in Tier:
                depth.add_metric([status, tier.name.lower()], found.get((state, tier), 0))
        return depth

    def _histogram(self, name: str, documentation: str, measure: Measure) -> Metric:
        histogram = HistogramMetricFamily(name, documentation, labels=["type"])
        of_measure = (seen for seen in self.observed if seen.bucket.measure is measure)
        for task_type, buckets in groupby(of_measure, lambda seen: seen.bucket.task_type):
            seen = list(buckets)
            histogram.add_metric([task_type], _cumulated(seen), sum(bucket.seconds for bucket in seen))
        return histogram

    def _valves(self) -> Iterator[Metric]:
        """Yield what keeps types from being claimed; a type without a valve is closed and goes on."""
        known = {valve.task_type: valve for valve in self.valves}
        breakers = GaugeMetricFamily(
            "officeplane_circuit_breaker_state",
            "1 for the state that a type's breaker is in.",
            labels=["type", "state"],
        )
        paused = GaugeMetricFamily("officeplane_task_type_paused", "1 while a type is paused.", labels=["type"])
        for task_type in sorted({*self.task_types, *known}):
            valve = known.get(task_type)
            now = valve.breaker.state if valve else BreakerState.CLOSED
            for state in BreakerState if task_type not in self.unbreakable else ():
                breakers.add_metric([task_type, state], float(state is now))
            paused.add_metric([task_type], float(valve is not None and valve.is_paused))
        yield from (breakers, paused)

    def _blocked(self) -> Metric:
        """Return who is kept by a handler that does not let its event loop turn; no type: by something else."""
        blocked = GaugeMetricFamily(
            "officeplane_workers_blocked", "Live workers whose event loop is blocked, by whom.", labels=["type"]
        )
        found = Counts((worker.blocked.task_type or "") for worker in self.workers if worker.blocked is not None)
        for task_type in sorted({*self.task_types, *found}):
            blocked.add_metric([task_type], found[task_type])
        return blocked

    def _ended(self) -> Iterator[Metric]:
        yield self._counter(
            "officeplane_tasks_completed", "Tasks that completed.", lambda it: it.outcome == "completed"
        )
        yield self._counter("officeplane_tasks_failed", "Tasks that gave up.", _gave_up, with_reason=True)
        yield self._counter(
            "officeplane_tasks_dead_lettered",
            "Tasks that gave up at an attempt of their own, and have a dead letter.",
            _dead_lettered,
        )
        yield self._counter(
            "officeplane_tasks_retried",
            "Attempts to be retried.",
            lambda it: it.outcome == "retrying",
            with_reason=True,
        )
        yield self._counter(
            "officeplane_tasks_rate_limited",
            "Attempts that were told to come back later.",
            lambda it: it.outcome == "retrying" and it.reason == FailureKind.RATE_LIMITED,
        )
        yield self._counter(
            "officeplane_tasks_cancelled", "Tasks that were cancelled.", lambda it: it.outcome == "cancelled"
        )
        yield self._counter(
            "officeplane_fenced_commits",
            "Attempts that were lost before they could be settled.",
            lambda it: it.outcome == "fenced",
        )

    def _counter(
        self, name: str, documentation: str, counts: Callable[[Counter], bool], *, with_reason: bool = False
    ) -> Metric:
        """Return a family of what `counts`; the ledger tells outcomes apart that share its labels.

        A known type begins at 0: Prometheus sees no increase in a sample that appears with its first count.
        """
        sums = defaultdict[tuple[str, ...], int](int, {} if with_reason else {(name,): 0 for name in self.task_types})
        for it in filter(counts, self.counters):
            sums[(it.task_type, it.reason or "child") if with_reason else (it.task_type,)] += it.count
        family = CounterMetricFamily(name, documentation, labels=["type", "reason"] if with_reason else ["type"])
        for labels, count in sums.items():
            family.add_metric(labels, count)
        return family


@dataclass(frozen=True, slots=True, eq=False)
class Refusals:
    """Who was not let in by this process since it began; a collector, as above."""

    wrong_keys: int
    without_scope: Mapping[Scope, int]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics in the order in which they are shown."""
        yield CounterMetricFamily(
            "officeplane_authentication_failures",
            "Requests with a key, a login link or a provider's answer that does not work, refused by this process.",
            value=self.wrong_keys,
        )
        refused = CounterMetricFamily(
            "officeplane_refused", "Requests of callers without the scope, refused by this process.", labels=["scope"]
        )
        for scope in Scope:
            refused.add_metric([scope], self.without_scope.get(scope, 0))
        yield refused


def exposed(snapshot: Snapshot | Refusals) -> str:
    """Return what was read in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(snapshot)
    return generate_latest(registry).decode()


def _gave_up(it: Counter) -> bool:
    return it.outcome in ("failed", "timeout")


def _dead_lettered(it: Counter) -> bool:
    # A refused edit has a dead letter only if tasks wait for it, and is counted when that is written.
    return it.outcome == "dead_lettered" or (_gave_up(it) and it.reason not in {"", *ANSWERS})


def _cumulated(seen: Sequence[Observed]) -> list[tuple[str, float]]:
    """Return for each bound how much was no longer than it."""
    # A bucket of another version, with a bound that is none of ours, is counted in the next larger of ours.
    return [
        ("+Inf" if bound == inf else str(bound), sum(one.times for one in seen if one.bucket.up_to <= bound))
        for bound in BOUNDS_SECONDS
    ]
