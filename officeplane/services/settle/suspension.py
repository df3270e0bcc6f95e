"""Suspension: an attempt whose handler waits for a task it has spawned ends with an edge to that task.

Slot and document are free from then on, and nothing is kept in memory: when the
spawned task completes, its settlement queues the other like any dependent.
"""

from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import GAVE_UP, TaskState
from officeplane.domain.task import ClaimedTask
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.settle.dependents import CANCELLED_WITH, lock_around, update_statuses
from officeplane.store import dependencies, settlements, spawns
from officeplane.store.connection import Executor, Ledger
from officeplane.store.settlements import Settled


async def suspend(ledger: Ledger, task: ClaimedTask, spawned_id: TaskId, letters: DeadLetterWriter) -> Settled | None:
    """End an attempt that waits; None when it is to be handed back instead.

    That is so when what it waits for has completed meanwhile, when that was
    cancelled or given up for good, which asks the attempt to stop too, when the claim was lost, and when
    the other has begun to wait for this one: the next attempt is told of it.
    """

    async def together(executor: Executor) -> Settled | None:
        dag_ids = await lock_around(executor, completing=[task.id], ending=(), roots=[task.root_id])
        spawned = (await dependencies.lock(executor, [spawned_id])).get(spawned_id)
        state = TaskState.CANCELLED if spawned is None else spawned.state
        if state is TaskState.COMPLETED:
            return None
        if state is TaskState.CANCELLED or (state in GAVE_UP and await dependencies.given_up(executor, [spawned_id])):
            await settlements.ask_to_stop(executor, task, CANCELLED_WITH)
            return None
        if await _closes_a_circle(executor, task.id, spawned_id):
            return None
        suspended = await settlements.suspend(executor, task, spawned_id, counted_by=letters.counted_by)
        # The task that it waits for may have failed by now.
        if suspended is not None and state in GAVE_UP:
            await letters.write(executor, [spawned_id])
        await update_statuses(executor, dag_ids)
        return suspended

    return await ledger.in_transaction(together)


async def _closes_a_circle(executor: Executor, task_id: TaskId, spawned_id: TaskId) -> bool:
    # Both rows are locked: edges of the other task are seen here, or their writer sees this wait.
    if not await spawns.needs_others(executor, spawned_id):
        return False
    await spawns.take_turn(executor)
    return await spawns.leads_back(executor, spawned_id, task_id)
