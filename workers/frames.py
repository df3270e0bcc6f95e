"""Frames: JSON messages with their length before them, between a worker and its children."""

import asyncio
import json
import socket
import struct
from typing import Any, Final, NoReturn, cast

_LENGTH: Final = struct.Struct(">I")

MESSAGE_BYTES_MAX: Final = 64 * 1024 * 1024
"""More than a handler can have to say: its result has 1 MiB at most, its edits a few of them."""

Message = dict[str, Any]
"""What both ends agree on is a JSON object; its fields are checked where they are used."""


class MalformedMessageError(Exception):
    """What came is nothing that was agreed on."""


def packed(message: Message) -> bytes:
    """Return a message as it goes over the wire."""
    body = json.dumps(message, allow_nan=False).encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(body)) + body


async def read(reader: asyncio.StreamReader) -> Message:
    """Return the next message of a child; `IncompleteReadError` when it is gone, `MalformedMessageError` if none."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    if length > MESSAGE_BYTES_MAX:
        message = f"a message of {length} bytes, where {MESSAGE_BYTES_MAX} are allowed"
        raise MalformedMessageError(message)
    try:
        found = _parsed(await reader.readexactly(length))
    except (ValueError, RecursionError) as error:
        message = f"no JSON: {error}"
        raise MalformedMessageError(message) from None
    if not isinstance(found, dict):  # pyright: ignore[reportUnnecessaryIsInstance] - it is what the child made it
        message = "no object"
        raise MalformedMessageError(message)
    return found


def receive(connection: socket.socket) -> Message:
    """Return the next message, blocking; `ConnectionError` when the other end is gone."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return _parsed(_exactly(connection, length))


def _parsed(body: bytes) -> Message:
    return cast("Message", json.loads(body.decode("utf-8", "surrogatepass"), parse_constant=_refuse))


def _refuse(name: str) -> NoReturn:
    message = f"{name} is no value of JSON"
    raise ValueError(message)


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
