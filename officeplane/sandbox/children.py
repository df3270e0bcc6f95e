"""Children: the sandboxed processes as their owner has them, and those that wait with their documents open."""

import asyncio
import os
import select
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import structlog

from officeplane.sandbox.nursery_client import Nursery

COPIED_BYTES: Final = 10 * 1024 * 1024
"""How much of the memory that a child shares with its nursery at birth becomes its own sooner or later."""
KEPT_BYTES_MAX: Final = 384 * 1024 * 1024
"""How much memory all idle children together may have: enough for some forty small documents."""
GROWN_BYTES: Final = 10 * 1024 * 1024
"""By how much a child may be larger than when it had answered: while it has nothing to do, it does not grow."""
_log = structlog.stdlib.get_logger(__name__)
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class Child:
    """One child, which sees one document or one file on its way in, and no other."""

    def __init__(
        self,
        nursery: Nursery,
        pid: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.nursery = nursery
        self.pid = pid
        self.reader = reader
        self.writer = writer
        self.document: str | None = None
        self.requests = 0
        self.size = COPIED_BYTES
        """How much memory is its own, as of the last look."""
        self._sizes = _sizes_of(pid)
        self._born_with = self._resident_bytes()

    @property
    def has_ended(self) -> bool:
        """Whether it has died: as long as it has no request, nothing but its end can make its socket readable."""
        poll = select.poll()
        poll.register(self.writer.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def measure(self) -> None:
        """Look how much memory it has come to need; the system is asked, and not the child."""
        self.size = COPIED_BYTES + max(0, self._resident_bytes() - self._born_with)

    def close(self) -> None:
        """Close its socket, at which it ends by itself."""
        self.writer.close()
        if self._sizes is not None:
            os.close(self._sizes)
            self._sizes = None

    async def end(self) -> int:
        """Kill it and return its wait status."""
        self.close()
        # Only the nursery that forked it is asked: once that is gone, the process id may be anybody's.
        with suppress(OSError):
            return await self.nursery.end(self.pid)
        return signal.SIGKILL

    def _resident_bytes(self) -> int:
        """Return how much memory it has besides mapped files; 0 where the system does not tell."""
        if self._sizes is None:
            return 0
        try:
            _, resident, shared, *_ = os.pread(self._sizes, 128, 0).split()
        except (OSError, ValueError):
            return 0
        return (int(resident) - int(shared)) * _PAGE_BYTES


class Idle:
    """The children that have nothing to do, each with its document open for the next request."""

    def __init__(self) -> None:
        self._children: list[Child] = []
        self._looked_at = 0

    def __iter__(self) -> Iterator[Child]:
        """Yield them, the one used longest ago first."""
        return iter(self._children)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._children)

    def put(self, child: Child) -> None:
        """Leave a child to the next request."""
        self._children.append(child)

    def take(self, document: str | None) -> Child | None:
        """Take the child that had a document last, if it is here."""
        for child in reversed(self._children):
            if child.document == document:
                self._children.remove(child)
                return child
        return None

    async def keep(self, child: Child) -> None:
        """Leave a child that has done something to the next request; end those used longest ago if memory is short."""
        child.measure()
        self.put(child)
        await self._look_at_another()
        while len(self) > 1 and sum(one.size for one in self) > KEPT_BYTES_MAX:
            await self._children.pop(0).end()

    async def _look_at_another(self) -> None:
        """Look at one of them, in turn: one that has grown without a request obeys somebody else."""
        self._looked_at = (self._looked_at + 1) % len(self)
        other = self._children[self._looked_at]
        size = other.size
        other.measure()
        if other.size > size + GROWN_BYTES:
            _log.warning("sandbox.grew", document_id=other.document, bytes=other.size)
            self._children.remove(other)
            await other.end()

    def close(self) -> None:
        """Close the sockets of all of them, at which they end."""
        for child in self:
            child.close()


def _sizes_of(pid: int) -> int | None:
    """Open the file in which the system tells of a process's memory: it is read after every request."""
    try:
        return os.open(f"/proc/{pid}/statm", os.O_RDONLY)
    except OSError:
        return None
