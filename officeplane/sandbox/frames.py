"""Frames: a JSON message with bytes attached, between a process and its sandboxed children."""

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Final, NamedTuple, NoReturn, cast

from pydantic import BaseModel, ConfigDict, FailFast, Field

_LENGTH: Final = struct.Struct(">I")
_AT_ONCE: Final = 1 << 20
_REASON_MAX: Final = 500
_PARSED_ON_THE_LOOP_MAX: Final = 64 * 1024

Body = dict[str, Any]
"""What both ends agree on is a JSON object; its fields are checked where they are used."""


class Frame(NamedTuple):
    """A message and what is attached to it."""

    body: Body
    attached: list[bytes]


class Bounds(NamedTuple):
    """How long a message may be that is read, and all that is attached to it."""

    message_bytes: int
    attached_bytes: int


class _Message(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    body: Body
    sizes: Annotated[list[Annotated[int, Field(ge=0)]], FailFast()]


class MalformedFrameError(Exception):
    """What came is no message, or more than was asked for."""


def head_of(body: Body, sizes: Sequence[int]) -> bytes:
    """Return what goes over the wire before the attachments of these sizes."""
    message = {"body": body, "sizes": sizes}
    text = json.dumps(message, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(text)) + text


async def read(reader: asyncio.StreamReader, bounds: Bounds, check: Callable[[Body], object]) -> Frame:
    """Return the next frame; `IncompleteReadError` when the other end is gone, `MalformedFrameError` when it lies.

    What `check` raises a `ValueError` for is a lie, too.
    """
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    if length > bounds.message_bytes:
        message = f"a message of {length} bytes, where {bounds.message_bytes} are allowed"
        raise MalformedFrameError(message)
    text = await reader.readexactly(length)
    if length <= _PARSED_ON_THE_LOOP_MAX:
        body, sizes = _checked(text, check)
    else:
        body, sizes = await asyncio.to_thread(_checked, text, check)
    if sum(sizes) > bounds.attached_bytes:
        message = f"{sum(sizes)} bytes attached, where {bounds.attached_bytes} are allowed"
        raise MalformedFrameError(message)
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


def _checked(text: bytes, check: Callable[[Body], object]) -> tuple[Body, list[int]]:
    """Return what a message says, of whose sender nothing is believed."""
    try:
        message = _Message.model_validate(_DECODER.decode(text.decode("utf-8", "surrogatepass")))
        check(message.body)
    except (ValueError, RecursionError) as error:
        reason = f"no message: {error}"[:_REASON_MAX]
        raise MalformedFrameError(reason) from None
    return message.body, message.sizes


def _refuse(name: str) -> NoReturn:
    message = f"{name} is no value of JSON"
    raise ValueError(message)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


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
