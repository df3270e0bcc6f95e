"""Selection: one change of all tasks that a filter selects, as many as a request has time for."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from officeplane.domain.audit import Action
from officeplane.domain.errors import DatabaseUnavailableError, FieldError, InvalidRequestError, OfficePlaneError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import REOPENABLE, UNFINISHED, TaskState
from officeplane.domain.principal import Principal
from officeplane.services.operate.cancellation import Cancellation
from officeplane.services.operate.reopening import Reopening
from officeplane.store import tasks
from officeplane.store.connection import Ledger
from officeplane.store.tasks import Selected, TaskFilter

ENOUGH_SECONDS: Final = 5.0
"""After this long the rest is left to the next request."""

_AT_ONCE: Final = 100
_BESIDE_EACH_OTHER: Final = 4
"""Half of the connections that a process has: others want to be served meanwhile."""


class Changed(NamedTuple):
    """How many tasks changed, and above which sequence number to go on; None: there are no more."""

    tasks: int
    after: int | None


class Selection:
    """Finds tasks as lists do and does to each what could be asked for it alone.

    The oldest come first, so that a batch goes as a whole before any of its children is looked at.
    """

    def __init__(self, ledger: Ledger, cancellation: Cancellation, reopening: Reopening) -> None:
        self._ledger = ledger
        self._cancellation = cancellation
        self._reopening = reopening

    async def cancel(self, caller: Principal, wanted: TaskFilter, reason: str | None, after: int | None) -> Changed:
        """Cancel what waits, ask what runs to stop; batches go as wholes."""

        async def cancel(page: Sequence[Selected]) -> int:
            ids = [task.id for task in page]
            try:
                return await self._cancellation.cancel_many(caller, ids, reason)
            except DatabaseUnavailableError:
                # Many rows at once are seldom all unlocked, so one by one; if the ledger is lost, the first one fails.
                return sum([await self._cancellation.cancel_many(caller, [one], reason) for one in ids])

        return await self._each(caller, _narrowed(wanted, UNFINISHED, "cancelled"), after, cancel)

    async def retry(self, caller: Principal, wanted: TaskFilter, after: int | None) -> Changed:
        """Queue again what gave up or was cancelled."""
        turns = asyncio.Semaphore(_BESIDE_EACH_OTHER)

        async def retry_in_order(tree: Sequence[TaskId]) -> int:
            async with turns:
                return sum([await self._retried(caller, task_id) for task_id in tree])

        async def retry(page: Sequence[Selected]) -> int:
            try:
                async with asyncio.TaskGroup() as group:
                    doing = [group.create_task(retry_in_order(tree)) for tree in _trees(page)]
            except BaseExceptionGroup as failed:
                # The ledger was lost: what was done by then is done.
                raise failed.exceptions[0] from None
            return sum(one.result() for one in doing)

        return await self._each(caller, _narrowed(wanted, REOPENABLE, "retried"), after, retry)

    async def _retried(self, caller: Principal, task_id: TaskId) -> int:
        try:
            return await self._reopening.retry(caller, task_id, Action.RETRY_TASKS)
        except DatabaseUnavailableError:
            raise
        except OfficePlaneError:
            # It was queued meanwhile, perhaps with its batch, or may not be retried: a retry of it alone says why.
            return 0

    async def _each(
        self,
        caller: Principal,
        wanted: TaskFilter,
        after: int | None,
        change: Callable[[Sequence[Selected]], Awaitable[int]],
    ) -> Changed:
        wanted = wanted.within(caller.space)
        enough = time.monotonic() + ENOUGH_SECONDS
        count, above = 0, 0 if after is None else after
        while True:
            page = await tasks.select(self._ledger, wanted, caller.sight, after=above, limit=_AT_ONCE)
            count += await change(page) if page else 0
            if len(page) < _AT_ONCE:
                return Changed(count, None)
            above = page[-1].seq
            if time.monotonic() > enough:
                return Changed(count, above)


def _trees(page: Iterable[Selected]) -> Iterable[Sequence[TaskId]]:
    trees: dict[TaskId, list[TaskId]] = {}
    for task in page:
        trees.setdefault(task.root_id, []).append(task.id)
    return trees.values()


def _narrowed(wanted: TaskFilter, possible: tuple[TaskState, ...], what: str) -> TaskFilter:
    """Return the filter for those that it can be done to; a state that is asked for by name has to be one of them."""
    if wanted.states is None:
        return replace(wanted, states=possible)
    for state in wanted.states:
        if state not in possible:
            message = f"A {state} task cannot be {what}; possible are {', '.join(possible)}."
            raise InvalidRequestError(message, [FieldError("state", message)])
    return wanted
