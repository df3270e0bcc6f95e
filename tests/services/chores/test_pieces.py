"""Collection: pieces that nothing names go, and none that somebody is about to name."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection

import pytest

from officeplane.domain.document import Format
from officeplane.domain.ids import DocumentId
from officeplane.domain.principal import LOCAL
from officeplane.domain.revision import NewRevision, PieceKey, Recipe, RecipeWriter
from officeplane.formats.blank import blank
from officeplane.services.chores.pieces import collect
from officeplane.store import documents, pieces
from officeplane.store.connection import Connection, Executor
from officeplane.store.documents import Upload
from tests.services.editing import a_document, content, edited
from tests.support import eventually
from tests.workbench import Workbench

DAY = 86_400.0
OTHER = blank(Format.DOCX, "Another file, which nobody wants in the end")
ABANDONED = "01a1ef09-0000-7000-8000-000000000001"
LATER = "01a1ef09-0000-7000-8000-000000000002"


def cut(data: bytes) -> tuple[Recipe, RecipeWriter]:
    writer = RecipeWriter()
    writer.add(data)
    return writer.finish(), writer


async def staged(connection: Connection, upload_id: str, data: bytes = OTHER) -> None:
    """Keep a file that waits for its turn, as an upload does."""
    recipe, writer = cut(data)
    assert await documents.hold(connection, "plan")
    await pieces.keep(connection, "plan", writer.pieces)
    upload = Upload(None, hashlib.sha256(data).hexdigest(), len(data), recipe)
    await documents.stage_upload(connection, upload_id, "plan", upload)


async def revised(connection: Connection) -> None:
    """Add a revision with these bytes, as a settlement does."""
    recipe, writer = cut(OTHER)
    (head,) = (await documents.lock(connection, ["plan"])).values()
    revision = NewRevision(
        DocumentId("plan"), Format.DOCX, head, recipe, writer.pieces, hashlib.sha256(OTHER).hexdigest(), len(OTHER),
        None, None,
    )  # fmt: skip
    await documents.revise(connection, [(None, revision)])


@pytest.fixture(autouse=True)
async def an_abandoned_upload(bench: Workbench) -> None:
    """A document with a revision by an edit, and a file that waited for its turn in vain, two days ago."""
    await a_document(bench)
    await edited(bench)
    await bench.runtime.ledger.in_transaction(lambda connection: staged(connection, ABANDONED))
    await bench.execute("UPDATE uploads SET created_at = created_at - interval '2 days'")


async def kept(bench: Workbench) -> set[bytes]:
    return {row["key"] for row in await bench.execute("SELECT key FROM pieces")}


async def test_the_pieces_of_a_file_that_became_no_revision_go(bench: Workbench) -> None:
    recipe, _ = cut(OTHER)
    assert set(recipe.keys) <= await kept(bench)

    assert await collect(bench.runtime.ledger, DAY) == 1

    assert not set(recipe.keys) & await kept(bench)
    for revision in (1, 2):
        assert await content(bench, revision)
    assert await collect(bench.runtime.ledger, DAY) == 0


async def test_what_it_has_in_common_with_a_revision_stays(bench: Workbench) -> None:
    await bench.runtime.ledger.in_transaction(revised)

    await collect(bench.runtime.ledger, DAY)
    await bench.worker.retention.prune()

    assert await content(bench) == OTHER
    assert await bench.execute("SELECT FROM uploads") == []


async def test_a_file_that_waits_keeps_its_pieces(bench: Workbench) -> None:
    await bench.runtime.ledger.in_transaction(lambda connection: staged(connection, LATER))

    assert await collect(bench.runtime.ledger, DAY) == 1

    recipe, _ = cut(OTHER)
    assert set(recipe.keys) <= await kept(bench)


async def test_the_pieces_of_a_deleted_document_that_came_too_late_go(bench: Workbench) -> None:
    recipe, writer = cut(OTHER)
    await bench.runtime.documents.delete(LOCAL, "plan")
    await pieces.keep(bench.runtime.ledger, "plan", writer.pieces)
    upload = Upload(None, "", len(OTHER), recipe)
    await documents.stage_upload(bench.runtime.ledger, LATER, "plan", upload)
    await bench.execute("UPDATE uploads SET created_at = created_at - interval '2 days'")

    await collect(bench.runtime.ledger, DAY)

    assert await kept(bench) == set()


async def an_upload(connection: Connection) -> None:
    await staged(connection, LATER)


@pytest.mark.parametrize("action", [revised, an_upload])
async def test_what_somebody_is_about_to_name_is_not_collected(
    bench: Workbench, action: Callable[[Connection], Awaitable[None]]
) -> None:
    async def named(connection: Connection) -> None:
        await action(connection)
        # It found the pieces there, and has not told anybody yet.
        async with asyncio.timeout(60):
            assert await collect(bench.runtime.ledger, DAY) == 0

    await bench.runtime.ledger.in_transaction(named)
    assert await collect(bench.runtime.ledger, DAY) == 1

    recipe, _ = cut(OTHER)
    assert set(recipe.keys) <= await kept(bench)


@pytest.mark.parametrize("action", [revised, an_upload])
async def test_whoever_comes_while_pieces_are_collected_keeps_them_anew(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, action: Callable[[Connection], Awaitable[None]]
) -> None:
    coming: list[asyncio.Future[None]] = []
    drop = pieces.drop

    async def dropped(executor: Executor, document_id: str, keys: Collection[PieceKey]) -> None:
        coming.append(asyncio.ensure_future(bench.runtime.ledger.in_transaction(action)))
        await eventually(lambda: _somebody_waits(bench), what="whoever comes, at the document's lock")
        await drop(executor, document_id, keys)

    monkeypatch.setattr(pieces, "drop", dropped)

    assert await collect(bench.runtime.ledger, DAY) == 1
    await asyncio.gather(*coming)

    recipe, _ = cut(OTHER)
    assert len(coming) == 1
    assert set(recipe.keys) <= await kept(bench)


async def _somebody_waits(bench: Workbench) -> bool:
    return bool(await bench.execute("SELECT FROM pg_locks WHERE NOT granted"))
