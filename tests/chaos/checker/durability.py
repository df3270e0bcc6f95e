"""I13: what was acknowledged is there, whole, and once; what was not is there once or not at all."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tests.chaos.checker.edges import declared
from tests.chaos.checker.lives import Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence, TaskRow
from tests.chaos.history import Operation, Wanted


def check_durability(evidence: Evidence, _lives: Lives) -> Iterator[Violation]:
    """Yield what is lost, doubled or in pieces."""
    roots: defaultdict[str, list[TaskRow]] = defaultdict(list)
    children: defaultdict[str, list[TaskRow]] = defaultdict(list)
    nodes: defaultdict[str, list[TaskRow]] = defaultdict(list)
    for task in evidence.tasks.values():
        if task.parent_id is not None:
            children[task.parent_id].append(task)
        elif task.dag_id is not None and task.spawned_by is None:
            nodes[task.dag_id].append(task)
        elif task.spawned_by is None:
            roots[task.title or ""].append(task)
    known: dict[str, Wanted] = {}
    plans: dict[str, Wanted] = {}
    for operation in evidence.history:
        asked = plans if operation.verb == "dag" else known
        asked.update((wanted.token, wanted) for wanted in operation.wanted)
        yield from _acknowledged(operation, evidence)
    needs: defaultdict[str, set[str]] = defaultdict(set)
    for edge in declared(evidence):
        needs[edge.task_id].add(edge.depends_on)
    for token, tasks in roots.items():
        if token not in known:
            yield Violation("I13", f"task {tasks[0].id} was never asked for")
            continue
        if len(tasks) > 1:
            yield Violation("I13", f"key {token} made {len(tasks)} tasks: {[task.id for task in tasks]}")
        if evidence.keys and evidence.keys.get(token) not in {task.id for task in tasks}:
            yield Violation("I13", f"key {token} does not lead to its task")
        for task in tasks:
            yield from _whole(task, known[token], children)
            if needs[task.id] != set(known[token].needs):
                yield Violation("I13", f"task {task.id} depends on {needs[task.id]} instead of {known[token].needs}")
    yield from _dags(evidence, plans, nodes, needs)


def _dags(
    evidence: Evidence, plans: Mapping[str, Wanted], nodes: Mapping[str, list[TaskRow]], needs: Mapping[str, set[str]]
) -> Iterator[Violation]:
    """Yield DAGs that are there twice or in part, or that nobody asked for."""
    made = Counter(dag.title for dag in evidence.dags.values())
    for dag in evidence.dags.values():
        plan = plans.get(dag.title or "")
        if plan is None:
            yield Violation("I13", f"the DAG {dag.id} was never asked for")
            continue
        if made[dag.title] > 1:
            yield Violation("I13", f"key {dag.title} made {made[dag.title]} DAGs")
        found = sorted(nodes.get(dag.id, ()), key=lambda task: task.seq)
        if evidence.keys and evidence.keys.get(plan.token) not in {task.id for task in found}:
            yield Violation("I13", f"key {plan.token} does not lead to its DAG")
        if [task.title for task in found] != [node.token for node in plan.children]:
            titles = [task.title for task in found]
            yield Violation("I13", f"the DAG {dag.id} has the tasks {titles}, {len(plan.children)} were asked for")
            continue
        ids = {task.title: task.id for task in found}
        for task, node in zip(found, plan.children, strict=True):
            due = {ids.get(name, name) for name in node.needs}
            if needs.get(task.id, set()) != due:
                yield Violation("I13", f"task {task.id} depends on {needs.get(task.id)} instead of {due}")
            if node.echo is not None and task.state == "COMPLETED" and task.result_echo != node.echo:
                yield Violation("I14", f"task {task.id} was given {task.result_echo} instead of {node.echo}")


def _acknowledged(operation: Operation, evidence: Evidence) -> Iterator[Violation]:
    tasks = evidence.tasks
    if operation.verb == "dag" and operation.status in (200, 201):
        dag = evidence.dags.get(operation.dag_id or "")
        if dag is None or dag.title != operation.wanted[0].token:
            yield Violation("I13", f"the DAG {operation.dag_id} was acknowledged and is lost")
    if operation.verb not in ("submit", "bulk") or operation.status not in (200, 201):
        return
    if len(operation.task_ids) != len(operation.wanted):
        yield Violation("I13", f"{len(operation.wanted)} tasks were asked for, {len(operation.task_ids)} acknowledged")
    for wanted, task_id in zip(operation.wanted, operation.task_ids, strict=False):
        task = tasks.get(task_id)
        if task is None:
            yield Violation("I13", f"task {task_id} was acknowledged for {wanted.token} and is lost")
        elif task.title != wanted.token:
            yield Violation("I13", f"task {task_id} was acknowledged for {wanted.token} and is {task.title}")


def _whole(task: TaskRow, wanted: Wanted, children: dict[str, list[TaskRow]]) -> Iterator[Violation]:
    found = sorted(children.get(task.id, ()), key=lambda child: child.position or 0)
    if [child.title for child in found] != [child.token for child in wanted.children]:
        titles = [child.title for child in found]
        yield Violation("I13", f"batch {task.id} has the children {titles}, {len(wanted.children)} were asked for")
        return
    if len({child.seq for child in found}) < len(found) or [c.seq for c in found] != sorted(c.seq for c in found):
        yield Violation("I13", f"the children of batch {task.id} are not in the order given")
    for child, below in zip(found, wanted.children, strict=True):
        yield from _whole(child, below, children)
