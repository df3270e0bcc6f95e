"""Edges as they are at the end: what a task was asked to depend on, what it has waited for, what is held up."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tests.chaos.evidence import EdgeRow, Evidence

GAVE_UP: Final = frozenset({"FAILED", "TIMEOUT"})


def held_up(evidence: Evidence) -> set[str]:
    """Return the PENDING tasks that wait, however indirectly, for one that has given up."""
    behind: defaultdict[str, list[str]] = defaultdict(list)
    for edge in evidence.edges:
        behind[edge.depends_on].append(edge.task_id)
    found: dict[str, None] = dict.fromkeys(task.id for task in evidence.tasks.values() if task.state in GAVE_UP)
    ahead = list(found)
    for task_id in ahead:
        for waiting in behind[task_id]:
            task = evidence.tasks.get(waiting)
            if task is not None and task.state == "PENDING" and waiting not in found:
                found[waiting] = None
                ahead.append(waiting)
    return {task_id for task_id in found if evidence.tasks[task_id].state == "PENDING"}


def declared(evidence: Evidence) -> Iterator[EdgeRow]:
    """Yield the edges that clients asked for; the others came of a wait for what was spawned."""
    for edge in evidence.edges:
        needed = evidence.tasks.get(edge.depends_on)
        if needed is None or needed.spawned_by != edge.task_id:
            yield edge


def declared_needs(evidence: Evidence) -> dict[str, set[str]]:
    """Return what those tasks depend on that were asked to depend on anything."""
    needs: defaultdict[str, set[str]] = defaultdict(set)
    for edge in declared(evidence):
        needs[edge.task_id].add(edge.depends_on)
    return dict(needs)
