"""Cancellation: at once while a task waits, by asking while it runs; what is below goes with it."""

from collections.abc import Collection, Sequence

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.errors import IllegalStateError, TaskNotFoundError
from officeplane.domain.failure import storable
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.lifecycle import FINAL
from officeplane.domain.tree import Cancelling, cancelling
from officeplane.services.batches import RolledUp, roll_up
from officeplane.services.dependents import follow, lock_around
from officeplane.services.failpoints import reach
from officeplane.services.letters import Letters
from officeplane.services.settlement import ENDED
from officeplane.store import claims, trees
from officeplane.store.connection import Connection, Ledger


class Cancellation:
    """The way out that a user takes."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, letters: Letters) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._letters = letters
        self._counted_by = letters.counted_by

    async def cancel(self, task_id: TaskId, reason: str | None) -> None:
        """Cancel a task with everything below it; what runs is asked to stop and ends soon."""
        reason = None if reason is None else storable(reason)
        root_id = await trees.root_of(self._ledger, task_id)
        if root_id is None:
            raise TaskNotFoundError(task_id)

        async def decide(connection: Connection) -> tuple[Cancelling, list[DocumentId], RolledUp]:
            dag_ids = await lock_around(connection, completing=(), ending=[task_id], roots=[root_id])
            tree = await trees.lock_tree(connection, root_id)
            node = tree.nodes.get(task_id)
            if node is None:
                raise TaskNotFoundError(task_id)
            if node.state in FINAL:
                raise IllegalStateError(task_id, node.state, "cancelled")
            plan = cancelling(tree, tree.whole(task_id))
            ended, lanes = await trees.cancel(connection, plan.ended, plan.asked, reason, counted_by=self._counted_by)
            rolled = RolledUp()
            whole = tree.nodes[tree.whole(task_id)]
            if whole.id in plan.ended and whole.parent_id is not None:
                rolled = await roll_up(connection, [whole.parent_id], children_ran=False, counted_by=self._counted_by)
            ended += rolled.ended
            foreseen = [task.task_id for task in ended]
            rolled += await follow(connection, ended, dag_ids, foreseen, self._letters)
            await reach("cancel_written")
            return plan, lanes, rolled

        plan, lanes, rolled = await self._ledger.in_transaction(decide)
        await tell_cancelled(self._ledger, self._doorbell, plan.ended, plan.asked, lanes, rolled)


async def tell_cancelled(
    ledger: Ledger,
    doorbell: Doorbell,
    ended: Collection[TaskId],
    asked: Collection[TaskId],
    lanes: Sequence[DocumentId],
    rolled: RolledUp,
) -> None:
    """Announce what a cancellation that is committed has ended, request what it asked, and ring for what may go on."""
    await reach("after_cancel")
    await doorbell.announcements.announce(ENDED, [*ended, *(task.task_id for task in rolled.ended)])
    await doorbell.announcements.request_stop(sorted({*asked, *rolled.asked}))
    # The head of a lane may have gone; whoever leaves a lane rings for the next.
    ready = await claims.lane_heads(ledger, lanes) if lanes else []
    await doorbell.bells.ring([*ready, *((moved.task_id, moved.tier) for moved in rolled.queued)])
