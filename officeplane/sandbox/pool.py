"""The pool: the sandboxed children of a process, and which documents each has open.

A request for a document goes to the child that had it last, and waits a little while
for that one to be free: to open a document takes longer than most edits of it.
A child that is stopped in the middle of a request is killed; one that dies takes
only its request with it.
"""

import asyncio
import os
import select
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog

from officeplane.sandbox.confinement import FULL, Confinement, Layer, named, offered
from officeplane.sandbox.frames import Body, Frame, head_of, read
from officeplane.sandbox.letters import BIRTH, END, NUMBER

NURSERY: Final = "officeplane.sandbox.nursery"
REQUESTS_PER_CHILD: Final = 2_000
LINGER_SECONDS: Final = 0.02
"""How long a request waits for its document's child while another child has nothing to do."""
PATIENCE_SECONDS: Final = 1.0
"""How long it waits while the others have enough to do with documents of their own."""
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


class NotConfinedError(SandboxError):
    """The child is not held as it has to be here, and was not given anything."""

    def __init__(self, missing: Confinement) -> None:
        super().__init__(f"no file is opened without {named(missing)}, which OFFICEPLANE_SANDBOX=require asks for")


class _Child:
    def __init__(
        self, nursery: "_Nursery", pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.nursery = nursery
        self.pid = pid
        self.reader = reader
        self.writer = writer
        self.requests = 0

    @property
    def has_ended(self) -> bool:
        """Whether it died while it had nothing to do, when there is nothing to hear from it but that."""
        poll = select.poll()
        poll.register(self.writer.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))


class _Waiting:
    """A request that waits for its turn."""

    def __init__(self, document: str | None) -> None:
        loop = asyncio.get_running_loop()
        self.document = document
        self.began = loop.time()
        self.turn: asyncio.Future[_Child | None] = loop.create_future()


Send = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes the attachments of a request, as they come."""
Heard = Callable[[Frame], None]
"""Is given an answer that others follow."""


class Sandbox:
    """At most so many children, born when they are needed, and held by as much as is required at least."""

    def __init__(self, children_max: int, *, required: Confinement = frozenset()) -> None:
        self._required = required
        self._held: Confinement | None = None
        self._turns = children_max
        self._waiting: list[_Waiting] = []
        self._idle: list[_Child] = []
        self._last: dict[str, int] = {}
        self._nursery: _Nursery | None = None
        self._opening = asyncio.Lock()
        self._unclaimed: list[asyncio.Future[_Child]] = []

    @property
    def confinement(self) -> Confinement:
        """What holds the children: as the last one told, and before the first, what the kernel offers."""
        return offered() if self._held is None else self._held

    async def ask(
        self, body: Body, attached: Sequence[bytes] = (), *, document: str | None = None, heard: Heard | None = None
    ) -> Frame:
        """Return a child's answer to a request about a document."""

        async def send(writer: asyncio.StreamWriter) -> None:
            for blob in attached:
                writer.write(blob)

        return await self.ask_with(body, [len(blob) for blob in attached], send, document=document, heard=heard)

    async def ask_with(
        self,
        body: Body,
        sizes: Sequence[int],
        send: Send,
        *,
        document: str | None = None,
        heard: Heard | None = None,
    ) -> Frame:
        """Return a child's last answer to a request whose attachments, of these sizes, are written by `send`."""
        async with self._turn(document) as had_it:
            child = had_it or await self._born()
            try:
                child.writer.write(head_of(body, list(sizes)))
                await send(child.writer)
                await child.writer.drain()
                answer = await read(child.reader)
                while "more" in answer.body and heard is not None:
                    heard(answer)
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
        # Those who were cancelled have left their births behind.
        born = await asyncio.gather(*self._unclaimed, return_exceptions=True)
        for child in (*self._idle, *(child for child in born if isinstance(child, _Child))):
            child.writer.close()
        if self._nursery is not None:
            await self._nursery.close()

    @asynccontextmanager
    async def _turn(self, document: str | None) -> AsyncGenerator[_Child | None, None]:
        """Wait for one of the children, or for leave to have one born."""
        waiting = _Waiting(document)
        self._waiting.append(waiting)
        self._give_turns()
        looking_again = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._give_turns)
        try:
            child = waiting.turn.result() if waiting.turn.done() else await waiting.turn
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            elif not waiting.turn.cancelled():
                self._idle += [child for child in (waiting.turn.result(),) if child is not None]
                self._end_turn()
            raise
        finally:
            looking_again.cancel()
        try:
            if child is not None and child.has_ended:
                # It died while it had nothing to do: no request is to blame.
                await self._end(child)
                child = None
            yield child
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        self._turns += 1
        self._give_turns()

    def _give_turns(self) -> None:
        """Give what is free to those who wait: first where the document is open, or nowhere, then to the impatient."""
        now = asyncio.get_running_loop().time()
        for seconds in (PATIENCE_SECONDS, LINGER_SECONDS):
            for waiting in [one for one in self._waiting if not one.turn.cancelled()]:
                if not self._turns:
                    return
                had_it = None if waiting.document is None else self._last.get(waiting.document)
                child = next((child for child in self._idle if child.pid == had_it), None)
                if child is None and had_it is not None and now < waiting.began + seconds:
                    continue
                child = child or (self._idle[-1] if self._idle else None)
                if child is not None:
                    self._idle.remove(child)
                self._turns -= 1
                self._waiting.remove(waiting)
                waiting.turn.set_result(child)

    async def _born(self) -> _Child:
        failed = [birth for birth in self._unclaimed if birth.done() and birth.exception() is not None]
        self._unclaimed = [birth for birth in self._unclaimed if birth not in failed]
        birth = self._unclaimed.pop() if self._unclaimed else asyncio.ensure_future(self._birth())
        try:
            return await asyncio.shield(birth)
        except asyncio.CancelledError:
            # Half-way a birth cannot be undone: the child is left to the next who wants one.
            self._unclaimed.append(birth)
            raise

    async def _birth(self) -> _Child:
        nursery = await self._open_nursery()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                pid = await nursery.born(theirs.fileno())
        except ConnectionError:
            ours.close()
            raise ChildDiedError(signal.SIGKILL) from None
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 22)
        child = _Child(nursery, pid, reader, writer)
        try:
            # Its first word, before it has met anything that could make it lie.
            told = await read(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise ChildDiedError(await self._end(child)) from None
        held = frozenset(map(Layer, told.body["held"]))
        if self._required - held:
            await self._end(child)
            raise NotConfinedError(self._required - held)
        if (FULL & self.confinement) - held:
            _log.warning("sandbox.incomplete", missing=sorted(FULL - held))
        self._held = held
        return child

    async def _open_nursery(self) -> "_Nursery":
        async with self._opening:
            if self._nursery is None or self._nursery.is_gone:
                if self._nursery is not None:
                    await self._nursery.close()
                self._nursery = await _Nursery.open()
            return self._nursery

    async def _end(self, child: _Child) -> int:
        child.writer.close()
        self._last = {document: pid for document, pid in self._last.items() if pid != child.pid}
        # Its own nursery and no other: with that one gone, the number may be anybody's.
        with suppress(OSError):
            return await child.nursery.end(child.pid)
        return signal.SIGKILL


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
