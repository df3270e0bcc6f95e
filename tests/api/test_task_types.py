"""Task types over HTTP: declared, listed beside all others, used, and removed."""

from collections.abc import AsyncIterator

import pytest

from officeplane.api import examples
from officeplane.domain.principal import Scope
from tests.api.client import Api, Json, a_key, code_of, fields_of, json_of, stranger_to

PATH = "/api/task-types/translate"
TYPE: Json = {
    "title": "Say it in another language",
    "payloadSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "title": "Text", "description": "What to say."}},
        "required": ["text"],
    },
    "resultSchema": {"type": "object"},
    "defaults": {"maxRetries": 2, "requiredCapabilities": ["languages"], "output": {"type": "markdown"}},
}


@pytest.fixture(autouse=True)
async def _nothing_stays(api: Api) -> AsyncIterator[None]:
    yield
    for task in (await api.get("/api/tasks", taskType="translate")).json():
        await api.post(f"/api/tasks/{task['id']}/cancel")
    await api.client.delete(PATH)


async def shown(api: Api) -> Json | None:
    """Return the type as it is listed."""
    return next((found for found in (await api.get("/api/task-types")).json() if found["name"] == "translate"), None)


async def test_a_type_is_declared_listed_used_declared_anew_and_removed(api: Api) -> None:
    made = await api.client.put(PATH, json=TYPE)
    listed = await shown(api)
    refused = await api.post("/api/tasks", {"taskType": "translate"})
    task = await api.submit(taskType="translate", payload={"text": "Hello"})
    anew = await api.client.put(PATH, json={"title": "Translate"})
    in_use = await api.client.delete(PATH)
    await api.post(f"/api/tasks/{task['id']}/cancel")
    removed = await api.client.delete(PATH)
    gone = await api.client.delete(PATH)

    assert (made.status_code, anew.status_code) == (201, 200)
    assert made.json() == listed
    assert listed == {
        "name": "translate",
        "title": "Say it in another language",
        "executor": "agent",
        "formats": [],
        "payloadSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "What to say."}},
            "required": ["text"],
        },
        "resultSchema": {"type": "object"},
        "defaults": {
            "requiredCapabilities": ["languages"],
            "models": None,
            "fallbackModels": None,
            "requireDecisionReport": None,
            "output": {"type": "markdown"},
            "maxRetries": 2,
            "timeoutSeconds": None,
            "retry": None,
        },
    }
    assert (code_of(refused), fields_of(refused)) == ((422, "invalid_payload"), ["payload.text"])
    assert (task["requiredCapabilities"], task["output"], task["maxRetries"]) == (
        ["languages"],
        {"type": "markdown"},
        2,
    )
    assert (anew.json()["payloadSchema"], anew.json()["resultSchema"]) == ({}, None)
    assert code_of(in_use) == (409, "task_type_in_use")
    assert (removed.status_code, removed.content, await shown(api)) == (204, b"", None)
    assert code_of(gone) == (404, "task_type_not_found")


@pytest.mark.parametrize("example", examples.TASK_TYPE.values(), ids=list(examples.TASK_TYPE))
async def test_every_example_of_a_type_is_taken(api: Api, example: Json) -> None:
    assert (await api.client.put(PATH, json=example["value"])).status_code == 201


@pytest.mark.parametrize("name", ["noop", "replace_text", "batch_edit", "judge"])
async def test_a_name_that_the_code_has_is_taken(api: Api, name: str) -> None:
    path = f"/api/task-types/{name}"

    assert code_of(await api.client.put(path, json=TYPE)) == (409, "task_type_taken")
    assert code_of(await api.client.delete(path)) == (404, "task_type_not_found")


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "invalid_request", "title"),
        ({"title": ""}, "invalid_request", "title"),
        ({"title": "T", "executor": "worker"}, "invalid_request", "executor"),
        ({"title": "T", "payloadSchema": {"if": {}}}, "invalid_request", "payloadSchema"),
        ({"title": "T", "resultSchema": {"type": "text"}}, "invalid_request", "resultSchema"),
        ({"title": "T", "payloadSchema": []}, "invalid_request", "payloadSchema"),
        ({"title": "T", "defaults": {"max_retries": 1}}, "invalid_request", "defaults.max_retries"),
        ({"title": "T", "defaults": {"maxRetries": 21}}, "invalid_request", "defaults.maxRetries"),
        ({"title": "T", "defaults": {"priority": "HIGH"}}, "invalid_request", "defaults.priority"),
        ({"title": "T", "defaults": {"retry": {"initial_seconds": 1}}}, "invalid_request", "defaults.retry"),
        ({"title": "T", "defaults": {"models": ["a b"]}}, "invalid_request", "defaults.models.0"),
        ({"title": "T", "defaults": {"maxCostUsd": 1}}, "not_supported_yet", "defaults.maxCostUsd"),
        ({"title": "T", "defaults": {"validation": []}}, "not_supported_yet", "defaults.validation"),
        ({"title": "T", "defaults": {"hold": "none"}}, "not_supported_yet", "defaults.hold"),
        ({"title": "T", "payloadSchema": {"maxCostUsd": 1}}, "invalid_request", "payloadSchema"),
    ],
)
async def test_a_wrong_declaration_is_refused_at_its_field_and_nothing_is_declared(
    api: Api, body: Json, code: str, field: str
) -> None:
    refused = await api.client.put(PATH, json=body)

    assert (code_of(refused), fields_of(refused)) == ((422, code), [field])
    assert await shown(api) is None


@pytest.mark.parametrize("name", ["a b", "-a", "x" * 129, "%C3%A4"])
async def test_a_name_that_no_type_may_have_is_refused(api: Api, name: str) -> None:
    assert code_of(await api.client.put(f"/api/task-types/{name}", json=TYPE)) == (422, "invalid_parameter")


@pytest.mark.parametrize("scope", [Scope.READ, Scope.EDIT, Scope.CONTROL, Scope.AGENT])
async def test_types_are_declared_and_removed_with_the_scope_admin(api: Api, scope: Scope) -> None:
    async with stranger_to(api.app, await a_key(api.app, scope)) as client:
        assert code_of(await client.put(PATH, json=TYPE)) == (403, "forbidden")
        assert code_of(await client.delete(PATH)) == (403, "forbidden")


async def test_a_type_is_for_all_spaces_and_so_none_of_them_declares_it(api: Api) -> None:
    made = json_of(await api.post("/api/keys", {"name": "of-acme", "scopes": ["admin"], "space": "acme"}))
    async with stranger_to(api.app, str(made["key"])) as client:
        assert code_of(await client.put(PATH, json=TYPE)) == (403, "forbidden")
        assert await shown(api) is None
        assert (await api.client.put(PATH, json=TYPE)).status_code == 201
        assert code_of(await client.delete(PATH)) == (403, "forbidden")

        task = await client.post("/api/tasks", json={"taskType": "translate", "payload": {"text": "Hello"}})

        assert task.status_code == 201
        await client.post(f"/api/tasks/{task.json()['id']}/cancel")
