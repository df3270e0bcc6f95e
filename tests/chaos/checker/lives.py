"""Lives: the events of each task as a sequence of steps, divided into generations and attempts."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from tests.chaos.evidence import Evidence, FailureRow, TaskRow

FINAL: Final = frozenset({"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"})
DEAD_LETTERED: Final = "task.dead_lettered"
TOLD_SECONDS: Final = 0.25
"""So much later, on a busy machine, an event is told than the time is taken from which a lease is reckoned.

Both are times within one statement, the event's at its end. What the watcher saw of a lease is exact.
"""
CLAIMABLE: Final = frozenset({"QUEUED", "RETRYING"})


@dataclass(frozen=True, slots=True)
class Step:
    """A task enters a state. `attempt` is that which runs, or ran last; 0 before the first."""

    state: str
    id: int
    at: float
    committed: float
    generation: int
    attempt: int
    position: str = ""

    @property
    def place(self) -> tuple[int, ...]:
        """Where followers of the stream are told of it."""
        return tuple(map(int, self.position.split("-")))

    @property
    def xid(self) -> str:
        """The transaction that told of it."""
        return self.position.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Life:
    """One task and all its steps."""

    task: TaskRow
    steps: tuple[Step, ...]
    failures: tuple[FailureRow, ...]
    letters: int = 0
    """How often it was told that the task is among the dead letters."""

    @property
    def generations(self) -> int:
        """How often it began: once, and once more for each explicit retry."""
        return self.steps[-1].generation if self.steps else 1

    def entered(self, *states: str) -> list[Step]:
        """The steps into these states."""
        return [step for step in self.steps if step.state in states]

    def before(self, event_id: int) -> Step | None:
        """The last step before an event."""
        return next((step for step in reversed(self.steps) if step.id < event_id), None)

    def after(self, event_id: int) -> Step | None:
        """The first step after an event, or at it."""
        return next((step for step in self.steps if step.id >= event_id), None)

    def claim_of(self, attempt: int) -> Step | None:
        """The step with which an attempt began."""
        return next((step for step in self.steps if step.state == "RUNNING" and step.attempt == attempt), None)

    def generation_of(self, attempt: int) -> int:
        """The generation an attempt belongs to."""
        claim = self.claim_of(attempt)
        return 0 if claim is None else claim.generation

    def failures_in(self, generation: int) -> list[FailureRow]:
        """The failed attempts of a generation."""
        return [failure for failure in self.failures if self.generation_of(failure.attempt) == generation]


Lives = dict[str, Life]


def lives_of(evidence: Evidence) -> Lives:
    """Return the life of every task that has a row."""
    steps: defaultdict[str, list[Step]] = defaultdict(list)
    letters = Counter(event.task_id for event in evidence.events if event.kind == DEAD_LETTERED)
    for event in sorted(evidence.events, key=lambda event: event.id):
        noun, _, state = event.kind.partition(".")
        task = evidence.tasks.get(event.task_id)
        if noun != "task" or event.kind == DEAD_LETTERED or task is None:
            continue
        before = steps[task.id][-1] if steps[task.id] else None
        entered = state.upper()
        generation = 1 if before is None else before.generation + (before.state in FINAL)
        attempt = 0 if before is None else before.attempt
        attempt += entered == "RUNNING" and task.runnable
        steps[task.id].append(Step(entered, event.id, event.at, event.committed, generation, attempt, event.position))
    failures: defaultdict[str, list[FailureRow]] = defaultdict(list)
    for failure in sorted(evidence.failures, key=lambda failure: failure.attempt):
        failures[failure.task_id].append(failure)
    return {
        task_id: Life(task, tuple(steps[task_id]), tuple(failures[task_id]), letters[task_id])
        for task_id, task in evidence.tasks.items()
    }
