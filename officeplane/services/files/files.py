"""Files: a revision's bytes, from the ledger to whoever reads them, a few at a time."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.domain.errors import DocumentNotFoundError
from officeplane.domain.revision import PieceKey, PieceRef, Recipe
from officeplane.frames import Body, Frame
from officeplane.sandbox.pool import Heard, Sandbox
from officeplane.services.files.known_pieces import KnownPieces
from officeplane.store import documents
from officeplane.store.connection import Executor

BYTES_AT_ONCE: Final = 4 * 1024 * 1024
OPENINGS_MAX: Final = 8
_NOTHING: Final[Mapping[PieceKey, bytes]] = {}
NOBODY: Final = "OfficePlane"
"""Who is named as author in a file when nobody said who asks."""


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
        fetched = await documents.pieces(executor, document_id, wanted)
        if len(fetched) < len(wanted):
            # Only with their document do pieces go that a revision is made of.
            raise DocumentNotFoundError(document_id)
        found |= fetched
    if seen is not None:
        seen.update(found)
    return list(part.assemble(found))


class OpenedFile:
    """A revision as a sandboxed child may be sent it."""

    def __init__(self, document_id: str, format: Format, recipe: Recipe) -> None:
        self.document_id = document_id
        self.format = format
        self.recipe = recipe
        self.name = recipe.sha256
        """What it is called where it is open: nobody but its owner has computed it."""

    @property
    def _introduction(self) -> Body:
        return {
            "format": self.format,
            "cuts": self.recipe.cuts,
            "kept": [key.hex() for key in self.recipe.keys],
            "recipe": self.name,
        }

    async def ask(
        self,
        executor: Executor,
        sandbox: Sandbox,
        body: Body,
        heard: Heard | None = None,
        known: KnownPieces | None = None,
    ) -> Frame:
        """Return a child's answer, which is sent the file first if it does not have it open."""
        seen: dict[PieceKey, bytes] | None = {} if known is not None and known.has_room_for(self.recipe.size) else None

        async def send(writer: asyncio.StreamWriter) -> None:
            async for data in content(executor, self.document_id, self.recipe, seen=seen):
                writer.write(data)
                await writer.drain()
            if known is not None and seen is not None:
                known.know(self.document_id, seen)

        return await sandbox.ask_with(
            {**body, "opens": self._introduction}, [self.recipe.size], send, document=self.document_id, heard=heard
        )


async def ask(
    executor: Executor,
    sandbox: Sandbox,
    body: Body,
    *files: OpenedFile,
    heard: Heard | None = None,
    known: KnownPieces | None = None,
) -> Frame:
    """Return what a child answers about files of one document, opening those that it does not have.

    What it answers to that is given to `heard`. What is sent is known afterwards.
    """
    (first, *_) = files
    answer = await sandbox.ask(body, document=first.document_id, heard=heard)
    by_name = {file.name: file for file in files}
    openings = 0
    while (missing := answer.body.get("missing")) is not None:
        if openings == OPENINGS_MAX or missing not in by_name:
            # More readers at once than children, each with other revisions in mind; or it asks for what nobody named.
            raise UnsupportedDocumentError("too_complex", "the documents do not fit into memory together")
        openings += 1
        answer = await by_name[missing].ask(executor, sandbox, body, heard, known)
    return answer
