"""I13 and I14: a DAG is there whole or not at all, and is what its tasks add up to."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.chaos.checker.edges import GAVE_UP, declared_needs, held_up
from tests.chaos.checker.lives import FINAL, Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import DagRow, Evidence, TaskRow
from tests.chaos.history import Operation, Wanted


def check_dags(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield DAGs that are lost, doubled or in pieces, that lie about their tasks, or go on although cancelled."""
    members: defaultdict[str, list[Life]] = defaultdict(list)
    for life in sorted(lives.values(), key=lambda life: life.task.seq):
        if life.task.dag_id is not None:
            members[life.task.dag_id].append(life)
    for dag_id in members.keys() - evidence.dags.keys():
        yield Violation("I14", f"{len(members[dag_id])} tasks belong to the DAG {dag_id}, which does not exist")
    yield from _plans(evidence, members)
    held = held_up(evidence)
    for dag in evidence.dags.values():
        wanted = _status(dag, members[dag.id], held)
        if dag.status != wanted:
            states = dict(Counter(life.task.state for life in members[dag.id]))
            yield Violation("I14", f"the DAG {dag.id} is {dag.status} and its tasks are {states}: {wanted}")
    yield from _told(evidence, members)
    for operation in evidence.history:
        if operation.verb == "dag" and operation.status in (200, 201):
            found = evidence.dags.get(operation.dag_id or "")
            if found is None or found.title != operation.wanted[0].token:
                yield Violation("I13", f"the DAG {operation.dag_id} was acknowledged and is lost")
        elif operation.verb == "cancel_dag" and operation.status in (200, 202):
            yield from _cancelled(operation, members[operation.target or ""])


def _plans(evidence: Evidence, members: Mapping[str, Sequence[Life]]) -> Iterator[Violation]:
    plans = {one.token: one for operation in evidence.history if operation.verb == "dag" for one in operation.wanted}
    made = Counter(dag.title for dag in evidence.dags.values())
    needs = declared_needs(evidence)
    for dag in evidence.dags.values():
        plan = plans.get(dag.title or "")
        if plan is None:
            yield Violation("I13", f"the DAG {dag.id} was never asked for")
            continue
        if made[dag.title] > 1:
            yield Violation("I13", f"key {dag.title} made {made[dag.title]} DAGs")
        tasks = [life.task for life in members.get(dag.id, ()) if life.task.spawned_by is None]
        if evidence.keys and evidence.keys.get(plan.token) not in {task.id for task in tasks}:
            yield Violation("I13", f"key {plan.token} does not lead to its DAG")
        yield from _whole(dag, tasks, plan, needs)


def _whole(dag: DagRow, tasks: Sequence[TaskRow], plan: Wanted, needs: Mapping[str, set[str]]) -> Iterator[Violation]:
    titles = [task.title for task in tasks]
    if titles != [node.token for node in plan.children]:
        yield Violation("I13", f"the DAG {dag.id} has the tasks {titles}, {len(plan.children)} were asked for")
        return
    ids = {task.title: task.id for task in tasks}
    for task, node in zip(tasks, plan.children, strict=True):
        found, due = needs.get(task.id, set()), {ids.get(name, name) for name in node.needs}
        if found != due:
            yield Violation("I13", f"task {task.id} depends on {found} instead of {due}")
        if node.echo is not None and task.state == "COMPLETED" and task.result_echo != node.echo:
            yield Violation("I14", f"task {task.id} was given {task.result_echo} instead of {node.echo}")


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
