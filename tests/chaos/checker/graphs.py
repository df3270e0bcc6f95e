"""I14: what depends on others waits for all of them, once, and shares their fate; a DAG is what its tasks are.

An edge and the end that it leads to are judged by the ids of events, which are
given while the rows they tell of are locked: so they are in order wherever one
task waited for the other.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from tests.chaos.checker.edges import GAVE_UP, declared, held_up
from tests.chaos.checker.lives import FINAL, Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import DagRow, Evidence
from tests.chaos.history import Operation

# An answer is written down a moment after it came.
SLACK_SECONDS: Final = 0.5


def check_graphs(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield what went on too early or twice, or fared otherwise than what it waits for, and DAGs that lie."""
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
    yield from _dags(evidence, lives)
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
    elif began.place < completed.place:
        yield Violation("I16", f"followers are told that {waiting.task.id} may run before {needed.task.id} completes")


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


def _dags(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    members: defaultdict[str, list[Life]] = defaultdict(list)
    for life in lives.values():
        if life.task.dag_id is not None:
            members[life.task.dag_id].append(life)
    held = held_up(evidence)
    for dag_id, tasks in members.items():
        dag = evidence.dags.get(dag_id)
        if dag is None:
            yield Violation("I14", f"{len(tasks)} tasks belong to the DAG {dag_id}, which does not exist")
            continue
        wanted = _status(dag, tasks, held)
        if dag.status != wanted:
            states = dict(Counter(life.task.state for life in tasks))
            yield Violation("I14", f"the DAG {dag_id} is {dag.status} and its tasks are {states}: {wanted}")
    yield from _told(evidence, members)
    for operation in evidence.history:
        if operation.verb == "cancel_dag" and operation.status in (200, 202):
            yield from _cancelled(operation, members[operation.target or ""])


def _status(dag: DagRow, tasks: Iterable[Life], held: set[str]) -> str:
    """Return what its tasks add up to."""
    states = {life.task.state for life in tasks}
    if any(life.task.state not in FINAL and life.task.id not in held for life in tasks):
        return "running"
    if dag.cancel_requested and states <= FINAL:
        return "cancelled"
    if states & GAVE_UP or states - FINAL:
        return "failed"
    return "completed" if "COMPLETED" in states else "cancelled"


def _told(evidence: Evidence, members: dict[str, list[Life]]) -> Iterator[Violation]:
    """Yield ends of DAGs that were told while something of them went on, or not told."""
    last: dict[str, str] = {}
    for event in evidence.dag_events:
        last[event.dag_id] = event.status
        for life in members.get(event.dag_id, ()):
            before = life.before(event.id)
            rests = FINAL | {"PENDING"} if event.status == "failed" else FINAL
            if before is not None and before.state not in rests:
                what = f"was told to be {event.status} while {life.task.id} was {before.state}"
                yield Violation("I14", f"the DAG {event.dag_id} {what}")
    for dag in evidence.dags.values():
        if dag.status not in ("running", last.get(dag.id)):
            yield Violation("I14", f"the DAG {dag.id} is {dag.status}, and was last told to be {last.get(dag.id)}")


def _cancelled(operation: Operation, tasks: Iterable[Life]) -> Iterator[Violation]:
    """Yield tasks of a cancelled DAG that went on afterwards without having been retried."""
    for life in tasks:
        if operation.answered is None or life.generations > 1:
            continue
        if not life.steps or life.steps[0].committed > operation.answered:
            # A task of it that was retried spawned it.
            continue
        late = [step for step in life.steps if step.committed > operation.answered and step.state != "CANCELLED"]
        if any(step.state in FINAL | {"RUNNING"} for step in late):
            what = f"and its task {life.task.id} was {late[-1].state} afterwards"
            yield Violation("I14", f"the DAG {operation.target} was acknowledged as cancelled {what}")


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
