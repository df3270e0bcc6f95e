"""Uploads that are merged: what `PUT` answers, over the API as programs see it."""

import asyncio

import httpx
import pytest
from uuid_utils import uuid4

from officeplane.services.documents import uploads as service
from tests.api.client import Api, code_of, fields_of, json_of
from tests.api.test_documents import run_next
from tests.fixtures.strangers import LEASE, a_text, lines_of, with_line
from tests.support import eventually

BASE = a_text(*LEASE)
OTHERS = with_line(BASE, 0, "Rent is due on the tenth of the month")


@pytest.fixture
async def lease(api: Api) -> str:
    """A document that others have changed since somebody read it."""
    document_id = f"doc-{str(uuid4())[:8]}"
    assert (await put(api, document_id, BASE)).status_code == 201
    assert (await merged(api, document_id, OTHERS, '"1"')).status_code == 200
    return document_id


async def put(api: Api, document_id: str, data: bytes, if_match: str | None = None, **query: str) -> httpx.Response:
    headers = {} if if_match is None else {"If-Match": if_match}
    return await api.client.put(f"/api/documents/{document_id}", content=data, headers=headers, params=query)


async def merged(api: Api, document_id: str, data: bytes, if_match: str) -> httpx.Response:
    """Upload a file to be merged, and let a worker do it."""
    upload = asyncio.create_task(put(api, document_id, data, if_match, onConflict="merge"))

    async def waits() -> bool:
        listed = (await api.get("/api/tasks", documentId=document_id, state=["QUEUED"])).json()
        return bool(listed) or upload.done()

    await eventually(waits, what="the upload's task")
    if not upload.done():
        await run_next(api, document_id)
    return await upload


async def test_the_answer_is_the_document_with_what_was_merged(api: Api, lease: str) -> None:
    answer = await merged(api, lease, with_line(BASE, 1, "Pets are welcome in the house"), '"1"')

    assert (answer.status_code, answer.headers["ETag"]) == (200, '"3"')
    body = json_of(answer)
    assert (body["id"], body["revision"], body["warnings"]) == (lease, 3, [])
    assert body["merged"]["base"] == 1
    assert len(body["merged"]["changed"]) == body["merged"]["nodes"] == 1
    file = await api.get(f"/api/documents/{lease}/content")
    assert lines_of(file.content) == [
        "Rent is due on the tenth of the month",
        "Pets are welcome in the house",
        LEASE[2],
    ]


async def test_what_is_in_conflict_is_409_with_what_each_says(api: Api, lease: str) -> None:
    answer = await merged(api, lease, with_line(BASE, 0, "Rent is due on the second of the month"), '"1"')

    body = json_of(answer)
    assert (answer.status_code, body["code"]) == (409, "merge_conflict")
    assert [one["upload"] for one in body["conflicts"]] == ["Rent is due on the second of the month"]
    assert (body["expected"], body["actual"], body["revisions"][0]["revision"]) == (1, 2, 2)


async def test_a_merge_whose_turn_does_not_come_is_202_and_its_task_tells_what_was_merged(
    api: Api, lease: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "LANE_SECONDS", 0.05)

    answer = await put(
        api, lease, with_line(BASE, 1, "Pets are welcome in the house"), '"1"', onConflict="merge"
    )  # fmt: skip
    await run_next(api, lease)

    assert answer.status_code == 202
    task = await api.task(json_of(answer)["id"])
    assert (task["state"], task["result"]["merged"]["nodes"]) == ("COMPLETED", 1)


async def test_what_follows_nothing_that_was_read_is_refused(api: Api, lease: str) -> None:
    upload = with_line(BASE, 1, "Pets are welcome in the house")

    everything = await put(api, lease, upload, "*", onConflict="merge")
    nothing = await put(api, lease, upload, onConflict="merge")
    unknown = await put(api, lease, upload, '"7"', onConflict="merge")
    otherwise = await put(api, lease, upload, '"1"', onConflict="rebase")

    assert code_of(everything) == (422, "invalid_request")
    assert fields_of(everything) == ["If-Match"]
    assert (nothing.status_code, json_of(nothing)["code"]) == (428, "precondition_required")
    assert (unknown.status_code, json_of(unknown)["code"]) == (412, "stale_revision")
    assert code_of(otherwise) == (422, "invalid_parameter")


async def test_a_first_upload_need_not_be_merged_with_anything(api: Api) -> None:
    answer = await put(api, f"doc-{str(uuid4())[:8]}", BASE, onConflict="merge")

    assert answer.status_code == 201
    assert "merged" not in json_of(answer)
