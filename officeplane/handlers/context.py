"""What a handler may ask of the plane while it runs.

An `async def` handler gets a `Context`, whose methods are awaited. A plain
`def` handler runs in a child process and gets a `BlockingContext` with the same
names, called directly.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, Protocol, Unpack, overload

from officeplane.domain.document import Node
from officeplane.domain.ids import TaskId
from officeplane.domain.request import SpawnOptions
from officeplane.domain.space import bare
from officeplane.domain.task import ClaimedTask
from officeplane.handlers.facts import TaskFacts
from officeplane.handlers.spawning import BlockingSpawns, Keys, Spawns, answer_of, spawn_request


class Reports(Protocol):
    """Where an attempt's progress and checkpoints go."""

    def progress(self, task: ClaimedTask, fraction: float, message: str | None) -> None:
        """Keep the latest progress; it is stored with the next group."""
        ...

    async def checkpoint(self, task: ClaimedTask, value: object) -> None:
        """Store a checkpoint; on return it is durable."""
        ...


class BlockingReports(Protocol):
    """The same for a handler in a child process."""

    def progress(self, fraction: float, message: str | None) -> None:
        """Send progress to the worker."""
        ...

    def checkpoint(self, value: object) -> None:
        """Send a checkpoint to the worker and wait until it is stored."""
        ...


class Reader(Protocol):
    """Where an attempt reads its document: the head at the first look, whatever happens later."""

    async def text(self) -> str:
        """Return what the document says."""
        ...

    async def outline(self) -> list[Node]:
        """Return the tree of the document's nodes."""
        ...

    async def content(self) -> bytes:
        """Return the document's file."""
        ...


class BlockingReader(Protocol):
    """The same for a handler in a child process."""

    def text(self) -> str:
        """Return what the document says."""
        ...

    def outline(self) -> list[Node]:
        """Return the tree of the document's nodes."""
        ...

    def content(self) -> bytes:
        """Return the document's file."""
        ...


class _Readable:
    """What every handler can read of its attempt."""

    def __init__(self, task: ClaimedTask | TaskFacts, saved_checkpoint: object) -> None:
        self._told = task
        self.saved_checkpoint = saved_checkpoint
        """The value of the last `checkpoint`, of this attempt or an earlier one; None at first."""

    @cached_property
    def task(self) -> TaskFacts:
        """What is known of the task while this attempt runs."""
        # Of a claimed task it is made once somebody looks: most handlers do not.
        return self._told if isinstance(self._told, TaskFacts) else TaskFacts.of(self._told)

    @cached_property
    def _keys(self) -> Keys:
        return Keys()

    @property
    def attempt(self) -> int:
        """The number of this attempt; the first is 1."""
        return self._told.attempt

    @property
    def document_id(self) -> str | None:
        """The document whose lane the task runs in."""
        return None if self._told.document_id is None else bare(self._told.document_id)


class Context(_Readable):
    """One attempt, as an `async def` handler sees it."""

    def __init__(
        self,
        claimed: ClaimedTask,
        saved_checkpoint: object,
        reports: Reports,
        reader: Callable[[], Reader],
        spawns: Spawns,
    ) -> None:
        """Make the context of an attempt; its reader is opened when somebody reads."""
        super().__init__(claimed, saved_checkpoint)
        self._claimed = claimed
        self._reports = reports
        self._reader = reader
        self._spawns = spawns

    async def text(self) -> str:
        """Return what the document says, as of the revision that the task's edits will follow."""
        return await self._reader().text()

    async def outline(self) -> list[Node]:
        """Return the tree of the document's nodes, whose ids edits may name."""
        return await self._reader().outline()

    async def content(self) -> bytes:
        """Return the document's file."""
        return await self._reader().content()

    async def progress(self, fraction: float, message: str | None = None) -> None:
        """Report how far the attempt is, from 0 to 1."""
        self._reports.progress(self._claimed, fraction, message)

    async def checkpoint(self, value: object) -> None:
        """Store a JSON value that the next attempt finds as `saved_checkpoint`."""
        await self._reports.checkpoint(self._claimed, value)
        self.saved_checkpoint = value

    @overload
    async def spawn(
        self,
        task_type: str,
        *,
        payload: Mapping[str, Any] | None = ...,
        key: str | None = ...,
        wait: Literal[False] = ...,
        **options: Unpack[SpawnOptions],
    ) -> TaskId: ...

    @overload
    async def spawn(
        self,
        task_type: str,
        *,
        payload: Mapping[str, Any] | None = ...,
        key: str | None = ...,
        wait: bool,
        **options: Unpack[SpawnOptions],
    ) -> Any: ...

    async def spawn(
        self,
        task_type: str,
        *,
        payload: Mapping[str, Any] | None = None,
        key: str | None = None,
        wait: bool = False,
        **options: Unpack[SpawnOptions],
    ) -> Any:
        """Store a new task and return its id; one that was spawned under the key before is not stored again.

        With `wait`, return its result. Until there is one the handler is unwound, the
        task gives back its slot and its document, and then runs again from the top.
        """
        request = spawn_request(task_type, payload, options)
        spawned = await self._spawns.spawn(self._claimed, request, self._keys.key_of(task_type, key), wait=wait)
        return answer_of(spawned, wait=wait)


class BlockingContext(_Readable):
    """One attempt, as a plain `def` handler in a child process sees it."""

    def __init__(
        self,
        task: TaskFacts,
        saved_checkpoint: object,
        reports: BlockingReports,
        reader: BlockingReader,
        spawns: BlockingSpawns,
    ) -> None:
        super().__init__(task, saved_checkpoint)
        self._reports = reports
        self._reader = reader
        self._spawns = spawns

    def text(self) -> str:
        """Return what the document says, as of the revision that the task's edits will follow."""
        return self._reader.text()

    def outline(self) -> list[Node]:
        """Return the tree of the document's nodes, whose ids edits may name."""
        return self._reader.outline()

    def content(self) -> bytes:
        """Return the document's file."""
        return self._reader.content()

    def progress(self, fraction: float, message: str | None = None) -> None:
        """Report how far the attempt is, from 0 to 1."""
        self._reports.progress(fraction, message)

    def checkpoint(self, value: object) -> None:
        """Store a JSON value that the next attempt finds as `saved_checkpoint`."""
        self._reports.checkpoint(value)
        self.saved_checkpoint = value

    @overload
    def spawn(
        self,
        task_type: str,
        *,
        payload: Mapping[str, Any] | None = ...,
        key: str | None = ...,
        wait: Literal[False] = ...,
        **options: Unpack[SpawnOptions],
    ) -> TaskId: ...

    @overload
    def spawn(
        self,
        task_type: str,
        *,
        payload: Mapping[str, Any] | None = ...,
        key: str | None = ...,
        wait: bool,
        **options: Unpack[SpawnOptions],
    ) -> Any: ...

    def spawn(
        self,
        task_type: str,
        *,
        payload: Mapping[str, Any] | None = None,
        key: str | None = None,
        wait: bool = False,
        **options: Unpack[SpawnOptions],
    ) -> Any:
        """Store a new task and return its id; one that was spawned under the key before is not stored again.

        With `wait`, return its result. Until there is one the handler is unwound, the
        task gives back its slot and its document, and then runs again from the top.
        """
        request = spawn_request(task_type, payload, options)
        spawned = self._spawns.spawn(request, self._keys.key_of(task_type, key), wait=wait)
        return answer_of(spawned, wait=wait)
