"""`/api/keys`: made, listed, replaced, revoked."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from fastapi import FastAPI

from officeplane.domain.api_key import is_key_text
from officeplane.domain.principal import Scope
from tests.api.client import Api, Json, a_key, code_of, fields_of, json_of, stranger_to
from tests.support import eventually


def a_name() -> str:
    return f"bot-{uuid4()}"


async def made(api: Api, **fields: object) -> Json:
    answer = await api.post("/api/keys", {"name": a_name(), "scopes": ["read"], **fields})
    assert answer.status_code == 201, answer.text
    return json_of(answer)


async def works(app: FastAPI, key: str) -> bool:
    async with stranger_to(app, key) as caller:
        status = (await caller.get("/api/tasks?limit=1")).status_code
    assert status in {200, 401}
    return status == 200


async def listed(api: Api, key_id: str) -> Json:
    (found,) = [key for key in (await api.get("/api/keys", limit=500)).json() if key["id"] == key_id]
    one: Json = found
    return one


async def test_a_key_is_shown_once_and_works(api: Api, app: FastAPI) -> None:
    key = await made(api, scopes=["read", "edit"])

    assert is_key_text(key["key"])
    assert key["key"].startswith(key["shown"])
    assert key["scopes"] == ["edit", "read"]
    assert await works(app, key["key"])
    shown = await listed(api, key["id"])
    assert shown == {name: value for name, value in key.items() if name != "key"}
    assert key["key"] not in (await api.get("/api/keys", limit=500)).text


async def test_a_key_that_is_revoked_works_no_more_and_stays_in_the_list(api: Api, app: FastAPI) -> None:
    key = await made(api)

    answer = await api.client.delete(f"/api/keys/{key['id']}")

    assert answer.status_code == 200
    assert answer.json()["revokedAt"] is not None
    assert not await works(app, key["key"])
    assert (await listed(api, key["id"]))["revokedAt"] == answer.json()["revokedAt"]
    again = await api.client.delete(f"/api/keys/{key['id']}")
    assert again.json() == answer.json()


async def test_a_key_is_replaced_and_both_work_for_a_while(api: Api, app: FastAPI) -> None:
    key = await made(api)

    successor = json_of(await api.post(f"/api/keys/{key['id']}/rotate", {"overlapSeconds": 3600}))

    assert (successor["name"], successor["scopes"]) == (key["name"], key["scopes"])
    assert await works(app, successor["key"])
    assert await works(app, key["key"])
    old = await listed(api, key["id"])
    assert old["replacedBy"] == successor["id"]
    assert datetime.fromisoformat(old["expiresAt"]) <= datetime.now(UTC) + timedelta(hours=1)
    again = await api.post(f"/api/keys/{key['id']}/rotate")
    assert code_of(again) == (404, "key_not_found")


async def test_a_key_is_replaced_at_once_if_that_is_asked_for(api: Api, app: FastAPI) -> None:
    key = await made(api)
    assert await works(app, key["key"])

    successor = json_of(await api.post(f"/api/keys/{key['id']}/rotate", {"overlapSeconds": 0}))

    assert await works(app, successor["key"])

    async def is_dead() -> bool:
        return not await works(app, key["key"])

    await eventually(is_dead, within=10)


async def test_two_keys_that_work_have_two_names(api: Api) -> None:
    key = await made(api)

    again = await api.post("/api/keys", {"name": key["name"], "scopes": ["read"]})
    assert code_of(again) == (409, "key_exists")

    await api.client.delete(f"/api/keys/{key['id']}")
    assert (await api.post("/api/keys", {"name": key["name"], "scopes": ["read"]})).status_code == 201


async def test_whoever_may_make_keys_may_make_all_and_whoever_may_not_makes_none(app: FastAPI) -> None:
    async with stranger_to(app, await a_key(app, Scope.ADMIN)) as admin:
        assert (await admin.post("/api/keys", json={"name": a_name(), "scopes": ["control"]})).status_code == 201
    async with stranger_to(app, await a_key(app, Scope.READ, Scope.EDIT, Scope.CONTROL)) as other:
        assert code_of(await other.post("/api/keys", json={"name": a_name(), "scopes": ["read"]})) == (403, "forbidden")
        assert code_of(await other.get("/api/keys")) == (403, "forbidden")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a name"}, "name"),
        ({"name": "/x"}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["all"]}, "scopes.0"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
        ({"expiresAt": "2040-01-01T00:00:00"}, "expiresAt"),
        ({"key": "opk_mine"}, "key"),
    ],
)
async def test_what_is_wrong_with_a_wish_for_a_key_is_told(api: Api, fields: Json, field: str) -> None:
    answer = await api.post("/api/keys", {"name": a_name(), "scopes": ["read"], **fields})

    assert answer.status_code == 422
    assert fields_of(answer) == [field]


async def test_keys_are_listed_page_by_page(api: Api) -> None:
    keys = [await made(api) for _ in range(3)]

    seen: list[str] = []
    path = "/api/keys?limit=2"
    while path:
        answer = await api.client.get(path)
        seen += [key["id"] for key in answer.json()]
        path = answer.links.get("next", {}).get("url", "")

    assert [key_id for key_id in seen if key_id in {key["id"] for key in keys}] == [key["id"] for key in keys]
    assert code_of(await api.get("/api/keys", cursor="opk_")) == (400, "invalid_cursor")


async def test_a_key_that_is_not_there_cannot_be_revoked(api: Api) -> None:
    assert code_of(await api.client.delete(f"/api/keys/{uuid4()}")) == (404, "key_not_found")
    assert code_of(await api.client.delete("/api/keys/nonsense")) == (404, "key_not_found")
