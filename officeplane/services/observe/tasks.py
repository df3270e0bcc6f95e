"""Tasks as the ledger has them now."""

from collections.abc import Sequence

from officeplane.domain.errors import TaskNotFoundError
from officeplane.domain.ids import TaskId
from officeplane.domain.principal import Principal
from officeplane.domain.task import TaskDetails
from officeplane.store import tasks
from officeplane.store.connection import Ledger
from officeplane.store.tasks import END_OF_TIME, TaskFilter


class Tasks:
    """One task, or a page of them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def find(self, caller: Principal, task_id: TaskId) -> TaskDetails:
        """Return one task with its failed attempts and its children."""
        found = await tasks.fetch(self._ledger, [task_id], caller.sight)
        if task_id not in found:
            raise TaskNotFoundError(task_id)
        (details,) = await tasks.details(self._ledger, [found[task_id]], caller.sight, whole=True)
        return details

    async def those(self, caller: Principal, task_ids: Sequence[TaskId]) -> dict[TaskId, TaskDetails]:
        """Return tasks, those that are there for the caller."""
        found = await tasks.fetch(self._ledger, task_ids, caller.sight)
        details = await tasks.details(self._ledger, list(found.values()), caller.sight)
        return {one.task.id: one for one in details}

    async def page(
        self, caller: Principal, wanted: TaskFilter, before: int | None, limit: int
    ) -> tuple[list[TaskDetails], bool]:
        """Return the newest tasks that fit, below a sequence number, and whether there may be more."""
        top = END_OF_TIME if before is None else before
        page, goes_on = await tasks.page(
            self._ledger, wanted.within(caller.space), caller.sight, before=top, limit=limit
        )
        return await tasks.details(self._ledger, page, caller.sight), goes_on
