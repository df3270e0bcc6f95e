"""Documents in the ledger: heads, revisions, and the uploads that wait to become some."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from officeplane.domain.document import Document, Format, PausedLane
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.principal import Sight
from officeplane.domain.revision import EditBase, EditCondition, NewRevision, PieceKey, Recipe, Revision
from officeplane.domain.space import space_of
from officeplane.store import pieces
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load
from officeplane.store.sights import places_seen_by

_SQL: Final = load("documents")


@dataclass(frozen=True, slots=True)
class EditStart:
    """What a task's edit starts from, for whom, and on which condition."""

    base: EditBase
    author: str | None
    base_revision: int | None
    on_conflict: str | None


@dataclass(frozen=True, slots=True)
class Stored:
    """One revision as the ledger keeps it, and as what an edit may start from."""

    base: EditBase
    revision: Revision


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
    executor: Executor, document_id: str, format: Format, title: str | None, created_by: str | None, made_by: str
) -> int | None:
    """Make a document and return the number its next revision follows; None when it exists.

    `created_by` is for whom it is made, `made_by` who calls.
    """
    rows = await _SQL["create"].fetch(
        executor,
        document_id=document_id,
        space=space_of(document_id),
        format=format,
        title=title,
        created_by=created_by,
        made_by=made_by,
    )
    return rows[0]["head"] if rows else None


async def show(executor: Executor, document_id: str) -> Document | None:
    """Return a document."""
    rows = await _SQL["show"].fetch(executor, document_id=document_id)
    return _document(rows[0]) if rows else None


async def page(
    executor: Executor, sight: Sight, *, before: int, limit: int, but_paused: bool = False
) -> list[Document]:
    """Return the newest documents below a sequence number; those that are paused can be left out."""
    rows = await _SQL["page"].fetch(
        executor, before=before, limit=limit, but_paused=but_paused, **places_seen_by(sight)
    )
    return [_document(row) for row in rows]


async def paused(executor: Executor, sight: Sight, *, before: int, limit: int) -> list[Document | PausedLane]:
    """Return what was paused last, below a sequence number of pauses, which those here have as theirs."""
    rows = await _SQL["paused"].fetch(executor, before=before, limit=limit, **places_seen_by(sight))
    return [
        _document(row)
        if row["format"] is not None
        else PausedLane(DocumentId(row["id"]), row["seq"], row["queued"], row["running"], row["paused_at"])
        for row in rows
    ]


async def formats(executor: Executor, document_ids: Collection[str]) -> dict[str, Format]:
    """Return the formats of documents; those that are not there are left out."""
    rows = await _SQL["formats"].fetch(executor, document_ids=list(document_ids))
    return {row["id"]: Format(row["format"]) for row in rows}


async def lock(executor: Executor, document_ids: Iterable[str]) -> dict[DocumentId, int]:
    """Lock documents and return their heads; those that are not there are left out."""
    rows = await _SQL["lock"].fetch(executor, document_ids=sorted(set(document_ids)))
    return {DocumentId(row["id"]): row["head"] for row in rows}


async def revise(executor: Executor, revisions: Sequence[tuple[TaskId | None, NewRevision]]) -> None:
    """Add revisions, with their pieces, and move the heads."""
    # Those of all documents together: a settlement's round trips are what a lane waits for.
    await pieces.keep_of(executor, (new for _, new in revisions))
    await _SQL["revise"].fetch(executor, **revision_values(revisions))


class RevisionValues(TypedDict):
    """What is stored of revisions, column by column."""

    revision_task_ids: Sequence[TaskId | None]
    revision_document_ids: Sequence[str]
    revision_task_types: Sequence[str | None]
    bases: Sequence[int]
    authors: Sequence[str | None]
    notes: Sequence[str | None]
    sha256s: Sequence[str]
    sizes: Sequence[int]
    recipes: Sequence[bytes]
    titles: Sequence[str | None]
    names: Sequence[bytes | None]


def revision_values(revisions: Iterable[tuple[TaskId | None, NewRevision]]) -> RevisionValues:
    """Return the values for revisions, in the order of their documents."""
    rows = sorted(revisions, key=lambda revision: revision[1].document_id)
    return {
        "revision_task_ids": [task_id for task_id, _ in rows],
        "revision_document_ids": [new.document_id for _, new in rows],
        "revision_task_types": [new.task_type for _, new in rows],
        "bases": [new.base for _, new in rows],
        "authors": [new.author for _, new in rows],
        "notes": [new.note for _, new in rows],
        "sha256s": [new.sha256 for _, new in rows],
        "sizes": [new.size for _, new in rows],
        "recipes": [new.recipe.encode() for _, new in rows],
        "titles": [new.title for _, new in rows],
        "names": [new.names or None for _, new in rows],
    }


async def head(executor: Executor, document_id: str, task_id: TaskId | None) -> EditStart | None:
    """Return what an edit starts from; None when there is no such document."""
    rows = await _SQL["head"].fetch(executor, document_id=document_id, task_id=task_id)
    if not rows:
        return None
    (row,) = rows
    return EditStart(
        _base(document_id, row["head"], row),
        row["author"],
        row["base_revision"],
        row["on_conflict"],
    )


async def revision(executor: Executor, document_id: str, number: int | None) -> Stored | None:
    """Return one revision, the head if none is named; None when it is not there."""
    rows = await _SQL["revision"].fetch(executor, document_id=document_id, revision=number)
    if not rows:
        return None
    (row,) = rows
    return Stored(_base(document_id, row["revision"], row), _revision(row))


async def history(executor: Executor, document_id: str, *, before: int, after: int, limit: int) -> list[Revision]:
    """Return revisions below one number and above another, newest first."""
    return [
        _revision(row)
        for row in await _SQL["history"].fetch(
            executor, document_id=document_id, before=before, after=after, limit=limit
        )
    ]


async def title_as_of(executor: Executor, document_id: str, number: int) -> str | None:
    """Return what a document's file called itself as of a revision; none if nobody has looked."""
    rows = await _SQL["title_as_of"].fetch(executor, document_id=document_id, revision=number)
    return rows[0]["title"] if rows else None


async def stage_upload(executor: Executor, upload_id: str, document_id: str, upload: Upload) -> None:
    """Keep a file that waits for its turn."""
    await _SQL["stage_upload"].fetch(
        executor,
        upload_id=upload_id,
        document_id=document_id,
        if_match=upload.if_match,
        sha256=upload.sha256,
        size=upload.size,
        recipe=upload.recipe.encode(),
        title=upload.title,
    )


async def upload(executor: Executor, upload_id: str, document_id: str) -> Upload | None:
    """Return a file that waits for its turn."""
    rows = await _SQL["upload"].fetch(executor, upload_id=upload_id, document_id=document_id)
    if not rows:
        return None
    (row,) = rows
    return Upload(row["if_match"], row["sha256"], row["size"], Recipe.decode(row["recipe"]), row["title"])


async def prune_uploads(executor: Executor, older_than_seconds: float) -> int:
    """Throw away uploads that became revisions a while ago, and return how many."""
    return len(await _SQL["prune_uploads"].fetch(executor, older_than_seconds=older_than_seconds))


async def abandoned(executor: Executor, older_than_seconds: float, limit: int) -> list[str]:
    """Return documents with uploads that wait for nothing any more."""
    return [
        row["document_id"]
        for row in await _SQL["abandoned"].fetch(executor, older_than_seconds=older_than_seconds, limit=limit)
    ]


async def prune_abandoned(executor: Executor, document_id: str, older_than_seconds: float) -> int:
    """Throw away a document's uploads that wait for nothing any more, and return how many."""
    return len(
        await _SQL["prune_abandoned"].fetch(executor, older_than_seconds=older_than_seconds, document_id=document_id)
    )


async def hold(executor: Executor, document_id: str) -> bool:
    """Keep a document's pieces from being collected until the transaction ends; False when there is none."""
    return bool(await _SQL["hold"].fetch(executor, document_id=document_id))


async def lock_out(executor: Executor, document_id: str) -> bool:
    """Let nobody add to a document, deleted or not, until the transaction ends; False when somebody is about to."""
    return bool(await _SQL["lock_out"].fetch(executor, document_id=document_id))


async def named_after(
    executor: Executor, document_id: str, revision: int, limit: int
) -> dict[int, frozenset[PieceKey]]:
    """Return the pieces that revisions above a number name, so many of them in order."""
    rows = await _SQL["recipes_after"].fetch(executor, document_id=document_id, revision=revision, limit=limit)
    return {row["revision"]: frozenset(Recipe.decode(row["recipe"]).keys) for row in rows}


async def named_by_uploads(executor: Executor, document_id: str) -> frozenset[PieceKey]:
    """Return the pieces that files name which wait for their turn."""
    rows = await _SQL["recipes_of_uploads"].fetch(executor, document_id=document_id)
    return frozenset(key for row in rows for key in Recipe.decode(row["recipe"]).keys)


async def forget_deleted(executor: Executor, older_than_seconds: float, limit: int) -> int:
    """Forget documents that were deleted long ago, and return how many."""
    return len(await _SQL["forget_deleted"].fetch(executor, older_than_seconds=older_than_seconds, limit=limit))


async def remember_conditions(executor: Executor, conditions: Sequence[EditCondition]) -> None:
    """Keep what edits were based on."""
    await _SQL["remember_conditions"].fetch(
        executor,
        task_ids=[condition.task_id for condition in conditions],
        base_revisions=[condition.base_revision for condition in conditions],
        on_conflicts=[condition.on_conflict for condition in conditions],
    )


async def waiting(executor: Executor, document_id: str) -> list[TaskId]:
    """Return the unfinished tasks of a lane, the last first."""
    return [TaskId(str(row["id"])) for row in await _SQL["waiting"].fetch(executor, document_id=document_id)]


async def delete(executor: Executor, document_id: str) -> bool:
    """Delete a document with its history; its numbers stay taken. False when there is none."""
    if not await _SQL["delete"].fetch(executor, document_id=document_id):
        return False
    await _SQL["end_pause"].fetch(executor, document_id=document_id)
    await _SQL["forget_revisions"].fetch(executor, document_id=document_id)
    await pieces.forget(executor, document_id)
    await _SQL["forget_uploads"].fetch(executor, document_id=document_id)
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


def _base(document_id: str, number: int, row: Row) -> EditBase:
    recipe = Recipe.decode(row["recipe"])
    return EditBase(DocumentId(document_id), Format(row["format"]), number, row["sha256"], recipe, row["names"] or b"")


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
