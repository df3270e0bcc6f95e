"""Editing: a task's edits, from the head of its document to a revision that its settlement may add.

Everything here may happen twice, or in vain: nothing of it is seen by anybody
before the settlement has compared the head once more.
"""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from officeplane.domain.document import Node, UnsupportedDocumentError
from officeplane.domain.encoding import json_of
from officeplane.domain.errors import DocumentNotFoundError
from officeplane.domain.failure import Failure, FailureKind, storable
from officeplane.domain.outcome import RESULT_BYTES_MAX, Edited, Failed, Outcome, Succeeded
from officeplane.domain.revision import NewRevision, PieceKey, Recipe
from officeplane.domain.task import ClaimedTask
from officeplane.frames import Body, Frame
from officeplane.handlers.contract import PermanentFailure
from officeplane.sandbox.answers import text_in
from officeplane.sandbox.births import ChildDiedError, SandboxError
from officeplane.sandbox.pool import Sandbox
from officeplane.services.edits.conflicts import Condition, Conflict, conflict_with, made_since
from officeplane.services.edits.edit_bases import KnownHeads
from officeplane.services.edits.ride import Work
from officeplane.services.edits.riding import Riding, Tell
from officeplane.services.files.files import NOBODY, OpenedFile, ask, content
from officeplane.services.files.known_pieces import KnownPieces
from officeplane.services.files.made import made_of
from officeplane.store import documents, trees
from officeplane.store.connection import Ledger
from officeplane.store.documents import Head

REVERT: Final = "revert"
UPLOAD: Final = "upload"
NOT_EDITED: Final = (ChildDiedError, SandboxError, UnsupportedDocumentError)


class Editing:
    """What a worker does for tasks that change documents."""

    def __init__(self, ledger: Ledger, sandbox: Sandbox, heads: KnownHeads) -> None:
        self._ledger = ledger
        self._sandbox = sandbox
        self._heads = heads
        self._known = KnownPieces()
        self.riding = Riding(ledger, self._edit_in_a_row)

    async def run(self, task: ClaimedTask, payload_json: str) -> Outcome:
        """Carry out a task that is an edit, or that puts an earlier or uploaded file in its document's place."""
        known = self._heads.take(task.claim_id)
        head = known or await self._head(task)
        if isinstance(head, Failed):
            return head
        if task.task_type == REVERT:
            return await self._revert(task, head, json.loads(payload_json)["toRevision"])
        if task.task_type == UPLOAD:
            return await self._upload(task, head, json.loads(payload_json)["uploadId"])
        is_plain = head.base_revision is None and payload_json == task.payload_json
        # It follows another in its lane, where more may wait; or it was done when this one was its follower.
        if is_plain and (known is not None or self.riding.leads_to(task, head)):
            return await self.riding.run(task, head)
        return await self._edit(task, head, [(task.task_type, payload_json)])

    async def run_batch(self, task: ClaimedTask) -> Outcome:
        """Carry out the children of an atomic batch in order, as one revision or not at all."""
        head = await self._head(task)
        if isinstance(head, Failed):
            return head
        children = await trees.edits(self._ledger, task.id)
        keys = [key for _, _, key in children]
        return await self._edit(task, head, [(task_type, payload) for task_type, payload, _ in children], keys)

    def reader(self, task: ClaimedTask) -> "DocumentReader":
        """Return where a task's handler reads its document."""
        return DocumentReader(self._ledger, self._sandbox, task, self._heads.take(task.claim_id))

    async def apply(self, reader: "DocumentReader", edits: Sequence[tuple[str, str]]) -> Outcome:
        """Carry out what a handler asks for, as one revision after the one that it read."""
        head = reader.head or await self._head(reader.task)
        return head if isinstance(head, Failed) else await self._edit(reader.task, head, edits)

    async def _head(self, task: ClaimedTask) -> Head | Failed:
        if task.document_id is None:
            return _permanent("it names no document")
        head = self._heads.take(task.claim_id) or await documents.head(self._ledger, task.document_id, task.id)
        return head or _permanent(f"there is no document {task.document_id!r}; it was deleted meanwhile")

    async def _edit(
        self, task: ClaimedTask, head: Head, edits: Sequence[tuple[str, str]], keys: Sequence[str | None] | None = None
    ) -> Outcome:
        """Apply edits in order; with `keys`, later ones may use the results of earlier ones."""
        work = Work.of(task, head.author)
        file = OpenedFile(work.document_id, head.format, head.recipe)
        orders = _orders(work, edits, keys)
        outcome: Outcome | None = None

        async def heard(answer: Frame) -> None:
            nonlocal outcome
            outcome = await self._outcome(work, head, answer, edits, keys)

        try:
            wanted = Condition(head.base_revision, head.on_conflict)
            conflict = await conflict_with(wanted, head.revision, self._ledger, self._sandbox, file, orders)
            if conflict is not None:
                return _conflicting(conflict)
            body = _deed(file, orders)
            await ask(self._ledger, self._sandbox, body, file, heard=heard, known=self._known)
        except NOT_EDITED as error:
            return _not_edited(error)
        except DocumentNotFoundError as error:
            return _permanent(str(error))
        assert outcome is not None  # noqa: S101 - there was an answer
        return outcome

    async def _edit_in_a_row(self, head: Head, works: Sequence[Work], tell: Tell) -> None:
        """Apply edits of several tasks, each from what the last has made, and tell how each ended.

        Raises `DocumentNotFoundError` when what they start from is nowhere.
        """
        left = deque(works)

        async def heard(answer: Frame) -> None:
            nonlocal head
            work = left[0]
            outcome = await self._outcome(work, head, answer, [(work.task_type, work.payload_json)])
            left.popleft()
            if isinstance(outcome, Edited):
                made = outcome.revision
                head = Head(head.format, made.base + 1, made.sha256, made.recipe, None, None, None)
            tell(outcome)

        first, *then = (_orders(work, [(work.task_type, work.payload_json)]) for work in works)
        file = OpenedFile(works[0].document_id, head.format, head.recipe)
        try:
            body = {**_deed(file, first), "then": then}
            await ask(self._ledger, self._sandbox, body, file, heard=heard, known=self._known)
        except NOT_EDITED as error:
            tell(_not_edited(error))

    async def _outcome(
        self,
        work: Work,
        head: Head,
        answer: Frame,
        edits: Sequence[tuple[str, str]],
        keys: Sequence[str | None] | None = None,
    ) -> Outcome:
        match answer.body:
            case {"invalid": message, "facts": facts, "index": int(index)}:
                return _invalid(str(message), None if keys is None else index, facts)
            case {"invalid": message, "facts": facts}:
                return _invalid(str(message), facts=facts)
            case {"unsupported": [_, message]}:
                return _invalid(str(message))
            case {"results": [*results]} if len(results) == len(edits):
                made = await made_of(self._ledger, self._known, work.document_id, head.recipe, answer.attached)
                result = results[0] if keys is None and len(edits) == 1 else {"results": results}
                title = answer.body.get("title")
                return self._edited(work, head, result, *made, title=None if title is None else storable(title))
            case other:
                message = f"the process that had the document open answered with {sorted(other)}"
                raise ChildDiedError(message)

    async def _revert(self, task: ClaimedTask, head: Head, number: int) -> Outcome:
        assert task.document_id is not None  # noqa: S101 - it has a head
        stored = await documents.revision(self._ledger, task.document_id, number)
        if stored is None:
            return _invalid(f"there is no revision {number}; the newest is {head.revision}")
        revision = stored.revision
        return self._edited(
            Work.of(task, head.author), head, {"revertedTo": number}, stored.recipe, {}, revision.sha256, revision.size,
            f"as of revision {number}", await documents.title_as_of(self._ledger, task.document_id, number),
        )  # fmt: skip

    async def _upload(self, task: ClaimedTask, head: Head, upload_id: str) -> Outcome:
        assert task.document_id is not None  # noqa: S101 - it has a head
        upload = await documents.upload(self._ledger, upload_id, task.document_id)
        if upload is None:
            return _permanent("the uploaded file is gone")
        if upload.if_match is not None and upload.sha256 == head.sha256:
            # Sent twice, the answer to the first having been lost.
            return Succeeded(json_of({"revision": head.revision}))
        if upload.if_match is not None and upload.if_match != head.revision:
            message = f"it was to follow revision {upload.if_match}, but the document is at revision {head.revision}"
            since = await made_since(self._ledger, task.document_id, upload.if_match, head.revision)
            facts = {"expected": upload.if_match, "actual": head.revision, **since}
            return _conflicting(Conflict(message, facts))
        return self._edited(
            Work.of(task, head.author), head, {}, upload.recipe, {}, upload.sha256, upload.size, title=upload.title
        )

    @staticmethod
    def _edited(
        work: Work,
        head: Head,
        result: Mapping[str, object],
        recipe: Recipe,
        pieces: Mapping[PieceKey, bytes],
        sha256: str,
        size: int,
        note: str | None = None,
        title: str | None = None,
    ) -> Edited | Failed:
        told = json_of({**result, "revision": head.revision + 1})
        if len(told) > RESULT_BYTES_MAX:
            return _invalid(f"its result has {len(told)} bytes; {RESULT_BYTES_MAX} are allowed")
        revision = NewRevision(
            work.document_id,
            head.format,
            head.revision,
            recipe,
            pieces,
            sha256,
            size,
            work.task_type,
            work.author,
            note,
            title,
        )
        return Edited(told, revision)


class DocumentReader:
    """A task's document as its handler sees it: the head at the first look."""

    def __init__(self, ledger: Ledger, sandbox: Sandbox, task: ClaimedTask, head: Head | None) -> None:
        self.task = task
        self.head = head
        self._ledger = ledger
        self._sandbox = sandbox

    async def text(self) -> str:
        """Return what the document says."""
        return text_in((await self._asked("text")).attached)

    async def outline(self) -> list[Node]:
        """Return the tree of the document's nodes."""
        return [Node.from_json(node) for node in (await self._asked("outline")).body["nodes"]]

    async def content(self) -> bytes:
        """Return the document's file."""
        file = await self._opened()
        return b"".join([data async for data in content(self._ledger, file.document_id, file.recipe)])

    async def _asked(self, deed: str) -> Frame:
        file = await self._opened()
        answer = await ask(self._ledger, self._sandbox, {"deed": deed, "recipe": file.name}, file)
        if "unsupported" in answer.body:
            raise UnsupportedDocumentError(*answer.body["unsupported"])
        if "too_large" in answer.body:
            message = "what the document says is more than is shown; read its file"
            raise PermanentFailure(message)
        return answer

    async def _opened(self) -> OpenedFile:
        document_id = self.task.document_id
        if document_id is None:
            message = "it names no document, so there is nothing to read"
            raise PermanentFailure(message)
        if self.head is None:
            self.head = await documents.head(self._ledger, document_id, self.task.id)
        if self.head is None:
            raise PermanentFailure(str(DocumentNotFoundError(document_id)))
        return OpenedFile(document_id, self.head.format, self.head.recipe)


def _deed(file: OpenedFile, orders: Sequence[Mapping[str, Any]]) -> Body:
    return {
        "deed": "apply",
        "recipe": file.name,
        "edits": orders,
        "difference": False,
    }


def _orders(
    work: Work, edits: Sequence[tuple[str, str]], keys: Sequence[str | None] | None = None
) -> list[dict[str, Any]]:
    return [
        {
            "taskType": task_type,
            "payload": payload,
            "taskId": work.task_id if len(edits) == 1 else f"{work.task_id}/{index}",
            "key": None if keys is None else keys[index],
            "author": work.author or NOBODY,
            "at": work.created_at.isoformat(),
        }
        for index, (task_type, payload) in enumerate(edits)
    ]


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
