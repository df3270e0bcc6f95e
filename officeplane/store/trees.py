"""Trees in the ledger: batches begun, advanced, ended, cancelled and reopened."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from officeplane.domain.batch import Siblings
from officeplane.domain.failure import FailureKind
from officeplane.domain.hint import Hint
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.lifecycle import STATES, TaskState
from officeplane.domain.priority import Tier
from officeplane.domain.space import Space
from officeplane.domain.tree import Reopened, TaskNode, Tree
from officeplane.store.connection import Executor, Row, SerializationError
from officeplane.store.hints import hint_in
from officeplane.store.queries import load

_SQL: Final = load("trees")


@dataclass(frozen=True, slots=True)
class Moved:
    """A task that a tree operation has moved, and whether it may now be rung."""

    task_id: TaskId
    document_id: DocumentId | None
    state: TaskState
    is_rung: bool
    """Whether workers take it, and not agents, or its children in its place."""
    tier: Tier
    space: Space


class EndedTask(NamedTuple):
    """A task that has ended with another, how, and whether others wait for it."""

    task_id: TaskId
    state: TaskState
    has_dependents: bool


@dataclass(frozen=True, slots=True)
class Family:
    """A parent with what its children add up to."""

    siblings: Siblings
    has_begun: bool
    grandparent_id: TaskId | None
    culprit: TaskId | None


@dataclass(frozen=True, slots=True)
class Ending:
    """A batch that is over, and why it failed if it did."""

    parent_id: TaskId
    state: TaskState
    culprit: TaskId | None

    @property
    def error_json(self) -> str | None:
        """The error that a failed batch shows."""
        if self.state is not TaskState.FAILED:
            return None
        return json.dumps({"kind": FailureKind.ERROR, "message": f"child {self.culprit} did not complete"})


async def lock_roots(executor: Executor, task_ids: Iterable[TaskId]) -> set[TaskId]:
    """Lock roots in the order of their ids and return those that exist."""
    ordered = sorted(set(task_ids))
    await _SQL["take_turns"].fetch(executor, root_ids=ordered)
    rows = await _SQL["lock_roots"].fetch(executor, root_ids=ordered)
    return {TaskId(str(row["id"])) for row in rows}


async def root_of(executor: Executor, task_id: TaskId) -> TaskId | None:
    """Return the root of a task's tree; None when there is no such task."""
    rows = await _SQL["ancestors"].fetch(executor, task_ids=[task_id])
    return TaskId(str((*rows[0]["ancestors"], task_id)[0])) if rows else None


async def roots_of(executor: Executor, task_ids: Collection[TaskId]) -> set[TaskId]:
    """Return the roots of the trees that tasks are in."""
    rows = await _SQL["ancestors"].fetch(executor, task_ids=list(task_ids))
    return {TaskId(str((*row["ancestors"], row["id"])[0])) for row in rows}


async def lock_tree(executor: Executor, root_id: TaskId) -> Tree:
    """Lock a whole tree and return how it stands."""
    return await lock_trees(executor, [root_id])


async def lock_trees(executor: Executor, root_ids: Collection[TaskId]) -> Tree:
    """Lock whole trees and return how they stand, as if they were one."""
    rows = await _SQL["lock_nodes"].fetch(executor, root_ids=list(root_ids))
    return Tree(map(node, rows))


def node(row: Row) -> TaskNode:
    """Return the node of a tree that a row describes."""
    return TaskNode(
        TaskId(str(row["id"])),
        None if row["parent_id"] is None else TaskId(str(row["parent_id"])),
        row["position"],
        STATES[row["state"]],
        row["is_batch"],
        row["blockers"],
        row["cancel_requested"],
        row["document_id"],
        row["unmet"],
        row["is_of_agent"],
    )


async def families(executor: Executor, parent_ids: Collection[TaskId]) -> list[Family]:
    """Return what the children of unfinished parents add up to."""
    rows = await _SQL["siblings"].fetch(executor, parent_ids=list(parent_ids))
    return [
        Family(
            Siblings(
                TaskId(str(row["id"])),
                row["on_child_failure"],
                row["cancel_requested"],
                row["has_turn"],
                row["busy"],
                row["gave_up"],
                None if row["next_pending"] is None else TaskId(str(row["next_pending"])),
            ),
            not row["not_begun"],
            None if row["parent_id"] is None else TaskId(str(row["parent_id"])),
            None if row["culprit"] is None else TaskId(str(row["culprit"])),
        )
        for row in rows
    ]


def hints_of(moved: Iterable[Moved]) -> list[Hint]:
    """Return what is rung for tasks that were moved."""
    return [
        Hint(task.task_id, task.tier, task.space) for task in moved if task.is_rung and task.state is TaskState.QUEUED
    ]


async def begin(executor: Executor, parent_ids: Collection[TaskId]) -> None:
    """Let batches begin whose first child was claimed while their row was locked."""
    await _SQL["begin"].fetch(executor, parent_ids=list(parent_ids))


async def start(executor: Executor, task_ids: Collection[TaskId]) -> list[Moved]:
    """Give tasks their turn, in a batch to its first leaf, and return what became QUEUED."""
    return await begun(executor, await _SQL["start"].fetch(executor, task_ids=list(task_ids)))


async def begun(executor: Executor, rows: Sequence[Row]) -> list[Moved]:
    """Return which of the tasks that lost a blocker became QUEUED; a batch passes its turn on to its first leaf."""
    queued: list[Moved] = []
    while rows:
        batches: list[TaskId] = []
        for row in rows:
            task_id = TaskId(str(row["id"]))
            state = TaskState(row["state"])
            if not row["runnable"] and not row["blockers"]:
                batches.append(task_id)
            elif state is TaskState.QUEUED:
                queued.append(_moved(row))
        first = await _SQL["first_children"].fetch(executor, parent_ids=batches) if batches else []
        starting = [row["id"] for row in first]
        rows = await _SQL["start"].fetch(executor, task_ids=starting) if starting else []
    return queued


async def finish(executor: Executor, endings: Sequence[Ending], *, counted_by: str) -> list[EndedTask]:
    """End batches and what still waits below them; return every task that ended."""
    rows = await _SQL["finish"].fetch(
        executor,
        parent_ids=[ending.parent_id for ending in endings],
        states=[str(ending.state) for ending in endings],
        errors=[ending.error_json for ending in endings],
        counted_by=counted_by,
    )
    return list(map(_ended, rows))


async def finish_atomic(executor: Executor, parent_ids: Collection[TaskId], *, counted_by: str) -> list[EndedTask]:
    """End the children of atomic batches that have ended, and return them."""
    rows = await _SQL["finish_atomic"].fetch(executor, parent_ids=list(parent_ids), counted_by=counted_by)
    return list(map(_ended, rows))


async def edits(executor: Executor, parent_id: TaskId) -> list[tuple[str, str, str | None]]:
    """Return what the children of an atomic batch ask for: types, payloads and keys, in order."""
    rows = await _SQL["edits"].fetch(executor, parent_id=parent_id)
    return [(row["task_type"], row["payload"], row["key"]) for row in rows]


async def cancel(
    executor: Executor, ended: Collection[TaskId], asked: Collection[TaskId], reason: str | None, *, counted_by: str
) -> tuple[list[EndedTask], list[DocumentId]]:
    """End some tasks of locked trees and ask others to stop; return which ended, and the lanes that lost a task.

    Raises `SerializationError` when the transaction's number is too low to tell of it.
    """
    rows = none_younger(
        await _SQL["cancel"].fetch(
            executor, ending=list(ended), asked=list(asked), reason=reason, counted_by=counted_by
        )
    )
    return list(map(_ended, rows)), sorted({row["document_id"] for row in rows if row["document_id"] is not None})


def none_younger(rows: list[Row]) -> list[Row]:
    """Return rows of tasks unless one was changed by a younger transaction: its events would come after ours."""
    if any(row["is_younger"] for row in rows):
        message = "a task was changed by a younger transaction, whose events would come after those of this one"
        raise SerializationError(message)
    return rows


async def reopen(executor: Executor, tasks: Collection[Reopened], *, as_other_content: bool = False) -> list[Moved]:
    """Start a new generation of final tasks, which may do something else from now on, and return how they stand."""
    rows = await _SQL["reopen"].fetch(
        executor,
        task_ids=[task.id for task in tasks],
        states=[str(task.state) for task in tasks],
        blockers=[task.blockers for task in tasks],
        unmet=[task.unmet for task in tasks],
        as_other_content=as_other_content,
    )
    return list(map(_moved, rows))


def _moved(row: Row) -> Moved:
    hint = hint_in(row)
    is_rung = row["runnable"] and row["demand_id"] is None
    return Moved(TaskId(hint.task_id), row["document_id"], TaskState(row["state"]), is_rung, hint.tier, hint.space)


def _ended(row: Row) -> EndedTask:
    return EndedTask(TaskId(str(row["id"])), STATES[row["state"]], row["has_dependents"])
