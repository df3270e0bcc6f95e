"""Conflicts: an edit that was based on a revision, and a document that has gone on since."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from officeplane.domain.revision import EditBase
from officeplane.sandbox.answers import Changed
from officeplane.sandbox.operations import FindChanged, Orders
from officeplane.sandbox.pool import Sandbox
from officeplane.services.files.files import ask
from officeplane.store import documents
from officeplane.store.connection import Executor

HISTORY_TOLD: Final = 20


class Conflict(NamedTuple):
    """Why an edit may not be applied, and what programs may want to know of that."""

    message: str
    facts: Mapping[str, object]


class Condition(NamedTuple):
    """What whoever asks for an edit has read, and what is to be done if that is no longer the head."""

    base_revision: int | None
    on_conflict: str | None


async def conflict_with(
    wanted: Condition, head: EditBase, executor: Executor, sandbox: Sandbox, orders: Orders
) -> Conflict | None:
    """Return why an edit that was based on an earlier revision may not be applied to the head."""
    base, revision = wanted.base_revision, head.revision
    if base is None or base == revision or wanted.on_conflict == "force":
        return None
    facts: dict[str, object] = {"expected": base, "actual": revision}
    if base > revision:
        return Conflict(f"it was based on revision {base}, but the document is only at revision {revision}", facts)
    message = f"it was based on revision {base}, but the document is at revision {revision}"
    if wanted.on_conflict == "rebase":
        stored = await documents.revision(executor, head.document_id, base)
        if stored is not None:
            operation = FindChanged(stored.base.state, head.state, orders)
            found = await ask(executor, sandbox, operation, head, stored.base)
            if not isinstance(found, Changed):
                return Conflict(f"it cannot be compared with revision {base}: {found.error}", facts)
            if not found.node_ids:
                return None
            message = f"{message}, and what it aims at has been changed since"
            facts["changed"] = found.node_ids
    return Conflict(message, facts | await made_since(executor, head.document_id, base, revision))


async def made_since(executor: Executor, document_id: str, base: int, revision: int) -> dict[str, object]:
    """Return who made what of a document after one revision and up to another, oldest first, the latest of many."""
    since = await documents.history(executor, document_id, before=revision + 1, after=base, limit=HISTORY_TOLD)
    return {"revisions": [one.made for one in reversed(since)]}
