"""Asking the sandbox about revisions: found, opened by a child, and what that refuses in domain words."""

from typing import Final, TypeVar

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.domain.errors import DocumentNotFoundError, RevisionNotFoundError, TooLargeToShowError
from officeplane.domain.ids import DocumentId
from officeplane.domain.revision import EditBase
from officeplane.formats.shown import SHOWN_BYTES_MAX
from officeplane.sandbox.answers import accepted
from officeplane.sandbox.errors import ChildDiedError
from officeplane.sandbox.operations import Operation
from officeplane.sandbox.pool import Sandbox
from officeplane.services.files.files import ask
from officeplane.store import documents
from officeplane.store.connection import Ledger
from officeplane.store.documents import Stored

A = TypeVar("A")

_TOO_LARGE: Final = (
    f"What the document says takes more than {SHOWN_BYTES_MAX >> 20} MiB, which is more than is shown or compared at "
    "once: ask for a part of it, with maxTokens or under, or download the file (/content, of a revision with "
    "?revision=)."
)


async def stored(ledger: Ledger, document_id: DocumentId, revision: int | None) -> Stored:
    """Return a revision, the head if none is named."""
    found = await documents.revision(ledger, document_id, revision)
    if found is None:
        if await documents.show(ledger, document_id) is None:
            raise DocumentNotFoundError(document_id)
        raise RevisionNotFoundError(document_id, revision or 0)
    return found


async def asked(ledger: Ledger, sandbox: Sandbox, operation: Operation[A], *files: EditBase) -> A:
    """Return a child's answer about revisions; one that it dies of is refused."""
    try:
        return accepted(await ask(ledger, sandbox, operation, *files))
    except ChildDiedError as error:
        raise UnsupportedDocumentError("too_complex", f"It could not be read: {error}.") from None
    except TooLargeToShowError:
        raise TooLargeToShowError(_TOO_LARGE) from None
