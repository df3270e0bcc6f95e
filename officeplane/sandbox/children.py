"""Children: the sandboxed processes as their owner has them, and those that wait with their documents open."""

import asyncio
import os
import select
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from officeplane.sandbox.nursery_client import Nursery

COPIED_BYTES: Final = 10 * 1024 * 1024
"""What every child comes to have for itself of what it was born with."""
KEPT_BYTES_MAX: Final = 384 * 1024 * 1024
"""How much memory the children may have together that have nothing to do: enough for some forty small documents."""
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
        """Whether it died while it had nothing to do, when there is nothing to hear from it but that."""
        poll = select.poll()
        poll.register(self.writer.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def measure(self) -> None:
        """Look how much memory it has come to need: what it says itself is not asked."""
        self.size = COPIED_BYTES + max(0, self._resident_bytes() - self._born_with)

    def close(self) -> None:
        """Say no more to it, which it takes for the end."""
        self.writer.close()
        if self._sizes is not None:
            os.close(self._sizes)
            self._sizes = None

    async def end(self) -> int:
        """Kill it and return its wait status."""
        self.close()
        # Its own nursery and no other: with that one gone, the number may be anybody's.
        with suppress(OSError):
            return await self.nursery.end(self.pid)
        return signal.SIGKILL

    def _resident_bytes(self) -> int:
        """Return how much memory it has that is no file's, 0 where the system does not tell."""
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
        """Leave a child that has done something to the next request, and end those used longest ago if need be."""
        child.measure()
        self.put(child)
        while len(self) > 1 and sum(one.size for one in self) > KEPT_BYTES_MAX:
            await self._children.pop(0).end()

    def close(self) -> None:
        """Say no more to any of them."""
        for child in self:
            child.close()


def _sizes_of(pid: int) -> int | None:
    """Open what the system tells of a process's memory: it is read after every request."""
    try:
        return os.open(f"/proc/{pid}/statm", os.O_RDONLY)
    except OSError:
        return None
