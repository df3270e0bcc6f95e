"""Cancellation: at once while a task waits, by asking while it runs; what is below goes with it."""

from collections.abc import Callable, Collection, Sequence

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.audit import Action, Deed
from officeplane.domain.errors import IllegalStateError, TaskNotFoundError
from officeplane.domain.failure import storable
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.lifecycle import FINAL
from officeplane.domain.principal import Principal
from officeplane.domain.tree import Cancelling, Tree, cancelling_all
from officeplane.failpoints import reach
from officeplane.services.settle.aftermath import ENDED
from officeplane.services.settle.batches import TreeEffects, roll_up
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.settle.dependents import follow, lock_around
from officeplane.store import audit, claims, trees
from officeplane.store.connection import Connection, Ledger
from officeplane.store.tasks import check_may_change


class Cancellation:
    """Cancels tasks for whoever asks."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, letters: DeadLetterWriter) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._letters = letters
        self._counted_by = letters.counted_by

    async def cancel(self, caller: Principal, task_id: TaskId, reason: str | None) -> None:
        """Cancel a task with everything below it; what runs is asked to stop and ends soon."""
        await check_may_change(self._ledger, caller, task_id)
        root_id = await trees.root_of(self._ledger, task_id)
        if root_id is None:
            raise TaskNotFoundError(task_id)

        def wanted(tree: Tree) -> list[TaskId]:
            node = tree.nodes.get(task_id)
            if node is None:
                raise TaskNotFoundError(task_id)
            if node.state in FINAL:
                raise IllegalStateError(task_id, node.state, "cancelled")
            return [task_id]

        await self._cancel(Deed(caller, Action.CANCEL_TASK, task_ids=[task_id]), [root_id], wanted, reason)

    async def cancel_many(self, caller: Principal, task_ids: Sequence[TaskId], reason: str | None) -> int:
        """Cancel those of these tasks that are not final, a batch before its children; return how many went in all."""

        def wanted(tree: Tree) -> list[TaskId]:
            return [one for one in task_ids if one in tree.nodes and tree.nodes[one].state not in FINAL]

        roots = await trees.roots_of(self._ledger, task_ids)
        plan = await self._cancel(Deed(caller, Action.CANCEL_TASKS, task_ids=task_ids), roots, wanted, reason)
        return len(plan.ended) + len(plan.asked)

    async def _cancel(
        self,
        deed: Deed,
        roots: Collection[TaskId],
        wanted: Callable[[Tree], Sequence[TaskId]],
        reason: str | None,
    ) -> Cancelling:
        reason = None if reason is None else storable(reason)

        async def decide(connection: Connection) -> tuple[Cancelling, list[DocumentId], TreeEffects]:
            dag_ids = await lock_around(connection, completing=(), ending=deed.task_ids, roots=roots)
            tree = await trees.lock_trees(connection, roots)
            asked_for = wanted(tree)
            plan = cancelling_all(tree, asked_for)
            ended, lanes = await trees.cancel(connection, plan.ended, plan.asked, reason, counted_by=self._counted_by)
            effects = TreeEffects()
            if around := _batches_around(tree, plan):
                effects = await roll_up(connection, around, children_ran=False, counted_by=self._counted_by)
            ended += effects.ended
            foreseen = [task.task_id for task in ended]
            effects += await follow(connection, ended, dag_ids, foreseen, self._letters)
            if plan.ended or plan.asked:
                await audit.write(connection, _told(deed, tree, asked_for, plan, reason))
            await reach("cancel_written")
            return plan, lanes, effects

        plan, lanes, effects = await self._ledger.in_transaction(decide)
        await tell_cancelled(self._ledger, self._doorbell, plan.ended, plan.asked, lanes, effects)
        return plan


def _told(deed: Deed, tree: Tree, task_ids: Sequence[TaskId], plan: Cancelling, reason: str | None) -> Deed:
    """Return the deed with what became of it."""
    before = {"state": tree.nodes[task_ids[0]].state} if deed.action is Action.CANCEL_TASK else None
    after = {"cancelled": len(plan.ended), "askedToStop": len(plan.asked), "reason": reason}
    return deed._replace(task_ids=task_ids, before=before, after=after)


def _batches_around(tree: Tree, plan: Cancelling) -> list[TaskId]:
    """Return the batches that go on, or end, because of children that end now while they themselves do not."""
    parents = {tree.nodes[one].parent_id for one in plan.ended}
    gone = plan.ended | plan.asked
    return sorted(one for one in parents if one is not None and one not in gone)


async def tell_cancelled(
    ledger: Ledger,
    doorbell: Doorbell,
    ended: Collection[TaskId],
    asked: Collection[TaskId],
    lanes: Sequence[DocumentId],
    effects: TreeEffects,
) -> None:
    """Announce what a cancellation that is committed has ended, request what it asked, and ring for what may go on."""
    await reach("after_cancel")
    await doorbell.announcements.announce(ENDED, [*ended, *(task.task_id for task in effects.ended)])
    await doorbell.announcements.request_stop(sorted({*asked, *effects.asked}))
    # The head of a lane may have gone; whoever leaves a lane rings for the next.
    ready = await claims.lane_heads(ledger, lanes) if lanes else []
    await doorbell.bells.ring([*ready, *trees.hints_of(effects.queued)])
