"""Merging: an upload that follows an earlier revision than the head, done to the head."""

from collections.abc import Mapping
from typing import Any, cast

from officeplane.domain.ids import TaskId
from officeplane.domain.revision import EditBase
from officeplane.formats.naming.names import Names
from officeplane.sandbox.answers import Applied, Invalid, Refused
from officeplane.sandbox.operations import Merge
from officeplane.sandbox.pool import Sandbox
from officeplane.sandbox.shelf import BYTES_MAX
from officeplane.services.edits.conflicts import Conflict, made_since
from officeplane.services.edits.matching import names_of
from officeplane.services.files.files import ask
from officeplane.services.files.known_pieces import KnownPieces
from officeplane.store import documents
from officeplane.store.connection import Ledger
from officeplane.store.documents import Upload


async def merged(
    ledger: Ledger, sandbox: Sandbox, head: EditBase, upload: Upload, follows: int, task_id: TaskId, known: KnownPieces
) -> Applied | Refused | Conflict:
    """Return what becomes of the head with what an upload has changed of a revision, or what stands in the way."""
    stored = await documents.revision(ledger, head.document_id, follows)
    if stored is None:
        return Invalid(f"there is no revision {follows} any more that it could follow", {})
    base = stored.base
    file = EditBase(head.document_id, head.format, head.revision + 1, upload.sha256, upload.recipe)
    if sum(one.recipe.size for one in (base, file, head)) > BYTES_MAX:
        return Invalid("the files are too large to be merged: make the changes in the document as it is now", {})
    names = await names_of(ledger, sandbox, base, file, task_id)
    if _is_all_new(names):
        message = f"nothing in it can be matched with revision {follows}: make the changes in the document as it is now"
        return Invalid(message, {})
    file = EditBase(file.document_id, file.format, file.revision, file.sha256, file.recipe, names)
    operation = Merge(base.state, file.state, head.state, task_id)
    answer = await ask(ledger, sandbox, operation, base, file, head, known=known)
    if not isinstance(answer, Invalid) or "conflicts" not in answer.facts:
        return answer
    facts = {"expected": follows, "actual": head.revision, **answer.facts}
    return Conflict(answer.message, facts | await made_since(ledger, head.document_id, follows, head.revision))


def changes_nothing(result: Mapping[str, Any]) -> bool:
    """Tell whether a merge has left the head as it is."""
    told = cast("Mapping[str, object]", result["merged"])
    return not told["nodes"]


def _is_all_new(names: bytes) -> bool:
    found = Names.decode(names)
    return bool(found.seed) and not found.numbers
