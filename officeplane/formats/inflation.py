"""Inflation: what an entry of an archive holds, counted on the way, so that no entry becomes more than it says."""

import zlib
from collections.abc import Iterator
from typing import Final, TypeAlias

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.archive import STORED, Entry

Content: TypeAlias = bytes | bytearray
"""What a part holds."""

PART_BYTES_MAX: Final = 100 * 1000 * 1000
RATIO_MAX: Final = 200
RATIO_FREE_BYTES: Final = 1000 * 1000
"""Below this size a part may be compressed as well as it can be."""

_AT_ONCE: Final = 1 << 20


def inflate(data: bytes, entry: Entry) -> Content:
    """Return what an entry holds; never more than it says, whatever it says."""
    # Written into one place: the library's own way of growing takes twice the memory.
    content = bytearray(entry.size)
    at = 0
    for piece in _pieces(data, entry):
        content[at : at + len(piece)] = piece
        at += len(piece)
    return content


def skim(data: bytes, entry: Entry) -> None:
    """Check that an entry is whole and keep nothing of it: for pictures and what else is never looked into."""
    for _ in _pieces(data, entry):
        pass


def peek(data: bytes, entry: Entry, length: int) -> bytes:
    """Return the first bytes of what an entry holds."""
    body = data[entry.begin : entry.begin + min(entry.compressed_size, 1024)]
    if entry.method == STORED:
        return body[:length]
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(body, length)
    except zlib.error:
        raise _damaged(entry.name) from None


def check_size(name: str, size: int, compressed_size: int) -> None:
    """Refuse a part that is too large, or that so few bytes cannot honestly become."""
    if size > PART_BYTES_MAX:
        raise UnsupportedDocumentError("zip_bomb", f"the part {name!r} has {size} bytes; {PART_BYTES_MAX} are allowed")
    if size > RATIO_FREE_BYTES and size > RATIO_MAX * compressed_size:
        raise UnsupportedDocumentError(
            "zip_bomb", f"the part {name!r} is compressed better than {RATIO_MAX} to 1, as only bombs are"
        )


def _pieces(data: bytes, entry: Entry) -> Iterator[bytes]:
    """Yield what an entry holds, a little at a time; one that is not what it says is refused on the way."""
    crc = 0
    size = 0
    for content in _stored(data, entry) if entry.method == STORED else _inflated(data, entry):
        size += len(content)
        crc = zlib.crc32(content, crc)
        if size > entry.size:
            raise UnsupportedDocumentError("zip_bomb", f"the part {entry.name!r} has more bytes than the file says")
        yield content
    if size != entry.size or crc != entry.crc:
        raise _damaged(entry.name)


def _stored(data: bytes, entry: Entry) -> Iterator[bytes]:
    end = entry.begin + entry.compressed_size
    for at in range(entry.begin, end, _AT_ONCE):
        yield data[at : min(at + _AT_ONCE, end)]


def _inflated(data: bytes, entry: Entry) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in _stored(data, entry):
        rest = piece
        while True:
            if inflater.eof:
                raise _damaged(entry.name)
            try:
                content = inflater.decompress(rest, _AT_ONCE)
            except zlib.error:
                raise _damaged(entry.name) from None
            yield content
            rest = inflater.unconsumed_tail
            # A full measure may not have been all, even when nothing is left to read.
            if inflater.eof or (not rest and len(content) < _AT_ONCE):
                break
    if not inflater.eof or inflater.unused_data:
        raise _damaged(entry.name)


def _damaged(name: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("damaged", f"the file is damaged: its part {name!r} cannot be read")
