"""Collection: the pieces of files that became no revision, because their upload was cancelled or refused.

A piece may be needed by whoever is about to say so. Settlements lock their document
before they keep pieces or find them there, and so do uploads; what no recipe names is
looked for without a lock, and looked at once more under one that excludes all of them.
A document that somebody is at is left to the next round: nobody waits for a collector.
"""

from typing import Final

from officeplane.domain.revision import PieceKey
from officeplane.store import documents, pieces
from officeplane.store.connection import Connection, Ledger

DOCUMENTS_AT_ONCE: Final = 20
REVISIONS_AT_ONCE: Final = 200


async def collect(ledger: Ledger, older_than_seconds: float) -> int:
    """Throw away uploads that wait for nothing any more, with the pieces that only they name; return how many."""
    removed = 0
    for document_id in await documents.abandoned(ledger, older_than_seconds, DOCUMENTS_AT_ONCE):
        removed += await _collect(ledger, document_id, older_than_seconds)
    return removed


async def _collect(ledger: Ledger, document_id: str, older_than_seconds: float) -> int:
    unnamed = await pieces.keys(ledger, document_id)
    seen = 0
    while found := await documents.named_after(ledger, document_id, seen, REVISIONS_AT_ONCE):
        seen = max(found)
        unnamed = _without(unnamed, *found.values())

    async def collected(connection: Connection) -> int:
        if not await documents.lock_out(connection, document_id):
            return 0
        uploads = await documents.prune_abandoned(connection, document_id, older_than_seconds)
        left, after = unnamed, seen
        while found := await documents.named_after(connection, document_id, after, REVISIONS_AT_ONCE):
            after = max(found)
            left = _without(left, *found.values())
        left = _without(left, await documents.named_by_uploads(connection, document_id))
        await pieces.drop(connection, document_id, left)
        return uploads

    return await ledger.in_transaction(collected)


def _without(keys: frozenset[PieceKey], *named: frozenset[PieceKey]) -> frozenset[PieceKey]:
    return keys.difference(*named)
