"""`/api/dags` as its callers see it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from officeplane.api.event_stream import frame
from officeplane.domain.dag import EDGES_MAX, TASKS_MAX
from officeplane.domain.event import Event, EventPosition
from officeplane.domain.ids import DagId
from tests.api.client import UNKNOWN_ID, Api, Json, code_of, json_of, problem_of

DIAMOND = {
    "title": "Report",
    "tasks": [
        {"key": "a", "taskType": "noop"},
        {"key": "b", "taskType": "noop", "dependsOn": ["a"]},
        {"key": "c", "taskType": "noop", "dependsOn": ["a"]},
        {"key": "d", "taskType": "noop", "dependsOn": ["b", "c"]},
    ],
}


async def submitted(api: Api, body: object = DIAMOND) -> Json:
    response = await api.post("/api/dags", body)
    assert response.status_code == 201, response.text
    dag = json_of(response)
    assert response.headers["Location"] == f"/api/dags/{dag['id']}"
    return dag


async def test_a_dag_shows_its_tasks_where_it_begins_and_ends_and_its_longest_way(api: Api) -> None:
    dag = await submitted(api)

    ids = {task["key"]: task["id"] for task in dag["tasks"]}
    assert (dag["title"], dag["status"], dag["finishedAt"]) == ("Report", "running", None)
    assert (dag["roots"], dag["leaves"]) == ([ids["a"]], [ids["d"]])
    assert dag["criticalPath"] == [ids["a"], ids["b"], ids["d"]]
    assert dag["tasks"][3] == {
        "id": ids["d"], "key": "d", "taskType": "noop", "state": "PENDING", "dependsOn": sorted([ids["b"], ids["c"]]),
    }  # fmt: skip
    assert dag["taskCounts"] == {"QUEUED": 1, "PENDING": 3}
    assert json_of(await api.get(f"/api/dags/{dag['id']}")) == dag
    task = await api.task(ids["d"])
    assert (task["dagId"], task["dependsOn"], task["blockedBy"], task["key"]) == (
        dag["id"], sorted([ids["b"], ids["c"]]), sorted([ids["b"], ids["c"]]), "d",
    )  # fmt: skip


async def test_dags_are_listed_newest_first_page_by_page(api: Api) -> None:
    made = [(await submitted(api))["id"] for _ in range(3)]

    first = await api.get("/api/dags", limit=2, status="running")
    second = await api.client.get(first.links["next"]["url"])

    assert [dag["id"] for dag in [*first.json(), *second.json()][:3]] == made[::-1]
    assert "tasks" not in first.json()[0]


async def test_a_dag_that_is_repeated_under_its_key_is_stored_once(api: Api) -> None:
    key = {"Idempotency-Key": "plan-7"}
    first = await api.post("/api/dags", DIAMOND, key)

    again = await api.post("/api/dags", DIAMOND, key)
    other = await api.post("/api/dags", {"tasks": DIAMOND["tasks"]}, key)

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["id"] == first.json()["id"]
    assert code_of(other) == (422, "idempotency_mismatch")


async def test_a_dag_is_cancelled_once(api: Api) -> None:
    dag = await submitted(api)

    cancelled = await api.post(f"/api/dags/{dag['id']}/cancel", {"reason": "no"})
    again = await api.post(f"/api/dags/{dag['id']}/cancel")

    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert {task["state"] for task in cancelled.json()["tasks"]} == {"CANCELLED"}
    assert code_of(again) == (409, "illegal_state")


async def test_tasks_are_added(api: Api) -> None:
    dag = await submitted(api)

    added = await api.post(
        f"/api/dags/{dag['id']}/tasks", {"tasks": [{"key": "e", "taskType": "noop", "dependsOn": ["d"]}]}
    )

    assert added.status_code == 201
    assert [task["key"] for task in added.json()["tasks"]] == ["a", "b", "c", "d", "e"]
    assert added.json()["leaves"] == [added.json()["tasks"][4]["id"]]


REFUSALS: list[tuple[Any, str, str]] = [
    ([{"key": "a", "dependsOn": ["a"]}], "cycle", "tasks.0.dependsOn"),
    ([{"key": "a", "dependsOn": ["b"]}, {"key": "b", "dependsOn": ["a"]}], "cycle", "tasks.0.dependsOn"),
    ([{"key": "a"}, {"key": "a"}], "invalid_request", "tasks.1.key"),
    ([{}], "invalid_request", "tasks.0.key"),
    ([{"key": "a", "idempotencyKey": "k"}], "invalid_request", "tasks.0.idempotencyKey"),
    ([{"key": "a", "dedupe": "content"}], "invalid_request", "tasks.0.dedupe"),
    ([{"key": "a", "dependsOn": ["z"]}], "invalid_reference", "tasks.0.dependsOn.0"),
    ([{"key": "a", "dependsOn": [UNKNOWN_ID]}], "invalid_reference", "tasks.0.dependsOn.0"),
    ([{"key": "a", "payload": {"x": {"$ref": "b.x"}}}], "invalid_reference", "tasks.0.payload.x"),
    ([{"key": "a", "taskType": "unheard.of"}], "unknown_task_type", "tasks.0.taskType"),
    ([{"key": "a", "maxCostUsd": 1}], "not_supported_yet", "tasks.0.maxCostUsd"),
    ([{"key": "a", "unheardOf": 1}], "invalid_request", "tasks.0.unheardOf"),
    ([], "invalid_request", "tasks"),
]


@pytest.mark.parametrize(("tasks", "code", "field"), REFUSALS)
async def test_a_refusal_names_the_field_and_nothing_is_stored(api: Api, tasks: Any, code: str, field: str) -> None:
    before = await api.rows()

    response = await api.post("/api/dags", {"tasks": [{"taskType": "noop", **task} for task in tasks]})

    assert code_of(response) == (422, code)
    assert [error["field"] for error in problem_of(response)["errors"]] == [field]
    assert await api.rows() == before


async def test_a_budget_is_not_supported_yet(api: Api) -> None:
    assert code_of(await api.post("/api/dags", {**DIAMOND, "budgetUsd": 1})) == (422, "not_supported_yet")


async def test_too_many_tasks_are_refused_with_those_that_are_there(api: Api) -> None:
    dag = await submitted(api)
    tasks = [{"key": f"t{n}", "taskType": "noop"} for n in range(TASKS_MAX + 1)]

    alone = await api.post("/api/dags", raw=json.dumps({"tasks": tasks}).encode())
    together = await api.post(f"/api/dags/{dag['id']}/tasks", {"tasks": tasks[: TASKS_MAX - 3]})

    assert code_of(alone) == code_of(together) == (422, "invalid_request")


async def test_too_many_edges_are_refused_with_those_that_are_there(api: Api) -> None:
    befores = [{"key": f"b{n}", "taskType": "noop"} for n in range(1_000)]
    names = [task["key"] for task in befores]
    full = [{"key": f"t{n}", "taskType": "noop", "dependsOn": names} for n in range(EDGES_MAX // 1_000)]
    one = {"key": "one", "taskType": "noop", "dependsOn": ["b0"]}

    alone = await api.post("/api/dags", {"tasks": [*befores, *full, one]})
    dag = json_of(await api.post("/api/dags", {"tasks": [*befores, *full]}))
    together = await api.post(f"/api/dags/{dag['id']}/tasks", {"tasks": [one]})

    assert code_of(alone) == code_of(together) == (422, "invalid_request")


@pytest.mark.parametrize("dag_id", [UNKNOWN_ID, "nonsense"])
async def test_an_unknown_dag_is_not_found(api: Api, dag_id: str) -> None:
    task = {"tasks": [{"key": "a", "taskType": "noop"}]}

    assert code_of(await api.get(f"/api/dags/{dag_id}")) == (404, "dag_not_found")
    assert code_of(await api.post(f"/api/dags/{dag_id}/cancel")) == (404, "dag_not_found")
    assert code_of(await api.post(f"/api/dags/{dag_id}/tasks", task)) == (404, "dag_not_found")


async def test_a_dag_whose_tasks_have_ended_is_completed(api: Api) -> None:
    dag = await submitted(api, {"tasks": [{"key": "a", "taskType": "noop"}]})

    await api.end(await api.start(dag["tasks"][0]["id"]))

    assert json_of(await api.get(f"/api/dags/{dag['id']}"))["status"] == "completed"


def test_an_event_of_a_dag_names_the_dag() -> None:
    event = Event(EventPosition(1, 2, 0), "dag.failed", None, None, datetime.now(UTC), DagId(UNKNOWN_ID))

    (line,) = [line for line in frame(event).decode().splitlines() if line.startswith("data: ")]

    told = json.loads(line.removeprefix("data: "))
    assert (told["type"], told["dagId"], told["taskId"], told["state"]) == ("dag.failed", UNKNOWN_ID, None, None)
