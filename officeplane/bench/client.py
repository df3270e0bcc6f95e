"""An HTTP/1.1 client of a few lines: on the same cores as the server, a comfortable one would be half of the cost."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, cast

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_HEAD_ENDS: Final = b"\r\n\r\n"
CREATED: Final = 201


class NotCreatedError(Exception):
    """The API did not accept a task."""


class Client(asyncio.Protocol):
    """One keep-alive connection, one request at a time."""

    def __init__(self, key: str = "") -> None:
        self._head = f"Host: localhost\r\nAuthorization: Bearer {key}" if key else "Host: localhost"
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._answered: asyncio.Future[bytes] | None = None

    async def post(self, path: str, body: object) -> bytes:
        """Create something and return what it is; raises when the API refuses."""
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\n{self._head}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}"
        answer = await self._ask(head.encode() + _HEAD_ENDS + data)
        if int(answer[9:12]) != CREATED:
            raise NotCreatedError(answer.decode(errors="replace"))
        return answer.partition(_HEAD_ENDS)[2]

    async def get(self, path: str) -> bytes:
        """Return what is there."""
        answer = await self._ask(f"GET {path} HTTP/1.1\r\n{self._head}".encode() + _HEAD_ENDS)
        return answer.partition(_HEAD_ENDS)[2]

    async def _ask(self, request: bytes) -> bytes:
        assert self._transport is not None  # noqa: S101 - it is connected before anybody gets it
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answered

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the line."""
        # A TCP connection's is one, though uvloop's class does not say so.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Put the answer together, and hand it over when it is whole."""
        self._received += data
        head, ends, body = self._received.partition(_HEAD_ENDS)
        length = _LENGTH.search(head + b"\r\n")
        if ends and length is not None and len(body) >= int(length[1]):
            answer, self._received = self._received, b""
            if self._answered is not None and not self._answered.done():
                self._answered.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail whoever waits for an answer."""
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(exc or ConnectionResetError("the API hung up"))


@asynccontextmanager
async def clients(port: int, count: int, key: str = "") -> AsyncGenerator[Sequence[Client], None]:
    """Give that many connections to an API on this machine, of callers with a key if one is given."""
    loop = asyncio.get_running_loop()
    connected: list[Client] = []
    try:
        for _ in range(count):
            _, client = await loop.create_connection(partial(Client, key), "127.0.0.1", port)
            connected.append(client)
        yield connected
    finally:
        for client in connected:
            client.close()
