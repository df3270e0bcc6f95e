"""I15: a retry waits for its delay, and a task with a time of its own for that."""

from collections.abc import Iterator
from typing import Final

from tests.chaos.checker.lives import Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence
from tests.chaos.terms import Terms

# The end of a failed attempt is written down a moment after the time was taken from which its delay is reckoned.
WRITTEN_SECONDS: Final = 0.05
_DELAYED: Final = frozenset({"error", "timeout"})


def check_waiting(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield attempts that began too early."""
    for life in lives.values():
        yield from _retries(life, evidence.terms)
    times = {one.token: one.run_at for op in evidence.history for one in op.wanted if one.run_at is not None}
    for life in lives.values():
        run_at = times.get(life.task.title or "")
        began = life.claim_of(1)
        # An explicit retry runs at once, whatever its time was; milliseconds are lost on the way in.
        if run_at is not None and began is not None and began.generation == 1 and began.at < run_at - 0.002:
            yield Violation("I15", f"task {life.task.id} ran {run_at - began.at:.3f} s before its time")


def _retries(life: Life, terms: Terms) -> Iterator[Violation]:
    for failure in life.failures:
        following = life.claim_of(failure.attempt + 1)
        generation = life.generation_of(failure.attempt)
        if failure.kind not in _DELAYED or following is None or following.generation != generation:
            continue
        # Crashes may have been charged or not; what surely was gives the shortest delay there can be.
        charged = [
            one for one in life.failures_in(generation) if one.kind in _DELAYED and one.attempt <= failure.attempt
        ]
        delay = terms.retry_initial_seconds * terms.retry_multiplier ** (len(charged) - 1)
        waited = following.at - failure.ended
        if waited < delay - WRITTEN_SECONDS:
            early = f"{waited:.3f} s after a failure instead of {delay:.3f} s"
            yield Violation("I15", f"attempt {following.attempt} of {life.task.id} began {early}")
