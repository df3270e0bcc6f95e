"""Uploads: files for documents that are there already, which take their turn in the lane like any edit."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from uuid_utils import uuid7

from officeplane.domain.audit import Action, Deed
from officeplane.domain.document import Document, InvalidEditError
from officeplane.domain.errors import (
    DocumentNotFoundError,
    IllegalStateError,
    MergeConflictError,
    StaleRevisionError,
)
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import DocumentId
from officeplane.domain.lifecycle import FINAL, TaskState
from officeplane.domain.principal import Principal
from officeplane.domain.request import TaskRequest
from officeplane.domain.task import TaskDetails
from officeplane.services.edits.conflicts import made_since
from officeplane.services.files.spool import Spool
from officeplane.services.observe.long_poll import LongPoll
from officeplane.services.submit.submission import Submission
from officeplane.store import documents
from officeplane.store.connection import Connection, Ledger

LANE_SECONDS: Final = 30.0
"""How long an upload waits for its turn before its sender is told where to look."""

UPLOAD: Final = "upload"
"""The task type of what brings files in, for keys that are narrowed to types."""

ANY: Final = "*"
_SAID_ALREADY: Final = frozenset(("kind", "message"))
IfMatch: TypeAlias = int | Literal["*"] | None
"""Which revision an upload is to follow: the one that was read, whatever there is, or none as there is none yet."""


class Put(NamedTuple):
    """What became of an upload: the document now, or the task that will make it so."""

    document: Document | None
    was_made: bool
    task: TaskDetails | None
    result: Mapping[str, Any] | None = None
    """What was merged, where others had made revisions meanwhile."""


class Terms(NamedTuple):
    """On what terms a file is put in a document's place."""

    if_match: IfMatch
    author: str | None
    merges: bool


class Uploads:
    """Takes in what follows a revision."""

    def __init__(self, ledger: Ledger, submission: Submission, long_poll: LongPoll) -> None:
        self._ledger = ledger
        self._submission = submission
        self._long_poll = long_poll

    async def take(self, caller: Principal, name: str, spool: Spool, terms: Terms, known: Document) -> Put:
        """Keep a file until its lane's turn comes, and wait for that."""
        document_id, if_match = known.id, terms.if_match
        upload_id = str(uuid7())

        async def stage(connection: Connection) -> None:
            # Pieces that are there already must not be collected before this names them.
            if not await documents.hold(connection, document_id):
                raise DocumentNotFoundError(document_id)
            upload = await spool.keep(connection, document_id, None if if_match == ANY else if_match)
            await documents.stage_upload(connection, upload_id, document_id, upload)

        await self._ledger.in_transaction(stage)
        payload: dict[str, object] = {"uploadId": upload_id, **({"merges": True} if terms.merges else {})}
        request = task_request(UPLOAD, name, payload, terms.author)
        before, after = {"revision": known.revision, "sha256": known.sha256}, {"sha256": spool.sha256}
        deed = Deed(caller, Action.UPLOAD_DOCUMENT, name, before=before, after=after, on_behalf_of=terms.author)
        submitted = await self._submission.submit(caller, request, deed=deed)
        details = await self._long_poll.wait(caller, submitted.task.id, LANE_SECONDS)
        if details.task.state not in FINAL:
            return Put(None, was_made=False, task=details)
        now = await documents.show(self._ledger, document_id)
        if now is None:
            raise DocumentNotFoundError(document_id)
        if details.task.state is TaskState.COMPLETED:
            return Put(now, was_made=False, task=None, result=_merged(details.task.result))
        if terms.merges:
            _raise_why_not(details)
        if isinstance(if_match, int) and any(one.kind == FailureKind.EDIT_CONFLICT for one in details.failures):
            raise await self.stale(document_id, if_match, now.revision)
        raise IllegalStateError(details.task.id, details.task.state, "put in place")

    async def stale(self, document_id: DocumentId, expected: int, actual: int) -> StaleRevisionError:
        """Return why a file may not follow what others have made."""
        return StaleRevisionError(expected, actual, await made_since(self._ledger, document_id, expected, actual))


def task_request(task_type: str, name: str, payload: dict[str, object], author: str | None) -> TaskRequest:
    """Return what is asked for when a file is to be put in place, or an earlier one again."""
    return TaskRequest.from_python(
        {"task_type": task_type, "document_id": name, "payload": payload, "on_behalf_of": author}
    )


def _merged(result: object) -> Mapping[str, Any] | None:
    match result:
        case {"merged": {}}:
            return cast("Mapping[str, Any]", result)
        case _:
            return None


def _raise_why_not(details: TaskDetails) -> None:
    """Say why a file was not merged, if that is why its task has failed."""
    error: Mapping[str, Any] = (
        cast("Mapping[str, Any]", details.task.error) if isinstance(details.task.error, dict) else {}
    )
    kind, message = error.get("kind"), str(error.get("message", ""))
    if kind == FailureKind.EDIT_CONFLICT and "conflicts" in error:
        raise MergeConflictError(message, {name: told for name, told in error.items() if name not in _SAID_ALREADY})
    if kind == FailureKind.INVALID_EDIT:
        raise InvalidEditError(message)
