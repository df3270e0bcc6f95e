"""PNG: chunks, each with its length and a sum of what it holds."""

import struct
import zlib
from typing import Final

from officeplane.formats.pictures.measured import BrokenPictureError, Measured

_BEGIN: Final = 8
_CHUNK: Final = struct.Struct(">I4s")
_SUM: Final = struct.Struct(">I")
_HEADER: Final = struct.Struct(">IIBBBBB")
_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
"""The bits of a sample that each kind of colours may have."""


def measure(content: bytes) -> Measured:
    """Return the size that the header tells and where the last chunk ends."""
    at = _BEGIN
    size: tuple[int, int] | None = None
    has_pixels = False
    while at + _CHUNK.size + _SUM.size <= len(content):
        length, name = _CHUNK.unpack_from(content, at)
        begin = at + _CHUNK.size
        end = begin + length
        if end + _SUM.size > len(content):
            break
        held = memoryview(content)[begin:end]
        if _SUM.unpack_from(content, end)[0] != zlib.crc32(held, zlib.crc32(name)):
            message = "a part of it was changed on the way"
            raise BrokenPictureError(message)
        if (size is None) != (name == b"IHDR"):
            message = "its header is not where it should be"
            raise BrokenPictureError(message)
        if size is None:
            size = _size(held)
        has_pixels = has_pixels or (name == b"IDAT" and length > 0)
        at = end + _SUM.size
        if name == b"IEND":
            if not has_pixels:
                break
            return Measured(*size, at)
    message = "its end is missing"
    raise BrokenPictureError(message)


def _size(header: memoryview) -> tuple[int, int]:
    if len(header) == _HEADER.size:
        width, height, depth, colours, compression, filtering, interlacing = _HEADER.unpack(header)
        if depth in _DEPTHS.get(colours, ()) and not compression and not filtering and interlacing < 2:
            return width, height
    message = "its header says what no PNG has"
    raise BrokenPictureError(message)
