"""What is refused, with which code, at which field; and that nothing of it is stored."""

import json
from typing import Any

import pytest

from officeplane.domain.request import NOT_SUPPORTED_YET
from tests.api.client import Api, code_of, fields_of, problem_of


def nested(depth: int) -> dict[str, Any]:
    """A batch within a batch, that many deep."""
    body: dict[str, Any] = {"taskType": "noop"}
    for _ in range(depth):
        body = {"children": [body]}
    return body


WRONG_REQUESTS: list[tuple[object, str]] = [
    ({"taskType": "noop", "colour": "red"}, "colour"),
    ({"taskType": "noop", "task_type": "noop"}, "task_type"),
    ({"taskType": "noop", "priority": False}, "priority"),
    ({"taskType": "noop", "priority": "URGENT"}, "priority"),
    ({"taskType": "noop", "priority": "high"}, "priority"),
    ({"taskType": "noop", "priority": 101}, "priority"),
    ({"taskType": "noop", "priority": -1}, "priority"),
    ({"taskType": "noop", "priority": 1.5}, "priority"),
    ({"taskType": "noop", "priority": {"scale": 5, "value": 3}}, "priority"),
    ({"taskType": "noop", "priority": {"scale": 10, "value": 11}}, "priority"),
    ({"taskType": "noop", "priority": {"scale": 10}}, "priority"),
    ({"taskType": 5}, "taskType"),
    ({"taskType": ""}, "taskType"),
    ({"payload": {}}, "taskType"),
    ({"taskType": "noop", "payload": []}, "payload"),
    ({"taskType": "noop", "payload": "{}"}, "payload"),
    ({"taskType": "noop", "payload": None}, "payload"),
    ({"taskType": "noop", "documentId": "-no-letter"}, "documentId"),
    ({"taskType": "noop", "documentId": "a" * 129}, "documentId"),
    ({"taskType": "noop", "documentId": "a/b"}, "documentId"),
    ({"taskType": "noop", "documentId": "line\n"}, "documentId"),
    ({"taskType": "noop", "documentId": 7}, "documentId"),
    ({"taskType": "noop", "title": "a" * 201}, "title"),
    ({"taskType": "noop", "title": 1}, "title"),
    ({"taskType": "noop", "maxRetries": "3"}, "maxRetries"),
    ({"taskType": "noop", "maxRetries": 21}, "maxRetries"),
    ({"taskType": "noop", "maxRetries": -1}, "maxRetries"),
    ({"taskType": "noop", "maxRetries": True}, "maxRetries"),
    ({"taskType": "noop", "maxRetries": 2.0}, "maxRetries"),
    ({"taskType": "noop", "timeoutSeconds": 0}, "timeoutSeconds"),
    ({"taskType": "noop", "timeoutSeconds": 86_401}, "timeoutSeconds"),
    ({"taskType": "noop", "timeoutSeconds": "60"}, "timeoutSeconds"),
    ({"taskType": "noop", "runAt": "tomorrow"}, "runAt"),
    ({"taskType": "noop", "runAt": "2030-01-31T12:00:00"}, "runAt"),
    ({"taskType": "noop", "runAt": 1_900_000_000}, "runAt"),
    ({"taskType": "noop", "retry": {"strategy": "often"}}, "retry.strategy"),
    ({"taskType": "noop", "retry": {"initialSeconds": "5"}}, "retry.initialSeconds"),
    ({"taskType": "noop", "retry": {"retryOn": ["bad luck"]}}, "retry.retryOn.0"),
    ({"taskType": "noop", "retry": {"retryOn": ["error"] * 101}}, "retry.retryOn"),
    ({"taskType": "noop", "retry": {"noRetryOn": ["error"] * 101}}, "retry.noRetryOn"),
    ({"taskType": "noop", "retry": {"deadline": 5}}, "retry.deadline"),
    ({"taskType": "noop", "onRetry": "wait"}, "onRetry"),
    ({"taskType": "noop", "idempotencyKey": ""}, "idempotencyKey"),
    ({"taskType": "noop", "idempotencyKey": "a" * 256}, "idempotencyKey"),
    ({"taskType": "noop", "idempotencyKey": "käse"}, "idempotencyKey"),
    ({"taskType": "noop", "tags": "a,b"}, "tags"),
    ({"taskType": "noop", "tags": [""]}, "tags.0"),
    ({"taskType": "noop", "tags": ["a", 1]}, "tags.1"),
    ({"taskType": "noop", "createdBy": ["me"]}, "createdBy"),
    ({"taskType": "noop", "key": "only of a child"}, "key"),
    ({"taskType": "noop", "onChildFailure": "abort"}, "onChildFailure"),
    ({"taskType": "batch_edit"}, "children"),
    ({"children": []}, "children"),
    ({"children": {}}, "children"),
    ({"children": ["noop"]}, "children.0"),
    ({"taskType": "noop", "children": [{"taskType": "noop"}]}, "children"),
    ({"children": [{"taskType": "noop"}], "maxRetries": 1}, "maxRetries"),
    ({"children": [{"taskType": "noop"}], "timeoutSeconds": 1}, "timeoutSeconds"),
    ({"children": [{"taskType": "noop"}], "onChildFailure": "ignore"}, "onChildFailure"),
    ({"children": [{"taskType": "noop", "idempotencyKey": "own"}]}, "children.0.idempotencyKey"),
    ({"children": [{"taskType": "noop", "key": "a"}, {"taskType": "noop", "key": "a"}]}, "children.1.key"),
    (
        {"children": [{"taskType": "noop"}, {"children": [{"taskType": "noop", "s": 1}]}]},
        "children.1.children.0.s",
    ),
    ({"children": [{"taskType": "noop"}] * 501}, "children"),
    ({"children": [{"children": [{"taskType": "noop"}] * 100}] * 5}, "children"),
    ({"children": [{}] * 100_000}, ""),
    ([], ""),
    ("noop", ""),
    (5, ""),
    (None, ""),
]


@pytest.mark.parametrize(("body", "field"), WRONG_REQUESTS)
async def test_a_wrong_request_is_refused_at_its_field_and_nothing_is_stored(
    api: Api, body: object, field: str
) -> None:
    before = await api.rows()

    response = await api.post("/api/tasks", raw=json.dumps(body).encode())

    assert code_of(response) == (422, "invalid_request")
    assert any(found == field or found.startswith(f"{field}.") for found in fields_of(response))
    assert await api.rows() == before


OTHER_REFUSALS: list[tuple[object, str, str]] = [
    ({"taskType": "nope"}, "unknown_task_type", "taskType"),
    ({"taskType": "sleep"}, "invalid_payload", "payload.seconds"),
    ({"taskType": "sleep", "payload": {"seconds": "2"}}, "invalid_payload", "payload.seconds"),
    ({"taskType": "sleep", "payload": {"seconds": True}}, "invalid_payload", "payload.seconds"),
    ({"taskType": "sleep", "payload": {"seconds": 1, "minutes": 1}}, "invalid_payload", "payload.minutes"),
    ({"taskType": "noop", "payload": {"deadline": 1}}, "invalid_payload", "payload.deadline"),
    ({"children": [{"taskType": "noop"}, {"taskType": "nope"}]}, "unknown_task_type", "children.1.taskType"),
    (
        {"children": [{"taskType": "noop"}] * 299 + [{"taskType": "sleep", "payload": {}}]},
        "invalid_payload",
        "children.299.payload.seconds",
    ),
    (
        {"children": [{"taskType": "sleep", "payload": {"seconds": {"$ref": "nobody.slept"}}}]},
        "invalid_reference",
        "children.0.payload.seconds",
    ),
    ({"children": [{"taskType": "noop"}], "atomic": True}, "invalid_request", "children.0.taskType"),
    *(({"taskType": "noop", name: None}, "not_supported_yet", name) for name in sorted(NOT_SUPPORTED_YET)),
    (
        {"children": [{"taskType": "noop"}, {"children": [{"taskType": "noop", "maxCostUsd": 1}]}]},
        "not_supported_yet",
        "children.1.children.0.maxCostUsd",
    ),
]


@pytest.mark.parametrize(("body", "code", "field"), OTHER_REFUSALS)
async def test_each_refusal_names_the_field_and_nothing_is_stored(
    api: Api, body: object, code: str, field: str
) -> None:
    before = await api.rows()

    response = await api.post("/api/tasks", body)
    in_bulk = await api.post("/api/tasks/bulk", [{"taskType": "noop"}, body])

    assert code_of(response) == (422, code)
    assert fields_of(response) == [field]
    assert code_of(in_bulk) == (422, code)
    assert fields_of(in_bulk) == [f"1.{field}"]
    assert await api.rows() == before


async def test_an_unknown_task_type_is_told_the_known_ones(api: Api) -> None:
    response = await api.post("/api/tasks", {"taskType": "nope"})

    assert all(name in problem_of(response)["detail"] for name in ("batch_edit", "noop", "sleep"))


async def test_batches_nest_five_deep_and_no_deeper(api: Api) -> None:
    assert (await api.post("/api/tasks", nested(5))).status_code == 201
    assert code_of(await api.post("/api/tasks", nested(6))) == (422, "invalid_request")


async def test_every_wrong_field_is_named_at_once(api: Api) -> None:
    response = await api.post("/api/tasks", {"taskType": 1, "title": 2, "size": 3})

    assert set(fields_of(response)) == {"taskType", "title", "size"}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"title": "a" * 201}, "title: String should have at most 200 characters"),
        ({"priority": {"scale": 10, "value": 11}}, "priority.value: Input should be less than or equal to 10"),
        ({"priority": {"scale": 10}}, "priority.value: This field is required."),
    ],
)
async def test_a_refusal_says_what_is_wrong_and_not_what_else_might_have_been_meant(
    api: Api, body: dict[str, object], told: str
) -> None:
    response = await api.post("/api/tasks", {"taskType": "noop", **body})

    assert response.json()["detail"] == told


@pytest.mark.parametrize(
    ("action", "body", "field"),
    [
        ("cancel", {"why": "no"}, "why"),
        ("cancel", {"reason": 5}, "reason"),
        ("cancel", {"reason": "a" * 501}, "reason"),
        ("cancel", [], ""),
        ("cancel", None, ""),
        ("retry", {"reason": "again"}, "reason"),
    ],
)
async def test_what_is_said_with_an_action_is_checked_before_it_is_done(
    api: Api, action: str, body: object, field: str
) -> None:
    task = await api.submit()

    response = await api.post(f"/api/tasks/{task['id']}/{action}", raw=json.dumps(body).encode())

    assert code_of(response) == (422, "invalid_request")
    assert fields_of(response) == [field]
    assert (await api.task(task["id"]))["state"] == "QUEUED"


@pytest.mark.parametrize("path", ["/nowhere", "/api/tasks/", "/api/documents/", "/api/nothing", "/api/tasks/x/y"])
async def test_an_unknown_path_is_a_problem_too(api: Api, path: str) -> None:
    assert code_of(await api.get(path)) == (404, "not_found")


async def test_a_method_that_a_path_does_not_have_is_refused(api: Api) -> None:
    response = await api.client.delete("/api/tasks")

    assert code_of(response) == (405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize("path", ["/api/tasks", "/api/tasks/{id}/cancel", "/api/tasks/{id}/retry", "/api/tasks/bulk"])
async def test_a_parameter_that_nobody_knows_is_refused(api: Api, path: str) -> None:
    task = await api.submit()
    before = await api.rows()

    response = await api.post(path.format(id=task["id"]) + "?dryRun=true", {"taskType": "noop"})

    assert code_of(response) == (422, "invalid_parameter")
    assert fields_of(response) == ["dryRun"]
    assert await api.rows() == before


MEANT: list[tuple[str, object, str, str]] = [
    ("/api/tasks", {"task_type": "noop"}, "task_type", "taskType"),
    ("/api/tasks", {"taskType": "noop", "documentid": "d"}, "documentid", "documentId"),
    ("/api/tasks", {"taskType": "noop", "retry": {"jiter": 1}}, "retry.jiter", "jitter"),
    ("/api/tasks/bulk", [{"taskType": "noop", "paylod": {}}], "0.paylod", "payload"),
    (
        "/api/dags",
        {"tasks": [{"key": "a", "taskType": "noop", "depends_on": []}]},
        "tasks.0.depends_on",
        "dependsOn",
    ),
    ("/api/documents/d/revert", {"to_revision": 1}, "to_revision", "toRevision"),
    (
        "/api/tasks",
        {"taskType": "edit_page", "documentId": "d", "payload": {"page_id": "p", "content": "c"}},
        "payload.page_id",
        "pageId",
    ),
]


@pytest.mark.parametrize(("path", "body", "field", "meant"), MEANT)
async def test_a_name_that_is_none_leads_to_the_one_that_was_meant(
    api: Api, path: str, body: object, field: str, meant: str
) -> None:
    errors = problem_of(await api.post(path, body))["errors"]

    assert f"There is no such field; did you mean {meant}?" in [
        error["message"] for error in errors if error["field"] == field
    ]


async def test_a_large_body_is_told_the_name_that_was_meant_too(api: Api) -> None:
    body = [{"taskType": "noop", "title": "a" * 190}] * 900 + [{"task_type": "noop"}]

    refused = await api.post("/api/tasks/bulk", body)

    assert fields_of(refused) == ["900.task_type"]
    assert problem_of(refused)["errors"][0]["message"].endswith("did you mean taskType?")


async def test_a_text_of_very_many_commas_is_not_said_to_be_values(api: Api) -> None:
    refused = await api.post("/api/tasks", {"taskType": "noop", "payload": {"text": "," * 700_000}})

    assert code_of(refused) == (422, "invalid_request")
    assert "commas and brackets in texts count" in problem_of(refused)["detail"]


async def test_a_name_that_is_like_no_other_is_told_without_a_guess(api: Api) -> None:
    (error,) = problem_of(await api.post("/api/tasks", {"taskType": "noop", "colour": "red"}))["errors"]

    assert error["message"] == "There is no such field."


@pytest.mark.parametrize(("given", "meant"), [("replacetext", "'replace_text'"), ("edit-page", "'edit_page'")])
async def test_an_unknown_type_is_told_those_there_are_once_and_the_one_that_was_meant(
    api: Api, given: str, meant: str
) -> None:
    problem = problem_of(await api.post("/api/tasks", {"taskType": given}))

    assert problem["detail"].startswith(f"There is no task type '{given}'; known are: add_chapter, ")
    assert problem["errors"] == [{"field": "taskType", "message": f"There is no such task type; did you mean {meant}?"}]


async def test_no_refusal_lists_all_of_thousands_of_parameters(api: Api) -> None:
    response = await api.get("/api/tasks", **{f"p{index}": 1 for index in range(5_000)})

    assert code_of(response) == (422, "invalid_parameter")
    assert len(response.json()["errors"]) == 100
