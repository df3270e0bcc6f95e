"""The OpenAPI document says what is so."""

from typing import Any

import pytest

from officeplane.api import examples
from officeplane.api.problems import STATUSES
from tests.api.plane import Api, Json, json_of

OPERATIONS = {
    "patchTask",
    "submitTask", "submitTasks", "listTasks", "getTask", "cancelTask", "retryTask", "explainTask", "listTaskTypes",
    "followEvents", "isLive", "isReady", "getStats", "getMetrics", "createDocument", "listDocuments", "getDocument",
    "putDocument", "deleteDocument", "getContent", "getOutline", "getText", "listRevisions", "compareRevisions",
    "revertDocument", "previewEdit", "pauseDocument", "resumeDocument", "pauseTaskType", "resumeTaskType",
    "submitDag", "listDags", "getDag", "cancelDag", "addTasksToDag",
    "listDeadLetters", "getDeadLetter", "resolveDeadLetter", "resolveDeadLetters",
    "listCircuitBreakers", "putCircuitBreaker", "resetCircuitBreaker", "openCircuitBreaker",
    "getLimits", "putLimits", "deleteLimits",
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

    assert len(of_json) == 21
    assert len(bodies) == len(of_json) + 1, "a file is its own example"
    assert all(body["examples"] for body in of_json)


@pytest.mark.parametrize(
    ("path", "found"), [("/api/tasks", examples.TASK), ("/api/tasks/bulk", examples.BULK), ("/api/dags", examples.DAG)]
)
async def test_every_example_is_taken(api: Api, path: str, found: dict[str, Any]) -> None:
    for example in found.values():
        response = await api.post(path, example["value"])

        assert response.status_code == 201, response.text


async def test_refusals_are_problems_and_each_says_its_codes(document: Json) -> None:
    told: set[str] = set()
    for operation in operations_of(document):
        for status, response in operation["responses"].items():
            if int(status) >= 400 and (operation["operationId"], status) != ("isReady", "503"):
                assert list(response["content"]) == ["application/problem+json"]
                codes = [code.strip("`") for code in response["description"].split(", ")]
                assert all(STATUSES[code] == int(status) for code in codes)
                told.update(codes)

    assert told == set(STATUSES) - {"not_found", "method_not_allowed"}


async def test_the_documentation_can_be_looked_at(api: Api) -> None:
    front = await api.get("/")

    assert front.headers["Location"] == "/docs"
    assert "swagger" in (await api.get("/docs")).text
