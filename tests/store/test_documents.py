"""Documents in the ledger: what each query gives back, and what the tables refuse."""

import hashlib

import asyncpg
import pytest
from uuid_utils import uuid7

from officeplane.domain.document import Format
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.principal import EVERYTHING
from officeplane.domain.revision import EditCondition, NewRevision, Recipe, RecipeWriter
from officeplane.store import documents, pieces
from officeplane.store.connection import Ledger
from officeplane.store.documents import Upload
from officeplane.store.tasks import END_OF_TIME
from tests.workbench import Workbench

PIECE = b"p" * 600


def a_file(*stretches: bytes) -> RecipeWriter:
    """Return what is known of a file that was cut into these stretches."""
    writer = RecipeWriter()
    for stretch in stretches:
        writer.add(stretch)
    return writer


def a_revision(base: int, *stretches: bytes, document_id: str = "doc", author: str | None = None) -> NewRevision:
    """Return a revision that follows another, made of these stretches."""
    file = a_file(*stretches)
    recipe = file.finish()
    return NewRevision(
        DocumentId(document_id),
        Format.DOCX,
        base,
        recipe,
        file.pieces,
        hashlib.sha256(b"".join(stretches)).hexdigest(),
        file.size,
        "replace_text",
        author,
        "a note",
    )


def a_task_id() -> TaskId:
    return TaskId(str(uuid7()))


async def revise(ledger: Ledger, *revisions: NewRevision) -> None:
    """Add revisions, each by a task of its own."""
    await documents.revise(ledger, [(a_task_id(), revision) for revision in revisions])


async def make(ledger: Ledger, document_id: str = "doc", *stretches: bytes) -> None:
    """Make a document with its first revision."""
    head = await documents.create(ledger, document_id, Format.DOCX, "A title", "ann", "key:bot")
    assert head is not None
    await revise(ledger, a_revision(head, *(stretches or (b"one",)), document_id=document_id))


@pytest.fixture
def ledger(bench: Workbench) -> Ledger:
    """The ledger, with nothing in it."""
    return bench.runtime.ledger


async def test_a_document_is_made_once(ledger: Ledger) -> None:
    assert await documents.create(ledger, "doc", Format.DOCX, None, None, "local") == 0
    assert await documents.create(ledger, "doc", Format.XLSX, None, None, "local") is None


async def test_a_document_is_shown_with_its_head(ledger: Ledger) -> None:
    await make(ledger, "doc", b"one")
    await revise(ledger, a_revision(1, b"two, longer"))

    shown = await documents.show(ledger, "doc")

    assert shown is not None
    assert (shown.id, shown.format, shown.title, shown.revision) == ("doc", Format.DOCX, "A title", 2)
    assert (shown.size, shown.sha256) == (11, hashlib.sha256(b"two, longer").hexdigest())
    assert shown.created_at < shown.updated_at
    assert (shown.queued, shown.running) == (0, 0)


async def test_a_document_counts_what_waits_for_it_and_what_runs(bench: Workbench, ledger: Ledger) -> None:
    await make(ledger)
    await bench.a_running_task(document_id="doc")
    await bench.a_task(document_id="doc")
    await bench.a_task(document_id="doc")
    await bench.a_task(document_id="another")

    shown = await documents.show(ledger, "doc")

    assert shown is not None
    assert (shown.queued, shown.running) == (2, 1)


async def test_what_was_never_there_is_not_shown(ledger: Ledger) -> None:
    assert await documents.show(ledger, "doc") is None
    assert await documents.head(ledger, "doc", None) is None
    assert await documents.revision(ledger, "doc", None) is None
    assert await documents.lock(ledger, ["doc"]) == {}
    assert await documents.formats(ledger, ["doc"]) == {}
    assert await documents.history(ledger, "doc", before=END_OF_TIME, after=0, limit=9) == []
    assert not await documents.delete(ledger, "doc")


async def test_pages_show_the_newest_documents_first(ledger: Ledger) -> None:
    for name in ("a", "b", "c"):
        await make(ledger, name)

    first = await documents.page(ledger, EVERYTHING, before=END_OF_TIME, limit=2)
    second = await documents.page(ledger, EVERYTHING, before=first[-1].seq, limit=2)

    assert [one.id for one in first] == ["c", "b"]
    assert [one.id for one in second] == ["a"]


async def test_formats_and_heads_are_told_of_those_that_are_there(ledger: Ledger) -> None:
    await make(ledger, "a")
    await make(ledger, "b")
    await documents.delete(ledger, "b")

    assert await documents.formats(ledger, ["a", "b", "c"]) == {"a": Format.DOCX}
    assert await documents.lock(ledger, ["c", "b", "a", "a"]) == {"a": 1}


async def test_revisions_are_a_chain_that_history_tells_newest_first(ledger: Ledger) -> None:
    await make(ledger)
    for base in (1, 2, 3):
        await revise(ledger, a_revision(base, b"%d" % base, author=f"author {base}"))

    history = await documents.history(ledger, "doc", before=END_OF_TIME, after=0, limit=9)

    assert [(one.revision, one.base) for one in history] == [(4, 3), (3, 2), (2, 1), (1, 0)]
    assert [one.author for one in history] == ["author 3", "author 2", "author 1", None]
    assert [one.note for one in history] == ["a note"] * 4
    between = await documents.history(ledger, "doc", before=4, after=1, limit=9)
    assert [one.revision for one in between] == [3, 2]
    assert [one.revision for one in await documents.history(ledger, "doc", before=4, after=0, limit=1)] == [3]


async def test_the_ledger_refuses_a_revision_twice(ledger: Ledger) -> None:
    await make(ledger)

    with pytest.raises(asyncpg.UniqueViolationError):
        await revise(ledger, a_revision(0, b"another first"))


async def test_the_ledger_refuses_two_revisions_of_one_task(ledger: Ledger) -> None:
    await make(ledger)
    task_id = a_task_id()
    await documents.revise(ledger, [(task_id, a_revision(1, b"two"))])

    with pytest.raises(asyncpg.UniqueViolationError):
        await documents.revise(ledger, [(task_id, a_revision(2, b"three"))])


async def test_the_ledger_refuses_a_gap(bench: Workbench, ledger: Ledger) -> None:
    await make(ledger)

    with pytest.raises(asyncpg.CheckViolationError):
        await bench.execute("UPDATE revisions SET base = 7")


async def test_several_documents_move_in_one_statement(ledger: Ledger) -> None:
    await make(ledger, "a")
    await make(ledger, "b")

    await revise(ledger, a_revision(1, b"2a", document_id="a"), a_revision(1, b"2b", document_id="b"))

    assert await documents.lock(ledger, ["a", "b"]) == {"a": 2, "b": 2}


async def test_a_revision_is_told_with_what_its_file_is_made_of(ledger: Ledger) -> None:
    await make(ledger, "doc", b"short", PIECE)
    await revise(ledger, a_revision(1, b"two"))

    first = await documents.revision(ledger, "doc", 1)
    head = await documents.revision(ledger, "doc", None)

    assert first is not None
    assert head is not None
    found = await pieces.fetch(ledger, "doc", first.base.recipe.keys)
    assert b"".join(first.base.recipe.assemble(found)) == b"short" + PIECE
    assert (first.base.format, first.revision.revision) == (Format.DOCX, 1)
    assert (head.revision.revision, head.base.recipe) == (2, Recipe((b"two",)))
    assert await documents.revision(ledger, "doc", 3) is None


async def test_revisions_share_the_pieces_that_they_have_in_common(bench: Workbench, ledger: Ledger) -> None:
    await make(ledger, "doc", b"first", PIECE)
    await revise(ledger, a_revision(1, b"second", PIECE, b"q" * 600))

    (row,) = await bench.execute("SELECT count(*) AS n, sum(length(bytes)) AS size FROM pieces")

    assert (row["n"], row["size"]) == (2, 1200)


async def test_an_edit_starts_from_the_head_on_its_condition(bench: Workbench, ledger: Ledger) -> None:
    await make(ledger, "doc", b"one")
    conditional = await bench.a_task(document_id="doc", created_by="ben")
    free = await bench.a_task(document_id="doc")
    await documents.remember_conditions(ledger, [EditCondition(conditional.id, 7, "rebase")])

    head = await documents.head(ledger, "doc", conditional.id)
    other = await documents.head(ledger, "doc", free.id)

    assert head is not None
    assert other is not None
    assert (head.base.format, head.base.revision, head.base.recipe) == (Format.DOCX, 1, Recipe((b"one",)))
    assert (head.author, head.base_revision, head.on_conflict) == ("ben", 7, "rebase")
    assert (other.author, other.base_revision, other.on_conflict) == ("local", None, None)


async def test_a_condition_is_one_of_three(bench: Workbench, ledger: Ledger) -> None:
    task = await bench.a_task(document_id="doc")

    with pytest.raises(asyncpg.CheckViolationError):
        await documents.remember_conditions(ledger, [EditCondition(task.id, 1, "whatever")])


async def test_an_upload_waits_for_its_turn_and_for_its_document_only(ledger: Ledger) -> None:
    upload_id = str(uuid7())
    upload = Upload(3, "a hash", 5, Recipe((b"bytes",)), "A title")

    await documents.stage_upload(ledger, upload_id, "doc", upload)

    assert await documents.upload(ledger, upload_id, "doc") == upload
    assert await documents.upload(ledger, upload_id, "another") is None
    assert await documents.upload(ledger, str(uuid7()), "doc") is None


async def test_a_lane_tells_who_waits_in_it_the_last_first(bench: Workbench, ledger: Ledger) -> None:
    running = await bench.a_running_task(document_id="doc")
    second = await bench.a_task(document_id="doc")
    parent, child = await bench.a_batch({"task_type": "noop"}, document_id="doc")
    await bench.end(await bench.a_task(), "COMPLETED")

    waiting = await documents.waiting(ledger, "doc")

    assert waiting == [child.id, second.id, running.id]
    assert parent.id not in waiting


async def test_a_deleted_document_is_gone_with_its_history_and_its_pieces(bench: Workbench, ledger: Ledger) -> None:
    await make(ledger, "doc", PIECE)
    await make(ledger, "another", PIECE)

    assert await documents.delete(ledger, "doc")

    assert await documents.show(ledger, "doc") is None
    assert await documents.revision(ledger, "doc", 1) is None
    assert await documents.head(ledger, "doc", None) is None
    assert await documents.history(ledger, "doc", before=END_OF_TIME, after=0, limit=9) == []
    assert [one.id for one in await documents.page(ledger, EVERYTHING, before=END_OF_TIME, limit=9)] == ["another"]
    assert await bench.execute("SELECT DISTINCT document_id FROM pieces") == [{"document_id": "another"}]
    assert not await documents.delete(ledger, "doc")


async def test_the_uploads_of_a_deleted_document_are_gone_with_their_pieces(ledger: Ledger) -> None:
    await make(ledger)
    upload_id, file = str(uuid7()), a_file(PIECE)
    recipe = file.finish()
    await pieces.keep(ledger, "doc", file.pieces)
    await documents.stage_upload(
        ledger, upload_id, "doc", Upload(None, hashlib.sha256(PIECE).hexdigest(), file.size, recipe, None)
    )

    await documents.delete(ledger, "doc")

    # Else the document's next life could get a revision whose pieces are not there.
    assert await documents.upload(ledger, upload_id, "doc") is None


async def test_a_number_never_comes_back(ledger: Ledger) -> None:
    await make(ledger)
    await revise(ledger, a_revision(1, b"two"))
    await documents.delete(ledger, "doc")

    head = await documents.create(ledger, "doc", Format.XLSX, "Another title", "ben", "key:bot")
    assert head == 2
    await revise(ledger, a_revision(head, b"three"))

    shown = await documents.show(ledger, "doc")
    assert shown is not None
    assert (shown.revision, shown.format, shown.title) == (3, Format.XLSX, "Another title")
    assert await documents.revision(ledger, "doc", 1) is None
    history = await documents.history(ledger, "doc", before=END_OF_TIME, after=0, limit=9)
    assert [one.revision for one in history] == [3]


async def test_a_revision_is_told_of_as_an_event(bench: Workbench, ledger: Ledger) -> None:
    await make(ledger)

    (event,) = await bench.execute("SELECT kind, document_ids FROM events")

    assert (event["kind"], event["document_ids"]) == ("document.revised", ["doc"])
