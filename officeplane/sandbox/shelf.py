"""The shelf: the states of its document that a child keeps parsed, each by the hash of its recipe.

The owner has computed that hash itself: a recipe names every byte of a file, by the
bytes or by their hash, so nothing that a child says of a file can make it another one.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import Format
from officeplane.domain.revision import PieceKey
from officeplane.formats.opening import Document, read_document

STATES_MAX: Final = 8
BYTES_MAX: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class Opened:
    """A parsed document, and the pieces that the ledger has of it."""

    document: Document
    size: int
    kept: set[PieceKey]


class Shelf:
    """The states used last; the others are forgotten."""

    def __init__(self) -> None:
        self._opened: OrderedDict[str, Opened] = OrderedDict()

    def find(self, recipe: str) -> Opened | None:
        """Return the document as it was put together by this recipe, if it is here."""
        if recipe in self._opened:
            self._opened.move_to_end(recipe)
        return self._opened.get(recipe)

    def open(self, recipe: str, format: Format, data: bytes, cuts: list[int], kept: set[PieceKey]) -> Opened:
        """Parse a document and keep it; the file was cut into pieces at `cuts`."""
        opened = Opened(read_document(format, data, cuts), len(data), kept)
        self.put(recipe, opened)
        return opened

    def put(self, recipe: str, opened: Opened) -> None:
        """Keep a document under the recipe of what it has become."""
        self._opened[recipe] = opened
        while len(self._opened) > 1 and (
            len(self._opened) > STATES_MAX or sum(one.size for one in self._opened.values()) > BYTES_MAX
        ):
            self._opened.popitem(last=False)

    def drop(self, recipe: str) -> None:
        """Forget a state."""
        self._opened.pop(recipe, None)
