"""Documents: made, uploaded, read, compared, reverted and deleted.

What changes a document that exists goes through its lane, as a task like any
edit. What is read is read from revisions, which nobody changes.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from uuid_utils import uuid7

from officeplane.domain.audit import Action, Deed
from officeplane.domain.document import Document, Format, PausedLane, Policy, UnsupportedDocumentError
from officeplane.domain.errors import (
    DocumentExistsError,
    DocumentNotFoundError,
    FieldError,
    IllegalStateError,
    InvalidRequestError,
    OverloadedError,
    PreconditionRequiredError,
    StaleRevisionError,
    TaskNotFoundError,
)
from officeplane.domain.ids import DocumentId
from officeplane.domain.principal import SYSTEM, Principal
from officeplane.domain.request import TaskRequest
from officeplane.domain.revision import MADE_EMPTY, EditBase, NewRevision, Revision
from officeplane.domain.space import bare
from officeplane.domain.task import TaskDetails
from officeplane.sandbox.answers import accepted
from officeplane.sandbox.operations import Compare, MakeBlank, Operation, Preview, TellKept
from officeplane.sandbox.pool import Sandbox
from officeplane.services.access.spaces import Spaces
from officeplane.services.documents.asking import asked, stored
from officeplane.services.documents.uploads import ANY, UPLOAD, IfMatch, Put, Terms, Uploads, task_request
from officeplane.services.edits.conflicts import Condition, conflict_with, made_since
from officeplane.services.edits.orders import PlannedEdit, orders_of
from officeplane.services.files.files import content
from officeplane.services.files.spool import Spool, spooled_bytes
from officeplane.services.observe.long_poll import LongPoll
from officeplane.services.operate.cancellation import Cancellation
from officeplane.services.submit.intake import take_in
from officeplane.services.submit.submission import Submission
from officeplane.store import audit, documents
from officeplane.store.connection import Connection, Ledger
from officeplane.store.documents import Stored, Upload
from officeplane.store.tasks import END_OF_TIME

_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""When a preview is said to be made: it gives nothing that would tell."""

A = TypeVar("A")
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class File:
    """One revision's bytes, as they are read."""

    format: Format
    revision: Revision
    content: AsyncGenerator[bytes, None]
    base: EditBase


class Documents:
    """Everything that is done with documents but editing them."""

    def __init__(
        self,
        ledger: Ledger,
        sandbox: Sandbox,
        submission: Submission,
        cancellation: Cancellation,
        long_poll: LongPoll,
        spaces: Spaces,
    ) -> None:
        self._ledger = ledger
        self._spaces = spaces
        self._sandbox = sandbox
        self._submission = submission
        self._cancellation = cancellation
        self._uploads = Uploads(ledger, submission, long_poll)

    async def create(
        self, caller: Principal, name: str | None, format: Format, title: str | None, author: str | None
    ) -> Document:
        """Make an empty document."""
        caller.check_type(UPLOAD)
        chosen = caller.new_document(name or f"doc-{uuid7()}")
        blank = accepted(await self._sandbox.ask(MakeBlank(format, title)))
        async with spooled_bytes(blank.file) as spool:
            await spool.admitted(self._sandbox)
            await self._spaces.let_in_file(caller, spool.size, None)
            if not await self._first(Deed(caller, Action.CREATE_DOCUMENT), chosen, format, spool, author, MADE_EMPTY):
                raise DocumentExistsError(chosen)
        return await self._shown(chosen)

    async def admit(self, spool: Spool) -> None:
        """Look at a file on its way in; one that is not opened here is refused."""
        await spool.admitted(self._sandbox)

    async def put(
        self, caller: Principal, name: str, spool: Spool, if_match: IfMatch, author: str | None, *, merges: bool = False
    ) -> Put:
        """Take a file as a new document, or as the next revision of one, when its lane's turn comes.

        What is there already is covered up only by who has read it, or who says that it may be; with `merges`, what the
        file has changed since is done to what others have made meanwhile.
        """
        caller.check_type(UPLOAD)
        document_id = caller.new_document(name)
        kind = await spool.admitted(self._sandbox)
        known = await documents.show(self._ledger, document_id)
        if known is None:
            if if_match is not None:
                raise DocumentNotFoundError(document_id)
            await self._spaces.let_in_file(caller, spool.size, None)
            if await self._first(Deed(caller, Action.UPLOAD_DOCUMENT), document_id, kind, spool, author):
                return Put(await self._shown(document_id), was_made=True, task=None)
            known = await self._shown(document_id)
        if known.format is not kind:
            raise UnsupportedDocumentError("other_format", f"The document is a {known.format}; this file is a {kind}.")
        if if_match != ANY:
            if spool.sha256 == known.sha256:
                # The file was sent twice, because the answer to the first upload was lost: nothing is overwritten.
                return Put(known, was_made=False, task=None)
            if if_match is None:
                raise PreconditionRequiredError(
                    document_id, known.revision, await made_since(self._ledger, document_id, 0, known.revision)
                )
            if if_match != known.revision:
                if not merges or if_match > known.revision:
                    raise await self._uploads.stale(document_id, if_match, known.revision)
                await self._stored(document_id, if_match)
        elif merges:
            message = (
                'To merge, say which revision was read, as in `If-Match: "1"`: `*` means to cover up what is there.'
            )
            raise InvalidRequestError(message, [FieldError("If-Match", message)])
        await self._spaces.let_in_file(caller, spool.size, known.revision)
        return await self._uploads.take(caller, name, spool, Terms(if_match, author, merges), known)

    async def show(self, caller: Principal, name: str) -> Document:
        """Return a document."""
        return await self._shown(caller.document(name))

    async def _shown(self, document_id: DocumentId) -> Document:
        found = await documents.show(self._ledger, document_id)
        if found is None:
            raise DocumentNotFoundError(document_id)
        return found

    async def page(
        self, caller: Principal, before: int | None, limit: int, *, but_paused: bool = False
    ) -> list[Document]:
        """Return the newest documents, below the sequence number of the last page's last."""
        top = END_OF_TIME if before is None else before
        return await documents.page(self._ledger, caller.sight, before=top, limit=limit, but_paused=but_paused)

    async def paused(self, caller: Principal, before: int | None, limit: int) -> list[Document | PausedLane]:
        """Return what is paused, the latest first, below the sequence number of the last page's last."""
        return await documents.paused(
            self._ledger, caller.sight, before=END_OF_TIME if before is None else before, limit=limit
        )

    async def delete(self, caller: Principal, name: str) -> None:
        """Delete a document; what waits for it is cancelled, what runs is asked to stop."""
        # Who may not bring files in may not take them away: what is left of a document has no type.
        caller.check_type(UPLOAD)
        document_id = caller.document(name)

        async def deleted(connection: Connection) -> bool:
            await documents.lock(connection, [document_id])
            known = await documents.show(connection, document_id)
            if known is None or not await documents.delete(connection, document_id):
                return False
            before = {"format": known.format, "revision": known.revision, "sha256": known.sha256}
            await audit.write(connection, Deed(caller, Action.DELETE_DOCUMENT, name, before=before))
            return True

        if not await self._ledger.in_transaction(deleted):
            raise DocumentNotFoundError(document_id)
        for task_id in await documents.waiting(self._ledger, document_id):
            with suppress(IllegalStateError, TaskNotFoundError):
                await self._cancellation.cancel(SYSTEM, task_id, "its document was deleted")

    async def file(self, caller: Principal, name: str, revision: int | None) -> File:
        """Return the bytes of a revision, the head if none is named."""
        document_id = caller.document(name)
        stored = await self._stored(document_id, revision)
        base = stored.base
        return File(base.format, stored.revision, content(self._ledger, document_id, base.recipe), base)

    async def kept(self, file: File) -> list[str]:
        """Return what a file has in it that only the policy `standard` lets in; `unknown` if nobody can tell now."""
        if self._sandbox.policy is Policy.STRICT:
            return []
        try:
            return [*(await self._asked(TellKept(file.base.state), file.base)).kinds]
        except (UnsupportedDocumentError, OverloadedError):
            # The bytes can be had all the same.
            return [UNKNOWN]

    async def history(self, caller: Principal, name: str, before: int | None, limit: int) -> list[Revision]:
        """Return revisions, newest first."""
        document_id = caller.document(name)
        await self._stored(document_id, None)
        top = END_OF_TIME if before is None else before
        return await documents.history(self._ledger, document_id, before=top, after=0, limit=limit)

    async def number(self, caller: Principal, name: str, revision: int | None) -> int:
        """Return the number of a revision that is there, the head's if none is named."""
        return (await self._stored(caller.document(name), revision)).revision.revision

    async def difference(self, caller: Principal, name: str, before: int, after: int) -> dict[str, Any]:
        """Return what changed between two revisions, in text and in structure."""
        document_id = caller.document(name)
        one, other = [(await self._stored(document_id, number)).base for number in (before, after)]
        return (await self._asked(Compare(one.state, other.state), one, other)).difference

    async def revert(self, caller: Principal, name: str, to_revision: int, author: str | None) -> TaskDetails:
        """Have an earlier revision's bytes become a new one, in the lane's turn."""
        document_id = caller.document(name)
        await self._stored(document_id, to_revision)
        await self._spaces.let_in_file(caller, 0, (await self._shown(document_id)).revision)
        request = task_request("revert", name, {"toRevision": to_revision}, author)
        after = {"toRevision": to_revision}
        deed = Deed(caller, Action.REVERT_DOCUMENT, name, after=after, on_behalf_of=author)
        submitted = await self._submission.submit(caller, request, deed=deed)
        return TaskDetails(submitted.task, (), None)

    async def preview(self, caller: Principal, name: str, request: TaskRequest) -> dict[str, Any]:
        """Return what an edit, or a batch of them, would do to the head; nothing is stored."""
        document_id = caller.document(name)
        request = request.model_copy(update={"document_id": request.document_id or name})
        intake = await asyncio.to_thread(take_in, caller, request, self._submission.catalogue)
        if any(row.document_id != document_id for row in intake.rows):
            message = f"A preview is of one document: everything in it has to be about {name!r}."
            raise InvalidRequestError(message, [FieldError("documentId", message)])
        await self._submission.check_documents([intake])
        rows = [row for row in intake.rows if row.on_child_failure is None]
        edits = [PlannedEdit(row.task_type, row.payload_json, row.key) for row in rows]
        if any(not self._submission.catalogue.types[edit.task_type].formats for edit in edits):
            raise InvalidRequestError("Only edits can be previewed.")
        head = (await self._stored(document_id, None)).base
        orders = orders_of(edits, intake.root_id, request.asked_for or caller.id, _ANY_TIME)
        wanted = Condition(request.base_revision, request.on_conflict)
        conflict = await conflict_with(wanted, head, self._ledger, self._sandbox, orders)
        if conflict is not None and request.base_revision is not None:
            message = f"The task would fail: {conflict.message}."
            raise StaleRevisionError(request.base_revision, head.revision, conflict.facts, message)
        seen = await self._asked(Preview(head.state, orders), head)
        result = seen.results[0] if request.children is None else {"results": seen.results}
        return {"revision": head.revision, "result": result, "diff": seen.difference}

    async def _first(
        self,
        deed: Deed,
        document_id: DocumentId,
        format: Format,
        spool: Spool,
        on_behalf_of: str | None,
        note: str | None = None,
    ) -> bool:
        author = on_behalf_of or deed.caller.id

        async def made(connection: Connection) -> bool:
            head = await documents.create(connection, document_id, format, spool.title or None, author, deed.caller.id)
            if head is None:
                return False
            upload = await spool.keep(connection, document_id, None)
            revision = _revision(document_id, format, head, upload, author, note)
            await documents.revise(connection, [(None, revision)])
            after = {"format": format, "revision": head + 1, "sha256": upload.sha256, "size": upload.size}
            await audit.write(
                connection, deed._replace(target=bare(document_id), after=after, on_behalf_of=on_behalf_of)
            )
            return True

        return await self._ledger.in_transaction(made)

    async def _stored(self, document_id: DocumentId, revision: int | None) -> Stored:
        return await stored(self._ledger, document_id, revision)

    async def _asked(self, operation: Operation[A], *files: EditBase) -> A:
        return await asked(self._ledger, self._sandbox, operation, *files)


def _revision(
    document_id: DocumentId, format: Format, base: int, upload: Upload, author: str | None, note: str | None
) -> NewRevision:
    return NewRevision(
        document_id,
        format,
        base,
        upload.recipe,
        {},
        upload.sha256,
        upload.size,
        None,
        author,
        note,
        upload.title,
    )
