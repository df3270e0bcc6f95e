"""Births: where the sandboxed children of a process come from, and how they are ended."""

import asyncio
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Final

import structlog
from pydantic import BaseModel, ConfigDict, Field

from officeplane.frames import Bounds, read
from officeplane.sandbox.confinement import FULL, Confinement, Layer, named, offered
from officeplane.sandbox.nursery_protocol import BIRTH, END, NUMBER

NURSERY: Final = "officeplane.sandbox.nursery"
COPIED_BYTES: Final = 10 * 1024 * 1024
"""What every child comes to have for itself of what it was born with."""
_FIRST_WORD: Final = Bounds(1024, 0)
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_log = structlog.stdlib.get_logger(__name__)


class ChildDiedError(Exception):
    """The child ended while it had the request, or was ended for what it did; `killed_by` is the signal, if any."""

    def __init__(self, message: str, killed_by: signal.Signals | None = None) -> None:
        super().__init__(message)
        self.killed_by = killed_by

    @classmethod
    def of(cls, status: int) -> "ChildDiedError":
        """Return what is told of a child that ended with this status."""
        if not os.WIFSIGNALED(status):
            return cls("the process that had the document open ended by itself")
        killed_by = signal.Signals(os.WTERMSIG(status))
        return cls(f"the process that had the document open was ended by {killed_by.name}", killed_by)


class SandboxError(Exception):
    """The child met something that nobody thought of; its log line has the stack."""


class NotConfinedError(SandboxError):
    """The child is not held as it has to be here, and was not given anything."""

    def __init__(self, missing: Confinement) -> None:
        super().__init__(f"no file is opened without {named(missing)}, which OFFICEPLANE_SANDBOX=require asks for")


class _Held(BaseModel):
    """What a child says first: what it has given up."""

    model_config = ConfigDict(strict=True, extra="forbid")

    held: list[Annotated[Layer, Field(strict=False)]]


class Child:
    """One child, which sees one document or one file on its way in, and no other."""

    def __init__(
        self,
        nursery: "_Nursery",
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


class Births:
    """The nursery of a process, opened when the first child is wanted."""

    def __init__(self, required: Confinement) -> None:
        self._required = required
        self._held: Confinement | None = None
        self._nursery: _Nursery | None = None
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

    async def _open_nursery(self) -> "_Nursery":
        async with self._opening:
            if self._nursery is None or self._nursery.is_gone:
                if self._nursery is not None:
                    await self._nursery.close()
                self._nursery = await _Nursery.open()
            return self._nursery


class _Nursery:
    """The other end of `officeplane.sandbox.nursery`."""

    def __init__(self, process: asyncio.subprocess.Process, owned: socket.socket) -> None:
        self._process = process
        self._owned = owned
        self._asking = asyncio.Lock()
        self._is_deaf = False

    @classmethod
    async def open(cls) -> "_Nursery":
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                NURSERY,
                str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={},
                cwd="/",
                start_new_session=True,
            )
        return cls(process, ours)

    @property
    def is_gone(self) -> bool:
        return self._is_deaf or self._process.returncode is not None

    async def born(self, descriptor: int) -> int:
        def send() -> None:
            socket.send_fds(self._owned, [BIRTH], [descriptor])

        return await self._asked(send)

    async def end(self, pid: int) -> int:
        def send() -> None:
            self._owned.sendall(END + NUMBER.pack(pid))

        return await self._asked(send)

    async def close(self) -> None:
        self._owned.close()
        await self._process.wait()

    async def _asked(self, send: Callable[[], None]) -> int:
        # Once asked, the answer is waited for: the next one would take it for its own.
        return await asyncio.shield(asyncio.ensure_future(self._ask(send)))

    async def _ask(self, send: Callable[[], None]) -> int:
        async with self._asking:
            try:
                send()
                return await self._answer()
            except OSError:
                # It may take a moment until the system tells of its end.
                self._is_deaf = True
                raise

    async def _answer(self) -> int:
        data = b""
        while len(data) < NUMBER.size:
            part = await asyncio.get_running_loop().sock_recv(self._owned, NUMBER.size - len(data))
            if not part:
                raise ConnectionError("the nursery is gone")
            data += part
        (answer,) = NUMBER.unpack(data)
        return int(answer)


def _sizes_of(pid: int) -> int | None:
    """Open what the system tells of a process's memory: it is read after every request."""
    try:
        return os.open(f"/proc/{pid}/statm", os.O_RDONLY)
    except OSError:
        return None
