"""Dependencies in the ledger: which task waits for the end of which other."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from officeplane.domain.ids import DagId, DocumentId, TaskId
from officeplane.domain.lifecycle import STATES, TaskState
from officeplane.domain.space import Space
from officeplane.store import trees
from officeplane.store.connection import Executor
from officeplane.store.queries import load
from officeplane.store.trees import Moved

_SQL: Final = load("dependencies")


class Edge(NamedTuple):
    """A task that waits for another, and how that one stands; no state when it was pruned."""

    task_id: TaskId
    depends_on: TaskId
    state: TaskState | None

    @property
    def is_unmet(self) -> bool:
        """Whether the task still has to wait for the other."""
        return self.state is not TaskState.COMPLETED


class Locked(NamedTuple):
    """What others are to depend on: how it stands, and for whom it is there."""

    state: TaskState
    space: Space
    document_id: DocumentId | None
    task_type: str


class Around(NamedTuple):
    """What has to be locked before tasks end: the DAGs, and the roots of the trees outside of these."""

    dag_ids: set[DagId]
    root_ids: set[TaskId]


class Dependent(NamedTuple):
    """A task that waits for one that is cancelled."""

    task_id: TaskId
    parent_id: TaskId | None
    root_id: TaskId
    dag_id: DagId | None


async def lock(executor: Executor, task_ids: Iterable[TaskId]) -> dict[TaskId, Locked]:
    """Lock dependencies until the transaction ends, mark them as waited for, and return how they stand."""
    rows = await _SQL["lock"].fetch(executor, task_ids=sorted(set(task_ids)))
    return {
        TaskId(str(row["id"])): Locked(STATES[row["state"]], row["space"], row["document_id"], row["task_type"])
        for row in rows
    }


async def given_up(executor: Executor, task_ids: Iterable[TaskId]) -> set[TaskId]:
    """Return which of these tasks have failed and will not be tried again, as somebody has decided."""
    return {TaskId(str(row["id"])) for row in await _SQL["given_up"].fetch(executor, task_ids=sorted(set(task_ids)))}


async def insert(executor: Executor, edges: Collection[tuple[TaskId, TaskId]]) -> None:
    """Store edges, each from a task to what it depends on."""
    await _SQL["insert"].fetch(
        executor, task_ids=[task_id for task_id, _ in edges], depends_on=[depends_on for _, depends_on in edges]
    )


async def of_tasks(executor: Executor, task_ids: Iterable[TaskId]) -> list[Edge]:
    """Return what tasks depend on."""
    rows = await _SQL["of_tasks"].fetch(executor, task_ids=list(task_ids))
    return [
        Edge(
            TaskId(str(row["task_id"])),
            TaskId(str(row["depends_on"])),
            None if row["state"] is None else STATES[row["state"]],
        )
        for row in rows
    ]


async def around(executor: Executor, task_ids: Collection[TaskId], *, completed: bool) -> Around:
    """Return what the ends of tasks may touch: of completed ones the next, of others whatever waits for them."""
    rows = await (_SQL["near"] if completed else _SQL["far"]).fetch(executor, task_ids=list(task_ids))
    return Around(
        {DagId(str(row["dag_id"])) for row in rows if row["dag_id"] is not None},
        {TaskId(str(row["root_id"])) for row in rows if row["root_id"] is not None},
    )


async def release(executor: Executor, completed: Collection[TaskId]) -> list[Moved]:
    """Take a blocker from what depends on completed tasks, and return what became QUEUED.

    Raises `SerializationError` when the transaction's number is too low to tell of it.
    """
    rows = await _SQL["release"].fetch(executor, task_ids=list(completed))
    return await trees.begun(executor, trees.none_younger(rows))


async def dependents(executor: Executor, cancelled: Collection[TaskId]) -> list[Dependent]:
    """Return what waits, however indirectly, for tasks that are cancelled."""
    rows = await _SQL["dependents"].fetch(executor, task_ids=list(cancelled))
    return [
        Dependent(
            TaskId(str(row["id"])),
            None if row["parent_id"] is None else TaskId(str(row["parent_id"])),
            TaskId(str(row["root_id"])),
            None if row["dag_id"] is None else DagId(str(row["dag_id"])),
        )
        for row in rows
    ]


async def orphaned_spawns(executor: Executor, cancelled: Collection[TaskId]) -> list[TaskId]:
    """Return what cancelled tasks have spawned and waited for."""
    rows = await _SQL["orphaned_spawns"].fetch(executor, task_ids=list(cancelled))
    return [TaskId(str(row["id"])) for row in rows]


async def forget_spawned(executor: Executor, task_ids: Iterable[TaskId]) -> None:
    """Let tasks no longer depend on what they have spawned: whoever runs again waits again."""
    await _SQL["forget_spawned"].fetch(executor, task_ids=list(task_ids))


async def overdue(executor: Executor, *, after_seq: int, limit: int) -> tuple[int | None, list[TaskId]]:
    """Return where a window of waiting tasks ends, and which of them wait for nothing."""
    (row,) = await _SQL["overdue"].fetch(executor, after_seq=after_seq, limit=limit)
    return row["until"], [TaskId(str(task_id)) for task_id in row["ids"]]


async def recount(executor: Executor, task_ids: Collection[TaskId]) -> list[Moved]:
    """Take from tasks the blockers of dependencies of which none is left, and return what became QUEUED."""
    return await trees.begun(executor, await _SQL["recount"].fetch(executor, task_ids=list(task_ids)))
