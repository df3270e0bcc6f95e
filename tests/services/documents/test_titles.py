"""Titles: a document is called what its file calls itself, whatever has made it so."""

import asyncio
import zipfile
from io import BytesIO

import pytest

from officeplane.domain.document import Format
from officeplane.domain.principal import LOCAL
from officeplane.formats.blank import blank
from officeplane.services.documents.uploads import ANY, IfMatch
from officeplane.services.files.spool import spooled_bytes
from tests.services.documents.uploading import upload_of
from tests.services.editing import (
    a_claimed_edit,
    a_document,
    an_edit,
    at_rest,
    carried_out,
    done_ahead,
    edited,
    made,
    ran,
    stayed,
)
from tests.support import eventually
from tests.workbench import Workbench


async def title(bench: Workbench) -> str | None:
    return (await bench.runtime.documents.show(LOCAL, "plan")).title


async def put(bench: Workbench, data: bytes, if_match: IfMatch = None) -> None:
    async with spooled_bytes(data) as spool:
        await bench.runtime.documents.put(LOCAL, "plan", spool, if_match, "ann")


async def put_over(bench: Workbench, data: bytes) -> None:
    request = asyncio.create_task(put(bench, data, ANY))
    await ran(bench, await eventually(lambda: upload_of(bench), what="the upload's task"))
    await request


def with_core(format: Format, core: bytes | None) -> bytes:
    """Return a file with other properties, or with none."""
    made = BytesIO()
    with zipfile.ZipFile(BytesIO(blank(format, "A title"))) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "docProps/core.xml":
                if core is None:
                    continue
                data = core
            if core is None and name in {"_rels/.rels", "[Content_Types].xml"}:
                data = b"".join(part for part in _elements(data) if b"core" not in part)
            new.writestr(name, data)
    return made.getvalue()


def _elements(data: bytes) -> list[bytes]:
    return [part + b">" for part in data.split(b">") if part.strip()]


@pytest.mark.parametrize("format", list(Format))
async def test_an_uploaded_file_names_its_document(bench: Workbench, format: Format) -> None:
    await put(bench, blank(format, "  Our\n plan "))

    assert await title(bench) == "Our plan"


@pytest.mark.parametrize("given", [None, ""])
async def test_a_file_without_a_title_names_nothing(bench: Workbench, given: str | None) -> None:
    await put(bench, blank(Format.DOCX, given))

    assert await title(bench) is None


async def test_a_file_without_properties_names_nothing_and_is_named_by_an_edit(bench: Workbench) -> None:
    await put(bench, with_core(Format.DOCX, None))
    before = await title(bench)

    await edited(bench, "set_properties", payload={"title": "Named"})

    assert (before, await title(bench)) == (None, "Named")


async def test_a_title_is_kept_as_far_as_anybody_reads_it(bench: Workbench) -> None:
    await put(bench, blank(Format.DOCX, "x" * 1_000))

    assert await title(bench) == "x" * 200


@pytest.mark.parametrize("format", list(Format))
async def test_a_title_that_is_set_in_the_file_is_the_documents(bench: Workbench, format: Format) -> None:
    await a_document(bench, format=format)

    await edited(bench, "set_properties", payload={"title": "New"})
    named = await title(bench)
    await edited(bench, "set_properties", payload={"author": "ann"})
    kept = await title(bench)
    await edited(bench, "set_properties", payload={"title": ""})

    assert (named, kept, await title(bench)) == ("New", "New", None)


async def test_a_file_that_replaces_another_names_the_document_anew(bench: Workbench) -> None:
    await put(bench, blank(Format.DOCX, "One"))

    await put_over(bench, blank(Format.DOCX, "Two"))

    assert await title(bench) == "Two"


async def test_a_revert_brings_the_title_back(bench: Workbench) -> None:
    await put(bench, blank(Format.DOCX, "One"))
    await edited(bench)
    await edited(bench, "set_properties", payload={"title": "Two"})

    for number, expected in ((2, "One"), (3, "Two")):
        reverted = await bench.runtime.documents.revert(LOCAL, "plan", number, "ann")
        await ran(bench, reverted.task)

        assert await title(bench) == expected


async def test_a_title_that_was_set_before_its_turn_counts_when_that_has_come(bench: Workbench) -> None:
    await a_document(bench)
    first = await a_claimed_edit(bench)
    for name in ("Two", "Three"):
        await an_edit(bench, "set_properties", payload={"title": name})
    await an_edit(bench)
    stay = await stayed(bench, first, await carried_out(bench, first))
    (claimed,) = stay.followers
    outcome = await carried_out(bench, claimed)
    await at_rest()
    ahead = done_ahead(bench, claimed, made(outcome))

    await stayed(bench, claimed, outcome)

    assert len(ahead) == 2
    assert await title(bench) == "Three"


async def test_an_atomic_batch_names_the_document(bench: Workbench) -> None:
    await a_document(bench)
    naming = {"task_type": "set_properties", "payload": {"title": "New"}}

    batch, *_ = await bench.a_batch(
        naming, {"task_type": "add_chapter", "payload": {"title": "One"}}, atomic=True, document_id="plan"
    )
    claimed = await bench.claim_next(batch)
    await bench.settle(claimed, await bench.worker.editing.run_batch(claimed))

    assert await title(bench) == "New"
