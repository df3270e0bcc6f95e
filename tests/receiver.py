"""Whoever is told of dead letters: a small HTTP server that a test lets refuse, keep silent, die and come back."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from tests.fault_proxy import reserved_port


class Receiver:
    """A server on one port that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        """Every body that came, answered or not."""
        self.status = 200
        """What it answers; 0 for nothing at all."""
        self._reserved = reserved_port()
        self.port: Final[int] = self._reserved.getsockname()[1]
        self._server: asyncio.Server | None = None
        self._answering: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/alerts"

    @property
    def task_ids(self) -> list[str]:
        """The tasks that it was told of, in order and as often as it was."""
        return [alert["taskId"] for body in self.told for alert in body["alerts"]]

    async def start(self) -> None:
        """Listen, always on the same port."""
        self._server = await asyncio.start_server(self._begin, "127.0.0.1", self.port)

    async def die(self) -> None:
        """Go away in the middle of whatever it is doing."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for answer in self._answering:
            answer.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    async def aclose(self) -> None:
        """Go away for good."""
        await self.die()
        self._reserved.close()

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = asyncio.create_task(self._answer(reader, writer))
        self._answering.add(answer)
        answer.add_done_callback(self._answering.discard)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].split()[0])
                self.told.append(json.loads(await reader.readexactly(length)))
                if not self.status:
                    # Until the other side goes away.
                    await reader.read()
                    return
                writer.write(f"HTTP/1.1 {self.status} Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
                await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def receiving() -> AsyncGenerator[Receiver]:
    """Give a receiver that listens."""
    receiver = Receiver()
    await receiver.start()
    try:
        yield receiver
    finally:
        await receiver.aclose()
