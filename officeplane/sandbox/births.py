"""Births: where the sandboxed children of a process come from."""

import asyncio
import signal
import socket
from typing import Annotated, Final

import structlog
from pydantic import BaseModel, ConfigDict, Field

from officeplane.frames import Bounds, read
from officeplane.sandbox.children import Child
from officeplane.sandbox.confinement import FULL, Confinement, Layer, named, offered
from officeplane.sandbox.errors import ChildDiedError, NotConfinedError
from officeplane.sandbox.nursery_client import Nursery

_FIRST_WORD: Final = Bounds(1024, 0)
_log = structlog.stdlib.get_logger(__name__)


class _Held(BaseModel):
    """What a child says first: what it has given up."""

    model_config = ConfigDict(strict=True, extra="forbid")

    held: list[Annotated[Layer, Field(strict=False)]]


class Births:
    """The nursery of a process, opened when the first child is wanted."""

    def __init__(self, required: Confinement) -> None:
        self._required = required
        self._held: Confinement | None = None
        self._nursery: Nursery | None = None
        self._opening = asyncio.Lock()
        self._unclaimed: list[asyncio.Future[Child]] = []

    @property
    def confinement(self) -> Confinement:
        """What holds the children: as the last one told, and before the first, what the kernel offers."""
        return offered() if self._held is None else self._held

    async def born(self) -> Child:
        """Return a child that has seen nothing yet."""
        failed = [birth for birth in self._unclaimed if birth.done() and birth.exception() is not None]
        self._unclaimed = [birth for birth in self._unclaimed if birth not in failed]
        birth = self._unclaimed.pop() if self._unclaimed else asyncio.ensure_future(self._birth())
        try:
            return await asyncio.shield(birth)
        except asyncio.CancelledError:
            # Half-way a birth cannot be undone: the child is left to the next who wants one.
            self._unclaimed.append(birth)
            raise

    async def close(self) -> None:
        """End the nursery, and with it all its children."""
        # Those who were cancelled have left their births behind.
        born = await asyncio.gather(*self._unclaimed, return_exceptions=True)
        for child in born:
            if isinstance(child, Child):
                child.close()
        if self._nursery is not None:
            await self._nursery.close()

    async def _birth(self) -> Child:
        nursery = await self._open_nursery()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                pid = await nursery.born(theirs.fileno())
        except ConnectionError:
            ours.close()
            raise ChildDiedError.of(signal.SIGKILL) from None
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 22)
        child = Child(nursery, pid, reader, writer)
        try:
            # Its first word, before it has met anything that could make it lie.
            told = await read(reader, _FIRST_WORD, lambda frame: _Held.model_validate(frame.body))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise ChildDiedError.of(await child.end()) from None
        held = frozenset(told.held)
        if self._required - held:
            await child.end()
            raise NotConfinedError(self._required - held)
        if (FULL & self.confinement) - held:
            _log.warning("sandbox.incomplete", missing=named(FULL - held))
        self._held = held
        return child

    async def _open_nursery(self) -> "Nursery":
        async with self._opening:
            if self._nursery is None or self._nursery.is_gone:
                if self._nursery is not None:
                    await self._nursery.close()
                self._nursery = await Nursery.open()
            return self._nursery
