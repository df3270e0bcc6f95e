"""Matching: the nodes of a file that follows a revision keep the ids that they had there."""

from typing import Final

import structlog

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.domain.revision import EditBase
from officeplane.formats.naming.names import Names
from officeplane.sandbox.answers import Matched
from officeplane.sandbox.errors import ChildDiedError, SandboxError
from officeplane.sandbox.operations import Match
from officeplane.sandbox.pool import Sandbox
from officeplane.sandbox.shelf import BYTES_MAX
from officeplane.services.files.files import ask
from officeplane.store.connection import Executor

_NOT_MATCHED: Final = (ChildDiedError, SandboxError, UnsupportedDocumentError)
_log = structlog.stdlib.get_logger(__name__)


async def names_of(executor: Executor, sandbox: Sandbox, head: EditBase, upload: EditBase, seed: str) -> bytes:
    """Return what to call the nodes of an upload; where they cannot be matched, as nothing was called before."""
    if head.recipe.size + upload.recipe.size > BYTES_MAX:
        # A child has not both open at once.
        return Names(seed=seed).encode()
    try:
        operation = Match(head.state, upload.state, seed, bool(head.names))
        answer = await ask(executor, sandbox, operation, head, upload)
    except _NOT_MATCHED as error:
        _log.warning("upload.not_matched", document_id=head.document_id, revision=upload.revision, error=str(error))
        return Names(seed=seed).encode()
    return answer.names if isinstance(answer, Matched) else Names(seed=seed).encode()
