"""Pieces in the ledger: where the bytes of documents' files are kept, and nobody else knows.

Revisions and uploads have recipes, which name pieces by document and hash. What
is kept under these names goes through here: what is written, on its own or
along with the statement that adds its revision, read, listed and removed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypedDict

from officeplane.domain.quota import Account
from officeplane.domain.revision import NewRevision, PieceKey
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("pieces")
PIECES_AT_ONCE: Final = 4 * 1024 * 1024
"""How many bytes of pieces travel in one statement."""


class PieceValues(TypedDict):
    """What a statement keeps of pieces, column by column."""

    piece_document_ids: Sequence[str]
    piece_keys: Sequence[PieceKey]
    pieces: Sequence[bytes]


class _Piece(NamedTuple):
    document_id: str
    key: PieceKey
    bytes: bytes


def go_along(revisions: Iterable[NewRevision]) -> bool:
    """Whether the pieces of these revisions may go along with the statement that adds them."""
    return sum(new.pieces_size for new in revisions) < PIECES_AT_ONCE


def values_of(revisions: Iterable[NewRevision]) -> PieceValues:
    """Return what goes along with the statement that adds these revisions (`pieces_kept`)."""
    return _values(_in_order(_pieces_of(revisions)))


async def keep(executor: Executor, document_id: str, pieces: Mapping[PieceKey, bytes]) -> None:
    """Keep stretches of a document's files; those that are there already stay."""
    await _keep(executor, [_Piece(document_id, key, piece) for key, piece in pieces.items()])


async def keep_of(executor: Executor, revisions: Iterable[NewRevision]) -> None:
    """Keep the pieces of revisions that are about to be added."""
    await _keep(executor, _pieces_of(revisions))


async def fetch(executor: Executor, document_id: str, keys: Collection[PieceKey]) -> dict[PieceKey, bytes]:
    """Return stretches by key."""
    rows = await _SQL["fetch"].fetch(executor, document_id=document_id, keys=list(keys))
    return {PieceKey(row["key"]): row["bytes"] for row in rows}


async def keys(executor: Executor, document_id: str) -> frozenset[PieceKey]:
    """Return which pieces there are of a document."""
    return frozenset(PieceKey(row["key"]) for row in await _SQL["keys"].fetch(executor, document_id=document_id))


async def drop(executor: Executor, document_id: str, keys: Collection[PieceKey]) -> None:
    """Remove pieces of a document."""
    await _SQL["drop"].fetch(executor, document_id=document_id, keys=list(keys))


async def forget(executor: Executor, document_id: str) -> None:
    """Remove all that a document was made of."""
    await _SQL["forget"].fetch(executor, document_id=document_id)


async def _keep(executor: Executor, pieces: Iterable[_Piece]) -> None:
    batch: list[_Piece] = []
    size = 0
    for piece in _in_order(pieces):
        batch.append(piece)
        size += len(piece.bytes)
        if size >= PIECES_AT_ONCE:
            await _SQL["keep"].fetch(executor, **_values(batch))
            batch, size = [], 0
    if batch:
        await _SQL["keep"].fetch(executor, **_values(batch))


def _in_order(pieces: Iterable[_Piece]) -> list[_Piece]:
    # In one order everywhere: two that keep the same pieces must not wait for each other.
    return sorted(pieces)


def _pieces_of(revisions: Iterable[NewRevision]) -> list[_Piece]:
    return [_Piece(new.document_id, key, piece) for new in revisions for key, piece in new.pieces.items()]


def _values(pieces: Sequence[_Piece]) -> PieceValues:
    return {
        "piece_document_ids": [piece.document_id for piece in pieces],
        "piece_keys": [piece.key for piece in pieces],
        "pieces": [piece.bytes for piece in pieces],
    }


async def bytes_of(executor: Executor, account: Account) -> int:
    """Return how many bytes the documents of a space take as they are kept, or those of one caller in it."""
    if account.caller is None:
        (row,) = await _SQL["bytes_of_space"].fetch(executor, space=account.space)
    else:
        (row,) = await _SQL["bytes_of_caller"].fetch(executor, space=account.space, caller=account.caller)
    return int(row["count"])
