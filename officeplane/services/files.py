"""Files: a revision's bytes, from the ledger to whoever reads them, a few at a time."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.domain.errors import DocumentNotFoundError
from officeplane.domain.revision import PieceKey, PieceRef, Recipe
from officeplane.sandbox.frames import Body, Frame
from officeplane.sandbox.pool import Heard, Sandbox
from officeplane.store import documents
from officeplane.store.connection import Executor

BYTES_AT_ONCE: Final = 4 * 1024 * 1024
OPENINGS_MAX: Final = 8
NOBODY: Final = "OfficePlane"
"""Who is named as author in a file when nobody said who asks."""


async def content(executor: Executor, document_id: str, recipe: Recipe) -> AsyncGenerator[bytes, None]:
    """Yield a file's bytes in order, never holding many of them."""
    batch: list[bytes | PieceRef] = []
    size = 0
    for stretch in recipe.stretches:
        batch.append(stretch)
        size += stretch.size if isinstance(stretch, PieceRef) else len(stretch)
        if size >= BYTES_AT_ONCE:
            for data in await _assembled(executor, document_id, batch):
                yield data
            batch, size = [], 0
    for data in await _assembled(executor, document_id, batch):
        yield data


async def _assembled(executor: Executor, document_id: str, batch: list[bytes | PieceRef]) -> list[bytes]:
    part = Recipe(tuple(batch))
    found: dict[PieceKey, bytes] = {}
    if part.keys:
        found = await documents.pieces(executor, document_id, part.keys)
        if len(found) < len(part.keys):
            # Only with their document do pieces go.
            raise DocumentNotFoundError(document_id)
    return list(part.assemble(found))


class OpenedFile:
    """A revision as a sandboxed child may be sent it."""

    def __init__(self, document_id: str, format: Format, sha256: str, recipe: Recipe) -> None:
        self.document_id = document_id
        self.format = format
        self.sha256 = sha256
        self.recipe = recipe

    @property
    def _introduction(self) -> Body:
        return {
            "sha256": self.sha256,
            "format": self.format,
            "cuts": self.recipe.cuts,
            "kept": [key.hex() for key in self.recipe.keys],
            "recipe": self.recipe.sha256,
        }

    async def ask(self, executor: Executor, sandbox: Sandbox, body: Body, heard: Heard | None = None) -> Frame:
        """Return a child's answer, which is sent the file first if it does not have it open."""

        async def send(writer: asyncio.StreamWriter) -> None:
            async for data in content(executor, self.document_id, self.recipe):
                writer.write(data)
                await writer.drain()

        size = self.recipe.cuts[-1]
        return await sandbox.ask_with(
            {**body, "opens": self._introduction}, [size], send, document=self.document_id, heard=heard
        )


async def ask(
    executor: Executor, sandbox: Sandbox, body: Body, *files: OpenedFile, heard: Heard | None = None
) -> Frame:
    """Return what a child answers about files, opening those that it does not have.

    What it answers first, if there is more, is given to `heard`.
    """
    (first, *_) = files
    answer = await sandbox.ask(body, document=first.document_id, heard=heard)
    by_hash = {file.sha256: file for file in files}
    openings = 0
    while (missing := answer.body.get("missing")) is not None:
        if openings == OPENINGS_MAX:
            # More readers at once than children, each with other documents in mind.
            raise UnsupportedDocumentError("too_complex", "the documents do not fit into memory together")
        openings += 1
        answer = await by_hash[missing].ask(executor, sandbox, body, heard)
    return answer
