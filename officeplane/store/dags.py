"""DAGs in the ledger: locked before their tasks, judged after them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from officeplane.domain.dag import Dag, DagStatus, DagTask, Tally
from officeplane.domain.ids import DagId, TaskId
from officeplane.domain.lifecycle import STATES, TaskState
from officeplane.domain.principal import EVERYTHING, Principal, Sight
from officeplane.domain.tree import Tree
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load
from officeplane.store.sights import seen_by
from officeplane.store.trees import node

_SQL: Final = load("dags")


class Need(NamedTuple):
    """A task that another needs; nobody's need is an unfinished task of the DAG itself."""

    task_id: TaskId | None
    needs: TaskId
    state: TaskState


async def insert(
    executor: Executor, dag_id: DagId, caller: Principal, title: str | None, on_behalf_of: str | None
) -> datetime:
    """Store a DAG whose tasks come in the same transaction; return when it was made."""
    (row,) = await _SQL["insert"].fetch(
        executor, dag_id=dag_id, space=caller.space, title=title, created_by=caller.id, on_behalf_of=on_behalf_of
    )
    created_at: datetime = row["created_at"]
    return created_at


async def lock(executor: Executor, dag_ids: Iterable[DagId]) -> None:
    """Lock DAGs in the order of their ids."""
    await _SQL["lock"].fetch(executor, dag_ids=sorted(dag_ids))


async def fetch(executor: Executor, dag_id: DagId, sight: Sight = EVERYTHING) -> Dag | None:
    """Return a DAG without its tasks."""
    rows = await _SQL["fetch"].fetch(executor, dag_id=dag_id, **seen_by(sight))
    return _dag(rows[0]) if rows else None


async def page(executor: Executor, sight: Sight, *, status: DagStatus | None, before: int, limit: int) -> list[Dag]:
    """Return the newest DAGs that fit, below a sequence number."""
    rows = await _SQL["page"].fetch(executor, before=before, status=status, limit=limit, **seen_by(sight))
    return [_dag(row) for row in rows]


async def tasks(executor: Executor, dag_id: DagId) -> list[DagTask]:
    """Return the tasks of a DAG in order, without what is below them."""
    return [
        DagTask(
            TaskId(str(row["id"])),
            row["key"],
            row["task_type"],
            STATES[row["state"]],
            tuple(row["depends_on"]),
        )
        for row in await _SQL["tasks"].fetch(executor, dag_id=dag_id)
    ]


async def unfinished(executor: Executor, dag_id: DagId) -> Tree:
    """Lock what is unfinished of a DAG and return it as the trees it is made of."""
    return Tree(node(row) for row in await _SQL["nodes"].fetch(executor, dag_id=dag_id))


async def unsettled(executor: Executor, dag_ids: Iterable[DagId]) -> dict[DagId, bool]:
    """Return the DAGs that may not have the status they should have, and whether a task of theirs can run."""
    rows = await _SQL["unsettled"].fetch(executor, dag_ids=sorted(dag_ids))
    return {DagId(str(row["id"])): row["can_run"] for row in rows}


async def stalled(executor: Executor, *, after_seq: int, limit: int) -> tuple[int | None, list[DagId]]:
    """Return where a window of running DAGs ends, and which of them have no task that can run by itself."""
    (row,) = await _SQL["stalled"].fetch(executor, after_seq=after_seq, limit=limit)
    return row["until"], [DagId(str(dag_id)) for dag_id in row["ids"]]


async def tallies(executor: Executor, dag_ids: Iterable[DagId]) -> dict[DagId, tuple[Tally, bool]]:
    """Return what the tasks of DAGs add up to of which none can run by itself, and whether some wait for others."""
    rows = await _SQL["tally"].fetch(executor, dag_ids=sorted(dag_ids))
    return {
        DagId(str(row["id"])): (
            Tally(
                going_on=False,
                waiting=row["waiting"],
                gave_up=row["gave_up"],
                completed=row["completed"],
                cancel_requested=row["cancel_requested"],
            ),
            row["waits_outside"],
        )
        for row in rows
    }


async def needs(executor: Executor, dag_id: DagId) -> list[Need]:
    """Return what the unfinished tasks of a DAG need, as far as it leads."""
    return [
        Need(
            None if row["task_id"] is None else TaskId(str(row["task_id"])),
            TaskId(str(row["id"])),
            STATES[row["state"]],
        )
        for row in await _SQL["needs"].fetch(executor, dag_id=dag_id)
    ]


async def set_statuses(executor: Executor, found: Mapping[DagId, tuple[DagStatus, bool]]) -> list[DagId]:
    """Give DAGs the status found for them, and whether tasks of theirs are stuck; return those it was news to."""
    rows = await _SQL["set_statuses"].fetch(
        executor,
        dag_ids=list(found),
        statuses=[status.value for status, _ in found.values()],
        are_stuck=[is_stuck for _, is_stuck in found.values()],
    )
    return [DagId(str(row["id"])) for row in rows]


async def request_cancel(executor: Executor, dag_id: DagId) -> None:
    """Note that a DAG is to be cancelled."""
    await _SQL["request_cancel"].fetch(executor, dag_id=dag_id)


async def forget_cancel(executor: Executor, task_id: TaskId) -> None:
    """Forget that the DAG of a task that is tried again was to be cancelled."""
    await _SQL["forget_cancel"].fetch(executor, task_id=task_id)


async def prune(executor: Executor, *, limit: int) -> int:
    """Remove DAGs of which no task is left and return how many."""
    return len(await _SQL["prune"].fetch(executor, limit=limit))


def _dag(row: Row) -> Dag:
    return Dag(
        DagId(str(row["id"])),
        row["seq"],
        row["title"],
        DagStatus(row["status"]),
        row["is_stuck"],
        row["created_by"],
        row["on_behalf_of"],
        row["created_at"],
        row["finished_at"],
        row["cancel_requested_at"],
    )
