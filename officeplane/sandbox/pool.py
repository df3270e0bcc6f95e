"""The pool: the sandboxed children of a process, and what they are asked for.

A child sees one document and no other, as long as it lives: what a file has made of
it can come back only in that document. It stays, with the document open, for as long
as there is memory for it, and the next request for the document waits a little while
for it to be free: to open a document takes longer than most edits of it. What comes
without a document, a file on its way in, has turns of its own and a child that ends
with it. A child that is stopped in the middle of a request is killed; so is one that
says what it was not asked for, or nothing in time; one that dies takes only its
request with it.
"""

import asyncio
from typing import Final, TypeVar

import structlog

from officeplane.sandbox.answers import Broke, Refused
from officeplane.sandbox.births import Births
from officeplane.sandbox.children import Child, Idle
from officeplane.sandbox.confinement import Confinement
from officeplane.sandbox.conversation import Heard, Sent, converse
from officeplane.sandbox.errors import ChildDiedError, SandboxError
from officeplane.sandbox.operations import Operation
from officeplane.sandbox.protocol import Said
from officeplane.sandbox.turns import Queue, Turns

REQUESTS_PER_CHILD: Final = 2_000
ANSWER_SECONDS: Final = 60.0
"""How long an answer may take, whatever the child does meanwhile."""
_log = structlog.stdlib.get_logger(__name__)

A = TypeVar("A")


class Sandbox:
    """Children that are born when needed, held by as much as is required at least, and so many at work at a time."""

    def __init__(
        self,
        children_max: int,
        queue: Queue | None = None,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        required: Confinement = frozenset(),
    ) -> None:
        self._answer_seconds = answer_seconds
        self._births = Births(required)
        self._idle = Idle()
        self._turns = Turns(children_max, self._idle, queue)
        # Whoever brings a file does not wait behind those who read.
        self._turns_at_the_gate = Turns(children_max, self._idle, queue)

    @property
    def confinement(self) -> Confinement:
        """What holds the children: as the last one told, and before the first, what the kernel offers."""
        return self._births.confinement

    async def ask(
        self,
        operation: Operation[A],
        *,
        document: str | None = None,
        file: Sent | None = None,
        heard: Heard[A] | None = None,
    ) -> A | Refused:
        """Return the last answer of a document's child to an operation, with which a file may be sent."""
        turns = self._turns_at_the_gate if document is None else self._turns
        async with turns.turn(document) as had_it:
            child = await self._ready(had_it, document)
            try:
                said: Said[A] = await converse(child, operation, file, heard, self._answer_seconds)
            except (asyncio.IncompleteReadError, ConnectionError):
                raise ChildDiedError.of(await child.end()) from None
            except BaseException:
                await asyncio.shield(child.end())
                raise
            child.requests += 1
            if document is None or said.recycle or child.requests >= REQUESTS_PER_CHILD:
                await child.end()
            else:
                await self._idle.keep(child)
            if isinstance(said.answer, Broke):
                _log.error("sandbox.broke", operation=operation.name, document_id=document, stack=said.answer.stack)
                raise SandboxError(said.answer.message)
            return said.answer

    async def close(self) -> None:
        """End the idle children and the nursery; those at work have ended with their requests."""
        self._idle.close()
        await self._births.close()

    async def _ready(self, had_it: Child | None, document: str | None) -> Child:
        if had_it is not None and had_it.has_ended:
            # It died while it had nothing to do: no request is to blame.
            await had_it.end()
            had_it = None
        child = had_it or await self._births.born()
        child.document = document
        return child
