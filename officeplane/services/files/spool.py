"""The spool: a file on its way in, on disk rather than in memory, until the gate has looked at it."""

import hashlib
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import IO

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.domain.failure import storable
from officeplane.domain.revision import PIECE_BYTES_MAX, RecipeWriter
from officeplane.sandbox.answers import accepted
from officeplane.sandbox.conversation import Sent
from officeplane.sandbox.errors import ChildDiedError
from officeplane.sandbox.operations import Check
from officeplane.sandbox.pool import Sandbox
from officeplane.store import pieces
from officeplane.store.connection import Executor
from officeplane.store.documents import Upload
from officeplane.store.pieces import PIECES_AT_ONCE


class Spool:
    """A file that was received whole."""

    def __init__(self, file: IO[bytes], size: int, sha256: str) -> None:
        self.sha256 = sha256
        self._file = file
        self.size = size
        self._cuts: Sequence[int] = ()
        self._format: Format | None = None
        self.title = ""

    async def admitted(self, sandbox: Sandbox) -> Format:
        """Return what the file is; one that is not opened here is refused. It is looked at once."""
        if self._format is not None:
            return self._format

        try:
            answer = accepted(await sandbox.ask(Check(), file=Sent(self.size, self._sent())))
        except ChildDiedError as error:
            raise UnsupportedDocumentError("too_complex", f"It could not be looked at: {error}.") from None
        # Cut between its parts: later revisions share those that nobody changes. A child that
        # names other places harms nobody else: in between them nothing may be left out.
        self._cuts = sorted({cut for cut in answer.cuts if cut < self.size})
        self._format = answer.format
        self.title = storable(answer.title)
        return self._format

    async def keep(self, executor: Executor, document_id: str, if_match: int | None) -> Upload:
        """Store the file's pieces and return how it is put together."""
        writer = RecipeWriter()
        for block in self._blocks(self._cuts):
            writer.add(block)
            if sum(map(len, writer.pieces.values())) >= PIECES_AT_ONCE:
                await pieces.keep(executor, document_id, writer.pieces)
                writer.pieces.clear()
        await pieces.keep(executor, document_id, writer.pieces)
        return Upload(if_match, self.sha256, writer.size, writer.finish(), self.title)

    async def _sent(self) -> AsyncGenerator[bytes, None]:
        for block in self._blocks(()):
            yield block

    def _blocks(self, cuts: Sequence[int]) -> Iterator[bytes]:
        self._file.seek(0)
        for begin, end in pairwise((0, *cuts, self.size)):
            for at in range(begin, end, PIECE_BYTES_MAX):
                yield self._file.read(min(PIECE_BYTES_MAX, end - at))


@asynccontextmanager
async def spooled(body: AsyncIterable[bytes]) -> AsyncGenerator[Spool, None]:
    """Receive a file; it is gone when the block ends."""
    # Unlinked from its birth, so that nothing of it survives a kill.
    with tempfile.TemporaryFile(prefix="officeplane-") as file:
        size = 0
        seen = hashlib.sha256()
        async for block in body:
            size += len(block)
            seen.update(block)
            file.write(block)
        yield Spool(file, size, seen.hexdigest())


@asynccontextmanager
async def spooled_bytes(data: bytes) -> AsyncGenerator[Spool, None]:
    """Treat bytes at hand as a file that was received."""

    async def blocks() -> AsyncGenerator[bytes, None]:
        yield data

    async with spooled(blocks()) as spool:
        yield spool
