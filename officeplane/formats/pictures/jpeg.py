"""JPEG: segments behind markers, and between two of these the pixels, in which a marker's first byte is escaped."""

import re
import struct
from typing import Final

from officeplane.formats.pictures.measured import BrokenPictureError, Measured

_END: Final = 0xD9
_PIXELS: Final = 0xDA
_ALONE: Final = frozenset((0x01, *range(0xD0, 0xD8)))
_FRAMES: Final = frozenset((0xC0, 0xC1, 0xC2))
"""Baseline, extended and progressive: what programs show."""

_OTHER_FRAMES: Final = frozenset(range(0xC3, 0xD0)) - {0xC4, 0xC8, 0xCC}
_LENGTH: Final = struct.Struct(">H")
_FRAME: Final = struct.Struct(">BHHB")
_MARKER: Final = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
_BEGIN: Final = 2


def measure(content: bytes) -> Measured:
    """Return the size that the frame tells and where the picture ends."""
    at = _BEGIN
    size: tuple[int, int] | None = None
    has_pixels = False
    while at + 1 < len(content):
        if content[at] != 0xFF:
            message = "something stands between its parts"
            raise BrokenPictureError(message)
        marker = content[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        at += 2
        if marker == _END:
            if size is None or not has_pixels:
                break
            return Measured(*size, at)
        if marker in _ALONE:
            continue
        if at + _LENGTH.size > len(content):
            break
        (length,) = _LENGTH.unpack_from(content, at)
        if marker in _OTHER_FRAMES:
            message = "it is compressed in a way that hardly any program shows"
            raise BrokenPictureError(message)
        if length < _LENGTH.size or at + length > len(content):
            break
        if marker in _FRAMES:
            if size is not None or length < _LENGTH.size + _FRAME.size:
                message = "its header says what no JPEG has"
                raise BrokenPictureError(message)
            _, height, width, _ = _FRAME.unpack_from(content, at + _LENGTH.size)
            size = width, height
        at += length
        if marker == _PIXELS:
            has_pixels = True
            found = _MARKER.search(content, at)
            at = len(content) if found is None else found.start()
    message = "its end is missing"
    raise BrokenPictureError(message)
