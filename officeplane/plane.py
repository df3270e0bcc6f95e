"""The Python API: submit tasks and wait for them, from any asyncio program."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any, Unpack

from officeplane.config import Settings
from officeplane.domain.errors import InvalidRequestError, TaskNotFoundError
from officeplane.domain.ids import TaskId, parse_task_id
from officeplane.domain.request import TaskOptions, TaskRequest, request_of
from officeplane.domain.task import Task
from officeplane.local import local_installation
from officeplane.runtime import Runtime, open_runtime
from officeplane.store.connection import Executor

DEFAULT_WAIT_SECONDS = 60.0


class Plane:
    """An open connection to an installation."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def submit(
        self, task_type: str, *, connection: Executor | None = None, **options: Unpack[TaskOptions]
    ) -> Task:
        """Store a task and ring for it.

        With `connection`, an asyncpg connection in a transaction of yours, the
        task exists when you commit; call `ring` then, or let the sweeper find it.
        """
        request = request_of({"task_type": task_type, **options})
        if connection is None:
            return (await self._runtime.submission.submit(request)).task
        return (await self._runtime.submission.submit_within(connection, request)).task

    async def submit_many(self, tasks: Iterable[Mapping[str, Any]]) -> list[Task]:
        """Store all of these tasks or none, in the order given, and ring for them."""
        return [stored.task for stored in await self._runtime.submission.submit_many(_Requests(tasks))]

    async def ring(self, task: Task) -> None:
        """Ring for a task that was submitted in a transaction of yours, after your commit."""
        while task.is_batch:
            # A batch is rung by its first leaf.
            children = (await self._runtime.tasks.find(task.id)).children
            if not children:
                return
            task = await self.task(children[0].id)
        await self._runtime.submission.ring([task])

    async def task(self, task_id: str) -> Task:
        """Return a task as it is now."""
        return (await self._runtime.tasks.find(_id(task_id))).task

    async def wait(self, task_id: str, timeout: float = DEFAULT_WAIT_SECONDS) -> Task:
        """Return a task as soon as it is final, or as it is after that many seconds."""
        return (await self._runtime.long_poll.wait(_id(task_id), timeout)).task

    async def cancel(self, task_id: str, reason: str | None = None) -> Task:
        """Cancel a task, at once or, while it runs, by asking it to stop."""
        await self._runtime.cancellation.cancel(_id(task_id), reason)
        return await self.task(task_id)

    async def retry(self, task_id: str) -> Task:
        """Queue a task that has failed, timed out or been cancelled once more."""
        await self._runtime.reopening.retry(_id(task_id))
        return await self.task(task_id)


@asynccontextmanager
async def open_plane(
    database_url: str = "", redis_url: str = "", *, handlers: Iterable[ModuleType | str] = ()
) -> AsyncGenerator[Plane, None]:
    """Open an installation by its two URLs; the task types of `handlers` can be submitted.

    Without URLs it is that of the environment, or the one that `officeplane up` runs here.
    """
    settings = Settings(database_url=database_url, redis_url=redis_url) if database_url else Settings()
    if not settings.database_url and (local := local_installation()) is not None:
        settings = Settings.model_validate(local.settings())
    async with open_runtime(settings, handlers) as runtime:
        yield Plane(runtime)


class _Requests:
    """The requests that options make, one at a time: a thousand that live at once burden the garbage collector."""

    def __init__(self, tasks: Iterable[Mapping[str, Any]]) -> None:
        self._tasks = list(tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[TaskRequest]:
        for index, options in enumerate(self._tasks):
            try:
                request = request_of(options)
            except InvalidRequestError as error:
                raise error.within(str(index)) from None
            yield request


def _id(task_id: str) -> TaskId:
    parsed = parse_task_id(task_id)
    if parsed is None:
        raise TaskNotFoundError(task_id)
    return parsed
