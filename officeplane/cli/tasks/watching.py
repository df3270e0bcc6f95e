"""What happens to tasks, as it happens: the stream behind `officeplane tasks watch`.

An event is only a hint that a task changed; what is passed on is the task as
the API has it. So a lost connection or a repeated event can make the picture
late, never wrong. Running tasks are also read from time to time, for their
progress and, of a batch, its children.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from officeplane.cli.answers import Event, Task
from officeplane.cli.client import Client, task_path
from officeplane.cli.event_stream import RESET, Link, ServerEvent, follow
from officeplane.cli.exits import TryLaterError, UnreachableError
from officeplane.domain.lifecycle import ACTIVE

TICK_SECONDS = 1.0
POLLED_AT_ONCE = 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A task or an event as it was seen, and the JSON that said so."""

    what: Task | Event
    json: str


async def task_changes(client: Client, task_ids: Sequence[str]) -> AsyncGenerator[Sighting | Link | None]:
    """Yield these tasks whenever they changed, None when time passes, and end when all are final."""
    picture = _Picture(client, task_ids)
    async for sighting in picture.read():  # one that is not there is said so before anything else
        yield sighting
    if picture.is_final:
        return
    query = {"taskId": task_ids[0]} if len(task_ids) == 1 else {}
    async with aclosing(_with_ticks(follow(client, query, seen_at=time.monotonic()))) as stream:
        async for item in stream:
            picture.stale |= _touched(item, task_ids) | picture.due_for_progress()
            if not isinstance(item, ServerEvent):
                yield item
            try:
                async for sighting in picture.read():
                    yield sighting
            except (UnreachableError, TryLaterError):
                continue  # The stream notices too, and says when all is to be read again.
            if picture.is_final:
                return


async def plane_changes(client: Client) -> AsyncGenerator[Sighting | Link | None]:
    """Yield every event of the installation, and None when time passes; does not end."""
    async with aclosing(_with_ticks(follow(client, {}))) as stream:
        async for item in stream:
            if not isinstance(item, ServerEvent):
                yield item
            elif item.name != RESET:
                yield Sighting(Event.model_validate_json(item.data), item.data)


class _Picture:
    """Tasks as they were last read, and which of them to read again."""

    def __init__(self, client: Client, task_ids: Sequence[str]) -> None:
        self.stale = set(task_ids)
        self._client = client
        self._task_ids = task_ids
        self._tasks: dict[str, Task] = {}
        self._texts: dict[str, str] = {}
        self._polled_at = time.monotonic()

    @property
    def is_final(self) -> bool:
        """Whether all are known, and none will change."""
        return len(self._tasks) == len(self._task_ids) and all(task.is_final for task in self._tasks.values())

    def due_for_progress(self) -> set[str]:
        """Return the running tasks, when they were not read for a while."""
        if time.monotonic() - self._polled_at < TICK_SECONDS:
            return set()
        self._polled_at = time.monotonic()
        running = (task.id for task in self._tasks.values() if task.state in ACTIVE)
        return set(islice(running, POLLED_AT_ONCE))

    async def read(self) -> AsyncGenerator[Sighting]:
        """Read the stale ones again, in their order, and yield those that changed."""
        for task_id in [given for given in self._task_ids if given in self.stale]:
            answer = await self._client.get(task_path(task_id))
            self.stale.discard(task_id)
            if self._texts.get(task_id) != answer.text:
                self._texts[task_id] = answer.text
                self._tasks[task_id] = Task.model_validate_json(answer.content)
                yield Sighting(self._tasks[task_id], answer.text)


def _touched(item: ServerEvent | Link | None, task_ids: Sequence[str]) -> set[str]:
    """Return the tasks to read again because of what was heard."""
    match item:
        case Link.CONNECTED | ServerEvent(name="stream.reset"):
            return set(task_ids)
        case ServerEvent(data=data):
            return {Event.model_validate_json(data).task_id or ""} & set(task_ids)
        case Link.LOST | None:
            return set()


async def _with_ticks(stream: AsyncGenerator[T]) -> AsyncGenerator[T | None]:
    """Yield what the stream yields, and None for every second of silence."""
    upcoming = asyncio.ensure_future(anext(stream))
    try:
        while True:
            done, _ = await asyncio.wait({upcoming}, timeout=TICK_SECONDS)
            if done:
                item = upcoming.result()
                upcoming = asyncio.ensure_future(anext(stream))
                yield item
            else:
                yield None
    finally:
        upcoming.cancel()
        await asyncio.wait({upcoming})
        await stream.aclose()
