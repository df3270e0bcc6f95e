"""Reopening: an explicit retry gives a final task, and the batch around it, a new generation."""

from collections.abc import Iterable, Sequence

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.dead_letter import SOMEBODY, Decision, Ruling
from officeplane.domain.errors import IllegalStateError, TaskNotFoundError, TwinUnfinishedError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import REOPENABLE, TaskState
from officeplane.domain.tree import Reopened, Tree, reopening
from officeplane.services.failpoints import reach
from officeplane.store import dead_letters, tasks, trees
from officeplane.store.connection import Connection, Ledger
from officeplane.store.trees import Moved


class Reopening:
    """The way back in."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell) -> None:
        self._ledger = ledger
        self._doorbell = doorbell

    async def retry(self, task_id: TaskId, by: str = SOMEBODY) -> None:
        """Queue a final task again, with its retries restored, and resolve the dead letters of what is reopened."""
        root_id = await trees.root_of(self._ledger, task_id)
        if root_id is None:
            raise TaskNotFoundError(task_id)

        async def decide(connection: Connection) -> list[Moved]:
            return await self.reopen(connection, root_id, task_id, Ruling(Decision.RETRY, by))

        await self.tell(await self._ledger.in_transaction(decide))

    async def reopen(self, connection: Connection, root_id: TaskId, task_id: TaskId, ruling: Ruling) -> list[Moved]:
        """Do what `retry` does in a transaction of the caller's, who tells of it afterwards."""
        await trees.lock_roots(connection, [root_id])
        tree = await trees.lock_tree(connection, root_id)
        node = tree.nodes.get(task_id)
        if node is None:
            raise TaskNotFoundError(task_id)
        if node.state not in REOPENABLE:
            raise IllegalStateError(task_id, node.state, "retried")
        reopened = reopening(tree, tree.whole(task_id))
        await _refuse_twins(connection, reopened, tree)
        moved = await trees.reopen(connection, reopened)
        await dead_letters.resolve(connection, [task.task_id for task in moved], ruling)
        return moved

    async def tell(self, moved: Sequence[Moved]) -> None:
        """Ring for what was reopened."""
        await reach("after_reopen")
        await self._doorbell.bells.ring(
            (task.task_id, task.tier) for task in moved if task.runnable and task.state is TaskState.QUEUED
        )


async def _refuse_twins(connection: Connection, reopened: Iterable[Reopened], tree: Tree) -> None:
    """Refuse to reopen what must not wait twice while another that does the same waits or runs."""
    contents = await tasks.contents(connection, [task.id for task in reopened])
    for content, twin_id in (await tasks.unfinished_of(connection, contents)).items() if contents else ():
        raise TwinUnfinishedError(contents[content], tree.nodes[contents[content]].state, twin_id)
