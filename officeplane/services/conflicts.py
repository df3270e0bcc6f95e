"""Conflicts: an edit that was based on a revision, and a document that has gone on since."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from officeplane.sandbox.frames import Body
from officeplane.sandbox.pool import Sandbox
from officeplane.services.files import OpenedFile, ask
from officeplane.store import documents
from officeplane.store.connection import Executor

HISTORY_TOLD: Final = 20


class Condition(NamedTuple):
    """What whoever asks for an edit has read, and what is to be done if that is no longer the head."""

    base_revision: int | None
    on_conflict: str | None


async def conflict_with(
    wanted: Condition,
    revision: int,
    executor: Executor,
    sandbox: Sandbox,
    file: OpenedFile,
    orders: Sequence[Mapping[str, Any]],
) -> str | None:
    """Return why an edit that was based on an earlier revision may not be applied to the head, which is this file."""
    base = wanted.base_revision
    if base is None or base == revision or wanted.on_conflict == "force":
        return None
    if base > revision:
        return f"it was based on revision {base}, but the document is only at revision {revision}"
    changed: list[str] = []
    if wanted.on_conflict == "rebase":
        stored = await documents.revision(executor, file.document_id, base)
        if stored is not None:
            before = OpenedFile(file.document_id, stored.format, stored.revision.sha256, stored.recipe)
            body: Body = {"deed": "fingerprints", "between": [before.sha256, file.sha256], "edits": orders}
            answer = await ask(executor, sandbox, body, file, before)
            if "unsupported" in answer.body or "invalid" in answer.body:
                return f"it cannot be compared with revision {base}: {answer.body}"
            changed = answer.body["changed"]
            if not changed:
                return None
    since = await documents.history(executor, file.document_id, before=revision + 1, after=base, limit=HISTORY_TOLD)
    who = "; ".join(
        f"revision {one.revision} by {one.author or 'nobody named'}: {one.task_type or 'upload'}"
        + ("" if one.task_id is None else f" (task {one.task_id})")
        for one in reversed(since)
    )
    what = f"; changed since: {', '.join(changed)}" if changed else ""
    return f"it was based on revision {base}, but the document is at revision {revision}{what}; {who}"
