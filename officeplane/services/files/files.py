"""Files: a revision's bytes, from the ledger to whoever reads them, a few at a time."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, TypeVar

from officeplane.domain.errors import DocumentNotFoundError
from officeplane.domain.revision import EditBase, PieceKey, PieceRef, Recipe
from officeplane.sandbox.answers import Missing, Refused
from officeplane.sandbox.conversation import Heard, Sent
from officeplane.sandbox.operations import Opening, Operation
from officeplane.sandbox.pool import Sandbox
from officeplane.services.files.known_pieces import KnownPieces
from officeplane.store import pieces
from officeplane.store.connection import Executor

BYTES_AT_ONCE: Final = 4 * 1024 * 1024
OPENINGS_MAX: Final = 8
_NOTHING: Final[Mapping[PieceKey, bytes]] = {}
A = TypeVar("A")


async def content(
    executor: Executor,
    document_id: str,
    recipe: Recipe,
    at_hand: Mapping[PieceKey, bytes] = _NOTHING,
    seen: dict[PieceKey, bytes] | None = None,
) -> AsyncGenerator[bytes, None]:
    """Yield a file's bytes in order, never holding many of them, unless all pieces are to be `seen` afterwards.

    What is at hand is not asked of the ledger.
    """
    batch: list[bytes | PieceRef] = []
    size = 0
    for stretch in recipe.stretches:
        batch.append(stretch)
        size += stretch.size if isinstance(stretch, PieceRef) else len(stretch)
        if size >= BYTES_AT_ONCE:
            for data in await _assembled(executor, document_id, batch, at_hand, seen):
                yield data
            batch, size = [], 0
    for data in await _assembled(executor, document_id, batch, at_hand, seen):
        yield data


async def _assembled(
    executor: Executor,
    document_id: str,
    batch: list[bytes | PieceRef],
    at_hand: Mapping[PieceKey, bytes],
    seen: dict[PieceKey, bytes] | None,
) -> list[bytes]:
    part = Recipe(tuple(batch))
    found = {key: at_hand[key] for key in part.keys if key in at_hand}
    wanted = [key for key in part.keys if key not in found]
    if wanted:
        fetched = await pieces.fetch(executor, document_id, wanted)
        if len(fetched) < len(wanted):
            # Pieces of a revision are removed with their document only, so the document is gone.
            raise DocumentNotFoundError(document_id)
        found |= fetched
    if seen is not None:
        seen.update(found)
    return list(part.assemble(found))


async def ask(
    executor: Executor,
    sandbox: Sandbox,
    operation: Operation[A],
    *files: EditBase,
    heard: Heard[A] | None = None,
    known: KnownPieces | None = None,
) -> A | Refused:
    """Return what a child answers about revisions of one document, opening those that it does not have.

    What it answers to that is given to `heard`. What is sent is known afterwards.
    """
    # A child sees one document: that revisions of two could meet in one is not for whoever asks to decide.
    (document_id,) = {file.document_id for file in files}
    answer = await sandbox.ask(operation, document=document_id, heard=heard)
    openings = 0
    while isinstance(answer, Missing):
        named = next((file for file in files if file.state == answer.state), None)
        if openings == OPENINGS_MAX or named is None:
            # Either more readers than children ask for different revisions, or the child asks for an unknown one.
            raise answer.error
        openings += 1
        file = _sent(executor, named, known)
        answer = await sandbox.ask(operation, document=document_id, file=file, heard=heard)
    return answer


def _sent(executor: Executor, file: EditBase, known: KnownPieces | None) -> Sent:
    """Return a revision as it goes to a child; its pieces are known afterwards, if it is no large one."""
    seen: dict[PieceKey, bytes] | None = {} if known is not None and known.has_room_for(file.recipe.size) else None

    async def blocks() -> AsyncGenerator[bytes, None]:
        async with aclosing(content(executor, file.document_id, file.recipe, seen=seen)) as found:
            async for data in found:
                yield data
        if known is not None and seen is not None:
            known.know(file.document_id, seen)

    return Sent(file.recipe.size, blocks(), Opening(file.format, file.recipe, file.names))
