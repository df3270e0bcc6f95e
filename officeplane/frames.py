"""Frames: a JSON object with bytes attached, as a process and its children send each other over a socket.

A frame begins with the lengths of all its parts, so that its reader knows how much will
come before it takes any of it into memory. Children are not trusted: what one of them
sends is read under bounds, and what breaks the format is a `MalformedFrameError`.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, NoReturn, TypeVar, cast

_HEAD: Final = struct.Struct(">II")
"""How long the object is as text, and how many attachments come behind it."""
_SIZE: Final = struct.Struct(">Q")
_AT_ONCE: Final = 1 << 20
_REASON_MAX: Final = 500
_PARSED_ON_THE_LOOP_MAX: Final = 64 * 1024

Body = dict[str, Any]
"""An object as JSON has it."""

T = TypeVar("T")


class Frame(NamedTuple):
    """A message and what is attached to it."""

    body: Body
    attached: Sequence[bytes] = ()


class Bounds(NamedTuple):
    """How large a message may be, and how large all its attachments together."""

    message_bytes: int
    attached_bytes: int


class MalformedFrameError(Exception):
    """What was read is no message, not one that is allowed here, or too large."""


def head_of(body: Body, sizes: Sequence[int] = ()) -> bytes:
    """Return what goes over the wire before the attachments of these sizes."""
    text = _ENCODER.encode(body).encode("utf-8", "surrogatepass")
    return b"".join((_HEAD.pack(len(text), len(sizes)), *map(_SIZE.pack, sizes), text))


async def read(reader: asyncio.StreamReader, bounds: Bounds, decode: Callable[[Frame], T]) -> T:
    """Return what `decode` makes of the next frame, whose sender is not trusted.

    Raises `IncompleteReadError` when the other end is gone, and `MalformedFrameError` for
    what is no frame, too large, or refused by `decode` with a `ValueError`.
    """
    length, count = _HEAD.unpack(await reader.readexactly(_HEAD.size))
    sizes_bytes = count * _SIZE.size
    if sizes_bytes + length > bounds.message_bytes:
        message = f"a message of {sizes_bytes + length} bytes, where {bounds.message_bytes} are allowed"
        raise MalformedFrameError(message)
    text = await reader.readexactly(sizes_bytes + length)
    sizes = [size for (size,) in _SIZE.iter_unpack(text[:sizes_bytes])]
    if sum(sizes) > bounds.attached_bytes:
        message = f"{sum(sizes)} bytes attached, where {bounds.attached_bytes} are allowed"
        raise MalformedFrameError(message)
    attached = [await reader.readexactly(size) for size in sizes]
    if length <= _PARSED_ON_THE_LOOP_MAX:
        return _decoded(text[sizes_bytes:], attached, decode)
    return await asyncio.to_thread(_decoded, text[sizes_bytes:], attached, decode)


def receive(connection: socket.socket) -> Frame:
    """Wait for the next frame of a trusted sender and return it; `ConnectionError` when the other end is gone."""
    length, count = _HEAD.unpack(_exactly(connection, _HEAD.size))
    sizes = [size for (size,) in _SIZE.iter_unpack(_exactly(connection, count * _SIZE.size))]
    body = _parsed(_exactly(connection, length))
    return Frame(body, [bytes(_exactly(connection, size)) for size in sizes])


def send(connection: socket.socket, body: Body, attached: Iterable[bytes] = ()) -> None:
    """Send a frame; return when the system has taken all of it."""
    blobs = list(attached)
    connection.sendall(head_of(body, list(map(len, blobs))))
    for blob in blobs:
        connection.sendall(blob)


def _decoded(text: bytes, attached: Sequence[bytes], decode: Callable[[Frame], T]) -> T:
    """Return what `decode` makes of a message whose sender is not trusted."""
    try:
        body = _parsed(text)
        if not isinstance(body, dict):  # pyright: ignore[reportUnnecessaryIsInstance] - its sender may have sent anything
            raise ValueError("no object")  # noqa: TRY004, TRY301 - refused like all that is malformed
        return decode(Frame(body, attached))
    except (ValueError, RecursionError) as error:
        reason = f"no message: {error}"[:_REASON_MAX]
        raise MalformedFrameError(reason) from None


def _refuse(name: str) -> NoReturn:
    message = f"{name} is no value of JSON"
    raise ValueError(message)


_ENCODER: Final = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"))
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


def _parsed(text: bytes | bytearray) -> Body:
    return cast("Body", _DECODER.decode(text.decode("utf-8", "surrogatepass")))


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
