"""Reopening: an explicit retry gives a final task, and the batch around it, a new generation."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.audit import Action, Deed
from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.errors import IllegalStateError, TaskNotFoundError, TwinUnfinishedError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import GAVE_UP, REOPENABLE, TaskState
from officeplane.domain.principal import Principal
from officeplane.domain.tree import Reopened, Tree, reopening
from officeplane.failpoints import reach
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.settle.dependents import lock_around, update_statuses
from officeplane.store import audit, dags, dead_letters, dependencies, tasks, trees
from officeplane.store.connection import Connection, Ledger
from officeplane.store.tasks import check_may_change
from officeplane.store.trees import Moved


class Reopening:
    """Gives final tasks another generation."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, letters: DeadLetterWriter) -> None:
        self._ledger = ledger
        self._letters = letters
        self._doorbell = doorbell

    async def retry(self, caller: Principal, task_id: TaskId, action: Action = Action.RETRY_TASK) -> int:
        """Queue a final task again, with its retries restored, and resolve the dead letters of what is reopened.

        Return how many were reopened: of a batch, what is unfinished of it.
        """
        await check_may_change(self._ledger, caller, task_id)
        root_id = await trees.root_of(self._ledger, task_id)
        if root_id is None:
            raise TaskNotFoundError(task_id)

        async def decide(connection: Connection) -> list[Moved]:
            deed = Deed(caller, action, task_ids=[task_id])
            return await self.reopen(connection, root_id, task_id, Ruling(Decision.RETRY, caller.id), deed)

        moved = await self._ledger.in_transaction(decide)
        await self.tell(moved)
        return len(moved)

    async def reopen(
        self, connection: Connection, root_id: TaskId, task_id: TaskId, ruling: Ruling, deed: Deed
    ) -> list[Moved]:
        """Do what `retry` does in a transaction of the caller's, who tells of it afterwards."""
        dag_ids = await lock_around(connection, completing=(), ending=[task_id], roots=[root_id])
        tree = await trees.lock_tree(connection, root_id)
        node = tree.nodes.get(task_id)
        if node is None:
            raise TaskNotFoundError(task_id)
        if node.state not in REOPENABLE:
            raise IllegalStateError(task_id, node.state, "retried")
        await dependencies.forget_spawned(connection, tree.nodes)
        unmet = await _dependencies_left(connection, tree)
        reopened = reopening(tree, tree.whole(task_id), {waiting: len(left) for waiting, left in unmet.items()})
        failed = {one for left in unmet.values() for one, state in left.items() if state in GAVE_UP}
        _refuse_in_vain(reopened, unmet, tree, await dependencies.given_up(connection, failed) if failed else ())
        has_other_payload = ruling.decision is Decision.MODIFY_AND_RETRY
        if not has_other_payload:
            await _refuse_twins(connection, reopened, tree)
        moved = await trees.reopen(connection, reopened, as_other_content=has_other_payload)
        await dead_letters.resolve(connection, [task.task_id for task in moved], ruling)
        await self._letters.write(connection, failed)
        if dag_ids:
            await dags.forget_cancel(connection, task_id)
            await update_statuses(connection, dag_ids)
        after = {**(deed.after or {}), "reopened": len(moved)}
        await audit.write(connection, deed._replace(before={"state": node.state}, after=after))
        return moved

    async def tell(self, moved: Sequence[Moved]) -> None:
        """Ring for what was reopened."""
        await reach("after_reopen")
        await self._doorbell.bells.ring(trees.hints_of(moved))


async def _refuse_twins(connection: Connection, reopened: Iterable[Reopened], tree: Tree) -> None:
    """Refuse to reopen what must not wait twice while another that does the same waits or runs."""
    contents = await tasks.contents(connection, [task.id for task in reopened])
    for content, twin_id in (await tasks.unfinished_of(connection, contents)).items() if contents else ():
        raise TwinUnfinishedError(contents[content], tree.nodes[contents[content]].state, twin_id)


async def _dependencies_left(connection: Connection, tree: Tree) -> dict[TaskId, dict[TaskId, TaskState | None]]:
    """Return what each task of a tree still has to wait for; None for the state of what was pruned.

    Locked first: one that ends afterwards finds the task waiting again.
    """
    found = await dependencies.of_tasks(connection, tree.nodes)
    locked = await dependencies.lock(connection, {edge.depends_on for edge in found}) if found else {}
    left: dict[TaskId, dict[TaskId, TaskState | None]] = {}
    for edge in found:
        state = locked[edge.depends_on].state if edge.depends_on in locked else None
        if state is not TaskState.COMPLETED:
            left.setdefault(edge.task_id, {})[edge.depends_on] = state
    return left


def _refuse_in_vain(
    reopened: Iterable[Reopened],
    unmet: Mapping[TaskId, Mapping[TaskId, TaskState | None]],
    tree: Tree,
    given_up: Collection[TaskId],
) -> None:
    """Refuse to reopen what depends on a task that will never complete."""
    for one in reopened:
        for dependency, state in unmet.get(one.id, {}).items():
            if state is None or state is TaskState.CANCELLED:
                because = f"task {dependency}, which it depends on, is {state or 'gone'}"
                raise IllegalStateError(one.id, tree.nodes[one.id].state, "retried", because)
            if dependency in given_up:
                because = f"task {dependency}, which it depends on, was given up for good; retry that one first"
                raise IllegalStateError(one.id, tree.nodes[one.id].state, "retried", because)
