"""The pool: the sandboxed children of a process, and which document each has open.

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
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from officeplane.frames import Body, Frame, MalformedFrameError, head_of, read
from officeplane.sandbox.answers import Answer, bounds_of
from officeplane.sandbox.births import Births, Child, ChildDiedError, SandboxError
from officeplane.sandbox.confinement import Confinement
from officeplane.sandbox.turns import Queue, Turns

REQUESTS_PER_CHILD: Final = 2_000
KEPT_BYTES_MAX: Final = 384 * 1024 * 1024
"""How much memory the children may have together that have nothing to do: enough for some forty small documents."""
ANSWER_SECONDS: Final = 60.0
"""How long an answer may take, whatever the child does meanwhile."""
_log = structlog.stdlib.get_logger(__name__)

Send = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes the attachments of a request, as they come."""
Heard = Callable[[Frame], Awaitable[None]]
"""Is given every answer that is none to be asked again for; what it raises ends the child."""


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
        self._idle: list[Child] = []
        self._turns = Turns(children_max, self._take, self._idle.append, queue)
        # Whoever brings a file does not wait behind those who read.
        self._turns_at_the_gate = Turns(children_max, self._take, self._idle.append, queue)

    @property
    def confinement(self) -> Confinement:
        """What holds the children: as the last one told, and before the first, what the kernel offers."""
        return self._births.confinement

    async def ask(
        self, body: Body, attached: Sequence[bytes] = (), *, document: str | None = None, heard: Heard | None = None
    ) -> Frame:
        """Return a child's answer to a request about a document."""

        async def send(writer: asyncio.StreamWriter) -> None:
            for blob in attached:
                writer.write(blob)

        return await self.ask_with(body, [len(blob) for blob in attached], send, document=document, heard=heard)

    async def ask_with(
        self,
        body: Body,
        sizes: Sequence[int],
        send: Send,
        *,
        document: str | None = None,
        heard: Heard | None = None,
    ) -> Frame:
        """Return a child's last answer to a request whose attachments, of these sizes, are written by `send`."""
        turns = self._turns_at_the_gate if document is None else self._turns
        async with turns.turn(document) as had_it:
            child = await self._ready(had_it, document)
            try:
                answer = await self._converse(child, body, sizes, send, heard)
            except (asyncio.IncompleteReadError, ConnectionError):
                raise ChildDiedError.of(await child.end()) from None
            except BaseException:
                await asyncio.shield(child.end())
                raise
            child.requests += 1
            if document is None or answer.body.get("tired", False) or child.requests >= REQUESTS_PER_CHILD:
                await child.end()
            else:
                await self._keep(child)
            if "error" in answer.body:
                _log.error("sandbox.broke", deed=body["deed"], document_id=document, stack=answer.body.get("broke"))
                raise SandboxError(answer.body["error"])
            return answer

    async def close(self) -> None:
        """End the idle children and the nursery; those at work have ended with their requests."""
        for child in self._idle:
            child.close()
        await self._births.close()

    async def _ready(self, had_it: Child | None, document: str | None) -> Child:
        if had_it is not None and had_it.has_ended:
            # It died while it had nothing to do: no request is to blame.
            await had_it.end()
            had_it = None
        child = had_it or await self._births.born()
        child.document = document
        return child

    async def _converse(self, child: Child, body: Body, sizes: Sequence[int], send: Send, heard: Heard | None) -> Frame:
        bounds = bounds_of(body["deed"])
        try:
            async with asyncio.timeout(self._answer_seconds) as patience:
                child.writer.write(head_of(body, list(sizes)))
                await send(child.writer)
                await child.writer.drain()
                while True:
                    answer = await read(child.reader, bounds, _checked)
                    if heard is not None and "missing" not in answer.body:
                        patience.reschedule(None)
                        await heard(answer)
                    if not answer.body.get("more", False):
                        return answer
                    patience.reschedule(asyncio.get_running_loop().time() + self._answer_seconds)
        except TimeoutError:
            message = f"the process that had the document open did not answer within {self._answer_seconds:g} s"
            raise ChildDiedError(message) from None
        except MalformedFrameError as error:
            _log.warning("sandbox.lied", deed=body["deed"], document_id=child.document, error=str(error))
            message = "the process that had the document open answered with something else than was asked for"
            raise ChildDiedError(message) from None

    async def _keep(self, child: Child) -> None:
        """Leave a child with its document open to the next request, and end those used longest ago if need be."""
        child.measure()
        self._idle.append(child)
        while len(self._idle) > 1 and sum(one.size for one in self._idle) > KEPT_BYTES_MAX:
            await self._idle.pop(0).end()

    def _take(self, document: str | None) -> Child | None:
        """Take the child that had a document last, if it has nothing to do."""
        for child in reversed(self._idle):
            if child.document == document:
                self._idle.remove(child)
                return child
        return None


def _checked(frame: Frame) -> Frame:
    Answer.model_validate(frame.body)
    return frame
