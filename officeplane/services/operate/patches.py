"""Patches: a task is changed while it waits, and moved to where it belongs then."""

from pydantic.alias_generators import to_camel

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.audit import Action, Deed, Facts
from officeplane.domain.errors import FieldError, IllegalStateError, InvalidRequestError, TaskNotFoundError
from officeplane.domain.hint import Hint
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import WAITING
from officeplane.domain.patch import OF_THE_WHOLE, Change, TaskPatch, changes
from officeplane.domain.principal import Principal
from officeplane.domain.request import priority_value
from officeplane.domain.task import Task
from officeplane.store import audit, patches, tasks, trees
from officeplane.store.connection import Connection, Ledger
from officeplane.store.patches import Rescheduled
from officeplane.store.tasks import check_may_change


class Patches:
    """Changes of tasks that have not begun."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell) -> None:
        self._ledger = ledger
        self._doorbell = doorbell

    async def patch(self, caller: Principal, task_id: TaskId, patch: TaskPatch) -> None:
        """Change a waiting task and what below it follows; ring for what may run or has become more urgent."""
        urgency = None if patch.priority is None else priority_value(patch.priority)
        caller.check_urgency(urgency, rises=patch.deadline is not None)
        await check_may_change(self._ledger, caller, task_id)
        root_id = await trees.root_of(self._ledger, task_id)
        if root_id is None:
            raise TaskNotFoundError(task_id)

        async def decide(connection: Connection) -> list[Rescheduled]:
            # Whoever claims the task at this moment is waited for, and then it is too late.
            await trees.lock_roots(connection, [root_id])
            tree = await trees.lock_tree(connection, root_id)
            node = tree.nodes.get(task_id)
            if node is None:
                raise TaskNotFoundError(task_id)
            if node.state not in WAITING:
                raise IllegalStateError(task_id, node.state, "changed")
            if tree.whole(task_id) != task_id:
                _refuse_what_is_of_the_whole(patch)
            found = await tasks.fetch(connection, [one.id for one in tree.below(task_id)])
            changed = changes(found[task_id], tree, found, patch)
            before, after = _facts(found[task_id], patch), _facts(changed[0], patch)
            await audit.write(
                connection, Deed(caller, Action.PATCH_TASK, task_ids=[task_id], before=before, after=after)
            )
            return await patches.apply(connection, changed)

        rescheduled = await self._ledger.in_transaction(decide)
        # A hint left where it was would let what is less urgent by now run as before.
        fallen = [one for one in rescheduled if one.tier > one.tier_before]
        await self._doorbell.bells.silence(Hint(one.task_id, one.tier_before, one.space) for one in fallen)
        await self._doorbell.bells.ring(Hint(one.task_id, one.tier, one.space) for one in rescheduled)


def _facts(task: Task | Change, patch: TaskPatch) -> Facts:
    """Return what a patch names, as a task has it."""
    return {to_camel(name): getattr(task, name) for name in sorted(patch.model_fields_set)}


def _refuse_what_is_of_the_whole(patch: TaskPatch) -> None:
    for field, name in OF_THE_WHOLE.items():
        if field in patch.model_fields_set:
            message = "The children of an atomic batch have none of their own: change the batch."
            raise InvalidRequestError(message, [FieldError(name, message)])
