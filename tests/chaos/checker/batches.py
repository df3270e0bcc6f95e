"""I7: a batch ends as its children say, and these run one after the other."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tests.chaos.checker.lives import FINAL, Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence


def check_batches(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield batches that lie about their children, and children out of turn."""
    families: defaultdict[str, list[Life]] = defaultdict(list)
    for life in lives.values():
        if life.task.parent_id is not None:
            families[life.task.parent_id].append(life)
    for parent_id, children in families.items():
        parent = lives.get(parent_id)
        if parent is None:
            yield Violation("I7", f"{len(children)} children belong to {parent_id}, which does not exist")
            continue
        children.sort(key=lambda child: child.task.position or 0)
        yield from _end(parent, children)
        yield from _turns(parent, children)
    yield from _echoes(lives)


def _end(parent: Life, children: list[Life]) -> Iterator[Violation]:
    states = [child.task.state for child in children]
    task = parent.task
    if task.state == "COMPLETED" and set(states) != {"COMPLETED"}:
        yield Violation("I7", f"batch {task.id} is COMPLETED and its children are {states}")
    if task.state in FINAL and not set(states) <= FINAL:
        yield Violation("I7", f"batch {task.id} is {task.state} and its children are {states}")
    if task.state not in FINAL and set(states) <= FINAL:
        yield Violation("I7", f"batch {task.id} is {task.state} although its children are {states}")
    if task.state in ("FAILED", "CANCELLED") and set(states) == {"COMPLETED"} and not task.cancel_requested:
        yield Violation("I7", f"batch {task.id} is {task.state} although all its children are COMPLETED")
    if task.state == "CANCELLED" and parent.generations == 1:
        ended = parent.steps[-1]
        for child in children:
            if child.generations == 1 and any(step.id > ended.id for step in child.entered("RUNNING")):
                yield Violation("I7", f"child {child.task.id} began to run after its batch {task.id} was CANCELLED")


def _turns(parent: Life, children: list[Life]) -> Iterator[Violation]:
    # After a retry turns are taken in another order; those of the first generation tell enough.
    if any(child.generations > 1 for child in children):
        return
    for earlier, later in pairwise(children):
        began = next((step for step in later.steps if step.state in ("QUEUED", "RUNNING")), None)
        if began is None:
            continue
        ended = next((step for step in earlier.steps if step.state in FINAL), None)
        if ended is None or ended.id > began.id:
            yield Violation("I7", f"child {later.task.id} had its turn before {earlier.task.id} had ended")
        elif ended.state != "COMPLETED" and parent.task.on_child_failure == "abort":
            yield Violation("I7", f"child {later.task.id} had its turn although {earlier.task.id} was {ended.state}")


def _echoes(lives: Lives) -> Iterator[Violation]:
    for life in lives.values():
        task = life.task
        if task.parent_id is None or task.wanted_echo is None or task.state != "COMPLETED" or task.title is None:
            continue
        family = task.title.rpartition("/")[0]
        if task.result_echo != f"{family}/0":
            yield Violation("I7", f"child {task.id} was given {task.result_echo} for {task.wanted_echo} of {family}")
