"""The pool: the sandboxed children of a process, and which documents each has open.

A request for a document goes to the child that had it last, if that one is free.
A child that is stopped in the middle of a request is killed; one that dies takes
only its request with it.
"""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog

from officeplane.sandbox.frames import Body, Frame, head_of, read
from officeplane.sandbox.letters import BIRTH, END, NUMBER

REQUESTS_PER_CHILD: Final = 2_000
_log = structlog.stdlib.get_logger(__name__)


class ChildDiedError(Exception):
    """The child ended while it had the request; `killed_by` is the signal, if it was one."""

    def __init__(self, status: int) -> None:
        self.killed_by = signal.Signals(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else None
        super().__init__(
            f"the process that had the document open was ended by {self.killed_by.name}"
            if self.killed_by is not None
            else "the process that had the document open ended by itself"
        )


class SandboxError(Exception):
    """The child met something that nobody thought of; its log line has the stack."""


class _Child:
    def __init__(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.reader = reader
        self.writer = writer
        self.requests = 0


Send = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes the attachments of a request, as they come."""


class Sandbox:
    """At most so many children, born when they are needed."""

    def __init__(self, children_max: int) -> None:
        self._free = asyncio.Semaphore(children_max)
        self._idle: list[_Child] = []
        self._last: dict[str, int] = {}
        self._nursery: _Nursery | None = None
        self._opening = asyncio.Lock()

    async def ask(self, body: Body, attached: Sequence[bytes] = (), *, document: str | None = None) -> Frame:
        """Return a child's answer to a request about a document."""

        async def send(writer: asyncio.StreamWriter) -> None:
            for blob in attached:
                writer.write(blob)

        return await self.ask_with(body, [len(blob) for blob in attached], send, document=document)

    async def ask_with(self, body: Body, sizes: Sequence[int], send: Send, *, document: str | None = None) -> Frame:
        """Return a child's answer to a request whose attachments, of these sizes, are written by `send`."""
        async with self._free:
            child = self._pick(document) or await self._born()
            try:
                child.writer.write(head_of(body, list(sizes)))
                await send(child.writer)
                await child.writer.drain()
                answer = await read(child.reader)
            except (asyncio.IncompleteReadError, ConnectionError):
                raise ChildDiedError(await self._end(child)) from None
            except BaseException:
                await asyncio.shield(self._end(child))
                raise
            child.requests += 1
            if answer.body.pop("tired") or child.requests >= REQUESTS_PER_CHILD:
                await self._end(child)
            else:
                self._idle.append(child)
                if document is not None:
                    self._last[document] = child.pid
            if "error" in answer.body:
                _log.error("sandbox.broke", deed=body["deed"], document_id=document, stack=answer.body["broke"])
                raise SandboxError(answer.body["error"])
            return answer

    async def close(self) -> None:
        """End the idle children and the nursery; those at work have ended with their requests."""
        if self._nursery is not None:
            for child in self._idle:
                child.writer.close()
            await self._nursery.close()

    def _pick(self, document: str | None) -> _Child | None:
        if not self._idle:
            return None
        had_it = None if document is None else self._last.get(document)
        for index, child in enumerate(self._idle):
            if child.pid == had_it:
                return self._idle.pop(index)
        return self._idle.pop()

    async def _born(self) -> _Child:
        async with self._opening:
            if self._nursery is None or self._nursery.is_gone:
                self._nursery = await _Nursery.open()
        ours, theirs = socket.socketpair()
        with theirs:
            pid = await self._nursery.born(theirs.fileno())
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 22)
        return _Child(pid, reader, writer)

    async def _end(self, child: _Child) -> int:
        child.writer.close()
        self._last = {document: pid for document, pid in self._last.items() if pid != child.pid}
        assert self._nursery is not None  # noqa: S101 - it has given birth to this child
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            return await self._nursery.end(child.pid)
        return signal.SIGKILL


class _Nursery:
    """The other end of `officeplane.sandbox.nursery`."""

    def __init__(self, process: asyncio.subprocess.Process, owned: socket.socket) -> None:
        self._process = process
        self._owned = owned
        self._asking = asyncio.Lock()

    @classmethod
    async def open(cls) -> "_Nursery":
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                "officeplane.sandbox.nursery",
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
        return self._process.returncode is not None

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
            send()
            data = b""
            while len(data) < NUMBER.size:
                part = await asyncio.get_running_loop().sock_recv(self._owned, NUMBER.size - len(data))
                if not part:
                    raise ConnectionError("the nursery is gone")
                data += part
            (answer,) = NUMBER.unpack(data)
            return int(answer)
