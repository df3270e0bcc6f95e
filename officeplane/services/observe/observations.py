"""Observations: what a worker process sees is gathered in memory and told to the ledger with its heartbeat.

The path of a task stays free of it. A report that may have got lost is sent
again as it was, under the same number, and the ledger adds each number once. A
worker that is killed takes with it what it has seen since its last heartbeat.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from officeplane.domain.observation import BOUNDS_SECONDS, Bucket, Measure, Observed


class Report(NamedTuple):
    """What is new since the report before."""

    number: int
    observed: list[Observed]


class _Histogram:
    """How often something took how long, for each bound."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * len(BOUNDS_SECONDS)
        self.seconds = [0.0] * len(BOUNDS_SECONDS)

    def add(self, seconds: float) -> None:
        bucket = bisect_left(BOUNDS_SECONDS, seconds)
        self.counts[bucket] += 1
        self.seconds[bucket] += seconds


@dataclass(slots=True)
class Meter:
    """What one worker process has seen; one thread adds to it and another reports.

    The sums only grow and are never handed over, so neither thread has to wait:
    what is added while a report is made is in the next one.
    """

    _waits: defaultdict[str, _Histogram] = field(default_factory=lambda: defaultdict(_Histogram))
    _runs: defaultdict[str, _Histogram] = field(default_factory=lambda: defaultdict(_Histogram))
    _wasted_pops: int = 0
    _reported: dict[Bucket, Observed] = field(default_factory=dict[Bucket, Observed])
    _report: Report = field(default=Report(0, []))

    def waited(self, task_type: str, seconds: float) -> None:
        """Note how long a task that begins has waited."""
        self._waits[task_type].add(seconds)

    def ran(self, task_type: str, seconds: float) -> None:
        """Note how long an attempt that has ended ran."""
        self._runs[task_type].add(seconds)

    def popped_in_vain(self, hints: int) -> None:
        """Note that so many hints led to no claim."""
        self._wasted_pops += hints

    def report(self) -> Report:
        """Return what is to be told; the same again until it is `reported`."""
        if not self._report.observed:
            sums = {seen.bucket: seen for seen in self._sums()}
            news = [_since(self._reported.get(bucket), seen) for bucket, seen in sums.items()]
            self._report = Report(self._report.number + 1, [new for new in news if new.times or new.seconds])
            self._reported = sums
        return self._report

    def reported(self) -> None:
        """Note that the last report is in the ledger."""
        self._report = Report(self._report.number, [])

    def _sums(self) -> Iterator[Observed]:
        for measure, histograms in ((Measure.WAIT, self._waits), (Measure.RUN, self._runs)):
            # A copy in one step: the other thread may meet a new type meanwhile.
            for task_type, histogram in histograms.copy().items():
                for up_to, count, seconds in zip(BOUNDS_SECONDS, histogram.counts, histogram.seconds, strict=True):
                    yield Observed(Bucket(measure, task_type, up_to), count, seconds)
        yield Observed(Bucket(Measure.WASTED_POP, "", inf), self._wasted_pops, 0.0)


def _since(before: Observed | None, now: Observed) -> Observed:
    return now if before is None else Observed(now.bucket, now.times - before.times, now.seconds - before.seconds)
