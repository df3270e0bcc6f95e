"""Cursors and pages: where a list goes on, as a text that only this API can make."""

import base64
import binascii
import zlib
from typing import Final
from urllib.parse import urlencode

from starlette.datastructures import URL, QueryParams

from officeplane.domain.errors import InvalidCursorError

_SEQ_BYTES: Final = 8
_SALT: Final = b"officeplane cursor"
_SEQ_MAX: Final = 2**63 - 1


def cursor_after(seq: int) -> str:
    """Return the cursor of the page that follows the task with this sequence number."""
    place = seq.to_bytes(_SEQ_BYTES)
    return base64.urlsafe_b64encode(place + _checksum(place)).decode()


def seq_of(cursor: str) -> int:
    """Return the sequence number that a cursor stands for."""
    try:
        raw = base64.b64decode(cursor, altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise InvalidCursorError from None
    seq = int.from_bytes(raw[:_SEQ_BYTES])
    if seq > _SEQ_MAX or cursor_after(seq) != cursor:
        raise InvalidCursorError
    return seq


def link_to_next(path: str, given: QueryParams, cursor: str) -> dict[str, str]:
    """Return the header that leads to the next page of the same list."""
    kept = [(name, value) for name, value in given.multi_items() if name != "cursor"]
    target = URL(path=path, query=urlencode([*kept, ("cursor", cursor)]))
    return {"Link": f'<{target}>; rel="next"'}


def _checksum(place: bytes) -> bytes:
    return zlib.crc32(_SALT + place).to_bytes(4)
