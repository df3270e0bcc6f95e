"""The shelf: the states of its document that a child keeps parsed, each by the hash of its recipe and names.

A recipe names every byte of a file, by the bytes or by their hash, and comes from the
owner, so nothing that a child says of a file can make it another one. The names of an
upload's nodes are a child's own, and what is called wrongly by it is in its document.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import Policy
from officeplane.domain.revision import PieceKey
from officeplane.formats.document_names import named
from officeplane.formats.naming.names import Names
from officeplane.formats.opening import Document, read_document
from officeplane.formats.reading.reader import Reader
from officeplane.sandbox.operations import Opening

STATES_MAX: Final = 8
BYTES_MAX: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class Opened:
    """A parsed document, and the pieces that the ledger has of it."""

    document: Document
    size: int
    kept: set[PieceKey]
    _reader: Reader | None = None

    @property
    def reader(self) -> Reader:
        """The document as it is read in parts, made once for each state."""
        if self._reader is None:
            self._reader = self.document.reader()
        return self._reader

    def forget_reader(self) -> None:
        """Note that the document is about to change."""
        self._reader = None


class NotHereError(Exception):
    """The state must be sent first."""

    def __init__(self, state: str) -> None:
        super().__init__(state)
        self.state = state


class Shelf:
    """The states used last; the others are forgotten."""

    def __init__(self, policy: Policy = Policy.STRICT) -> None:
        self.policy = policy
        """What a document may have in it here."""
        self._opened: OrderedDict[str, Opened] = OrderedDict()

    @property
    def newest(self) -> str:
        """The state that was used or made last."""
        return next(reversed(self._opened))

    def find(self, state: str) -> Opened:
        """Return the document as it was in a state; `NotHereError` if that is not here."""
        if state not in self._opened:
            raise NotHereError(state)
        self._opened.move_to_end(state)
        return self._opened[state]

    def take(self, state: str) -> Opened:
        """Return the same and forget it: it is to be edited, and nobody must find it half-edited under its old name."""
        opened = self.find(state)
        opened.forget_reader()
        del self._opened[state]
        return opened

    def open(self, opening: Opening, file: bytes) -> None:
        """Parse a document, call its nodes by their names, and keep it."""
        recipe = opening.recipe
        document = read_document(opening.format, file, recipe.cuts)
        if opening.names:
            document = named(document, Names.decode(opening.names))
        self.put(opening.state, Opened(document, len(file), set(recipe.keys)))

    def put(self, state: str, opened: Opened) -> None:
        """Keep a document as the state that it has come to."""
        self._opened[state] = opened
        while len(self._opened) > 1 and (
            len(self._opened) > STATES_MAX or sum(one.size for one in self._opened.values()) > BYTES_MAX
        ):
            self._opened.popitem(last=False)
