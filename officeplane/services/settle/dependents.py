"""Dependents: what waits for a task goes on, ends or is stuck when that task ends, in the same transaction.

What dependents lead to is locked first, by those who know that there are some:
DAGs, then trees, each in the order of their ids. The edges themselves are read
after the ends were written: an edge inserted meanwhile waited for the row that
it leads to, or is seen here. In the end the DAGs concerned are judged.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from officeplane.domain.dag import DagStatus, Tally, status_of
from officeplane.domain.graph import reached_from
from officeplane.domain.ids import DagId, TaskId
from officeplane.domain.lifecycle import FINAL, GAVE_UP, TaskState
from officeplane.domain.tree import cancelling
from officeplane.services.settle.batches import TreeEffects, roll_up
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.store import dags, dependencies, trees
from officeplane.store.connection import Executor
from officeplane.store.trees import EndedTask

CANCELLED_WITH: Final = "a task that it depends on was cancelled"
ORPHANED: Final = "the task that spawned it, and waited for it, was cancelled"


async def lock_around(
    executor: Executor, *, completing: Collection[TaskId], ending: Collection[TaskId], roots: Iterable[TaskId]
) -> set[DagId]:
    """Lock what the ends of these tasks may touch, before anything is written, and return the DAGs among it."""
    dag_ids: set[DagId] = set()
    root_ids = set(roots)
    for task_ids, completed in ((completing, True), (ending, False)):
        if task_ids:
            around = await dependencies.around(executor, task_ids, completed=completed)
            dag_ids |= around.dag_ids
            root_ids |= around.root_ids
    await _lock(executor, dag_ids, root_ids)
    return dag_ids


async def follow(
    executor: Executor,
    ended: Sequence[EndedTask],
    locked: Collection[DagId],
    foreseen: Collection[TaskId],
    letters: DeadLetterWriter,
) -> TreeEffects:
    """Let what waits for these tasks go on, or end it with them, in DAGs too; return what became of it all.

    What a cancelled task has spawned and waits for ends with it, too. `foreseen`
    are those that things were locked for; the others were cancelled meanwhile, or
    ended with what is around them.
    """
    counted_by = letters.counted_by
    result = TreeEffects()
    held = set(locked)
    touched = set[DagId]()
    fresh = list(ended)
    surprises = [task.task_id for task in fresh if task.has_dependents and task.task_id not in foreseen]
    if surprises:
        # These locks come late, but before anything is read: whoever held them has made its changes by then.
        around = await dependencies.around(executor, surprises, completed=False)
        await _lock(executor, around.dag_ids - held, around.root_ids)
        held |= around.dag_ids
    while fresh:
        completed = [task.task_id for task in fresh if task.has_dependents and task.state is TaskState.COMPLETED]
        cancelled = [task.task_id for task in fresh if task.state is TaskState.CANCELLED]
        if completed:
            result.queued += await dependencies.release(executor, completed)
        following = TreeEffects()
        if cancelled:
            following += await _cancel_orphaned_spawns(executor, cancelled, counted_by=counted_by)
            effects, dag_ids = await _cancel_dependents(executor, cancelled, counted_by=counted_by)
            following += effects
            touched |= dag_ids
        result += following
        fresh = following.ended
    await letters.write(
        executor, [task.task_id for task in (*ended, *result.ended) if task.has_dependents and task.state in GAVE_UP]
    )
    if touched - held:
        await dags.lock(executor, touched - held)
    await update_statuses(executor, held | touched)
    return result


async def abandon(executor: Executor, task_ids: Collection[TaskId], letters: DeadLetterWriter) -> TreeEffects:
    """Cancel whatever waits for tasks that have failed and will never complete."""
    dag_ids = await lock_around(executor, completing=(), ending=task_ids, roots=())
    gone = [EndedTask(task_id, TaskState.CANCELLED, has_dependents=True) for task_id in task_ids]
    return await follow(executor, gone, dag_ids, task_ids, letters)


async def update_statuses(executor: Executor, dag_ids: Collection[DagId]) -> None:
    """Give locked DAGs the status that their tasks add up to."""
    if not dag_ids:
        return
    unsettled = await dags.unsettled(executor, dag_ids)
    if not unsettled:
        return
    found: dict[DagId, tuple[DagStatus, bool]] = {
        dag_id: (status_of(Tally(going_on=True)), False) for dag_id, can_run in unsettled.items() if can_run
    }
    at_rest = unsettled.keys() - found.keys()
    for dag_id, (tally, waits_outside) in (await dags.tallies(executor, at_rest)).items() if at_rest else ():
        if waits_outside and await _some_can_go_on(executor, dag_id):
            found[dag_id] = (DagStatus.RUNNING, False)
        else:
            status = status_of(tally)
            found[dag_id] = (status, status is DagStatus.FAILED and tally.waiting > 0)
    await dags.set_statuses(executor, found)


async def _some_can_go_on(executor: Executor, dag_id: DagId) -> bool:
    """Tell whether a task of a DAG waits for nothing that has failed, however indirectly."""
    needs = await dags.needs(executor, dag_id)
    needed_by: dict[TaskId, set[TaskId]] = {}
    for need in needs:
        if need.task_id is not None:
            needed_by.setdefault(need.needs, set()).add(need.task_id)
    stuck = reached_from((need.needs for need in needs if need.state in FINAL), needed_by)
    return any(need.task_id is None and need.needs not in stuck for need in needs)


async def _lock(executor: Executor, dag_ids: Collection[DagId], root_ids: Collection[TaskId]) -> None:
    if dag_ids:
        await dags.lock(executor, dag_ids)
    if root_ids:
        await trees.lock_roots(executor, root_ids)


async def _cancel_orphaned_spawns(executor: Executor, cancelled: Collection[TaskId], *, counted_by: str) -> TreeEffects:
    result = TreeEffects()
    orphaned = await dependencies.orphaned_spawns(executor, cancelled)
    if orphaned:
        await trees.lock_roots(executor, orphaned)
    for task_id in orphaned:
        plan = cancelling(await trees.lock_tree(executor, task_id), task_id)
        ended, _ = await trees.cancel(executor, plan.ended, plan.asked, ORPHANED, counted_by=counted_by)
        result += TreeEffects(ended=ended, asked=sorted(plan.asked))
    return result


async def _cancel_dependents(
    executor: Executor, cancelled: Collection[TaskId], *, counted_by: str
) -> tuple[TreeEffects, set[DagId]]:
    dependents = await dependencies.dependents(executor, cancelled)
    if not dependents:
        return TreeEffects(), set()
    await trees.lock_roots(executor, {task.root_id for task in dependents})
    ids = [task.task_id for task in dependents]
    ended, _ = await trees.cancel(executor, ids, (), CANCELLED_WITH, counted_by=counted_by)
    # A batch of which a part was cancelled goes on with the next, or ends.
    parents = {task.parent_id for task in dependents if task.parent_id is not None}.difference(ids)
    result = await roll_up(executor, parents, children_ran=False, counted_by=counted_by) if parents else TreeEffects()
    result.ended += ended
    return result, {task.dag_id for task in dependents if task.dag_id is not None}
