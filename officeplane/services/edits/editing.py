"""Editing: a task's edits, from the head of its document to a revision that its settlement may add.

Everything here may happen twice, or in vain: nothing of it is seen by anybody
before the settlement has compared the head once more.
"""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from officeplane.domain.document import Node, UnsupportedDocumentError
from officeplane.domain.encoding import json_of
from officeplane.domain.errors import DocumentNotFoundError, TooLargeToShowError
from officeplane.domain.failure import Failure, FailureKind, storable
from officeplane.domain.outcome import RESULT_BYTES_MAX, Edited, Failed, Outcome, Succeeded
from officeplane.domain.revision import EditBase, NewRevision, PieceKey, Recipe
from officeplane.domain.task import ClaimedTask
from officeplane.handlers.contract import PermanentFailure
from officeplane.sandbox.answers import Applied, Invalid, Refused, accepted
from officeplane.sandbox.errors import ChildDiedError, SandboxError
from officeplane.sandbox.operations import Apply, Operation, ReadOutline, ReadText
from officeplane.sandbox.pool import Sandbox
from officeplane.services.edits.conflicts import Condition, Conflict, conflict_with, made_since
from officeplane.services.edits.edit_bases import EditBaseCache
from officeplane.services.edits.lane_ahead import Work
from officeplane.services.edits.lookahead import Lookahead, Tell
from officeplane.services.edits.matching import names_of
from officeplane.services.edits.merging import changes_nothing, merged
from officeplane.services.edits.orders import PlannedEdit, orders_of
from officeplane.services.files.files import ask, content
from officeplane.services.files.known_pieces import KnownPieces
from officeplane.services.files.made import made_of
from officeplane.store import documents, trees
from officeplane.store.connection import Ledger
from officeplane.store.documents import EditStart, Upload

REVERT: Final = "revert"
UPLOAD: Final = "upload"
A = TypeVar("A")
NOT_EDITED: Final = (ChildDiedError, SandboxError, UnsupportedDocumentError)


class Editing:
    """What a worker does for tasks that change documents."""

    def __init__(self, ledger: Ledger, sandbox: Sandbox, edit_bases: EditBaseCache) -> None:
        self._ledger = ledger
        self._sandbox = sandbox
        self._edit_bases = edit_bases
        self._known = KnownPieces()
        self.lookahead = Lookahead(ledger, self._edit_in_a_row)

    async def run(self, task: ClaimedTask, payload_json: str) -> Outcome:
        """Carry out a task that is an edit, or that puts an earlier or uploaded file in its document's place."""
        known = self._edit_bases.take(task.claim_id)
        head = known or await self._head(task)
        if isinstance(head, Failed):
            return head
        if task.task_type == REVERT:
            return await self._revert(task, head, json.loads(payload_json)["toRevision"])
        if task.task_type == UPLOAD:
            return await self._upload(task, head, json.loads(payload_json))
        is_plain = head.base_revision is None and payload_json == task.payload_json
        # The edit follows another in its lane, where more may wait; or it was done ahead of its turn.
        if is_plain and (known is not None or self.lookahead.leads_to(task, head)):
            return await self.lookahead.run(task, head)
        return await self._edit(task, head, [PlannedEdit(task.task_type, payload_json)])

    async def run_batch(self, task: ClaimedTask) -> Outcome:
        """Carry out the children of an atomic batch in order, as one revision or not at all."""
        head = await self._head(task)
        if isinstance(head, Failed):
            return head
        children = [PlannedEdit(*child) for child in await trees.edits(self._ledger, task.id)]
        return await self._edit(task, head, children, is_batch=True)

    def reader(self, task: ClaimedTask) -> "DocumentReader":
        """Return where a task's handler reads its document."""
        return DocumentReader(self._ledger, self._sandbox, task, self._edit_bases.take(task.claim_id))

    async def apply(self, reader: "DocumentReader", edits: Sequence[tuple[str, str]]) -> Outcome:
        """Carry out what a handler asks for, as one revision after the one that it read."""
        head = reader.head or await self._head(reader.task)
        if isinstance(head, Failed):
            return head
        return await self._edit(reader.task, head, [PlannedEdit(*edit) for edit in edits])

    async def _head(self, task: ClaimedTask) -> EditStart | Failed:
        if task.document_id is None:
            return _permanent("it names no document")
        head = self._edit_bases.take(task.claim_id) or await documents.head(self._ledger, task.document_id, task.id)
        return head or _permanent(f"there is no document {task.document_id!r}; it was deleted meanwhile")

    async def _edit(
        self, task: ClaimedTask, head: EditStart, edits: Sequence[PlannedEdit], *, is_batch: bool = False
    ) -> Outcome:
        """Apply edits in order, as one revision or not at all."""
        work = Work.of(task, head.author)
        orders = orders_of(edits, work.task_id, work.author, work.created_at)
        outcome: Outcome | None = None

        async def heard(answer: Applied | Refused) -> None:
            nonlocal outcome
            outcome = await self._outcome(work, head.base, answer, is_batch=is_batch)

        try:
            wanted = Condition(head.base_revision, head.on_conflict)
            conflict = await conflict_with(wanted, head.base, self._ledger, self._sandbox, orders)
            if conflict is not None:
                return _conflicting(conflict)
            operation = Apply(head.base.state, (orders,))
            await ask(self._ledger, self._sandbox, operation, head.base, heard=heard, known=self._known)
        except NOT_EDITED as error:
            return _not_edited(error)
        except DocumentNotFoundError as error:
            return _permanent(str(error))
        assert outcome is not None  # noqa: S101 - there was an answer
        return outcome

    async def _edit_in_a_row(self, base: EditBase, works: Sequence[Work], tell: Tell) -> None:
        """Apply edits of several tasks, each from what the last has made, and tell how each ended.

        Raises `DocumentNotFoundError` when what they start from is nowhere.
        """
        left = deque(works)

        async def heard(answer: Applied | Refused) -> None:
            nonlocal base
            outcome = await self._outcome(left[0], base, answer)
            left.popleft()
            if isinstance(outcome, Edited):
                base = outcome.revision.as_base
            tell(outcome)

        revisions = tuple(
            orders_of([PlannedEdit(work.task_type, work.payload_json)], work.task_id, work.author, work.created_at)
            for work in works
        )
        try:
            operation = Apply(base.state, revisions)
            await ask(self._ledger, self._sandbox, operation, base, heard=heard, known=self._known)
        except NOT_EDITED as error:
            tell(_not_edited(error))

    async def _outcome(
        self, work: Work, base: EditBase, answer: Applied | Refused, *, is_batch: bool = False
    ) -> Outcome:
        match answer:
            case Applied(results, title):
                made = await made_of(self._ledger, self._known, base, answer)
                result = results[0] if len(results) == 1 and not is_batch else {"results": results}
                return self._edited(work, base, result, *made, title=None if title is None else storable(title))
            case Invalid(message, facts, index):
                return _invalid(message, index if is_batch else None, facts)
            case _:
                return _invalid(str(answer.error))

    async def _revert(self, task: ClaimedTask, head: EditStart, number: int) -> Outcome:
        assert task.document_id is not None  # noqa: S101 - it has a head
        stored = await documents.revision(self._ledger, task.document_id, number)
        if stored is None:
            return _invalid(f"there is no revision {number}; the newest is {head.base.revision}")
        revision = stored.revision
        return self._edited(
            Work.of(task, head.author), head.base, {"revertedTo": number}, stored.base.recipe, {}, revision.sha256,
            revision.size,
            f"as of revision {number}", await documents.title_as_of(self._ledger, task.document_id, number),
            stored.base.names,
        )  # fmt: skip

    async def _upload(self, task: ClaimedTask, head: EditStart, payload: Mapping[str, Any]) -> Outcome:
        assert task.document_id is not None  # noqa: S101 - it has a head
        upload = await documents.upload(self._ledger, payload["uploadId"], task.document_id)
        if upload is None:
            return _permanent("the uploaded file is gone")
        base = head.base
        if upload.if_match is not None and upload.sha256 == base.sha256:
            # The file was sent twice, because the answer to the first upload was lost.
            return Succeeded(json_of({"revision": base.revision}))
        if upload.if_match is not None and upload.if_match != base.revision:
            if payload.get("merges") and upload.if_match < base.revision:
                return await self._merge(Work.of(task, head.author), base, upload, upload.if_match)
            message = f"it was to follow revision {upload.if_match}, but the document is at revision {base.revision}"
            since = await made_since(self._ledger, task.document_id, upload.if_match, base.revision)
            facts = {"expected": upload.if_match, "actual": base.revision, **since}
            return _conflicting(Conflict(message, facts))
        file = EditBase(task.document_id, base.format, base.revision + 1, upload.sha256, upload.recipe)
        try:
            names = await names_of(self._ledger, self._sandbox, base, file, task.id)
        except DocumentNotFoundError as error:
            return _permanent(str(error))
        return self._edited(
            Work.of(task, head.author), base, {}, upload.recipe, {}, upload.sha256, upload.size, title=upload.title,
            names=names,
        )  # fmt: skip

    async def _merge(self, work: Work, base: EditBase, upload: Upload, follows: int) -> Outcome:
        """Do to the head what an upload has changed of the revision that it follows."""
        try:
            answer = await merged(self._ledger, self._sandbox, base, upload, follows, work.task_id, self._known)
        except NOT_EDITED as error:
            return _not_edited(error)
        except DocumentNotFoundError as error:
            return _permanent(str(error))
        if isinstance(answer, Conflict):
            return _conflicting(answer)
        if not isinstance(answer, Applied):
            return await self._outcome(work, base, answer)
        (result,) = answer.results
        result["merged"]["base"] = follows
        if changes_nothing(result):
            return Succeeded(json_of({**result, "revision": base.revision}))
        return await self._outcome(work, base, answer)

    @staticmethod
    def _edited(
        work: Work,
        base: EditBase,
        result: Mapping[str, object],
        recipe: Recipe,
        pieces: Mapping[PieceKey, bytes],
        sha256: str,
        size: int,
        note: str | None = None,
        title: str | None = None,
        names: bytes = b"",
    ) -> Edited | Failed:
        told = json_of({**result, "revision": base.revision + 1})
        if len(told) > RESULT_BYTES_MAX:
            return _invalid(f"its result has {len(told)} bytes; {RESULT_BYTES_MAX} are allowed")
        revision = NewRevision(
            base.document_id,
            base.format,
            base.revision,
            recipe,
            pieces,
            sha256,
            size,
            work.task_type,
            work.author,
            note,
            title,
            names,
        )
        return Edited(told, revision)


class DocumentReader:
    """A task's document as its handler sees it: the head at the first look."""

    def __init__(self, ledger: Ledger, sandbox: Sandbox, task: ClaimedTask, head: EditStart | None) -> None:
        self.task = task
        self.head = head
        self._ledger = ledger
        self._sandbox = sandbox

    async def text(self) -> str:
        """Return what the document says."""
        base = await self._base()
        return (await self._asked(ReadText(base.state), base)).text

    async def outline(self) -> list[Node]:
        """Return the tree of the document's nodes."""
        base = await self._base()
        return [Node.from_json(node) for node in (await self._asked(ReadOutline(base.state), base)).nodes]

    async def content(self) -> bytes:
        """Return the document's file."""
        base = await self._base()
        return b"".join([data async for data in content(self._ledger, base.document_id, base.recipe)])

    async def _asked(self, operation: Operation[A], base: EditBase) -> A:
        try:
            return accepted(await ask(self._ledger, self._sandbox, operation, base))
        except TooLargeToShowError:
            message = "what the document says is more than is shown; read its file"
            raise PermanentFailure(message) from None

    async def _base(self) -> EditBase:
        document_id = self.task.document_id
        if document_id is None:
            message = "it names no document, so there is nothing to read"
            raise PermanentFailure(message)
        if self.head is None:
            self.head = await documents.head(self._ledger, document_id, self.task.id)
        if self.head is None:
            raise PermanentFailure(str(DocumentNotFoundError(document_id)))
        return self.head.base


def _not_edited(error: Exception) -> Failed:
    match error:
        case ChildDiedError():
            return Failed(Failure(FailureKind.CRASH, str(error)), killed_its_child=True)
        case UnsupportedDocumentError():
            return _invalid(str(error))
        case _:
            return Failed(Failure(FailureKind.ERROR, str(error)))


def _permanent(message: str) -> Failed:
    return Failed(Failure(FailureKind.PERMANENT, message))


def _conflicting(conflict: Conflict) -> Failed:
    return Failed(Failure(FailureKind.EDIT_CONFLICT, conflict.message, facts=conflict.facts))


def _invalid(message: str, child: int | None = None, facts: Mapping[str, object] | None = None) -> Failed:
    return Failed(Failure(FailureKind.INVALID_EDIT, message, child, facts=facts or {}))
