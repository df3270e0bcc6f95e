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
    # Before it is used: that is noted at some moment of the next minute.
    shown = await listed(api, key["id"])
    assert await works(app, key["key"])
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


NARROWED: Json = {
    "space": "legal",
    "documents": ["contract-*", "-"],
    "taskTypes": ["noop"],
    "agents": ["writer-*"],
    "maxPriority": 20,
}


async def test_a_key_is_made_for_a_space_and_narrowed(api: Api, app: FastAPI) -> None:
    key = await made(api, scopes=["read", "edit", "agent"], **{**NARROWED, "maxPriority": "HIGH"})

    assert {name: key[name] for name in NARROWED} == NARROWED
    assert await listed(api, key["id"]) == {name: value for name, value in key.items() if name != "key"}
    async with stranger_to(app, key["key"]) as caller:
        urgent = {"taskType": "noop", "documentId": "contract-1", "priority": 20}
        task = (await caller.post("/api/tasks", json=urgent)).json()
        assert (task["documentId"], task["createdBy"]) == ("contract-1", f"key:{key['name']}")
        for outside in ({"documentId": "plan"}, {"taskType": "sleep"}, {"priority": "CRITICAL"}):
            assert code_of(await caller.post("/api/tasks", json={**urgent, **outside})) == (403, "forbidden")
        assert [one["id"] for one in (await caller.get("/api/tasks")).json()] == [task["id"]]
    assert code_of(await api.get(f"/api/tasks/{task['id']}")) == (404, "task_not_found")


@pytest.mark.parametrize(
    ("given", "shown"), [("NORMAL", 50), ({"scale": 10, "value": 7}, 40), (10, 10), (0, None), ("CRITICAL", None)]
)
async def test_the_most_urgent_that_a_key_may_ask_for_has_a_tasks_notations(
    api: Api, given: object, shown: int | None
) -> None:
    assert (await made(api, maxPriority=given))["maxPriority"] == shown


async def test_a_key_has_quotas_which_are_changed_and_passed_on(api: Api, app: FastAPI) -> None:
    key = await made(api, space="quotas", scopes=["edit", "read"], quotas={"maxWaitingTasks": 0})

    assert {name for name, limit in key["quotas"].items() if limit is not None} == {"maxWaitingTasks"}
    async with stranger_to(app, key["key"]) as caller:
        answer = await caller.post("/api/tasks", json={"taskType": "noop"})
        assert (code_of(answer), answer.json()["quota"]) == ((429, "overloaded"), "maxWaitingTasks")
        assert int(answer.headers["Retry-After"]) >= 1
    successor = json_of(await api.post(f"/api/keys/{key['id']}/rotate"))
    assert successor["quotas"] == key["quotas"]
    lifted = await api.client.patch(f"/api/keys/{successor['id']}", json={"quotas": {"maxWaitingTasks": None}})
    assert lifted.json()["quotas"] is None
    async with stranger_to(app, successor["key"]) as caller:
        assert (await caller.post("/api/tasks", json={"taskType": "noop"})).status_code == 201


async def test_a_key_gives_no_more_quota_than_it_has(api: Api, app: FastAPI) -> None:
    key = await made(api, space="quotas", scopes=["admin"], quotas={"maxDocuments": 5})

    async with stranger_to(app, key["key"]) as caller:
        for more in (None, {"maxDocuments": 6}, {"maxBytes": 1}):
            body = {"name": a_name(), "scopes": ["read"], "quotas": more}
            assert code_of(await caller.post("/api/keys", json=body)) == (403, "forbidden")
        body = {"name": a_name(), "scopes": ["read"], "quotas": {"maxDocuments": 5, "maxBytes": 1}}
        assert (await caller.post("/api/keys", json=body)).status_code == 201


async def test_a_key_that_is_replaced_passes_on_what_it_is_narrowed_to(api: Api) -> None:
    key = await made(api, **NARROWED)

    successor = json_of(await api.post(f"/api/keys/{key['id']}/rotate"))

    assert {name: successor[name] for name in NARROWED} == NARROWED


async def test_a_key_is_changed_in_what_is_named(api: Api, app: FastAPI) -> None:
    key, name = await made(api, **NARROWED), a_name()

    one = await api.client.patch(f"/api/keys/{key['id']}", json={"name": name, "documents": None})
    other = await api.client.patch(f"/api/keys/{key['id']}", json={"maxPriority": None, "scopes": ["edit"]})

    unchanged = {field: value for field, value in key.items() if field != "key"}
    assert one.json() == {**unchanged, "name": name, "documents": None}
    assert other.json() == {**one.json(), "maxPriority": None, "scopes": ["edit"]}
    assert await listed(api, key["id"]) == other.json()
    async with stranger_to(app, key["key"]) as caller:
        assert code_of(await caller.get("/api/tasks")) == (403, "forbidden")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, ""),
        ({"name": None}, "name"),
        ({"scopes": None}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"space": "legal"}, "space"),
        ({"documents": []}, "documents"),
        ({"documents": ["a/b"]}, "documents.0"),
        ({"taskTypes": ["-"]}, "taskTypes.0"),
        ({"agents": ["x"] * 101}, "agents"),
        ({"maxPriority": 101}, "maxPriority"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
    ],
)
async def test_what_is_wrong_with_a_change_of_a_key_is_told(api: Api, fields: Json, field: str) -> None:
    key = await made(api)

    answer = await api.client.patch(f"/api/keys/{key['id']}", json=fields)

    assert answer.status_code == 422
    assert fields_of(answer) == [field]
    assert await listed(api, key["id"]) == {name: value for name, value in key.items() if name != "key"}


@pytest.mark.parametrize("space", ["", "Legal", "a/b", "-a", "a" * 64, "legal\n"])
async def test_a_space_has_a_name_that_tells_it_apart(api: Api, space: str) -> None:
    answer = await api.post("/api/keys", {"name": a_name(), "scopes": ["read"], "space": space})

    assert fields_of(answer) == ["space"]


async def test_keys_of_a_space_are_listed_for_its_admin_and_for_the_operator(api: Api, app: FastAPI) -> None:
    space = f"s-{uuid4()}"
    theirs = await made(api, scopes=["admin"], space=space)
    others = await made(api, space="legal")

    of_space = [key["id"] for key in (await api.get("/api/keys", space=space)).json()]

    assert of_space == [theirs["id"]]
    assert {theirs["id"], others["id"]} <= {key["id"] for key in (await api.get("/api/keys", limit=500)).json()}
    async with stranger_to(app, theirs["key"]) as admin:
        assert [key["id"] for key in (await admin.get("/api/keys")).json()] == [theirs["id"]]
        assert (await admin.get("/api/keys", params={"space": "legal"})).json() == []
        for refused in (
            admin.delete(f"/api/keys/{others['id']}"),
            admin.post(f"/api/keys/{others['id']}/rotate"),
            admin.patch(f"/api/keys/{others['id']}", json={"name": "mine"}),
        ):
            assert code_of(await refused) == (404, "key_not_found")
        elsewhere = await admin.post("/api/keys", json={"name": a_name(), "scopes": ["read"], "space": "legal"})
        assert code_of(elsewhere) == (403, "forbidden")
    assert await works(app, others["key"])
