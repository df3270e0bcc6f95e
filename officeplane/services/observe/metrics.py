"""Metrics: what one scrape has read, as Prometheus wants it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from officeplane.domain.failure import ANSWERS, FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import Scope
from officeplane.domain.priority import Tier
from officeplane.domain.valve import BreakerState
from officeplane.store.statistics import OTHER, Counter, HeldType

DEPTHS: Final = {TaskState.QUEUED: "ready", TaskState.RETRYING: "retrying"}
"""States in which a task waits in a queue, as the label has them."""
_CLOSED: Final = frozenset({BreakerState.CLOSED})


# Registries keep their collectors in a set, so this one is compared by identity.
@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What one scrape has read of spaces; a collector that gives it out and does no I/O.

    What is said of one of them stands without the label `space`, so that an installation
    with no other, and whoever sees only his own, is told nothing of spaces.
    """

    task_types: Collection[str]
    unbreakable: Collection[str]
    """Those of them that have no breaker."""
    home: str
    """The space that goes without saying."""
    spaces: Collection[str]
    """Those that are told apart besides it."""
    waiting: Mapping[tuple[str, TaskState, Tier], int]
    oldest_waits_seconds: Mapping[str, float]
    counters: list[Counter]
    unresolved_letters: Mapping[str, int]
    dags: Mapping[tuple[str, str], int]
    held_types: list[HeldType]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics in the order in which they are shown."""
        spaces = self._told_of()
        yield self._depth(spaces)
        oldest = GaugeMetricFamily(
            "officeplane_task_queue_oldest_wait_seconds",
            "How long the longest waiting runnable task has waited.",
            labels=["space"],
        )
        letters = GaugeMetricFamily(
            "officeplane_dead_letters_unresolved", "Dead letters that wait for a decision.", labels=["space"]
        )
        dags = GaugeMetricFamily(
            "officeplane_dags", "DAGs that are under way or have failed.", labels=["status", "space"]
        )
        for space in spaces:
            oldest.add_metric(self._in(space), self.oldest_waits_seconds.get(space, 0.0))
            letters.add_metric(self._in(space), self.unresolved_letters.get(space, 0))
            for status in ("running", "failed"):
                dags.add_metric(self._in(space, status), self.dags.get((space, status), 0))
        yield oldest
        yield from self._ended()
        yield from (letters, dags)
        yield from self._valves()

    def _told_of(self) -> list[str]:
        """Return the spaces of which there is something to tell, and what stands for all others if there are any."""
        found = {*self.oldest_waits_seconds, *self.unresolved_letters}
        found |= {space for space, _, _ in self.waiting} | {space for space, _ in self.dags}
        return list(dict.fromkeys([self.home, *self.spaces, *found.intersection([OTHER])]))

    def _in(self, space: str, *labels: str) -> list[str]:
        """Return the values of labels of which the last is the space."""
        return [*labels] if space == self.home else [*labels, space]

    def _depth(self, spaces: Iterable[str]) -> Metric:
        """Return every status and tier, so that a queue that has run empty shows as 0 and does not vanish."""
        depth = GaugeMetricFamily(
            "officeplane_task_queue_depth", "Tasks that wait to run.", labels=["status", "priority_tier", "space"]
        )
        for space, (state, status), tier in product(spaces, DEPTHS.items(), Tier):
            depth.add_metric(self._in(space, status, tier.name.lower()), self.waiting.get((space, state, tier), 0))
        return depth

    def _valves(self) -> Iterator[Metric]:
        """Yield what keeps types from being claimed; a type without a valve is closed and goes on."""
        known = {(self.home, name): HeldType(self.home, name, False, _CLOSED) for name in self.task_types}
        known |= {(held.space, held.task_type): held for held in self.held_types}
        breakers = GaugeMetricFamily(
            "officeplane_circuit_breaker_state",
            "1 for the state that a type's breaker is in.",
            labels=["type", "state", "space"],
        )
        paused = GaugeMetricFamily(
            "officeplane_task_type_paused", "1 while a type is paused.", labels=["type", "space"]
        )
        for (space, task_type), held in sorted(known.items()):
            for state in BreakerState if task_type not in self.unbreakable else ():
                breakers.add_metric(self._in(space, task_type, state), float(state in held.breakers))
            paused.add_metric(self._in(space, task_type), float(held.is_paused))
        yield from (breakers, paused)

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
        In another space than this one, it is known when something of it has ended there.
        """
        sums = defaultdict[tuple[str, ...], int](int)
        if not with_reason:
            known = {(self.home, name) for name in self.task_types} | {(it.space, it.task_type) for it in self.counters}
            sums |= dict.fromkeys(sorted(known), 0)
        for it in filter(counts, self.counters):
            labels = (it.task_type, it.reason or "child") if with_reason else (it.task_type,)
            sums[it.space, *labels] += it.count
        names = ["type", "reason", "space"] if with_reason else ["type", "space"]
        family = CounterMetricFamily(name, documentation, labels=names)
        for (space, *rest), count in sums.items():
            family.add_metric(self._in(space, *rest), count)
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


def exposed(collector: Collector) -> str:
    """Return what was read in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    return generate_latest(registry).decode()


def _gave_up(it: Counter) -> bool:
    return it.outcome in ("failed", "timeout")


def _dead_lettered(it: Counter) -> bool:
    # A refused edit has a dead letter only if tasks wait for it, and is counted when that is written.
    return it.outcome == "dead_lettered" or (_gave_up(it) and it.reason not in {"", *ANSWERS})
