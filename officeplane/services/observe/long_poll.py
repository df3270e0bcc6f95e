"""Long poll: many callers, each for the end of a task; one listener for all of them.

Announcements make it quick and may be lost; the ledger is asked once a second,
for all waiters in one statement, and whenever something may have been missed.
"""

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from officeplane.dispatch.announcements import Reconnected
from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL
from officeplane.domain.principal import Principal
from officeplane.domain.task import TaskDetails
from officeplane.services.observe.tasks import Tasks
from officeplane.store.connection import Ledger
from officeplane.store.tasks import states

_log = structlog.stdlib.get_logger(__name__)


class LongPoll:
    """Callers that wait for tasks to end."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, tasks: Tasks, poll_seconds: float) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._tasks = tasks
        self._poll_seconds: Final = poll_seconds
        self._waiters: dict[TaskId, set[asyncio.Event]] = {}
        self._missed = asyncio.Event()
        self._wanted = asyncio.Event()

    async def wait(self, caller: Principal, task_id: TaskId, seconds: float) -> TaskDetails:
        """Return the task as soon as it is final, or as it is when the time is over."""
        ended = asyncio.Event()
        self._waiters.setdefault(task_id, set()).add(ended)
        self._wanted.set()
        try:
            # It may have ended before anybody listened.
            details = await self._tasks.find(caller, task_id)
            if details.task.state in FINAL:
                return details
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await ended.wait()
            return await self._tasks.find(caller, task_id)
        finally:
            self._waiters[task_id].discard(ended)
            if not self._waiters[task_id]:
                del self._waiters[task_id]

    async def listen(self) -> None:
        """Hear of ended tasks until cancelled."""
        async with self._doorbell.announcements.listen_events() as listener:
            async for heard in listener:
                if isinstance(heard, Reconnected):
                    self._missed.set()
                else:
                    for task_id in heard.ids:
                        self._wake(TaskId(task_id))

    async def poll(self) -> None:
        """Ask the ledger about everything that is waited for, once a second, until cancelled."""
        while True:
            await self._wanted.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._missed.wait()
            self._missed.clear()
            if not self._waiters:
                self._wanted.clear()
                continue
            try:
                found = await states(self._ledger, list(self._waiters))
            except DatabaseUnavailableError as error:
                _log.debug("waiting.poll_failed", error=str(error))
                continue
            for task_id, state in found.items():
                if state in FINAL:
                    self._wake(task_id)

    def _wake(self, task_id: TaskId) -> None:
        for ended in self._waiters.get(task_id, ()):
            ended.set()
