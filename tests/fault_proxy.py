"""A TCP proxy that fails on command: slow, silent, deaf in one direction, cut, or refusing.

Faults are switched while connections run. Tests order things by what was seen to
pass (`passed`), not by sleeping.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from enum import Enum
from typing import Final
from urllib.parse import urlsplit, urlunsplit

_CHUNK: Final = 65_536
_KEPT: Final = 1_000_000


class Direction(Enum):
    """Which way bytes travel."""

    REQUESTS = "to the server"
    REPLIES = "to the client"


class FaultProxy:
    """A way to one server, through which everything passes until told otherwise."""

    def __init__(self, host: str, port: int) -> None:
        self.delay_seconds = 0.0
        self.connections_accepted = 0
        # Bound for as long as the proxy is there, so that nobody else is given the port while it refuses.
        self._reserved = reserved_port()
        self.port: Final[int] = self._reserved.getsockname()[1]
        self._server_address: Final = (host, port)
        self._listening: asyncio.Server | None = None
        self._dropping: set[Direction] = set()
        self._flowing = {direction: asyncio.Event() for direction in Direction}
        self._moved = asyncio.Event()
        self._passed = dict.fromkeys(Direction, b"")
        self._cut_after: dict[Direction, int] = {}
        self._pairs: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    def url(self, original: str) -> str:
        """Return the server's URL with this proxy in the server's place."""
        parts = urlsplit(original)
        credentials, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{credentials}{at}127.0.0.1:{self.port}"))

    def hold(self, *directions: Direction) -> None:
        """Let nothing pass in these directions, or either way, until healed; as a black hole it accepts connections."""
        for direction in directions or Direction:
            self._flowing[direction].clear()

    def drop(self, *directions: Direction) -> None:
        """Let bytes of these directions vanish; they do not come back when healed."""
        self._dropping.update(directions)

    def cut_after(self, direction: Direction, count: int) -> None:
        """Cut every connection once that many more bytes have passed in this direction."""
        self._cut_after[direction] = count

    def cut(self) -> None:
        """Reset every connection; new ones are accepted."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def refuse(self) -> None:
        """Reset every connection and accept none."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        self.cut()

    async def heal(self) -> None:
        """Let everything pass again, and accept connections on the same port."""
        self.delay_seconds = 0.0
        self._dropping.clear()
        self._cut_after.clear()
        for flowing in self._flowing.values():
            flowing.set()
        if self._listening is None:
            self._listening = await asyncio.start_server(self._accept, "127.0.0.1", self.port)

    async def passed(
        self, text: bytes, direction: Direction = Direction.REQUESTS, *, within_seconds: float = 20
    ) -> None:
        """Return when these bytes have arrived at the proxy in this direction, dropped or not, since `forget`."""
        async with asyncio.timeout(within_seconds):
            while text not in self._passed[direction]:
                self._moved.clear()
                await self._moved.wait()

    def forget(self) -> None:
        """Forget what has passed, so that `passed` waits for what comes."""
        self._passed = dict.fromkeys(Direction, b"")

    def count(self, text: bytes, direction: Direction = Direction.REQUESTS) -> int:
        """Return how often these bytes have passed since `forget`."""
        return self._passed[direction].count(text)

    async def aclose(self) -> None:
        """Cut everything and stop."""
        await self.refuse()
        for pair in list(self._pairs):
            pair.cancel()
        await asyncio.gather(*self._pairs, return_exceptions=True)
        self._reserved.close()

    async def _accept(self, client_in: asyncio.StreamReader, client_out: asyncio.StreamWriter) -> None:
        self.connections_accepted += 1
        # Here and not where it is joined: who is cancelled before he begins cleans nothing up.
        self._writers.add(client_out)
        pair = asyncio.create_task(self._join(client_in, client_out))
        self._pairs.add(pair)
        pair.add_done_callback(self._pairs.discard)

    async def _join(self, client_in: asyncio.StreamReader, client_out: asyncio.StreamWriter) -> None:
        server_out: asyncio.StreamWriter | None = None
        try:
            with contextlib.suppress(OSError):
                server_in, server_out = await asyncio.open_connection(*self._server_address)
                self._writers.add(server_out)
                async with asyncio.TaskGroup() as pumps:
                    pumps.create_task(self._pump(Direction.REQUESTS, client_in, server_out))
                    pumps.create_task(self._pump(Direction.REPLIES, server_in, client_out))
        finally:
            for writer in (client_out, server_out):
                if writer is not None:
                    self._writers.discard(writer)
                    writer.transport.abort()

    async def _pump(self, direction: Direction, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while chunk := await source.read(_CHUNK):
                self._passed[direction] = (self._passed[direction] + chunk)[-_KEPT:]
                self._moved.set()
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                await self._flowing[direction].wait()
                if direction in self._dropping:
                    continue
                left = self._cut_after.get(direction)
                if left is not None:
                    self._cut_after[direction] = left - len(chunk)
                    chunk = chunk[: max(left, 0)]
                sink.write(chunk)
                await sink.drain()
                if left is not None and self._cut_after[direction] <= 0:
                    await asyncio.sleep(0)
                    self.cut()
        sink.close()  # an end of stream passes too


def reserved_port() -> socket.socket:
    """Return a socket that keeps a port for those who will listen on it; until then it refuses."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


@asynccontextmanager
async def fault_proxy(url: str) -> AsyncGenerator[FaultProxy, None]:
    """Give a healthy proxy to the server of this URL."""
    parts = urlsplit(url)
    proxy = FaultProxy(parts.hostname or "127.0.0.1", parts.port or 6379)
    try:
        await proxy.heal()
        yield proxy
    finally:
        await proxy.aclose()
