"""Trees: what a cancel or a retry does to a task and the batch around it.

Read under the root's lock, decided here, written in one go.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.lifecycle import ACTIVE, FINAL, REOPENABLE, TaskState


@dataclass(frozen=True, slots=True)
class TaskNode:
    """One task of a tree, as it stands."""

    id: TaskId
    parent_id: TaskId | None
    position: int
    state: TaskState
    is_batch: bool
    blockers: int
    cancel_requested: bool
    document_id: DocumentId | None = None
    unmet: int = 0
    is_of_agent: bool = False
    """Whether an agent does it, who learns afterwards that it has ended."""

    @property
    def is_busy(self) -> bool:
        """Whether it is unfinished and its turn has come, though it may wait for dependencies."""
        return self.state not in FINAL and self.blockers == self.unmet


@dataclass(frozen=True, slots=True)
class Cancelling:
    """Which tasks end at once, and which are asked to stop and end later."""

    ended: frozenset[TaskId]
    asked: frozenset[TaskId]


@dataclass(frozen=True, slots=True)
class Reopened:
    """The state a final task goes back to."""

    id: TaskId
    state: TaskState
    blockers: int
    unmet: int = 0


class Tree:
    """A root with everything below it, and ways through it."""

    def __init__(self, nodes: Iterable[TaskNode]) -> None:
        self.nodes = {node.id: node for node in nodes}
        self._children: dict[TaskId, list[TaskNode]] = {}
        for node in sorted(self.nodes.values(), key=lambda node: node.position):
            if node.parent_id is not None:
                self._children.setdefault(node.parent_id, []).append(node)

    def children(self, node_id: TaskId) -> list[TaskNode]:
        """Return the children in their order."""
        return self._children.get(node_id, [])

    def below(self, node_id: TaskId) -> list[TaskNode]:
        """Return the node and everything below it, parents before children."""
        found = [self.nodes[node_id]]
        for node in found:
            found.extend(self.children(node.id))
        return found

    def whole(self, node_id: TaskId) -> TaskId:
        """Return the task that a cancel or a retry of this one is about: an atomic batch for its children."""
        parent = self.nodes[node_id].parent_id
        return node_id if parent is None or self.nodes[parent].is_batch else parent

    def path(self, node_id: TaskId) -> list[TaskNode]:
        """Return the ancestors of a node, the nearest first."""
        found: list[TaskNode] = []
        parent = self.nodes[node_id].parent_id
        while parent is not None:
            found.append(self.nodes[parent])
            parent = self.nodes[parent].parent_id
        return found


def cancelling(tree: Tree, target: TaskId) -> Cancelling:
    """Return what cancelling a task does to it and to everything below it."""
    asked: set[TaskId] = set()
    for node in reversed(tree.below(target)):
        runs = node.state in ACTIVE and not node.is_batch and not node.is_of_agent
        if runs or any(child.id in asked for child in tree.children(node.id)):
            asked.add(node.id)
    unfinished = {node.id for node in tree.below(target) if node.state not in FINAL}
    return Cancelling(ended=frozenset(unfinished - asked), asked=frozenset(asked))


def cancelling_all(tree: Tree, targets: Iterable[TaskId]) -> Cancelling:
    """Return what cancelling all of these does; one that goes with another is looked at once."""
    ended: set[TaskId] = set()
    asked: set[TaskId] = set()
    for target in targets:
        if target not in ended and target not in asked:
            plan = cancelling(tree, tree.whole(target))
            ended |= plan.ended
            asked |= plan.asked
    return Cancelling(ended=frozenset(ended - asked), asked=frozenset(asked))


def reopening(tree: Tree, target: TaskId, unmet: Mapping[TaskId, int] = MappingProxyType({})) -> list[Reopened]:
    """Return the states in which a retried task, and what ended because of it, go on.

    Going on are: the task; below it whatever is not COMPLETED; the final batches
    above it; and in these the children that never had their turn because the
    batch ended early. Who was cancelled by a user stays cancelled. `unmet` says
    how many dependencies are left that a task has to wait for.
    """
    fresh = {node.id for node in tree.below(target) if node.state in REOPENABLE}
    top = target
    for ancestor in tree.path(target):
        if ancestor.state not in FINAL:
            break
        fresh.add(ancestor.id)
        for sibling in tree.children(ancestor.id):
            if sibling.state is TaskState.CANCELLED and not sibling.cancel_requested:
                below = tree.below(sibling.id)
                fresh.update(n.id for n in below if n.state is TaskState.CANCELLED and not n.cancel_requested)
        top = ancestor.id
    parent = tree.nodes[top].parent_id
    may_start = parent is None or (
        tree.nodes[parent].blockers == 0 and not any(sibling.is_busy for sibling in tree.children(parent))
    )
    return _Placing(tree, fresh, {node.id for node in tree.path(target)}, unmet).placed(top, may_start=may_start)


@dataclass(frozen=True, slots=True)
class _Placing:
    """Which nodes go on, which of them are above the one that is retried, and what they have to wait for."""

    tree: Tree
    fresh: set[TaskId]
    above: set[TaskId]
    unmet: Mapping[TaskId, int]

    def placed(self, node_id: TaskId, *, may_start: bool) -> list[Reopened]:
        """Return the state of a node and of those below it; whether it may start is whether its turn has come."""
        children = self.tree.children(node_id)
        unmet = self.unmet.get(node_id, 0)
        goes_on = may_start and not unmet
        # The children of an atomic batch have no turn of their own.
        turn_taken = not goes_on or not self.tree.nodes[node_id].is_batch or any(child.is_busy for child in children)
        found: list[Reopened] = []
        for child in children:
            if child.id in self.fresh:
                found += self.placed(child.id, may_start=not turn_taken)
                turn_taken = True
        started = TaskState.RUNNING if node_id in self.above else TaskState.QUEUED
        state = started if goes_on else TaskState.PENDING
        return [Reopened(node_id, state, unmet + (not may_start), unmet), *found]
