"""Documents in the ledger: heads, revisions, and the pieces that files are made of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import Document, Format, PausedLane
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.revision import Condition, NewRevision, PieceKey, Recipe, Revision
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("documents")
PIECES_AT_ONCE: Final = 4 * 1024 * 1024
"""How many bytes of pieces travel in one statement."""


@dataclass(frozen=True, slots=True)
class Head:
    """What an edit starts from, and on which condition."""

    format: Format
    revision: int
    sha256: str
    recipe: Recipe
    author: str | None
    base_revision: int | None
    on_conflict: str | None


@dataclass(frozen=True, slots=True)
class Stored:
    """One revision, with what its file is made of."""

    format: Format
    revision: Revision
    recipe: Recipe


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that waits for its turn."""

    if_match: int | None
    sha256: str
    size: int
    recipe: Recipe
    title: str | None = None
    """What it calls itself; empty for nothing, none if nobody has looked."""


async def create(
    executor: Executor, document_id: str, format: Format, title: str | None, created_by: str | None
) -> int | None:
    """Make a document and return the number its next revision follows; None when it exists."""
    rows = await executor.fetch(_SQL["create"], document_id, format, title, created_by)
    return rows[0]["head"] if rows else None


async def show(executor: Executor, document_id: str) -> Document | None:
    """Return a document."""
    rows = await executor.fetch(_SQL["show"], document_id)
    return _document(rows[0]) if rows else None


async def page(executor: Executor, *, before: int, limit: int, but_paused: bool = False) -> list[Document]:
    """Return the newest documents below a sequence number; those that are paused can be left out."""
    return [_document(row) for row in await executor.fetch(_SQL["page"], before, limit, but_paused)]


async def paused(executor: Executor, *, before: int, limit: int) -> list[Document | PausedLane]:
    """Return what was paused last, below a sequence number of pauses, which those here have as theirs."""
    rows = await executor.fetch(_SQL["paused"], before, limit)
    return [
        _document(row)
        if row["format"] is not None
        else PausedLane(DocumentId(row["id"]), row["seq"], row["queued"], row["running"], row["paused_at"])
        for row in rows
    ]


async def formats(executor: Executor, document_ids: Collection[str]) -> dict[str, Format]:
    """Return the formats of documents; those that are not there are left out."""
    rows = await executor.fetch(_SQL["formats"], list(document_ids))
    return {row["id"]: Format(row["format"]) for row in rows}


async def lock(executor: Executor, document_ids: Iterable[str]) -> dict[DocumentId, int]:
    """Lock documents and return their heads; those that are not there are left out."""
    rows = await executor.fetch(_SQL["lock"], sorted(set(document_ids)))
    return {DocumentId(row["id"]): row["head"] for row in rows}


async def revise(executor: Executor, revisions: Sequence[tuple[TaskId | None, NewRevision]]) -> None:
    """Add revisions, with their pieces, and move the heads."""
    # Those of all documents together: a settlement's round trips are what a lane waits for.
    await _keep(executor, _pieces(new for _, new in revisions))
    task_ids, documents, *columns = revision_columns(revisions)
    await executor.fetch(_SQL["revise"], documents, columns[0], task_ids, *columns[1:])


def revision_columns(revisions: Sequence[tuple[TaskId | None, NewRevision]]) -> tuple[list[object], ...]:
    """Return what is stored of revisions, column by column, in the order of their documents."""
    rows = [
        (
            task_id, new.document_id, new.base, new.task_type, new.author, new.note, new.sha256, new.size,
            new.recipe.encode(), new.title,
        )
        for task_id, new in sorted(revisions, key=lambda revision: revision[1].document_id)
    ]  # fmt: skip
    return tuple(map(list, zip(*rows, strict=True)))


def piece_columns(revisions: Iterable[NewRevision]) -> tuple[list[object], ...]:
    """Return the pieces of revisions, column by column, in the one order in which they are kept."""
    rows = sorted(_pieces(revisions))
    return tuple(map(list, zip(*rows, strict=True))) if rows else ([], [], [])


async def keep_pieces(executor: Executor, document_id: str, pieces: Mapping[PieceKey, bytes]) -> None:
    """Keep stretches of a document's files; those that are there already stay."""
    await _keep(executor, [(document_id, key, piece) for key, piece in pieces.items()])


def _pieces(revisions: Iterable[NewRevision]) -> list[tuple[str, PieceKey, bytes]]:
    return [(new.document_id, key, piece) for new in revisions for key, piece in new.pieces.items()]


async def _keep(executor: Executor, pieces: Iterable[tuple[str, PieceKey, bytes]]) -> None:
    batch: list[tuple[str, PieceKey, bytes]] = []
    size = 0
    # In one order everywhere: two that keep the same pieces must not wait for each other.
    for piece in sorted(pieces):
        batch.append(piece)
        size += len(piece[2])
        if size >= PIECES_AT_ONCE:
            await executor.fetch(_SQL["keep_pieces"], *map(list, zip(*batch, strict=True)))
            batch, size = [], 0
    if batch:
        await executor.fetch(_SQL["keep_pieces"], *map(list, zip(*batch, strict=True)))


async def pieces(executor: Executor, document_id: str, keys: Sequence[PieceKey]) -> dict[PieceKey, bytes]:
    """Return stretches by key."""
    rows = await executor.fetch(_SQL["pieces"], document_id, list(keys))
    return {PieceKey(row["key"]): row["bytes"] for row in rows}


async def head(executor: Executor, document_id: str, task_id: TaskId | None) -> Head | None:
    """Return what an edit starts from; None when there is no such document."""
    rows = await executor.fetch(_SQL["head"], document_id, task_id)
    if not rows:
        return None
    (row,) = rows
    return Head(
        Format(row["format"]),
        row["head"],
        row["sha256"],
        Recipe.decode(row["recipe"]),
        row["created_by"],
        row["base_revision"],
        row["on_conflict"],
    )


async def revision(executor: Executor, document_id: str, number: int | None) -> Stored | None:
    """Return one revision, the head if none is named; None when it is not there."""
    rows = await executor.fetch(_SQL["revision"], document_id, number)
    if not rows:
        return None
    return Stored(Format(rows[0]["format"]), _revision(rows[0]), Recipe.decode(rows[0]["recipe"]))


async def history(executor: Executor, document_id: str, *, before: int, after: int, limit: int) -> list[Revision]:
    """Return revisions below one number and above another, newest first."""
    return [_revision(row) for row in await executor.fetch(_SQL["history"], document_id, before, after, limit)]


async def title_as_of(executor: Executor, document_id: str, number: int) -> str | None:
    """Return what a document's file called itself as of a revision; none if nobody has looked."""
    rows = await executor.fetch(_SQL["title_as_of"], document_id, number)
    return rows[0]["title"] if rows else None


async def stage_upload(executor: Executor, upload_id: str, document_id: str, upload: Upload) -> None:
    """Keep a file that waits for its turn."""
    await executor.fetch(
        _SQL["stage_upload"],
        upload_id,
        document_id,
        upload.if_match,
        upload.sha256,
        upload.size,
        upload.recipe.encode(),
        upload.title,
    )


async def upload(executor: Executor, upload_id: str, document_id: str) -> Upload | None:
    """Return a file that waits for its turn."""
    rows = await executor.fetch(_SQL["upload"], upload_id, document_id)
    if not rows:
        return None
    (row,) = rows
    return Upload(row["if_match"], row["sha256"], row["size"], Recipe.decode(row["recipe"]), row["title"])


async def prune_uploads(executor: Executor, older_than_seconds: float) -> int:
    """Throw away uploads that became revisions a while ago, and return how many."""
    return len(await executor.fetch(_SQL["prune_uploads"], older_than_seconds))


async def abandoned(executor: Executor, older_than_seconds: float, limit: int) -> list[str]:
    """Return documents with uploads that wait for nothing any more."""
    return [row["document_id"] for row in await executor.fetch(_SQL["abandoned"], older_than_seconds, limit)]


async def prune_abandoned(executor: Executor, document_id: str, older_than_seconds: float) -> int:
    """Throw away a document's uploads that wait for nothing any more, and return how many."""
    return len(await executor.fetch(_SQL["prune_abandoned"], older_than_seconds, document_id))


async def hold(executor: Executor, document_id: str) -> bool:
    """Keep a document's pieces from being collected until the transaction ends; False when there is none."""
    return bool(await executor.fetch(_SQL["hold"], document_id))


async def lock_out(executor: Executor, document_id: str) -> bool:
    """Let nobody add to a document, deleted or not, until the transaction ends; False when somebody is about to."""
    return bool(await executor.fetch(_SQL["lock_out"], document_id))


async def piece_keys(executor: Executor, document_id: str) -> frozenset[PieceKey]:
    """Return which pieces there are of a document."""
    return frozenset(PieceKey(row["key"]) for row in await executor.fetch(_SQL["piece_keys"], document_id))


async def named_after(
    executor: Executor, document_id: str, revision: int, limit: int
) -> dict[int, frozenset[PieceKey]]:
    """Return the pieces that revisions above a number name, so many of them in order."""
    rows = await executor.fetch(_SQL["recipes_after"], document_id, revision, limit)
    return {row["revision"]: frozenset(Recipe.decode(row["recipe"]).keys) for row in rows}


async def named_by_uploads(executor: Executor, document_id: str) -> frozenset[PieceKey]:
    """Return the pieces that files name which wait for their turn."""
    rows = await executor.fetch(_SQL["recipes_of_uploads"], document_id)
    return frozenset(key for row in rows for key in Recipe.decode(row["recipe"]).keys)


async def drop_pieces(executor: Executor, document_id: str, keys: Collection[PieceKey]) -> None:
    """Remove pieces of a document."""
    await executor.fetch(_SQL["drop_pieces"], document_id, list(keys))


async def forget_deleted(executor: Executor, older_than_seconds: float, limit: int) -> int:
    """Forget documents that were deleted long ago, and return how many."""
    return len(await executor.fetch(_SQL["forget_deleted"], older_than_seconds, limit))


async def remember_conditions(executor: Executor, conditions: Sequence[Condition]) -> None:
    """Keep what edits were based on."""
    await executor.fetch(
        _SQL["remember_conditions"],
        [condition.task_id for condition in conditions],
        [condition.base_revision for condition in conditions],
        [condition.on_conflict for condition in conditions],
    )


async def waiting(executor: Executor, document_id: str) -> list[TaskId]:
    """Return the unfinished tasks of a lane, the last first."""
    return [TaskId(str(row["id"])) for row in await executor.fetch(_SQL["waiting"], document_id)]


async def delete(executor: Executor, document_id: str) -> bool:
    """Delete a document with its history; its numbers stay taken. False when there is none."""
    if not await executor.fetch(_SQL["delete"], document_id):
        return False
    await executor.fetch(_SQL["end_pause"], document_id)
    await executor.fetch(_SQL["forget_revisions"], document_id)
    await executor.fetch(_SQL["forget_pieces"], document_id)
    await executor.fetch(_SQL["forget_uploads"], document_id)
    return True


def _document(row: Row) -> Document:
    return Document(
        DocumentId(row["id"]),
        row["seq"],
        Format(row["format"]),
        row["title"],
        row["head"],
        row["sha256"],
        row["size"],
        row["created_at"],
        row["updated_at"],
        row["queued"],
        row["running"],
        row["paused_at"],
    )


def _revision(row: Row) -> Revision:
    return Revision(
        row["revision"],
        row["base"],
        None if row["task_id"] is None else TaskId(str(row["task_id"])),
        row["task_type"],
        row["author"],
        row["note"],
        row["sha256"],
        row["size"],
        row["created_at"],
    )
