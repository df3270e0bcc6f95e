"""Conversations: an operation is sent to a child, and its answers have to come back in time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import structlog

from officeplane.frames import MalformedFrameError, read
from officeplane.sandbox.answers import Broke, Missing, Refused
from officeplane.sandbox.children import Child
from officeplane.sandbox.errors import ChildDiedError
from officeplane.sandbox.operations import Opening, Operation
from officeplane.sandbox.protocol import Said, bounds_of, decode_answer, encode_request

A = TypeVar("A")

Heard: TypeAlias = Callable[[A | Refused], Awaitable[None]]
"""Is called with every answer but `Missing` and `Broke`; what it raises ends the child."""
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Sent:
    """A file that goes with a request, block by block: one to look at, or one to keep open."""

    size: int
    blocks: AsyncGenerator[bytes, None]
    opens: Opening | None = None


async def converse(
    child: Child, operation: Operation[A], file: Sent | None, heard: Heard[A] | None, answer_seconds: float
) -> Said[A]:
    """Return a child's last answer to an operation; each answer may take `answer_seconds`."""
    try:
        async with asyncio.timeout(answer_seconds) as deadline:
            await _send(child, operation, file)
            rest, may_be_missing = operation, True
            while True:
                said = await read(
                    child.reader, bounds_of(rest), partial(decode_answer, rest, may_be_missing=may_be_missing)
                )
                if heard is not None and not isinstance(said.answer, Missing | Broke):
                    deadline.reschedule(None)
                    await heard(said.answer)
                following = rest.rest_after(said.answer)
                if following is None:
                    return said
                # The child has open what it has just made.
                rest, may_be_missing = following, False
                deadline.reschedule(asyncio.get_running_loop().time() + answer_seconds)
    except TimeoutError:
        message = f"the process that had the document open did not answer within {answer_seconds:g} s"
        raise ChildDiedError(message) from None
    except MalformedFrameError as error:
        _log.warning("sandbox.lied", operation=operation.name, document_id=child.document, error=str(error))
        message = "the process that had the document open answered with something else than was asked for"
        raise ChildDiedError(message) from None


async def _send(child: Child, operation: Operation[A], file: Sent | None) -> None:
    if file is None:
        child.writer.write(encode_request(operation))
    else:
        child.writer.write(encode_request(operation, file.opens, file.size))
        async with aclosing(file.blocks) as blocks:
            async for block in blocks:
                child.writer.write(block)
                await child.writer.drain()
    await child.writer.drain()
