"""`OFFICEPLANE_POLICY` over the API: what is let in, kept and told of."""

from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from uuid_utils import uuid4

from officeplane.config import Settings
from officeplane.domain.document import Format
from officeplane.formats.package import Package
from tests.api.client import Api, client_of, code_of, json_of, running, worker_of
from tests.fixtures.documents import word
from tests.fixtures.documents.linked import LINKED, embedding_text
from tests.fixtures.documents.strict import strict

FILES = [
    pytest.param(each, holds, make, id=f"{each}-{holds}")
    for each, makers in LINKED.items()
    for holds, make in makers.items()
]


@pytest.fixture(scope="module")
async def standard(api_settings: Settings) -> AsyncIterator[Api]:
    """The API of an installation with the policy `standard`."""
    settings = api_settings.model_copy(update={"policy": "standard"})
    async with running(settings) as app, client_of(app) as client:
        yield Api(client, app, settings, worker_of(app))


async def put(api: Api, data: bytes) -> tuple[str, httpx.Response]:
    document_id = f"doc-{str(uuid4())[:8]}"
    return document_id, await api.client.put(f"/api/documents/{document_id}", content=data)


@pytest.mark.parametrize(("format", "holds", "make"), FILES)
async def test_what_leads_elsewhere_is_let_in_kept_and_told_of(
    api: Api, standard: Api, format: Format, holds: str, make: Callable[[], bytes]
) -> None:
    data = make()

    _, refused = await put(api, data)
    document_id, made = await put(standard, data)
    got = await standard.client.get(f"/api/documents/{document_id}/content")
    task = await standard.submit(taskType="set_properties", documentId=document_id, payload={"title": "Other"})
    claimed = await standard.start(task["id"])
    await standard.end(claimed, await standard.worker.editing.run(claimed, claimed.payload_json))
    edited = await standard.client.get(f"/api/documents/{document_id}/content")

    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported_document")
    assert made.status_code == 201
    assert (got.content, got.headers["OfficePlane-Holds"]) == (data, holds)
    assert (edited.headers["ETag"], edited.headers["OfficePlane-Holds"]) == ('"2"', holds)
    before, after = Package.read(data), Package.read(edited.content)
    changed = {name for name in after.names if name not in before or before.content(name) != after.content(name)}
    assert changed <= {"docProps/core.xml", "[Content_Types].xml", "_rels/.rels"}


async def test_of_a_document_that_holds_nothing_of_it_nothing_is_said(api: Api, standard: Api) -> None:
    for asked in (api, standard):
        document_id, _ = await put(asked, word.chapters())

        assert "OfficePlane-Holds" not in (await asked.client.get(f"/api/documents/{document_id}/content")).headers


async def test_a_strict_file_is_let_in_and_read_and_an_edit_says_what_to_do(api: Api) -> None:
    data = strict(word.chapters())
    document_id, made = await put(api, data)

    outline = await api.get(f"/api/documents/{document_id}/outline")
    body = {"taskType": "add_chapter", "payload": {"title": "New"}}
    preview = await api.post(f"/api/documents/{document_id}/preview", body)
    task = await api.submit(documentId=document_id, **body)
    claimed = await api.start(task["id"])
    await api.end(claimed, await api.worker.editing.run(claimed, claimed.payload_json))
    ended = await api.task(task["id"])

    assert made.status_code == 201
    assert [node["text"] for node in json_of(outline)["nodes"] if node["kind"] == "chapter"] == ["Alpha", "Beta"]
    assert code_of(preview) == (422, "invalid_edit")
    assert (ended["state"], ended["error"]["kind"]) == ("FAILED", "invalid_edit")
    assert "save it in Office as an ordinary .docx (not Strict)" in ended["error"]["message"]
    assert (await api.client.get(f"/api/documents/{document_id}/content")).content == data


async def test_an_edit_may_change_what_stands_beside_a_link(standard: Api) -> None:
    document_id, _ = await put(standard, embedding_text())
    text = "See [there](https://example.org/)"

    task = await standard.submit(taskType="write_page", documentId=document_id, payload={"content": text})
    claimed = await standard.start(task["id"])
    await standard.end(claimed, await standard.worker.editing.run(claimed, claimed.payload_json))

    assert (await standard.task(task["id"]))["state"] == "COMPLETED"
    got = await standard.client.get(f"/api/documents/{document_id}/content")
    assert got.headers["OfficePlane-Holds"] == "embedded-document"
