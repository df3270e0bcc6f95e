"""Revisions: the immutable states of a document, and the recipes their bytes are kept as.

A recipe is the file as a list of short stretches of bytes and of references to
pieces, larger stretches stored once per document under their SHA-256. Two
revisions share what they have in common, and reading one needs no knowledge of
its format: its bytes are the stretches, one after the other.
"""

import hashlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Final, NamedTuple, NewType, TypeAlias

from officeplane.domain.document import Format
from officeplane.domain.ids import DocumentId, TaskId

PieceKey = NewType("PieceKey", bytes)
"""The SHA-256 of a piece."""

PIECE_BYTES_MIN: Final = 512
"""What is shorter stands in the recipe itself."""

PIECE_BYTES_MAX: Final = 1024 * 1024
"""What is longer is cut, so that nobody has to hold more at a time."""

_HEAD: Final = struct.Struct("<BI")
_INLINE: Final = 0
_PIECE: Final = 1


class PieceRef(NamedTuple):
    """A stretch that is kept elsewhere."""

    key: PieceKey
    size: int


Stretch: TypeAlias = bytes | PieceRef


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a file is put together."""

    stretches: tuple[Stretch, ...]

    @property
    def keys(self) -> list[PieceKey]:
        """The pieces it needs, each once, in order."""
        return list(dict.fromkeys(s.key for s in self.stretches if isinstance(s, PieceRef)))

    @property
    def cuts(self) -> list[int]:
        """Where in the file its stretches end."""
        sizes = (s.size if isinstance(s, PieceRef) else len(s) for s in self.stretches)
        return list(accumulate(sizes))

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        return sum(s.size if isinstance(s, PieceRef) else len(s) for s in self.stretches)

    @property
    def sha256(self) -> str:
        """The hash of the recipe itself, in hexadecimal: equal files may be cut in other ways."""
        return hashlib.sha256(self.encode()).hexdigest()

    def assemble(self, pieces: Mapping[PieceKey, bytes]) -> Iterator[bytes]:
        """Yield the file's bytes, stretch by stretch."""
        for stretch in self.stretches:
            yield pieces[stretch.key] if isinstance(stretch, PieceRef) else stretch

    def encode(self) -> bytes:
        """Return the recipe as it is stored."""
        parts: list[bytes] = []
        for stretch in self.stretches:
            if isinstance(stretch, PieceRef):
                parts += (_HEAD.pack(_PIECE, stretch.size), stretch.key)
            else:
                parts += (_HEAD.pack(_INLINE, len(stretch)), stretch)
        return b"".join(parts)

    @classmethod
    def decode(cls, stored: bytes) -> "Recipe":
        """Return the recipe that `encode` wrote; `ValueError` when it did not."""
        stretches: list[Stretch] = []
        at, end, is_known = 0, len(stored), True
        while at < end:
            try:
                kind, size = _HEAD.unpack_from(stored, at)
            except struct.error:
                break
            at += _HEAD.size
            length = 32 if kind == _PIECE else size
            body = stored[at : at + length]
            stretches.append(PieceRef(PieceKey(body), size) if kind == _PIECE else body)
            at += length
            is_known = is_known and kind <= _PIECE
        if at != end or not is_known:
            message = "it is cut short, or was never a recipe"
            raise ValueError(message)
        return cls(tuple(stretches))


def piece_key(data: bytes) -> PieceKey:
    """Return the name under which bytes are kept."""
    return PieceKey(hashlib.sha256(data).digest())


class RecipeWriter:
    """Gathers a file's stretches: the short ones merged, the long ones made pieces."""

    def __init__(self) -> None:
        self.pieces: dict[PieceKey, bytes] = {}
        self._stretches: list[Stretch] = []
        self._short: list[bytes] = []
        self._size = 0

    @property
    def size(self) -> int:
        """How many bytes were added so far."""
        return self._size

    def add(self, data: bytes) -> None:
        """Add a stretch of the file."""
        self._size += len(data)
        if len(data) < PIECE_BYTES_MIN:
            self._short.append(data)
            return
        self._flush()
        for at in range(0, len(data), PIECE_BYTES_MAX):
            piece = data[at : at + PIECE_BYTES_MAX]
            key = piece_key(piece)
            self.pieces[key] = piece
            self._stretches.append(PieceRef(key, len(piece)))

    def finish(self) -> Recipe:
        """Return the recipe of all that was added."""
        self._flush()
        return Recipe(tuple(self._stretches))

    def _flush(self) -> None:
        if self._short:
            self._stretches.append(b"".join(self._short))
            self._short.clear()


def state_of(recipe: Recipe, names: bytes) -> str:
    """Return what a file is called where it is open, with its nodes called by these names."""
    return recipe.sha256 if not names else hashlib.sha256(recipe.encode() + names).hexdigest()


@dataclass(frozen=True, slots=True)
class EditBase:
    """What an edit starts from: a revision of a document. The same bytes in other pieces are not the same."""

    document_id: DocumentId
    format: Format
    revision: int
    sha256: str
    recipe: Recipe
    names: bytes = b""
    """What its nodes are called that its file calls otherwise; only formats can read it."""

    @property
    def state(self) -> str:
        """What it is called where it is open."""
        return state_of(self.recipe, self.names)


@dataclass(frozen=True, slots=True)
class NewRevision:
    """A revision about to be settled: what it follows, what its bytes are, and who wanted it."""

    document_id: DocumentId
    format: Format
    base: int
    recipe: Recipe
    pieces: Mapping[PieceKey, bytes]
    sha256: str
    size: int
    task_type: str | None
    author: str | None
    note: str | None = None
    title: str | None = None
    """What the file calls itself, if that may be something else than before; empty for nothing."""
    names: bytes = b""
    """What its nodes are called that the file calls otherwise."""

    @property
    def as_base(self) -> EditBase:
        """What the edit after it starts from."""
        return EditBase(self.document_id, self.format, self.base + 1, self.sha256, self.recipe, self.names)

    @property
    def pieces_size(self) -> int:
        """How many bytes of pieces come with it."""
        return sum(map(len, self.pieces.values()))


Revisions: TypeAlias = Mapping[TaskId, NewRevision]
"""What tasks have made, by task."""


MADE_EMPTY: Final = "made empty"
"""The note of a first revision that nobody uploaded."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of a document, as the ledger keeps it."""

    revision: int
    base: int
    task_id: TaskId | None
    task_type: str | None
    author: str | None
    note: str | None
    sha256: str
    size: int
    created_at: datetime

    @property
    def made(self) -> dict[str, object]:
        """Who made it and how, for those who did not know of it."""
        made: dict[str, object] = {
            "revision": self.revision,
            "author": self.author,
            "taskType": self.task_type,
            "taskId": self.task_id,
        }
        return made if self.note is None else {**made, "note": self.note}


@dataclass(frozen=True, slots=True)
class EditCondition:
    """On which revision a task's edit was based, and what to do when that is not the head."""

    task_id: TaskId
    base_revision: int
    on_conflict: str
