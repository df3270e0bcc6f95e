"""Frames: JSON messages with their length before them, between a worker and its children."""

import asyncio
import json
import socket
import struct
from typing import Any, Final, cast

_LENGTH: Final = struct.Struct(">I")

Message = dict[str, Any]
"""What both ends agree on is a JSON object; its fields are checked where they are used."""


def packed(message: Message) -> bytes:
    """Return a message as it goes over the wire."""
    body = json.dumps(message, allow_nan=False).encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(body)) + body


async def read(reader: asyncio.StreamReader) -> Message:
    """Return the next message; `IncompleteReadError` when the other end is gone."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return _parsed(await reader.readexactly(length))


def receive(connection: socket.socket) -> Message:
    """Return the next message, blocking; `ConnectionError` when the other end is gone."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return _parsed(_exactly(connection, length))


def _parsed(body: bytes) -> Message:
    return cast("Message", json.loads(body.decode("utf-8", "surrogatepass")))


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            message = "the other end is gone"
            raise ConnectionError(message)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
