"""The nursery's client: the other end of `officeplane.sandbox.nursery`."""

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import Final

from officeplane.domain.document import Policy
from officeplane.sandbox.nursery_protocol import BIRTH, END, NUMBER

NURSERY: Final = "officeplane.sandbox.nursery"


class Nursery:
    """The process that forks children, as its owner speaks to it."""

    def __init__(self, process: asyncio.subprocess.Process, owned: socket.socket) -> None:
        self._process = process
        self._owned = owned
        self._asking = asyncio.Lock()
        self._is_broken = False

    @classmethod
    async def open(cls, policy: Policy) -> "Nursery":
        """Start one; its children let in what this policy does."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                NURSERY,
                str(theirs.fileno()),
                policy,
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={},
                cwd="/",
                start_new_session=True,
            )
        return cls(process, ours)

    @property
    def is_gone(self) -> bool:
        """Whether nothing more can be had from it."""
        return self._is_broken or self._process.returncode is not None

    async def born(self, descriptor: int) -> int:
        """Have a child born that serves a descriptor, and return its process id."""

        def send() -> None:
            socket.send_fds(self._owned, [BIRTH], [descriptor])

        return await self._asked(send)

    async def end(self, pid: int) -> int:
        """Have a child killed, and return its wait status."""

        def send() -> None:
            self._owned.sendall(END + NUMBER.pack(pid))

        return await self._asked(send)

    async def close(self) -> None:
        """End it, and with it all its children."""
        self._owned.close()
        await self._process.wait()

    async def _asked(self, send: Callable[[], None]) -> int:
        # The answer is read although the caller may be cancelled: the next caller would take it for its own.
        return await asyncio.shield(asyncio.ensure_future(self._ask(send)))

    async def _ask(self, send: Callable[[], None]) -> int:
        async with self._asking:
            try:
                send()
                return await self._answer()
            except OSError:
                # Until the system tells that the process has ended may take a moment.
                self._is_broken = True
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
