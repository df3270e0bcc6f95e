"""Orders: what a task wants of its document, as the sandbox is told of it."""

import base64
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from officeplane.domain.ids import TaskId
from officeplane.sandbox.operations import Order, Orders

NOBODY: Final = "OfficePlane"
"""Who is named as author in a file when nobody said who asks."""


class PlannedEdit(NamedTuple):
    """An edit that a task is, or that it asks for; with a key, if later ones may use its result by that."""

    task_type: str
    payload_json: str
    key: str | None = None
    source: bytes | None = None
    """The file of what it takes from another document, if it does."""


def orders_of(edits: Sequence[PlannedEdit], task_id: TaskId, author: str | None, at: datetime) -> Orders:
    """Return a task's edits as one revision; no two of them give the same id to what they make."""
    return tuple(
        Order(
            edit.task_type,
            edit.payload_json,
            task_id if len(edits) == 1 else f"{task_id}/{index}",
            author or NOBODY,
            at,
            edit.key,
            None if edit.source is None else base64.b64encode(edit.source).decode(),
        )
        for index, edit in enumerate(edits)
    )
