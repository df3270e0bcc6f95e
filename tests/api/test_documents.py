"""`/api/documents`: statuses, headers and bodies, over the API as programs see it."""

import asyncio
import os
import subprocess
import sys
import zipfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from uuid_utils import uuid4

from officeplane.domain.document import MEDIA_TYPES, Format
from officeplane.formats.blank import blank
from officeplane.services.documents import uploads as service
from officeplane.services.settle.judgement import EndedAttempt
from tests.api.client import Api, code_of, fields_of, json_of, problem_of, runtime_of
from tests.fixtures.documents.word import pictures
from tests.support import eventually

MIB = 1024 * 1024
FILE = blank(Format.DOCX, "A file")
OTHER = blank(Format.DOCX, "Another file")
DIFFERENCE = {"text", "nodes"}
READS = ("content", "outline", "text", "find?text=a", "diff?from=1&to=2")


@pytest.fixture
def document_id() -> str:
    """An id that no document has yet."""
    return f"doc-{str(uuid4())[:8]}"


async def put(api: Api, document_id: str, data: bytes = FILE, if_match: str | None = None) -> httpx.Response:
    """Upload a file."""
    headers = {} if if_match is None else {"If-Match": if_match}
    return await api.client.put(f"/api/documents/{document_id}", content=data, headers=headers)


async def run_next(api: Api, document_id: str) -> None:
    """Let a worker do the one edit that waits for a document."""
    listed = (await api.get("/api/tasks", documentId=document_id, state=["QUEUED"])).json()
    await run(api, listed[-1]["id"])


async def run(api: Api, task_id: str) -> None:
    worker = api.worker
    (claimed,) = await worker.desk.claim([task_id])
    outcome = await worker.editing.run(claimed, claimed.payload_json)
    await runtime_of(api.app).settlements.settle([EndedAttempt(claimed, outcome)], counted_by=worker.worker_id)
    assert claimed.document_id is not None
    await worker.desk.leave_lanes([claimed.document_id])


async def edit(api: Api, document_id: str, title: str = "One") -> str:
    """Have a chapter added, and return the task's id."""
    task = await api.submit(taskType="add_chapter", documentId=document_id, payload={"title": title})
    await run(api, task["id"])
    return str(task["id"])


async def test_an_empty_document_is_made_and_shown(api: Api, document_id: str) -> None:
    response = await api.post("/api/documents", {"id": document_id, "format": "docx", "title": "A title"})

    assert response.status_code == 201
    assert response.headers["Location"] == f"/api/documents/{document_id}"
    assert response.headers["ETag"] == '"1"'
    made = json_of(response)
    assert set(made) == {
        "id", "format", "title", "revision", "sha256", "size", "createdAt", "updatedAt", "queued", "running",
        "paused", "pausedAt",
    }  # fmt: skip
    shown = await api.get(f"/api/documents/{document_id}")
    assert (shown.status_code, shown.headers["ETag"], json_of(shown)) == (200, '"1"', made)


async def test_a_document_is_not_made_twice(api: Api, document_id: str) -> None:
    await put(api, document_id)

    response = await api.post("/api/documents", {"id": document_id, "format": "docx"})

    assert code_of(response) == (409, "document_exists")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"format": "docx", "colour": "red"}, "colour"),
        ({"format": "odt"}, "format"),
        ({"id": "a/b", "format": "docx"}, "id"),
        ({"format": "docx", "title": 7}, "title"),
        ({"format": "docx", "title": "a\x01b"}, "title"),
        ({"format": "docx", "title": "😀" * 201}, "title"),
        ({}, "format"),
    ],
)
async def test_bodies_are_strict(api: Api, body: object, field: str) -> None:
    response = await api.post("/api/documents", body)

    assert code_of(response) == (422, "invalid_request")
    assert fields_of(response) == [field]


@pytest.mark.parametrize("title", ["a\x01b", "\ufffe", "\u2028", "😀" * 100])
@pytest.mark.parametrize("format", list(Format))
async def test_whatever_the_title_a_document_is_made_or_refused(api: Api, format: Format, title: str) -> None:
    response = await api.post("/api/documents", {"format": format, "title": title})

    assert response.status_code in (201, 422), response.text


async def test_a_first_upload_is_created_and_the_next_is_a_new_revision(api: Api, document_id: str) -> None:
    first = await put(api, document_id)
    upload = asyncio.create_task(put(api, document_id, OTHER, '"1"'))
    await eventually(lambda: _waits(api, document_id), what="the upload's task")
    await run_next(api, document_id)
    second = await upload

    assert (first.status_code, first.headers["ETag"]) == (201, '"1"')
    assert first.headers["Location"] == f"/api/documents/{document_id}"
    assert (second.status_code, second.headers["ETag"]) == (200, '"2"')
    assert json_of(second)["size"] == len(OTHER)


async def test_an_upload_to_a_busy_document_is_accepted_with_the_place_of_its_task(
    api: Api, document_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(api, document_id)
    monkeypatch.setattr(service, "LANE_SECONDS", 0.05)

    response = await put(api, document_id, OTHER, "*")

    assert response.status_code == 202
    task = json_of(response)
    assert response.headers["Location"] == f"/api/tasks/{task['id']}"
    assert (task["taskType"], task["state"]) == ("upload", "QUEUED")
    await run_next(api, document_id)
    assert (await api.get(f"/api/documents/{document_id}/content")).content == OTHER


async def test_an_upload_over_a_document_says_what_it_covers_up(api: Api, document_id: str) -> None:
    await put(api, document_id)
    task_id = await edit(api, document_id)

    response = await put(api, document_id, OTHER)
    again = await put(api, document_id, (await api.get(f"/api/documents/{document_id}/content")).content)

    assert response.status_code == 428
    problem = json_of(response)
    assert (problem["code"], problem["revision"]) == ("precondition_required", 2)
    assert [(one["revision"], one["taskId"]) for one in problem["revisions"]] == [(1, None), (2, task_id)]
    assert "If-Match" in problem["detail"]
    assert (again.status_code, again.headers["ETag"]) == (200, '"2"')


async def test_an_upload_has_an_author(api: Api, document_id: str) -> None:
    path = f"/api/documents/{document_id}"
    await api.client.put(path, content=FILE, params={"author": "ann"})
    upload = asyncio.create_task(
        api.client.put(path, content=OTHER, params={"author": "ben"}, headers={"If-Match": '"1"'})
    )
    await eventually(lambda: _waits(api, document_id), what="the upload's task")
    await run_next(api, document_id)
    await upload
    made = json_of(await api.client.post("/api/documents", json={"format": "docx"}, params={"author": "cy"}))

    assert [one["author"] for one in (await api.get(f"{path}/revisions")).json()] == ["ben", "ann"]
    (first,) = (await api.get(f"/api/documents/{made['id']}/revisions")).json()
    assert first["author"] == "cy"


@pytest.mark.parametrize("author", ["", "a" * 201, "a\x00b"])
async def test_an_author_that_cannot_be_kept_is_refused(api: Api, document_id: str, author: str) -> None:
    response = await api.client.put(f"/api/documents/{document_id}", content=FILE, params={"author": author})

    assert code_of(response) == (422, "invalid_parameter")


async def test_an_upload_that_follows_another_revision_is_told_both(api: Api, document_id: str) -> None:
    await put(api, document_id)

    response = await put(api, document_id, OTHER, '"7"')

    assert response.status_code == 412
    problem = json_of(response)
    assert problem["code"] == "stale_revision"
    assert (problem["expected"], problem["actual"]) == (7, 1)


@pytest.mark.parametrize("given", ["seven", '"-1"', '"0"', "**", '"1", "2"', '"' + "9" * 40 + '"'])
async def test_an_if_match_that_no_revision_can_have_is_refused(api: Api, document_id: str, given: str) -> None:
    await put(api, document_id)

    response = await put(api, document_id, OTHER, given)

    assert response.status_code in (412, 422), response.text


async def test_what_is_no_document_is_refused_with_its_reason(api: Api, document_id: str) -> None:
    response = await put(api, document_id, b"no document")

    assert response.status_code == 415
    problem = json_of(response)
    assert problem["code"] == "unsupported_document"
    assert problem["reason"]
    assert (await api.get(f"/api/documents/{document_id}")).status_code == 404


async def test_a_file_above_the_limit_is_refused_before_it_is_read_whole(api: Api, document_id: str) -> None:
    sent = 0

    async def blocks() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 200 * MIB:
            sent += MIB
            yield bytes(MIB)

    response = await api.client.put(f"/api/documents/{document_id}", content=blocks())

    assert code_of(response) == (413, "too_large")
    # What still comes is thrown away for a while, so that the answer is not lost with the connection.
    assert sent <= 68 * MIB
    assert (await api.get(f"/api/documents/{document_id}")).status_code == 404


async def test_a_length_above_the_limit_is_refused_at_once(api: Api, document_id: str) -> None:
    response = await api.client.put(
        f"/api/documents/{document_id}", content=b"", headers={"Content-Length": str(50 * MIB + 1)}
    )

    assert code_of(response) == (413, "too_large")


async def test_an_id_that_is_a_files_name_is_the_name_of_the_download(api: Api, document_id: str) -> None:
    for given, name in (
        (f"{document_id}.docx", f"{document_id}.docx"),
        (f"{document_id}.pptx", f"{document_id}.pptx.docx"),
    ):
        await put(api, given, FILE)

        response = await api.get(f"/api/documents/{given}/content")

        assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'


async def test_content_is_the_bytes_that_came(api: Api, url: str, document_id: str) -> None:
    data = _with_ballast(6 * MIB)
    await put(api, document_id, data)
    await edit(api, document_id)

    async with httpx.AsyncClient(base_url=url) as client:
        response = await client.get(f"/api/documents/{document_id}/content", params={"revision": 1})

    assert response.content == data
    assert response.headers["Content-Type"] == MEDIA_TYPES[Format.DOCX]
    assert response.headers["Content-Disposition"] == f'attachment; filename="{document_id}.docx"'
    assert response.headers["Content-Length"] == str(len(data))
    assert response.headers["ETag"] == '"1"'
    head = await api.get(f"/api/documents/{document_id}/content")
    assert head.headers["ETag"] == '"2"'
    assert head.content != data


async def test_what_a_document_says_and_is_made_of_can_be_read(api: Api, document_id: str) -> None:
    await put(api, document_id)
    await edit(api, document_id, "A chapter")

    text = json_of(await api.get(f"/api/documents/{document_id}/text"))
    outline = json_of(await api.get(f"/api/documents/{document_id}/outline"))

    assert "A chapter" in text["text"]
    (node,) = outline["nodes"]
    assert set(node) == {"id", "kind", "text", "words"}
    assert (node["kind"], node["text"], node["words"]) == ("chapter", "A chapter", 2)
    assert json_of(await api.get(f"/api/documents/{document_id}/outline", revision=1)) == {
        "revision": 1, "truncated": False, "next": None, "nodes": [],
    }  # fmt: skip


async def test_an_edit_based_on_what_was_read_cannot_cover_up_what_came_after_the_reading(
    api: Api, document_id: str
) -> None:
    await put(api, document_id)
    read = json_of(await api.get(f"/api/documents/{document_id}/outline"))
    await edit(api, document_id, "Somebody else's")

    late = {"taskType": "add_chapter", "documentId": document_id, "payload": {"title": "Mine"}}
    task = await api.submit(**late, baseRevision=read["revision"])
    await run(api, task["id"])

    assert read["revision"] == 1
    ended = await api.task(task["id"])
    assert (ended["state"], ended["error"]["kind"]) == ("FAILED", "edit_conflict")
    assert json_of(await api.get(f"/api/documents/{document_id}"))["revision"] == 2


@pytest.mark.parametrize("path", READS)
async def test_every_read_names_the_revision_that_it_shows(api: Api, document_id: str, path: str) -> None:
    await put(api, document_id)
    await edit(api, document_id)

    response = await api.client.get(f"/api/documents/{document_id}/{path}")

    assert (response.status_code, response.headers["ETag"]) == (200, '"2"')
    if path != "content":
        assert json_of(response)["revision"] == 2


@pytest.mark.parametrize("path", READS)
async def test_who_has_read_it_already_is_not_sent_it_again(api: Api, document_id: str, path: str) -> None:
    await put(api, document_id)
    await edit(api, document_id)
    url = f"/api/documents/{document_id}/{path}"

    for known in ('"2"', 'W/"2"', '"1", "2"', "*"):
        response = await api.client.get(url, headers={"If-None-Match": known})
        assert (response.status_code, response.content, response.headers["ETag"]) == (304, b"", '"2"')
    for unknown in ('"1"', "2", "anything", '""'):
        assert (await api.client.get(url, headers={"If-None-Match": unknown})).status_code == 200


@pytest.mark.parametrize("path", READS)
async def test_what_was_read_before_an_edit_is_sent_as_it_is_after_it(api: Api, document_id: str, path: str) -> None:
    await put(api, document_id)
    await edit(api, document_id)
    url = f"/api/documents/{document_id}/{path}"
    known = (await api.client.get(url)).headers["ETag"]
    await edit(api, document_id, "Two")

    response = await api.client.get(url, headers={"If-None-Match": known})

    # Of two revisions that are named nothing changes any more.
    assert response.status_code == (304 if path.startswith("diff") else 200)


@pytest.mark.parametrize("path", ["content", "outline", "text", "diff?from=1&to=1", "content?revision=9"])
async def test_nothing_is_unchanged_that_is_not_there(api: Api, document_id: str, path: str) -> None:
    url = f"/api/documents/{document_id}/{path}"
    if "revision" in path:
        await put(api, document_id)

    response = await api.client.get(url, headers={"If-None-Match": "*"})

    assert response.status_code == 404


async def test_a_history_is_a_list_with_a_link_to_the_next_page(api: Api, document_id: str) -> None:
    await put(api, document_id)
    task_id = await edit(api, document_id)

    page = await api.get(f"/api/documents/{document_id}/revisions", limit=1)
    following = await api.client.get(page.links["next"]["url"])

    (newest,) = page.json()
    (first,) = following.json()
    assert set(newest) == {
        "revision", "base", "taskId", "taskType", "author", "note", "sha256", "size", "createdAt",
    }  # fmt: skip
    assert (newest["revision"], newest["base"], newest["taskId"]) == (2, 1, task_id)
    assert (first["revision"], first["taskId"]) == (1, None)
    assert "next" not in following.links


async def test_documents_are_listed_with_a_link_to_the_next_page(api: Api) -> None:
    names = [f"listed-{str(uuid4())[:8]}" for _ in range(3)]
    for name in names:
        await put(api, name)

    page = await api.get("/api/documents", limit=2)
    following = await api.client.get(page.links["next"]["url"])

    assert [one["id"] for one in (*page.json(), *following.json())][:3] == names[::-1]


async def test_two_revisions_are_compared(api: Api, document_id: str) -> None:
    await put(api, document_id)
    await edit(api, document_id)

    found = json_of(await api.client.get(f"/api/documents/{document_id}/diff", params={"from": 1, "to": 2}))

    assert set(found) == {"revision", *DIFFERENCE}
    assert [node["text"] for node in found["nodes"]["added"]] == ["One"]


async def test_a_revert_is_a_task(api: Api, document_id: str) -> None:
    await put(api, document_id)
    await edit(api, document_id)

    response = await api.post(f"/api/documents/{document_id}/revert", {"toRevision": 1})
    await run_next(api, document_id)

    assert response.status_code == 201
    task = json_of(response)
    assert response.headers["Location"] == f"/api/tasks/{task['id']}"
    assert (await api.task(task["id"]))["result"]["revision"] == 3
    assert (await api.get(f"/api/documents/{document_id}/content")).content == FILE


async def test_a_preview_tells_the_result_and_the_difference_and_stores_nothing(api: Api, document_id: str) -> None:
    await put(api, document_id)
    rows = await api.rows()

    response = await api.post(
        f"/api/documents/{document_id}/preview", {"taskType": "add_chapter", "payload": {"title": "One"}}
    )

    assert response.status_code == 200
    seen = json_of(response)
    assert set(seen) == {"revision", "result", "diff"}
    assert seen["revision"] == 1
    assert set(seen["diff"]) == DIFFERENCE
    assert await api.rows() == rows
    assert json_of(await api.get(f"/api/documents/{document_id}"))["revision"] == 1


async def test_a_preview_refuses_to_destroy_what_is_not_named_and_warns_where_it_is_meant(
    api: Api, document_id: str
) -> None:
    await put(api, document_id, pictures())
    nodes = json_of(await api.get(f"/api/documents/{document_id}/outline"))["nodes"]
    (page,) = [node["id"] for node in nodes[0]["children"] if node["kind"] == "page"]
    payload = {"pageId": page, "content": "other"}

    refused = await api.post(f"/api/documents/{document_id}/preview", {"taskType": "edit_page", "payload": payload})
    meant = await api.post(
        f"/api/documents/{document_id}/preview", {"taskType": "edit_page", "payload": {**payload, "discard": True}}
    )

    assert refused.status_code == 422
    problem = json_of(refused)
    assert problem["code"] == "invalid_edit"
    assert "picture 'Picture 1'" in problem["detail"]
    assert {"kind": "picture", "nodeId": page, "name": "Picture 1", "times": 1} in problem["losses"]
    assert {"code": "lost", "nodeId": page, "detail": "picture 'Picture 1'"} in json_of(meant)["result"]["warnings"]


async def test_an_edit_that_would_destroy_something_fails_with_a_list_of_it(api: Api, document_id: str) -> None:
    await put(api, document_id, pictures())
    nodes = json_of(await api.get(f"/api/documents/{document_id}/outline"))["nodes"]
    (page,) = [node["id"] for node in nodes[0]["children"] if node["kind"] == "page"]

    task = await api.submit(taskType="edit_page", documentId=document_id, payload={"pageId": page, "content": "other"})
    await run(api, task["id"])

    failed = json_of(await api.get(f"/api/tasks/{task['id']}"))
    assert failed["state"] == "FAILED"
    assert failed["error"]["kind"] == "invalid_edit"
    assert [loss["name"] for loss in failed["error"]["losses"]] == ["Picture 1", "Picture 2"]
    assert json_of(await api.get(f"/api/documents/{document_id}"))["revision"] == 1


async def test_a_deleted_document_is_gone(api: Api, document_id: str) -> None:
    await put(api, document_id)
    task = await api.submit(taskType="add_chapter", documentId=document_id, payload={"title": "x"})

    response = await api.client.delete(f"/api/documents/{document_id}")

    assert (response.status_code, response.content) == (204, b"")
    assert (await api.task(task["id"]))["state"] == "CANCELLED"
    assert code_of(await api.get(f"/api/documents/{document_id}")) == (404, "document_not_found")
    assert code_of(await api.client.delete(f"/api/documents/{document_id}")) == (404, "document_not_found")
    again = await put(api, document_id)
    assert (again.status_code, again.headers["ETag"]) == (201, '"2"')


@pytest.mark.parametrize("path", ["", "/content", "/text", "/outline", "/revisions", "/diff?from=1&to=2"])
async def test_what_was_never_there_is_not_found(api: Api, document_id: str, path: str) -> None:
    assert code_of(await api.client.get(f"/api/documents/{document_id}{path}")) == (404, "document_not_found")


@pytest.mark.parametrize(
    "path", ["/content?revision=9", "/text?revision=9", "/outline?revision=9", "/diff?from=1&to=9"]
)
async def test_a_revision_that_never_was_is_not_found(api: Api, document_id: str, path: str) -> None:
    await put(api, document_id)

    assert code_of(await api.client.get(f"/api/documents/{document_id}{path}")) == (404, "revision_not_found")


@pytest.mark.parametrize("revision", ["0", "-1", "x", "9" * 40])
async def test_a_revision_that_is_no_number_is_an_invalid_parameter(api: Api, document_id: str, revision: str) -> None:
    await put(api, document_id)

    response = await api.get(f"/api/documents/{document_id}/content", revision=revision)

    assert code_of(response) == (422, "invalid_parameter")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"documentId": "nobody-has-this"}, 404, "document_not_found"),
        ({"taskType": "add_sheet", "payload": {"name": "S"}}, 422, "invalid_request"),
        ({"documentId": None}, 422, "invalid_request"),
        ({"payload": {"title": "One", "colour": "red"}}, 422, "invalid_payload"),
        ({"taskType": "noop", "payload": {}, "baseRevision": 1}, 422, "invalid_request"),
        ({"baseRevision": 1, "onConflict": "perhaps"}, 422, "invalid_request"),
    ],
)
async def test_an_edit_that_breaks_a_rule_is_refused_at_once(
    api: Api, document_id: str, body: dict[str, object], status: int, code: str
) -> None:
    await put(api, document_id)
    rows = await api.rows()

    given = {"taskType": "add_chapter", "documentId": document_id, "payload": {"title": "One"}, **body}
    response = await api.post("/api/tasks", given)

    assert code_of(response) == (status, code)
    assert problem_of(response)["detail"]
    assert await api.rows() == rows


async def test_a_large_upload_costs_the_process_no_more_than_one_copy(api: Api, document_id: str) -> None:
    data = _with_ballast(40 * MIB)
    async with _serving(api) as (url, pid), httpx.AsyncClient(base_url=url, timeout=60) as client:
        # What the first of its kind costs is not what is measured.
        assert (await client.put(f"/api/documents/{document_id}-1", content=FILE)).status_code == 201
        before = _peak(pid)

        response = await client.put(f"/api/documents/{document_id}", content=data)

        assert response.status_code == 201
        assert _peak(pid) - before < 40 * MIB
    # Another process, for a peak is not forgotten.
    async with _serving(api) as (url, pid), httpx.AsyncClient(base_url=url, timeout=60) as client:
        assert (await client.get(f"/api/documents/{document_id}-1/content")).content == FILE
        before = _peak(pid)

        assert (await client.get(f"/api/documents/{document_id}/content")).content == data
        assert _peak(pid) - before < 40 * MIB


@asynccontextmanager
async def _serving(api: Api) -> AsyncGenerator[tuple[str, int]]:
    """An API in a process of its own, and that process."""
    env = {
        **os.environ,
        "OFFICEPLANE_DATABASE_URL": api.settings.database_url,
        "OFFICEPLANE_REDIS_URL": api.settings.redis_url,
        "OFFICEPLANE_KEY_PREFIX": api.settings.key_prefix,
    }
    program = Path(sys.executable).with_name("officeplane")
    process = await asyncio.create_subprocess_exec(
        program, "serve", "--port", "0", env=env, stdout=subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(30):
            async for line in process.stderr:
                if b"http://" in line:
                    yield line.decode()[line.decode().index("http://") :].split()[0], process.pid
                    break
    finally:
        process.kill()
        await process.stderr.read()
        await process.wait()


def _peak(pid: int) -> int:
    """Return the most memory that a process has had so far."""
    (line,) = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def _with_ballast(size: int) -> bytes:
    """Return a document with a picture that nothing compresses."""
    file = BytesIO(FILE)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_STORED) as archive:
        types = archive.read("[Content_Types].xml")
    with zipfile.ZipFile(BytesIO(FILE)) as old, zipfile.ZipFile(file := BytesIO(), "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "[Content_Types].xml" and b'Extension="png"' not in data:
                data = types.replace(b"<Default ", b'<Default Extension="png" ContentType="image/png"/><Default ', 1)
            new.writestr(name, data)
        new.writestr("word/media/ballast.png", os.urandom(size), zipfile.ZIP_STORED)
    return file.getvalue()


async def _waits(api: Api, document_id: str) -> bool:
    return bool((await api.get("/api/tasks", documentId=document_id, state=["QUEUED"])).json())
