"""I16 and L2: counters, streams and answers tell what happened; refusals are of the kinds agreed."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tests.chaos.checker.lives import FINAL, Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence
from tests.chaos.history import Operation

# An answer is written down a moment after it came, and a commit is seen a moment (a flush of the disk) after its time.
SLACK_SECONDS: Final = 0.5


def check_answers(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield what was told and is not so."""
    yield from _counters(evidence, lives)
    yield from _stream(evidence)
    yield from _order(lives)
    reopened: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for operation in evidence.history:
        for what in operation.odd:
            yield Violation("L2", f"{operation.verb} {operation.target or ''} was answered with {what}")
        life = lives.get(operation.target or "")
        if life is None or operation.answered is None:
            asked.update({operation.target: operation.tries} if operation.verb == "retry" and operation.target else {})
            continue
        match operation.verb:
            case "cancel":
                yield from _cancel(operation, life)
            case "retry":
                reopened[life.task.id] += operation.status == 200
                asked[life.task.id] += operation.tries
            case "observe":
                yield from _observed(operation, life)
            case _:
                pass
    for task_id, count in reopened.items():
        life = lives[task_id]
        if life.generations - 1 < min(count, 1):
            yield Violation("I16", f"task {task_id} was acknowledged as retried {count} times and never reopened")
        if life.task.parent_id is None and life.task.runnable and life.generations - 1 > asked[task_id]:
            yield Violation(
                "I1", f"task {task_id} was reopened {life.generations - 1} times, asked for {asked[task_id]} times"
            )


def _counters(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    told = Counter(event.kind.removeprefix("task.") for event in evidence.events)
    # What waits from the beginning has not been settled.
    steps = [pair for life in lives.values() for pair in pairwise(life.steps)]
    told["pending"] = sum((before.state, then.state) == ("RUNNING", "PENDING") for before, then in steps)
    for outcome in ("completed", "failed", "timeout", "cancelled", "retrying", "pending"):
        if evidence.counters and evidence.counters.get(outcome, 0) != told[outcome]:
            yield Violation(
                "I16", f"{told[outcome]} tasks became {outcome}, the counters say {evidence.counters.get(outcome, 0)}"
            )


def _stream(evidence: Evidence) -> Iterator[Violation]:
    for what in evidence.odd_of_stream:
        yield Violation("I16", f"a follower of the events was answered with {what}")
    if evidence.heard is None or not evidence.events:
        return
    if not evidence.heard:
        yield Violation("I16", "a follower was told of no event at all")
        return
    first = min(_place(position) for position in evidence.heard)
    missed = [e for e in evidence.events if _place(e.position) > first and e.position not in evidence.heard]
    if missed:
        yield Violation("I16", f"{len(missed)} events were never told to a follower, the first at {missed[0].position}")


def _order(lives: Lives) -> Iterator[Violation]:
    for life in lives.values():
        for before, then in pairwise(life.steps):
            if then.place < before.place:
                order = f"{then.state} before {before.state}"
                yield Violation("I16", f"followers are told of {life.task.id} in the wrong order: {order}")


def _place(position: str) -> tuple[int, ...]:
    return tuple(map(int, position.split("-")))


def _cancel(operation: Operation, life: Life) -> Iterator[Violation]:
    if operation.status not in (200, 202) or operation.answered is None:
        return
    # The next end after the request, of whatever generation it found, must be CANCELLED.
    ended = next((step for step in life.steps if step.state in FINAL and step.committed > operation.invoked), None)
    if ended is not None and ended.state != "CANCELLED" and life.generations == 1:
        yield Violation("I1", f"task {life.task.id} was acknowledged as cancelled and ended {ended.state}")


def _observed(operation: Operation, life: Life) -> Iterator[Violation]:
    if operation.answered is None or operation.state is None:
        return
    since, until = operation.invoked - SLACK_SECONDS, operation.answered + SLACK_SECONDS
    states = {step.state for step in life.steps if since <= step.committed <= until}
    states |= {step.state for step in life.steps if since <= step.at <= until}
    before = [step.state for step in life.steps if step.committed < since]
    if operation.state not in states | set(before[-1:]):
        yield Violation("I16", f"task {life.task.id} was shown as {operation.state} at a time when it was not")
