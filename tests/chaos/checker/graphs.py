"""I14: what depends on others waits for all of them, once, and shares their fate.

An edge and the end that it leads to are judged by the ids of events, which are
given while the rows they tell of are locked: so they are in order wherever one
task waited for the other.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tests.chaos.checker.edges import GAVE_UP, declared
from tests.chaos.checker.lives import FINAL, Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence
from tests.chaos.history import Operation

# An answer is written down a moment after it came.
SLACK_SECONDS: Final = 0.5


def check_graphs(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield what went on too early or twice, or fared otherwise than what it waits for."""
    for edge in declared(evidence):
        waiting, needed = lives.get(edge.task_id), lives.get(edge.depends_on)
        if waiting is None or needed is None:
            yield Violation("I14", f"an edge leads from {edge.task_id} to {edge.depends_on}, one of which is not there")
            continue
        yield from _order(waiting, needed)
        yield from _doom(waiting, needed)
    yield from _fates(evidence)
    yield from _counts(evidence)
    for life in lives.values():
        yield from _readiness(life)
    for operation in evidence.history:
        yield from _refused(operation, evidence, lives)


def _order(waiting: Life, needed: Life) -> Iterator[Violation]:
    """Yield a beginning before the end it had to wait for."""
    began = next(iter(waiting.entered("QUEUED", "RUNNING")), None)
    if began is None:
        return
    completed = next(iter(needed.entered("COMPLETED")), None)
    if completed is None or completed.id > began.id:
        yield Violation("I14", f"{waiting.task.id} was {began.state} before {needed.task.id} was COMPLETED")
        return
    # What is submitted while the other ends may be told of before that; what becomes of it may not.
    told = next((step for step in waiting.steps[1:] if step.state in ("QUEUED", "RUNNING")), None)
    if told is not None and told.place < completed.place:
        order = f"{waiting.task.id} is {told.state} before {needed.task.id} is COMPLETED"
        yield Violation("I16", f"followers are told that {order}")


def _doom(waiting: Life, needed: Life) -> Iterator[Violation]:
    """Yield a cancellation that did not take along, in its own transaction, what waited for it."""
    for cancelled in needed.entered("CANCELLED"):
        before, after = waiting.before(cancelled.id), waiting.after(cancelled.id)
        if before is None or before.state in FINAL:
            continue
        if after is None or after.state != "CANCELLED" or after.xid != cancelled.xid:
            yield Violation("I14", f"{waiting.task.id} was not cancelled with {needed.task.id}, for which it waited")


def _fates(evidence: Evidence) -> Iterator[Violation]:
    for edge in evidence.edges:
        waiting, needed = evidence.tasks.get(edge.task_id), evidence.tasks.get(edge.depends_on)
        if waiting is None or needed is None:
            continue
        fate = f"{waiting.id} is {waiting.state} although {needed.id}, for which it waits, is {needed.state}"
        is_cancelled_alone = needed.state == "CANCELLED" and waiting.state != "CANCELLED"
        goes_on = needed.state in GAVE_UP and waiting.state not in ("PENDING", "CANCELLED")
        if is_cancelled_alone or goes_on:
            yield Violation("I14", fate)


def _counts(evidence: Evidence) -> Iterator[Violation]:
    left: Counter[str] = Counter()
    for edge in evidence.edges:
        needed = evidence.tasks.get(edge.depends_on)
        left[edge.task_id] += needed is not None and needed.state != "COMPLETED"
    for task in evidence.tasks.values():
        if task.state == "PENDING" and task.parent_id is None and (task.unmet, task.blockers) != (left[task.id],) * 2:
            counted = f"counts {task.unmet} dependencies and {task.blockers} blockers"
            yield Violation("I14", f"{task.id} is PENDING and {counted}, {left[task.id]} of its dependencies are left")


def _readiness(life: Life) -> Iterator[Violation]:
    """Yield what became ready again although it had neither begun nor waited since."""
    ready: Counter[int] = Counter()
    waits: Counter[int] = Counter()
    for before, then in pairwise(life.steps):
        waits[then.generation] += (before.state, then.state) == ("RUNNING", "PENDING")
        ready[then.generation] += then.state == "QUEUED" and before.state in ("PENDING", "QUEUED")
    for generation, count in ready.items():
        if count > 1 + waits[generation]:
            yield Violation("I14", f"{life.task.id} became ready {count} times and waited {waits[generation]} times")


def _refused(operation: Operation, evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield refusals for the sake of a dependency that was not cancelled, and what was stored all the same."""
    if operation.code != "invalid_reference" or operation.answered is None:
        return
    asked = [one for wanted in operation.wanted for one in (wanted, *wanted.children)]
    needed = [lives[task_id] for one in asked for task_id in one.needs if task_id in lives]
    since, until = operation.invoked - SLACK_SECONDS, operation.answered + SLACK_SECONDS
    if not any(_was_cancelled(life, since, until) for life in needed):
        yield Violation("L2", f"{operation.wanted[0].token} was refused; nothing that it depends on was CANCELLED")
    # An earlier try may have arrived after the refused one, and after a retry of what was cancelled.
    tokens = {one.token for one in asked}
    if operation.tries == 1 and any(task.title in tokens for task in evidence.tasks.values()):
        yield Violation("I13", f"{operation.wanted[0].token} was refused and is there")


def _was_cancelled(life: Life, since: float, until: float) -> bool:
    for step, following in pairwise([*life.steps, None]):
        is_over = following is not None and following.at < since
        if step is not None and step.state == "CANCELLED" and step.at < until and not is_over:
            return True
    return False
