"""L1 and L2: everything ends; the service comes back by itself and its processes do not die by themselves."""

from collections import Counter
from collections.abc import Iterator
from signal import SIGKILL, SIGTERM
from typing import Final

from tests.chaos.checker.edges import held_up
from tests.chaos.checker.lives import FINAL, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence
from tests.chaos.handlers import EXIT_STATUS
from tests.chaos.processes import Death

READY_SECONDS: Final = 10.0
FAILPOINT_STATUS: Final = 86
UNREACHABLE_STATUS: Final = 3
START_SECONDS: Final = 20.0


def check_liveness(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield tasks that never end, and processes that ended uncalled."""
    held = held_up(evidence)
    stuck = [life for life in lives.values() if life.task.state not in FINAL and life.task.id not in held]
    if stuck:
        states = dict(Counter(life.task.state for life in stuck))
        example = min(stuck, key=lambda life: life.task.seq)
        yield Violation(
            "L1",
            f"{len(stuck)} tasks never ended {states}, after {evidence.quiet_seconds:.0f} s in which nothing happened;"
            f" the oldest is {example.task.id} ({example.task.title}, {example.task.state})",
        )
    if evidence.healed_at is not None and (evidence.ready_after is None or evidence.ready_after > READY_SECONDS):
        yield Violation("L2", f"the APIs were not all ready {READY_SECONDS:.0f} s after everything was healed")
    for death in evidence.deaths:
        if not _is_accounted_for(death):
            yield Violation("L2", f"{death.name} died by itself after {death.lived:.1f} s with status {death.status}")


def _is_accounted_for(death: Death) -> bool:
    match death.status:
        case status if status == EXIT_STATUS:
            return death.name.startswith("worker")
        case status if status == FAILPOINT_STATUS:
            return True
        case status if status == UNREACHABLE_STATUS:
            # Postgres was away when it started; later it has to bear that.
            return death.lived < START_SECONDS
        case 0:
            return death.wanted
        case status:
            return death.wanted and status in (-SIGKILL, -SIGTERM)
