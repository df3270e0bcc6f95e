"""A ledger in miniature: trees of tasks, moved by nothing but the rules of the domain.

Hypothesis plays with it: whatever it does, a tree must stay one that the real
ledger could hold, and must come to an end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, Union

from hypothesis import strategies as st

from officeplane.domain.batch import EndBatch, OnChildFailure, Siblings, StartChild, advance
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import CLAIMABLE, FINAL, NOT_BEGUN, REOPENABLE, SETTLEABLE, WAITING, TaskState
from officeplane.domain.tree import Reopened, TaskNode, Tree, cancelling, reopening


@dataclass(frozen=True, slots=True)
class Batch:
    """What a batch is made of."""

    policy: OnChildFailure
    children: Sequence["Shape"]


Shape: TypeAlias = Union[Batch, None]  # noqa: UP007 - a forward reference in a string cannot be joined with `|`

POLICIES: st.SearchStrategy[OnChildFailure] = st.sampled_from(["abort", "continue"])
SHAPES: st.SearchStrategy[Shape] = st.recursive(
    st.none(), lambda inner: st.builds(Batch, POLICIES, st.lists(inner, min_size=1, max_size=3)), max_leaves=7
)
BATCHES: st.SearchStrategy[Batch] = st.builds(Batch, POLICIES, st.lists(SHAPES, min_size=1, max_size=4))


@dataclass(slots=True)
class World:
    """One tree and what may be done to it."""

    nodes: dict[TaskId, TaskNode] = field(default_factory=dict[TaskId, TaskNode])
    policies: dict[TaskId, OnChildFailure] = field(default_factory=dict[TaskId, OnChildFailure])

    @classmethod
    def of(cls, shape: Batch) -> "World":
        """Return the world that a fresh batch is."""
        world = cls()
        world._plant(shape, None, 0, is_first=True)
        return world

    def _plant(self, shape: Shape, parent_id: TaskId | None, position: int, *, is_first: bool) -> None:
        own_id = TaskId(str(position) if parent_id is None else f"{parent_id}.{position}")
        blockers = 0 if is_first else 1
        state = TaskState.PENDING if blockers else TaskState.QUEUED
        self.nodes[own_id] = TaskNode(own_id, parent_id, position, state, shape is not None, blockers, False)
        if shape is not None:
            self.policies[own_id] = shape.policy
            for index, child in enumerate(shape.children):
                self._plant(child, own_id, index, is_first=is_first and index == 0)

    @property
    def tree(self) -> Tree:
        """The tree as the rules read it."""
        return Tree(self.nodes.values())

    def leaves(self, *states: TaskState) -> list[TaskNode]:
        """Return the leaves in these states."""
        return [node for node in self.nodes.values() if not node.is_batch and node.state in states]

    def claim(self, leaf: TaskNode) -> None:
        """Take a leaf; the batches around it have begun."""
        assert leaf.state in CLAIMABLE
        self._move(leaf.id, TaskState.RUNNING)
        for ancestor in self.tree.path(leaf.id):
            if ancestor.state in NOT_BEGUN:
                self._move(ancestor.id, TaskState.RUNNING)

    def settle(self, leaf: TaskNode, state: TaskState) -> None:
        """End an attempt; a cancel request wins."""
        assert leaf.state in SETTLEABLE
        state = TaskState.CANCELLED if leaf.cancel_requested else state
        self._move(leaf.id, state)
        if state in FINAL:
            self._roll_up(leaf.parent_id)

    def cancel(self, target: TaskNode) -> None:
        """Cancel as a user does."""
        plan = cancelling(self.tree, target.id)
        for task_id in plan.ended:
            self._change(task_id, state=TaskState.CANCELLED, cancel_requested=True)
        for task_id in plan.asked:
            self._change(task_id, cancel_requested=True)
        if target.id in plan.ended:
            self._roll_up(target.parent_id)

    def retry(self, target: TaskNode) -> list[Reopened]:
        """Retry as a user does, and return what was reopened."""
        plan = reopening(self.tree, target.id)
        for one in plan:
            assert self.nodes[one.id].state in REOPENABLE
            self._change(one.id, state=one.state, blockers=one.blockers, cancel_requested=False)
        return plan

    def run_to_the_end(self) -> None:
        """Let a worker complete whatever it finds."""
        while ready := self.leaves(*CLAIMABLE, *SETTLEABLE):
            if ready[0].state in CLAIMABLE:
                self.claim(ready[0])
            self.settle(self.nodes[ready[0].id], TaskState.COMPLETED)

    def _roll_up(self, parent_id: TaskId | None) -> None:
        while parent_id is not None and (parent := self.nodes[parent_id]).state not in FINAL:
            match advance(self._siblings(parent)):
                case StartChild(child_id):
                    self._start(child_id)
                    return
                case EndBatch(state):
                    self._change(parent_id, state=state, blockers=0)
                    for node in self.tree.below(parent_id)[1:]:
                        if node.state in WAITING:
                            self._move(node.id, TaskState.CANCELLED)
                    parent_id = parent.parent_id
                case _:
                    return

    def _siblings(self, parent: TaskNode) -> Siblings:
        children = self.tree.children(parent.id)
        waiting = (child.id for child in children if child.state is TaskState.PENDING and child.blockers)
        return Siblings(
            parent_id=parent.id,
            on_child_failure=self.policies[parent.id],
            cancel_requested=parent.cancel_requested,
            has_turn=parent.blockers == 0,
            busy=sum(child.is_busy for child in children),
            gave_up=sum(child.state in REOPENABLE for child in children),
            next_pending=next(waiting, None),
        )

    def _start(self, child_id: TaskId) -> None:
        self._change(child_id, state=TaskState.QUEUED, blockers=0)
        if self.nodes[child_id].is_batch:
            first = next(child for child in self.tree.children(child_id) if child.state is TaskState.PENDING)
            self._start(first.id)

    def _move(self, task_id: TaskId, state: TaskState) -> None:
        self._change(task_id, state=state)

    def _change(
        self,
        task_id: TaskId,
        *,
        state: TaskState | None = None,
        blockers: int | None = None,
        cancel_requested: bool | None = None,
    ) -> None:
        was = self.nodes[task_id]
        self.nodes[task_id] = replace(
            was,
            state=was.state if state is None else state,
            blockers=was.blockers if blockers is None else blockers,
            cancel_requested=was.cancel_requested if cancel_requested is None else cancel_requested,
        )

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the tree; nothing, if the rules are sound."""
        tree = self.tree
        for node in self.nodes.values():
            children = tree.children(node.id)
            below = tree.below(node.id)[1:]
            busy = [child.id for child in children if child.is_busy]
            if node.blockers and node.state not in {TaskState.PENDING, TaskState.CANCELLED}:
                yield f"{node.id} is {node.state} and blocked"
            if node.state in FINAL and any(one.state not in FINAL for one in below):
                yield f"{node.id} is {node.state} above something unfinished"
            if node.is_batch and node.state not in FINAL and len(busy) != (0 if node.blockers else 1):
                yield f"{node.id} is {node.state} ({node.blockers} blockers) and these have their turn: {busy}"
            if node.is_batch:
                all_completed = all(child.state is TaskState.COMPLETED for child in children)
                if (node.state is TaskState.COMPLETED) != all_completed:
                    yield f"{node.id} is {node.state} over {[str(child.state) for child in children]}"
            if not node.is_batch and node.state in SETTLEABLE:
                idle = [one.id for one in tree.path(node.id) if one.state is not TaskState.RUNNING]
                if idle:
                    yield f"{node.id} runs below {idle} that have not begun"
