"""GIF: a screen, then pictures on it and remarks, each in blocks of at most 255 bytes."""

import struct
from typing import Final

from officeplane.formats.pictures.measured import BrokenPictureError, Measured

_SCREEN: Final = struct.Struct("<HHBBB")
_PICTURE: Final = struct.Struct("<HHHHB")
_BEGIN: Final = 6
_REMARK, _PIXELS, _END = 0x21, 0x2C, 0x3B


def measure(content: bytes) -> Measured:
    """Return the size of the screen, or of the largest picture on it, and where the last block ends."""
    try:
        return _measured(content)
    except (IndexError, struct.error):
        message = "its end is missing"
        raise BrokenPictureError(message) from None


def _measured(content: bytes) -> Measured:
    width, height, flags, _, _ = _SCREEN.unpack_from(content, _BEGIN)
    at = _BEGIN + _SCREEN.size + _colours(flags)
    has_pixels = False
    while True:
        kind = content[at]
        if kind == _END:
            if not has_pixels:
                message = "it has no pixels"
                raise BrokenPictureError(message)
            return Measured(width, height, at + 1)
        if kind == _REMARK:
            at = _behind_blocks(content, at + 2)
        elif kind == _PIXELS:
            _, _, its_width, its_height, flags = _PICTURE.unpack_from(content, at + 1)
            # One that is larger than the screen is held all the same.
            width, height = max(width, its_width), max(height, its_height)
            at = _behind_blocks(content, at + 1 + _PICTURE.size + _colours(flags) + 1)
            has_pixels = True
        else:
            message = "something stands between its parts"
            raise BrokenPictureError(message)


def _colours(flags: int) -> int:
    """Return how many bytes a table of colours takes."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _behind_blocks(content: bytes, at: int) -> int:
    while length := content[at]:
        at += 1 + length
    return at + 1
