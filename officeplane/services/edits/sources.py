"""Sources: what edits take from other documents, as files of their own.

The other document is opened by a child of its own, which gives out a file of just what is
taken. The gate looks at that as at any file on its way in, and it comes to the child of the
document that is edited like a part of the payload: so no child sees two documents.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.domain.errors import DocumentNotFoundError
from officeplane.domain.space import Space, bare, qualified
from officeplane.edits.all_edits import all_edits
from officeplane.sandbox.answers import accepted
from officeplane.sandbox.conversation import Sent
from officeplane.sandbox.operations import Check, TakeSlide
from officeplane.sandbox.pool import Sandbox
from officeplane.services.edits.orders import PlannedEdit
from officeplane.services.files.files import ask
from officeplane.store import documents
from officeplane.store.connection import Executor


class _Source(NamedTuple):
    """What is taken."""

    document_id: str
    revision: int | None
    """None of a request that was taken in twice at once: the head."""
    slide_id: str


def takes_from(task_type: str) -> str | None:
    """Return the field that names another document in the payloads of a type, None for most."""
    known = all_edits().get(task_type)
    return None if known is None else known.takes_from


async def with_files(
    executor: Executor, sandbox: Sandbox, edits: Sequence[PlannedEdit], space: Space
) -> list[PlannedEdit]:
    """Return edits with what they take from other documents of their space; `InvalidEditError` if it is not there."""
    found: list[PlannedEdit] = []
    for edit in edits:
        field = takes_from(edit.task_type)
        if field is None:
            found.append(edit)
            continue
        source = _source(json.loads(edit.payload_json)[field], space)
        found.append(edit._replace(source=await _taken(executor, sandbox, source)))
    return found


def _source(named: dict[str, Any], space: Space) -> _Source:
    return _Source(qualified(space, named["documentId"]), named.get("revision"), named["slideId"])


async def _taken(executor: Executor, sandbox: Sandbox, source: _Source) -> bytes:
    stored = await documents.revision(executor, source.document_id, source.revision)
    if stored is None:
        number = source.revision or "at all"
        raise InvalidEditError(
            f"document {bare(source.document_id)!r} has no revision {number}: it was deleted meanwhile"
        )
    operation = TakeSlide(stored.base.state, source.slide_id)
    try:
        file = accepted(await ask(executor, sandbox, operation, stored.base)).file
    except DocumentNotFoundError as error:
        raise InvalidEditError(f"{error}: nothing can be copied from it") from None

    async def blocks() -> AsyncGenerator[bytes, None]:
        yield file

    # A child is believed about nothing, and this file goes to another one.
    accepted(await sandbox.ask(Check(), file=Sent(len(file), blocks())))
    return file
