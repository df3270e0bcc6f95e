"""Requests as the services make them, about documents at hand."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from officeplane.domain.document import Format
from officeplane.domain.revision import Recipe, RecipeWriter, piece_key
from officeplane.sandbox.frames import Body, Frame


class AFile:
    """A file, and how a child is introduced to it."""

    def __init__(self, data: bytes, format: Format = Format.DOCX) -> None:
        self.data = data
        self.sha256 = hashlib.sha256(data).hexdigest()
        writer = RecipeWriter()
        writer.add(data)
        self.recipe = writer.finish()
        self.pieces = dict(writer.pieces)
        self.introduction: Body = {
            "sha256": self.sha256,
            "format": format,
            "cuts": self.recipe.cuts,
            "kept": [key.hex() for key in self.recipe.keys],
            "recipe": self.recipe.sha256,
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
    sha256 = of.sha256 if isinstance(of, AFile) else of.body["sha256"]
    recipe = of.recipe if isinstance(of, AFile) else Recipe.decode(of.attached[0])
    return {"deed": "apply", "sha256": sha256, "recipe": recipe.sha256, "edits": list(orders), "difference": difference}


def text(sha256: str) -> Body:
    """Return a request for what a document says."""
    return {"deed": "text", "sha256": sha256}


def edited(answer: Frame, before: AFile) -> bytes:
    """Return the file that a child made of another."""
    encoded, *new = answer.attached
    return b"".join(Recipe.decode(encoded).assemble(_pieces(before, new)))


def _pieces(before: AFile, new: Sequence[bytes]) -> dict[Any, bytes]:
    return {**before.pieces, **{piece_key(piece): piece for piece in new}}
