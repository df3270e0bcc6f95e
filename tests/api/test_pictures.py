"""Pictures over the API: sent in a payload, which may be large for that, and read as bytes."""

from collections.abc import Callable
from typing import Any

import pytest
from uuid_utils import uuid4

from officeplane.domain.document import Format
from tests.api.client import Api, Json, code_of, json_of
from tests.fixtures.documents import excel, powerpoint, word
from tests.fixtures.pictures import as_text, noise, png

FILES: dict[Format, Callable[[], bytes]] = {
    Format.DOCX: word.chapters,
    Format.PPTX: powerpoint.plain,
    Format.XLSX: excel.hard,
}
MIB = 1024 * 1024


@pytest.fixture(params=Format)
async def path(api: Api, request: pytest.FixtureRequest) -> str:
    """Where a document of each format is."""
    return await put(api, FILES[request.param]())


async def put(api: Api, content: bytes) -> str:
    path = f"/api/documents/doc-{str(uuid4())[:8]}"
    assert (await api.client.put(path, content=content)).status_code == 201
    return path


async def insertion(api: Api, path: str, picture: bytes) -> Json:
    """Return a task that puts a picture at some place of a document."""
    document = json_of(await api.get(path))
    first = json_of(await api.get(f"{path}/outline"))["nodes"][0]
    place = {"docx": {"after": first["id"]}, "pptx": {"into": first["id"]}, "xlsx": {"at": f"{first.get('text')}!B2"}}
    payload = {**place[document["format"]], "base64": as_text(picture), "alt": "Grey"}
    return {"taskType": "insert_image", "documentId": document["id"], "payload": payload}


async def done(api: Api, body: Json) -> Any:
    task = await api.submit(**body)
    claimed = await api.start(task["id"])
    await api.end(claimed, await api.worker.editing.run(claimed, claimed.payload_json))
    ended = await api.task(task["id"])
    assert ended["state"] == "COMPLETED", ended
    return ended["result"]


async def images(api: Api, path: str) -> list[Json]:
    items: list[Json] = json_of(await api.get(f"{path}/images"))["items"]
    return items


async def test_a_picture_of_megabytes_is_put_in_and_read_again(api: Api, path: str) -> None:
    large = noise(1_500, 1_000)
    assert len(large) > MIB
    result = await done(api, await insertion(api, path, large))

    (item,) = [one for one in await images(api, path) if one["id"] == result["id"]]
    response = await api.client.get(item["content"])

    assert item["content"] == f"{path}/images/{item['id']}?revision=2"
    assert (item["alt"], round(item["width"] / item["height"], 2)) == ("Grey", 1.5)
    assert (response.status_code, response.content) == (200, large)
    assert response.headers["Content-Type"] == "image/png"
    assert response.headers["ETag"] == '"2"'
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"].startswith("sandbox")
    assert response.headers["Content-Disposition"] == 'inline; filename="picture.png"'
    known = await api.client.get(item["content"], headers={"If-None-Match": '"2"'})
    assert (known.status_code, known.content) == (304, b"")
    before = await api.get(f"{path}/images/{item['id']}", revision="1")
    assert code_of(before) == (404, "node_not_found")


async def test_another_picture_has_the_id_of_the_first(api: Api, path: str) -> None:
    made = await done(api, await insertion(api, path, png(40, 20)))
    name = path.rpartition("/")[2]
    payload = {"nodeId": made["id"], "base64": as_text(png(20, 20)), "alt": "Square"}

    result = await done(api, {"taskType": "replace_image", "documentId": name, "payload": payload})

    (item,) = [one for one in await images(api, path) if one["id"] == result["id"]]
    assert result["id"] == made["id"]
    assert (item["alt"], item["width"], item["height"]) == ("Square", 30, 30)
    assert (await api.client.get(item["content"])).content == png(20, 20)


async def test_a_drawing_of_lines_is_sent_as_a_download_whatever_its_part_is_called(api: Api) -> None:
    svg = b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>"
    (item,) = await images(api, await put(api, word.illustrated(svg)))

    response = await api.client.get(item["content"])

    assert (response.status_code, response.content) == (200, svg)
    assert response.headers["Content-Type"].partition(";")[0] == "image/svg+xml"
    assert response.headers["Content-Disposition"] == 'attachment; filename="picture.svg"'


async def test_what_is_no_picture_has_no_bytes(api: Api, path: str) -> None:
    node_id = json_of(await api.get(f"{path}/outline"))["nodes"][0]["id"]

    assert code_of(await api.get(f"{path}/images/{node_id}")) == (404, "node_not_found")
    assert code_of(await api.get(f"{path}/images/picture-999")) == (404, "node_not_found")


async def test_a_preview_takes_a_large_picture_too(api: Api, path: str) -> None:
    body = await insertion(api, path, noise(1_500, 1_000))

    response = await api.post(f"{path}/preview", {"taskType": body["taskType"], "payload": body["payload"]})

    assert response.status_code == 200, response.text
    assert len(await images(api, path)) == len([one for one in await images(api, path) if one.get("alt") != "Grey"])


async def test_only_pictures_may_make_a_body_large(api: Api, path: str) -> None:
    body = await insertion(api, path, noise(1_500, 1_000))
    before = await api.rows()
    words = "x" * (MIB + 1)

    title = await api.post("/api/tasks", {**body, "title": words})
    text = await api.post(
        "/api/tasks", {**body, "taskType": "replace_text", "payload": {"find": "a", "replace": words}}
    )
    other = await api.post("/api/tasks", {**body, "taskType": "noop"})
    child = {"taskType": "add_chapter", "payload": {"title": words}}
    batch = await api.post(
        "/api/tasks", {"documentId": body["documentId"], "children": [{**body, "key": "one"}, child]}
    )
    large = await api.post("/api/tasks", {**body, "payload": {**body["payload"], "base64": "A" * (16 * MIB)}})

    assert code_of(title) == code_of(text) == code_of(batch) == code_of(large) == (413, "too_large")
    assert code_of(other) == (422, "invalid_payload")
    assert "larger than 1048576 bytes" in other.text
    assert await api.rows() == before


async def test_a_large_picture_may_stand_where_an_earlier_child_says(api: Api) -> None:
    path = await put(api, powerpoint.plain())
    body = await insertion(api, path, noise(1_500, 1_000))
    children = [
        {"key": "made", "taskType": "add_slide", "payload": {"title": "Seen"}},
        {"taskType": "insert_image", "payload": {**body["payload"], "into": {"$ref": "made.id"}}},
    ]

    batch = await api.submit(documentId=body["documentId"], atomic=True, children=children)
    claimed = await api.start(batch["id"])
    await api.end(claimed, await api.worker.editing.run_batch(claimed))

    assert (await api.task(batch["id"]))["state"] == "COMPLETED"
    assert [one["alt"] for one in await images(api, path)] == ["Grey"]


async def test_content_may_hold_a_picture_of_megabytes_and_no_more_words_than_before(api: Api) -> None:
    picture = f"![Grey](data:image/png;base64,{as_text(noise(1_500, 1_000))})"
    for make in (word.chapters, powerpoint.plain):
        path = await put(api, make())
        body = {"taskType": "write_page", "documentId": path.rpartition("/")[2]}
        before = len(await images(api, path))

        words = await api.post("/api/tasks", {**body, "payload": {"content": picture + "x" * MIB}})
        result = await done(api, {**body, "payload": {"content": f"See {picture}"}})

        assert code_of(words) == (413, "too_large")
        assert result["revision"] == 2
        assert len(await images(api, path)) == before + 1
