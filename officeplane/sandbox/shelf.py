"""The shelf: the documents that a child keeps parsed, by the hash of their bytes."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import Format
from officeplane.domain.revision import PieceKey
from officeplane.formats.opening import Document, read_document

DOCUMENTS_MAX: Final = 32
BYTES_MAX: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class Opened:
    """A parsed document, and the pieces that the ledger has of it."""

    document: Document
    size: int
    kept: set[PieceKey]
    recipe: str
    """The hash of the recipe that these pieces are from: the same bytes may be kept in other pieces elsewhere."""


class Shelf:
    """The documents used last; the others are forgotten."""

    def __init__(self) -> None:
        self._opened: OrderedDict[str, Opened] = OrderedDict()

    def find(self, sha256: str) -> Opened | None:
        """Return the document with these bytes, if it is here."""
        if sha256 in self._opened:
            self._opened.move_to_end(sha256)
        return self._opened.get(sha256)

    def open(
        self, sha256: str, format: Format, data: bytes, cuts: list[int], kept: set[PieceKey], recipe: str
    ) -> Opened:
        """Parse a document and keep it; the file was cut into pieces at `cuts`."""
        opened = Opened(read_document(format, data, cuts), len(data), kept, recipe)
        self.put(sha256, opened)
        return opened

    def put(self, sha256: str, opened: Opened) -> None:
        """Keep a document under the hash of what it has become."""
        self._opened[sha256] = opened
        while len(self._opened) > 1 and (
            len(self._opened) > DOCUMENTS_MAX or sum(one.size for one in self._opened.values()) > BYTES_MAX
        ):
            self._opened.popitem(last=False)

    def drop(self, sha256: str) -> None:
        """Forget a document."""
        self._opened.pop(sha256, None)
