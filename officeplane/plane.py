"""The Python API: submit tasks and wait for them, from any asyncio program."""

import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any, Unpack

from officeplane.config import Settings
from officeplane.domain.errors import FieldError, InvalidRequestError, TaskNotFoundError
from officeplane.domain.ids import DocumentId, TaskId, parse_task_id
from officeplane.domain.principal import LOCAL, Principal
from officeplane.domain.request import TaskOptions, TaskRequest, request_of
from officeplane.domain.space import DEFAULT, SPACE_PATTERN, Space, bare
from officeplane.domain.task import Task
from officeplane.local import local_installation
from officeplane.runtime import Runtime, open_runtime
from officeplane.store.connection import Executor

DEFAULT_WAIT_SECONDS = 60.0


class Plane:
    """An open connection to an installation."""

    def __init__(self, runtime: Runtime, caller: Principal = LOCAL) -> None:
        self._runtime = runtime
        self._caller = caller

    async def submit(
        self, task_type: str, *, connection: Executor | None = None, **options: Unpack[TaskOptions]
    ) -> Task:
        """Store a task and ring for it.

        With `connection`, an asyncpg connection in a transaction of yours, the
        task exists when you commit; call `ring` then, or let the sweeper find it.
        """
        request = request_of({"task_type": task_type, **options})
        if connection is None:
            return _named((await self._runtime.submission.submit(self._caller, request)).task)
        return _named((await self._runtime.submission.submit_within(self._caller, connection, request)).task)

    async def submit_many(self, tasks: Iterable[Mapping[str, Any]]) -> list[Task]:
        """Store all of these tasks or none, in the order given, and ring for them."""
        stored = await self._runtime.submission.submit_many(self._caller, _Requests(tasks))
        return [_named(one.task) for one in stored]

    async def ring(self, task: Task) -> None:
        """Ring for a task that was submitted in a transaction of yours, after your commit."""
        while task.is_batch:
            # A batch is rung by its first leaf.
            children = (await self._runtime.tasks.find(self._caller, task.id)).children
            if not children:
                return
            task = await self.task(children[0].id)
        await self._runtime.submission.ring([task])

    async def task(self, task_id: str) -> Task:
        """Return a task as it is now."""
        return _named((await self._runtime.tasks.find(self._caller, _id(task_id))).task)

    async def wait(self, task_id: str, timeout: float = DEFAULT_WAIT_SECONDS) -> Task:
        """Return a task as soon as it is final, or as it is after that many seconds."""
        return _named((await self._runtime.long_poll.wait(self._caller, _id(task_id), timeout)).task)

    async def cancel(self, task_id: str, reason: str | None = None) -> Task:
        """Cancel a task, at once or, while it runs, by asking it to stop."""
        await self._runtime.cancellation.cancel(self._caller, _id(task_id), reason)
        return await self.task(task_id)

    async def retry(self, task_id: str) -> Task:
        """Queue a task that has failed, timed out or been cancelled once more."""
        await self._runtime.reopening.retry(self._caller, _id(task_id))
        return await self.task(task_id)


@asynccontextmanager
async def open_plane(
    database_url: str = "",
    redis_url: str = "",
    *,
    handlers: Iterable[ModuleType | str] = (),
    space: str = DEFAULT,
    acting_as: str = LOCAL.id,
) -> AsyncGenerator[Plane, None]:
    """Open an installation by its two URLs; the task types of `handlers` can be submitted.

    Without URLs it is that of the environment, or the one that `officeplane up` runs here.
    What is done is done in a space, and by whoever it is said to be done by.
    """
    if re.fullmatch(SPACE_PATTERN, space) is None:
        message = f"{space!r} is no name of a space: it has lower-case letters, digits and hyphens, 63 at most."
        raise InvalidRequestError(message, [FieldError("space", message)])
    settings = Settings(database_url=database_url, redis_url=redis_url) if database_url else Settings()
    if not settings.database_url and (local := local_installation()) is not None:
        settings = Settings.model_validate(local.settings())
    async with open_runtime(settings, handlers) as runtime:
        yield Plane(runtime, replace(LOCAL, id=acting_as, space=Space(space)))


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


def _named(task: Task) -> Task:
    """Return a task with its document's name as those who call know it."""
    if task.document_id is None or task.space == DEFAULT:
        return task
    return task._replace(document_id=DocumentId(bare(task.document_id)))


def _id(task_id: str) -> TaskId:
    parsed = parse_task_id(task_id)
    if parsed is None:
        raise TaskNotFoundError(task_id)
    return parsed
