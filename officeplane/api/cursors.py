"""Cursors and pages: where a list goes on, as a text that only this API can make."""

import base64
import binascii
import zlib
from typing import Final
from urllib.parse import urlencode

from starlette.datastructures import URL, QueryParams

from officeplane.domain.errors import InvalidCursorError

_SEQ_BYTES: Final = 8
_CHECKSUM_BYTES: Final = 4
_SEQ_SALT: Final = b"officeplane cursor"
_NAME_SALT: Final = b"officeplane name"
_SEQ_MAX: Final = 2**63 - 1


def cursor_after(seq: int) -> str:
    """Return the cursor of the page that follows the task with this sequence number."""
    return _cursor(seq.to_bytes(_SEQ_BYTES), _SEQ_SALT)


def cursor_after_name(name: str) -> str:
    """Return the cursor of the page that follows this name, in a list that is in the order of names."""
    return _cursor(name.encode(), _NAME_SALT)


def seq_of(cursor: str) -> int:
    """Return the sequence number that a cursor stands for."""
    place = _place_of(cursor, _SEQ_SALT)
    seq = int.from_bytes(place)
    if len(place) != _SEQ_BYTES or seq > _SEQ_MAX:
        raise InvalidCursorError
    return seq


def name_of(cursor: str) -> str:
    """Return the name that a cursor stands for."""
    return _place_of(cursor, _NAME_SALT).decode(errors="replace")


def _cursor(place: bytes, salt: bytes) -> str:
    return base64.urlsafe_b64encode(place + zlib.crc32(salt + place).to_bytes(_CHECKSUM_BYTES)).decode()


def _place_of(cursor: str, salt: bytes) -> bytes:
    try:
        place = base64.b64decode(cursor, altchars=b"-_", validate=True)[:-_CHECKSUM_BYTES]
    except (ValueError, binascii.Error):
        raise InvalidCursorError from None
    if _cursor(place, salt) != cursor:
        raise InvalidCursorError
    return place


def link_to_next(path: str, given: QueryParams, cursor: str) -> dict[str, str]:
    """Return the header that leads to the next page of the same list."""
    kept = [(name, value) for name, value in given.multi_items() if name != "cursor"]
    target = URL(path=path, query=urlencode([*kept, ("cursor", cursor)]))
    return {"Link": f'<{target}>; rel="next"'}
