"""I13: what was acknowledged is there, whole, and once; what was not is there once or not at all."""

from collections import defaultdict
from collections.abc import Iterator

from tests.chaos.checker.edges import declared_needs
from tests.chaos.checker.lives import Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence, TaskRow
from tests.chaos.history import Operation, Wanted


def check_durability(evidence: Evidence, _lives: Lives) -> Iterator[Violation]:
    """Yield what is lost, doubled or in pieces."""
    roots: defaultdict[str, list[TaskRow]] = defaultdict(list)
    children: defaultdict[str, list[TaskRow]] = defaultdict(list)
    for task in evidence.tasks.values():
        if task.parent_id is not None:
            children[task.parent_id].append(task)
        elif task.spawned_by is None and task.dag_id is None:
            roots[task.title or ""].append(task)
    known: dict[str, Wanted] = {}
    for operation in evidence.history:
        for wanted in operation.wanted:
            known[wanted.token] = wanted
        yield from _acknowledged(operation, evidence.tasks)
    needs = declared_needs(evidence)
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
            found, due = needs.get(task.id, set()), set(known[token].needs)
            if found != due:
                yield Violation("I13", f"task {task.id} depends on {found} instead of {due}")


def _acknowledged(operation: Operation, tasks: dict[str, TaskRow]) -> Iterator[Violation]:
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
