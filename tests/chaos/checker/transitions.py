"""I1 and I3: legal steps only, and no more than one completion."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tests.chaos.checker.lives import FINAL, Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence

_AFTER: Final = {
    "PENDING": frozenset({"QUEUED", "CANCELLED"}),
    "QUEUED": frozenset({"RUNNING", "CANCELLED"}),
    "RUNNING": frozenset({"QUEUED", "RETRYING", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"}),
    "RETRYING": frozenset({"RUNNING", "CANCELLED"}),
    "COMPLETED": frozenset[str](),
    "FAILED": frozenset({"QUEUED", "PENDING"}),
    "TIMEOUT": frozenset({"QUEUED", "PENDING"}),
    "CANCELLED": frozenset({"QUEUED", "PENDING"}),
}
# A task that has spawned another may wait for it.
_AFTER_IN_SPAWNER: Final = _AFTER | {"RUNNING": _AFTER["RUNNING"] | {"PENDING"}}
# A batch holds no lease: it begins when a child does, and ends with its children however far it had come.
_AFTER_IN_BATCH: Final = {
    "PENDING": frozenset({"QUEUED", "RUNNING", "FAILED", "CANCELLED"}),
    "QUEUED": frozenset({"RUNNING", "FAILED", "CANCELLED"}),
    "RUNNING": frozenset({"COMPLETED", "FAILED", "CANCELLED"}),
    "COMPLETED": frozenset[str](),
    "FAILED": frozenset({"QUEUED", "PENDING", "RUNNING"}),
    "CANCELLED": frozenset({"QUEUED", "PENDING", "RUNNING"}),
}


def check_transitions(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield steps that may not follow one another, and rows that differ from their history."""
    for event in evidence.events:
        if event.task_id not in evidence.tasks:
            yield Violation("I1", f"an event tells of {event.task_id}, which does not exist")
    for life in lives.values():
        yield from _steps(life)


def _steps(life: Life) -> Iterator[Violation]:
    task = life.task
    if not life.steps:
        yield Violation("I1", f"task {task.id} has no history")
        return
    if life.steps[0].state not in ("PENDING", "QUEUED"):
        yield Violation("I1", f"task {task.id} began as {life.steps[0].state}")
    after = _AFTER_IN_SPAWNER if task.may_spawn else _AFTER if task.runnable else _AFTER_IN_BATCH
    for before, then in pairwise(life.steps):
        if then.state not in after.get(before.state, frozenset()):
            yield Violation("I1", f"task {task.id} went from {before.state} to {then.state}")
    if life.steps[-1].state != task.state:
        yield Violation("I1", f"task {task.id} is {task.state}, and its history ends with {life.steps[-1].state}")
    if life.generations != task.generation:
        generations = f"{life.generations} generations, its row says {task.generation}"
        yield Violation("I1", f"task {task.id} has had {generations}")
    if len(life.entered("COMPLETED")) > 1:
        yield Violation("I3", f"task {task.id} completed {len(life.entered('COMPLETED'))} times")
    if (task.state in FINAL) and task.has_lease:
        yield Violation("I10", f"task {task.id} is {task.state} and still leased")
