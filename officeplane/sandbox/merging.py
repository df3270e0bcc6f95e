"""Merging: what a child does with an upload that follows an earlier state than the head."""

import hashlib
from itertools import count
from typing import Any, Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import as_json
from officeplane.formats.document_merging import merge
from officeplane.formats.merging.unit import Merged
from officeplane.sandbox.answers import Applied, Invalid
from officeplane.sandbox.editing import refusal, write
from officeplane.sandbox.operations import Merge
from officeplane.sandbox.shelf import Shelf

IDS_TOLD: Final = 1_000
_NOTHING: Final = b""


def merged(shelf: Shelf, wanted: Merge) -> Applied | Invalid:
    """Do to the head what an upload has changed; where it has changed nothing, there is no recipe."""
    base, upload = shelf.find(wanted.base), shelf.find(wanted.upload).document
    opened = shelf.take(wanted.head)
    numbers = count(1)

    def fresh_id(prefix: str) -> str:
        said = f"{wanted.task_id}/{next(numbers)}"
        return f"{prefix}-{hashlib.sha256(said.encode()).hexdigest()[:12]}"

    made: Merged | Invalid
    try:
        made = merge(base.document, upload, opened.document, fresh_id, wanted.task_id)
    except InvalidEditError as error:
        made = refusal(error)
    finally:
        # Rows that came or went have done so in the base, too, to compare it.
        base.document.package.rollback()
        base.forget_reader()
    if isinstance(made, Invalid) or made.is_nothing:
        opened.document.package.rollback()
        shelf.put(wanted.head, opened)
        return made if isinstance(made, Invalid) else Applied([_told(made)], None, [_NOTHING])
    # What the document has noted of its parts is no longer true.
    opened.document = type(opened.document)(opened.document.package)
    return Applied([_told(made)], None, write(shelf, opened))


def _told(made: Merged) -> dict[str, Any]:
    nodes = {"changed": made.changed, "added": made.added, "removed": made.removed, "moved": made.moved}
    told: dict[str, Any] = {name: ids[:IDS_TOLD] for name, ids in nodes.items()}
    warnings = {"warnings": as_json(made.warnings)} if made.warnings else {}
    return {"merged": {**told, "nodes": sum(map(len, nodes.values()))}, **warnings}
