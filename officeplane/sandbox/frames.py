"""Frames: a JSON message with bytes attached, between a process and its sandboxed children."""

import asyncio
import json
import socket
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

_LENGTH: Final = struct.Struct(">I")
_AT_ONCE: Final = 1 << 20

Body = dict[str, Any]
"""What both ends agree on is a JSON object; its fields are checked where they are used."""


class Frame(NamedTuple):
    """A message and what is attached to it."""

    body: Body
    attached: list[bytes]


def head_of(body: Body, sizes: Sequence[int]) -> bytes:
    """Return what goes over the wire before the attachments of these sizes."""
    text = json.dumps({"body": body, "sizes": sizes}, allow_nan=False).encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(text)) + text


async def read(reader: asyncio.StreamReader) -> Frame:
    """Return the next frame; `IncompleteReadError` when the other end is gone."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    body, sizes = _parsed(await reader.readexactly(length))
    return Frame(body, [await reader.readexactly(size) for size in sizes])


def receive(connection: socket.socket) -> Frame:
    """Return the next frame, blocking; `ConnectionError` when the other end is gone."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    body, sizes = _parsed(_exactly(connection, length))
    return Frame(body, [bytes(_exactly(connection, size)) for size in sizes])


def send(connection: socket.socket, body: Body, attached: Iterable[bytes] = ()) -> None:
    """Send a frame, blocking."""
    blobs = list(attached)
    connection.sendall(head_of(body, [len(blob) for blob in blobs]))
    for blob in blobs:
        connection.sendall(blob)


def _parsed(text: bytes | bytearray) -> tuple[Body, list[int]]:
    message = cast("dict[str, Any]", json.loads(text.decode("utf-8", "surrogatepass")))
    return message["body"], message["sizes"]


def _exactly(connection: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    at = 0
    while at < size:
        count = connection.recv_into(view[at : at + _AT_ONCE])
        if not count:
            message = "the other end is gone"
            raise ConnectionError(message)
        at += count
    return data
