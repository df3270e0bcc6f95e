"""Known pieces: the bytes of documents that are being edited, so that nobody has to be believed about them.

What a child makes of a document is written down with the hash of the whole file, and
most of that file is what it was: with its pieces at hand the hash is computed here,
without asking the ledger for them again and again.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from officeplane.domain.revision import PieceKey

KNOWN_BYTES_MAX: Final = 64 * 1024 * 1024
FILE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Larger files are read anew: next to an edit of one that takes no time."""


class KnownPieces:
    """The pieces of the documents that were edited last."""

    def __init__(self) -> None:
        self._documents: OrderedDict[str, Mapping[PieceKey, bytes]] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._size = 0

    def of(self, document_id: str) -> Mapping[PieceKey, bytes]:
        """Return what is known of a document."""
        return self._documents.get(document_id, {})

    def has_room_for(self, size: int) -> bool:
        """Tell whether a file is one to be kept at hand."""
        return size <= FILE_BYTES_MAX

    def know(self, document_id: str, pieces: Mapping[PieceKey, bytes]) -> None:
        """Keep the pieces that a document is made of now; those of documents edited longest ago go."""
        self._documents[document_id] = pieces
        self._documents.move_to_end(document_id)
        size = sum(map(len, pieces.values()))
        self._size += size - self._sizes.get(document_id, 0)
        self._sizes[document_id] = size
        while len(self._documents) > 1 and self._size > KNOWN_BYTES_MAX:
            oldest, _ = self._documents.popitem(last=False)
            self._size -= self._sizes.pop(oldest)
