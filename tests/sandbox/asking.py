"""Requests as the services make them, about documents at hand."""

import json
from typing import Any

from officeplane.domain.document import Format
from officeplane.domain.revision import Recipe, RecipeWriter, piece_key
from officeplane.frames import Body, Frame
from officeplane.sandbox.answers import text_in


class AFile:
    """A file, and how a child is introduced to it."""

    def __init__(self, data: bytes, format: Format = Format.DOCX) -> None:
        self.data = data
        writer = RecipeWriter()
        writer.add(data)
        self.recipe = writer.finish()
        self.name = self.recipe.sha256
        self.pieces = dict(writer.pieces)
        self.introduction: Body = {
            "format": format,
            "cuts": self.recipe.cuts,
            "kept": [key.hex() for key in self.recipe.keys],
            "recipe": self.name,
        }

    def opened_for(self, body: Body) -> tuple[Body, list[bytes]]:
        """Return a request that brings the file along."""
        return {**body, "opens": self.introduction}, [self.data]


def an_order(task_type: str, task_id: str = "task", **payload: Any) -> dict[str, Any]:
    """Return one edit as a child is told of it."""
    return {
        "taskType": task_type,
        "key": None,
        "payload": json.dumps(payload),
        "taskId": task_id,
        "author": "ann",
        "at": "2025-01-01T00:00:00+00:00",
    }


def apply(of: AFile | Frame, *orders: dict[str, Any], difference: bool = False) -> Body:
    """Return a request to edit a file, or what an earlier one has made of one."""
    return {"deed": "apply", "recipe": name_of(of), "edits": list(orders), "difference": difference}


def name_of(what: AFile | Frame) -> str:
    """Return under which name a file is open, or what an edit has made of one."""
    return what.name if isinstance(what, AFile) else Recipe.decode(what.attached[0]).sha256


def text(name: str) -> Body:
    """Return a request for what a document says."""
    return {"deed": "text", "recipe": name}


def said(answer: Frame) -> str:
    """Return the text in answer to such a request, about what is open."""
    assert set(answer.body) == {"tired"}
    return text_in(answer.attached)


def edited(answer: Frame, *before: AFile | Frame) -> bytes:
    """Return the file that a child made of another, of which what came before it has the other pieces."""
    encoded, *new = answer.attached
    pieces = {piece_key(piece): piece for piece in new}
    for one in before:
        pieces |= one.pieces if isinstance(one, AFile) else {piece_key(piece): piece for piece in one.attached[1:]}
    return b"".join(Recipe.decode(encoded).assemble(pieces))
