"""The OpenAPI document says what is so."""

from typing import Any

import pytest
from pydantic import JsonValue

from officeplane.api import examples
from officeplane.api.problems import STATUSES
from tests.api.client import Api, Json, code_of, fields_of, json_of

OPERATIONS = {
    "patchTask", "cancelTasks", "retryTasks",
    "submitTask", "submitTasks", "listTasks", "getTask", "cancelTask", "retryTask", "explainTask", "listTaskTypes",
    "declareTaskType", "removeTaskType",
    "followEvents", "isLive", "isReady", "getStats", "getMetrics", "createDocument", "listDocuments", "getDocument",
    "putDocument", "deleteDocument", "getContent", "getOutline", "getNode", "findText", "getSlide", "listChanges",
    "listComments", "listImages", "getImage", "listSheets", "getCells", "getText", "listRevisions", "compareRevisions",
    "revertDocument", "previewEdit", "pauseDocument", "resumeDocument", "pauseTaskType",
    "resumeTaskType", "submitDag", "listDags", "getDag", "cancelDag", "addTasksToDag",
    "listDeadLetters", "getDeadLetter", "resolveDeadLetter", "resolveDeadLetters",
    "listCircuitBreakers", "putCircuitBreaker", "resetCircuitBreaker", "openCircuitBreaker",
    "getLimits", "putLimits", "deleteLimits",
    "createKey", "listKeys", "changeKey", "rotateKey", "revokeKey", "getSession",
    "listAgents", "getAgent", "putAgent", "patchAgent", "deleteAgent", "claimTasks", "listAgentClaims",
    "startClaim", "saveCheckpoint", "completeClaim", "failClaim", "releaseClaim", "beat",
    "listSpaces", "showSpace", "setQuotas", "listAudit",
}  # fmt: skip


@pytest.fixture
async def document(api: Api) -> Json:
    return json_of(await api.get("/openapi.json"))


def operations_of(document: Json) -> list[Json]:
    return [operation for path in document["paths"].values() for operation in path.values()]


async def test_it_is_openapi_3_1_and_names_every_operation(document: Json) -> None:
    operations = operations_of(document)

    assert document["openapi"].startswith("3.1")
    assert {operation["operationId"] for operation in operations} == OPERATIONS
    assert {tag for operation in operations for tag in operation["tags"]} == {tag["name"] for tag in document["tags"]}
    assert all(operation["summary"] and operation["description"] for operation in operations)


async def test_every_body_has_an_example(document: Json) -> None:
    bodies = [operation["requestBody"] for operation in operations_of(document) if "requestBody" in operation]

    of_json = [body["content"]["application/json"] for body in bodies if "application/json" in body["content"]]

    assert len(of_json) == 37
    assert len(bodies) == len(of_json) + 1, "a file is its own example"
    assert all(body["examples"] for body in of_json)


@pytest.mark.parametrize(
    ("path", "found"), [("/api/tasks", examples.TASK), ("/api/tasks/bulk", examples.BULK), ("/api/dags", examples.DAG)]
)
async def test_every_example_is_taken(api: Api, path: str, found: dict[str, Any]) -> None:
    await with_the_plan(api)
    for example in found.values():
        response = await api.post(path, example["value"])

        assert response.status_code == 201, response.text


async def test_every_example_of_a_preview_shows_what_an_edit_would_do(api: Api) -> None:
    await with_the_plan(api)
    for example in examples.PREVIEW.values():
        response = await api.post("/api/documents/plan/preview", example["value"])

        assert response.status_code == 200, response.text
        assert response.json()["diff"]["nodes"]["added"]


async def with_the_plan(api: Api) -> None:
    """Make the document of the examples, unless another test has."""
    for example in examples.DOCUMENT.values():
        assert (await api.post("/api/documents", example["value"])).status_code in {201, 409}


async def test_refusals_are_problems_and_each_says_its_codes(document: Json) -> None:
    told: set[str] = set()
    for operation in operations_of(document):
        for status, response in operation["responses"].items():
            if int(status) >= 400 and (operation["operationId"], status) != ("isReady", "503"):
                assert list(response["content"]) == ["application/problem+json"]
                codes = [code.strip("`") for code in response["description"].split(", ")]
                assert all(STATUSES[code] == int(status) for code in codes)
                told.update(codes)

    of_no_path = {"not_found", "method_not_allowed", "malformed_request", "headers_too_large"}
    assert told == set(STATUSES) - of_no_path


def fields_in(schema: JsonValue, known: Json) -> list[tuple[str, JsonValue]]:
    """Every field that a schema names, at any depth."""
    found: list[tuple[str, JsonValue]] = []
    seen: set[str] = set()
    ahead = [schema]
    for one in ahead:
        if isinstance(one, list):
            ahead.extend(one)
        elif isinstance(one, dict):
            fields = one.get("properties")
            found += fields.items() if isinstance(fields, dict) else ()
            name = str(one.get("$ref", "")).rpartition("/")[2]
            if name in known and name not in seen:
                seen.add(name)
                ahead.append(known[name])
            ahead.extend(one.values())
    return found


def lacking(fields: list[tuple[str, JsonValue]]) -> list[str]:
    """Which of the fields say nothing, or have a title."""
    return [
        name for name, field in fields if isinstance(field, dict) and ("description" not in field or "title" in field)
    ]


async def test_every_field_of_a_body_says_what_it_is_and_nothing_invented(document: Json) -> None:
    bodies = [
        operation["requestBody"]["content"] for operation in operations_of(document) if "requestBody" in operation
    ]
    of_json = [body["application/json"]["schema"] for body in bodies if "application/json" in body]

    fields = [field for schema in of_json for field in fields_in(schema, document["components"]["schemas"])]

    assert len(fields) > 100
    assert lacking(fields) == []


async def test_every_field_of_a_payload_says_what_it_is_and_nothing_invented(api: Api) -> None:
    types = (await api.get("/api/task-types")).json()

    fields = [
        (f"{found['name']}.{name}", field)
        for found in types
        for name, field in fields_in(found["payloadSchema"], found["payloadSchema"].get("$defs", {}))
    ]

    assert len(fields) > 40
    assert lacking(fields) == []


async def test_content_says_that_it_is_markdown_and_what_becomes_of_headings(api: Api) -> None:
    types = {found["name"]: found["payloadSchema"]["properties"] for found in (await api.get("/api/task-types")).json()}

    for name, field in (("write_page", "content"), ("edit_page", "content"), ("add_slide", "body")):
        assert "CommonMark with tables" in types[name][field]["description"]
        assert "`#` becomes Heading 3" in types[name][field]["description"]
    assert "beyond the last, means the end" in types["write_page"]["position"]["description"]


@pytest.mark.parametrize("content", ["", " \n\t"])
async def test_a_page_that_says_nothing_is_not_written(api: Api, content: str) -> None:
    response = await api.post(
        "/api/tasks", {"taskType": "write_page", "documentId": "plan", "payload": {"content": content}}
    )

    assert code_of(response) == (422, "invalid_payload")
    assert fields_of(response) == ["payload.content"]
