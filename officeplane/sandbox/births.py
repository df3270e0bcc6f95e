"""Births: where the sandboxed children of a process come from."""

import asyncio
import signal
import socket
from typing import Annotated, Final

import structlog
from pydantic import BaseModel, ConfigDict, Field

from officeplane.domain.document import Policy
from officeplane.frames import Bounds, read
from officeplane.sandbox.children import Child
from officeplane.sandbox.confinement import FULL, Confinement, Layer, named, offered
from officeplane.sandbox.errors import ChildDiedError, NotConfinedError
from officeplane.sandbox.nursery_client import Nursery

_FIRST_WORD_BOUNDS: Final = Bounds(1024, 0)
_log = structlog.stdlib.get_logger(__name__)


class _FirstWord(BaseModel):
    """What a child says first: under which layers of confinement it is."""

    model_config = ConfigDict(strict=True, extra="forbid")

    layers: list[Annotated[Layer, Field(strict=False)]]


class Births:
    """The nursery of a process, opened when the first child is wanted."""

    def __init__(self, required: Confinement, policy: Policy = Policy.STRICT) -> None:
        self._required = required
        self._policy = policy
        self._newest: Confinement | None = None
        self._nursery: Nursery | None = None
        self._opening = asyncio.Lock()
        self._unclaimed: list[asyncio.Future[Child]] = []

    @property
    def confinement(self) -> Confinement:
        """What confines the children, as the newest one has told; before there is one, what the kernel offers."""
        return offered() if self._newest is None else self._newest

    async def born(self) -> Child:
        """Return a child that has seen nothing yet."""
        failed = [birth for birth in self._unclaimed if birth.done() and birth.exception() is not None]
        self._unclaimed = [birth for birth in self._unclaimed if birth not in failed]
        birth = self._unclaimed.pop() if self._unclaimed else asyncio.ensure_future(self._birth())
        try:
            return await asyncio.shield(birth)
        except asyncio.CancelledError:
            # A birth cannot be undone half-way: the child is left to the next request that wants one.
            self._unclaimed.append(birth)
            raise

    async def close(self) -> None:
        """End the nursery, and with it all its children."""
        # Requests that were cancelled have left their births behind.
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
            # Its first word can be trusted: it has not met anything yet that could make it lie.
            told = await read(reader, _FIRST_WORD_BOUNDS, lambda frame: _FirstWord.model_validate(frame.body))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise ChildDiedError.of(await child.end()) from None
        confinement = frozenset(told.layers)
        if self._required - confinement:
            await child.end()
            raise NotConfinedError(self._required - confinement)
        if (FULL & self.confinement) - confinement:
            _log.warning("sandbox.incomplete", missing=named(FULL - confinement))
        self._newest = confinement
        return child

    async def _open_nursery(self) -> "Nursery":
        async with self._opening:
            if self._nursery is None or self._nursery.is_gone:
                if self._nursery is not None:
                    await self._nursery.close()
                self._nursery = await Nursery.open(self._policy)
            return self._nursery
