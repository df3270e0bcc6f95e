"""Making: what a child says that it has made of a revision, and what of it is true.

A child has read a file that anybody may have sent. So what it returns is taken for
nothing but bytes: their hashes are computed here, and what it only names must be
something that the revision before was made of.
"""

import asyncio
import hashlib
from typing import Final, NamedTuple

from officeplane.domain.revision import PIECE_BYTES_MAX, EditBase, PieceKey, PieceRef, Recipe, piece_key
from officeplane.sandbox.answers import Applied
from officeplane.sandbox.errors import ChildDiedError
from officeplane.services.files.files import content
from officeplane.services.files.known_pieces import KnownPieces
from officeplane.store.connection import Executor

_HASHED_ON_THE_LOOP_MAX: Final = 256 * 1024
_FILE_BYTES_MAX: Final = 256 * 1024 * 1024
"""More than any file may come to, unpacked as well."""
_LIED: Final = "the process that had the document open returned what is no revision of it"


class Made(NamedTuple):
    """A revision's bytes, as far as they are new, and what the whole of them is."""

    recipe: Recipe
    pieces: dict[PieceKey, bytes]
    sha256: str
    size: int


async def made_of(executor: Executor, known: KnownPieces, base: EditBase, applied: Applied) -> Made:
    """Return what a child has made of a revision; a child that lies about it is as good as dead."""
    recipe, new, size = _checked(base.recipe, applied)
    document_id = base.document_id
    at_hand = {**known.of(document_id), **new}
    keys = recipe.keys
    if size <= _HASHED_ON_THE_LOOP_MAX and all(key in at_hand for key in keys):
        # This is nearly every edit: the file is small and was edited before.
        known.know(document_id, {key: at_hand[key] for key in keys})
        return Made(recipe, new, hashlib.sha256(b"".join(recipe.assemble(at_hand))).hexdigest(), size)
    digest = hashlib.sha256()
    seen: dict[PieceKey, bytes] | None = {} if known.has_room_for(size) else None
    async for data in content(executor, document_id, recipe, at_hand, seen):
        await asyncio.to_thread(digest.update, data)
    if seen is not None:
        known.know(document_id, seen)
    return Made(recipe, new, digest.hexdigest(), size)


def _checked(base: Recipe, applied: Applied) -> tuple[Recipe, dict[PieceKey, bytes], int]:
    try:
        recipe = Recipe.decode(applied.recipe)
    except ValueError:
        raise ChildDiedError(_LIED) from None
    new = {piece_key(piece): piece for piece in applied.pieces}
    sizes = {ref.key: ref.size for ref in base.stretches if isinstance(ref, PieceRef)}
    sizes |= {key: len(piece) for key, piece in new.items()}
    named = {(stretch.key, stretch.size) for stretch in recipe.stretches if isinstance(stretch, PieceRef)}
    size = recipe.size
    if (
        size > _FILE_BYTES_MAX
        # Every reference has to have its piece's size: the size of the file is believed from here on.
        or not named <= sizes.items()
        or not new.keys() <= {key for key, _ in named}
        or any(len(piece) > PIECE_BYTES_MAX for piece in applied.pieces)
    ):
        raise ChildDiedError(_LIED)
    return recipe, new, size
