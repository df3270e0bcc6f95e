"""The pool: the sandboxed children of a process, and what they are asked for.

A child sees one document and no other as long as it lives: should a file take the child
over, it can do harm to that document only. A document's name has its space in it, so no
child serves two spaces either. The child stays, with the document open, for
as long as there is memory for it, and the next request for the document waits a little
while for it to be free, because to open a document takes longer than most edits of it.
A file on its way in belongs to no document yet; such requests have turns of their own,
and each has a child that ends with it. A child is killed when its request is cancelled,
when it answers with something that it was not asked for, and when it does not answer in
time. A child that dies takes only its request with it.
"""

import asyncio
from typing import Final, TypeVar

import structlog

from officeplane.domain.document import Policy
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
"""How long a child may take for an answer."""
_log = structlog.stdlib.get_logger(__name__)

A = TypeVar("A")


class Sandbox:
    """Children that are born when needed and confined at least as required; only so many are at work at a time."""

    def __init__(
        self,
        children_max: int,
        queue: Queue | None = None,
        *,
        answer_seconds: float = ANSWER_SECONDS,
        required: Confinement = frozenset(),
        policy: Policy = Policy.STRICT,
    ) -> None:
        self._answer_seconds = answer_seconds
        self.policy = policy
        """What files may have in them that are let in here."""
        self._births = Births(required, policy)
        self._idle = Idle()
        self._turns = Turns(children_max, self._idle, queue)
        # A file on its way in does not wait behind requests that read.
        self._turns_at_the_gate = Turns(children_max, self._idle, queue)

    @property
    def confinement(self) -> Confinement:
        """What confines the children, as the newest one has told; before there is one, what the kernel offers."""
        return self._births.confinement

    async def ask(
        self,
        operation: Operation[A],
        *,
        document: str | None = None,
        file: Sent | None = None,
        heard: Heard[A] | None = None,
    ) -> A | Refused:
        """Return a child's last answer to an operation; a file may go with it, and `heard` is given each answer."""
        if operation.is_about_a_document is (document is None):
            message = f"{operation.name} belongs to {'a' if operation.is_about_a_document else 'no'} document"
            raise ValueError(message)
        turns = self._turns_at_the_gate if document is None else self._turns
        async with turns.turn(document) as idle_child:
            child = await self._ready(idle_child, document)
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

    async def _ready(self, idle_child: Child | None, document: str | None) -> Child:
        """Return the child that has the document open, or a new one."""
        if idle_child is not None and idle_child.has_ended:
            # It died while it had nothing to do: no request is to blame.
            await idle_child.end()
            idle_child = None
        child = idle_child or await self._births.born()
        child.document = document
        return child
