"""Requests as the services make them, about documents at hand."""

import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any, TypeVar

from officeplane.domain.document import Format
from officeplane.domain.revision import Recipe, RecipeWriter, piece_key
from officeplane.sandbox.answers import Applied, Missing, Text
from officeplane.sandbox.conversation import Sent
from officeplane.sandbox.operations import Apply, Opening, Order, Preview, ReadText

A = TypeVar("A")


class AFile:
    """A file, and how a child is sent it."""

    def __init__(self, data: bytes, format: Format = Format.DOCX, names: bytes = b"") -> None:
        self.data = data
        writer = RecipeWriter()
        writer.add(data)
        self.opening = Opening(format, writer.finish(), names)
        self.state = self.opening.state
        self.pieces = dict(writer.pieces)

    def to_open(self) -> Sent:
        """Return the file as a child is sent it to open it."""
        return Sent(len(self.data), self._blocks(), self.opening)

    def to_look_at(self) -> Sent:
        """Return the file as a child is sent it that is to look at it and at nothing else."""
        return Sent(len(self.data), self._blocks())

    async def _blocks(self) -> AsyncGenerator[bytes, None]:
        yield self.data


def an_order(task_type: str, task_id: str = "task", **payload: Any) -> Order:
    """Return one edit as a child is told of it."""
    return Order(task_type, json.dumps(payload), task_id, "ann", datetime(2025, 1, 1, tzinfo=UTC))


def apply(of: AFile | object, *orders: Order) -> Apply:
    """Return an operation that edits a file, or what an earlier one has made of one."""
    return Apply(state_of(of), (orders,))


def preview(of: AFile | object, *orders: Order) -> Preview:
    """Return the same as a preview."""
    return Preview(state_of(of), orders)


def text(of: AFile | object) -> ReadText:
    """Return an operation that tells what is in a file, or in what an edit has made of one."""
    return ReadText(state_of(of))


def state_of(what: AFile | object) -> str:
    """Return as which state a file is open, or what an edit has made of one."""
    return what.state if isinstance(what, AFile) else Recipe.decode(done(what).recipe).sha256


def done(answer: object) -> Applied:
    """Return the answer, which must tell of an edit that was done."""
    assert isinstance(answer, Applied), answer
    return answer


def said(answer: object) -> str:
    """Return the text in answer to such a request, about what is open."""
    assert isinstance(answer, Text), answer
    return answer.text


def missing(answer: object) -> str:
    """Return the state that a child does not have, and therefore answers with."""
    assert isinstance(answer, Missing), answer
    return answer.state


def edited(answer: object, *before: AFile | object) -> bytes:
    """Return the file that a child made of another, of which what came before it has the other pieces."""
    pieces = {piece_key(piece): piece for piece in done(answer).pieces}
    for one in before:
        pieces |= one.pieces if isinstance(one, AFile) else {piece_key(piece): piece for piece in done(one).pieces}
    return b"".join(Recipe.decode(done(answer).recipe).assemble(pieces))
