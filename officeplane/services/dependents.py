"""Dependents: what waits for a task goes on, ends or is stuck when that task ends, in the same transaction.

What dependents lead to is locked first, by those who know that there are some.
The edges themselves are read after the ends were written: an edge inserted
meanwhile waited for the row that it leads to, or is seen here.
"""

from collections.abc import Collection, Iterable
from typing import Final

from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.tree import cancelling
from officeplane.services.batches import RolledUp, roll_up
from officeplane.store import edges, trees
from officeplane.store.connection import Executor
from officeplane.store.trees import Ended

CANCELLED_WITH: Final = "a task that it depends on was cancelled"
FORSAKEN: Final = "the task that spawned it, and waited for it, was cancelled"


async def lock_around(
    executor: Executor, *, completing: Collection[TaskId], ending: Collection[TaskId], roots: Iterable[TaskId]
) -> None:
    """Lock what the ends of these tasks may touch, before anything is written: trees in the order of their roots."""
    found = set(roots)
    for task_ids, completed in ((completing, True), (ending, False)):
        if task_ids:
            found |= (await edges.around(executor, task_ids, completed=completed)).root_ids
    if found:
        await trees.lock_roots(executor, found)


async def follow(executor: Executor, ended: Iterable[Ended], *, counted_by: str) -> RolledUp:
    """Let what waits for these tasks go on, or end it with them; return what became of it.

    What a cancelled task has spawned and waits for ends with it, too.
    """
    result = RolledUp()
    fresh = list(ended)
    while fresh:
        completed = [task.task_id for task in fresh if task.has_dependents and task.state is TaskState.COMPLETED]
        cancelled = [task.task_id for task in fresh if task.state is TaskState.CANCELLED]
        if completed:
            result.queued += await edges.release(executor, completed)
        following = RolledUp()
        if cancelled:
            following += await _cancel_forsaken(executor, cancelled, counted_by=counted_by)
            following += await _cancel_dependents(executor, cancelled, counted_by=counted_by)
        result += following
        fresh = following.ended
    return result


async def abandon(executor: Executor, task_ids: Collection[TaskId], *, counted_by: str) -> RolledUp:
    """Cancel whatever waits for tasks that have failed and will never complete."""
    gone = [Ended(task_id, TaskState.CANCELLED, has_dependents=True) for task_id in task_ids]
    return await follow(executor, gone, counted_by=counted_by)


async def _cancel_forsaken(executor: Executor, cancelled: Collection[TaskId], *, counted_by: str) -> RolledUp:
    result = RolledUp()
    forsaken = await edges.forsaken(executor, cancelled)
    if forsaken:
        await trees.lock_roots(executor, forsaken)
    for task_id in forsaken:
        plan = cancelling(await trees.lock_tree(executor, task_id), task_id)
        ended, _ = await trees.cancel(executor, plan.ended, plan.asked, FORSAKEN, counted_by=counted_by)
        result += RolledUp(ended=ended, asked=sorted(plan.asked))
    return result


async def _cancel_dependents(executor: Executor, cancelled: Collection[TaskId], *, counted_by: str) -> RolledUp:
    doomed = await edges.doomed(executor, cancelled)
    if not doomed:
        return RolledUp()
    await trees.lock_roots(executor, {task.root_id for task in doomed})
    ids = [task.task_id for task in doomed]
    ended, _ = await trees.cancel(executor, ids, (), CANCELLED_WITH, counted_by=counted_by)
    # A batch of which a part was cancelled goes on with the next, or ends.
    parents = {task.parent_id for task in doomed if task.parent_id is not None}.difference(ids)
    result = await roll_up(executor, parents, children_ran=False, counted_by=counted_by) if parents else RolledUp()
    result.ended += ended
    return result
