"""Tasks that agents do, over HTTP: what they ask is taken, shown, and refused elsewhere."""

from typing import Final

import pytest

from officeplane.domain.demand import AgentOptions
from tests.api.client import Api, Json, code_of, fields_of, json_of

CODE: Final[Json] = {"taskType": "code", "payload": {"goal": "It works."}}
ASKING: Final[Json] = {
    "requiredCapabilities": ["python", "git"],
    "models": ["large", "small"],
    "fallbackModels": ["tiny"],
    "requireDecisionReport": False,
    "output": {"type": "code"},
}
SHOWN: Final[Json] = {**ASKING, "requiredCapabilities": ["git", "python"]}


def test_all_that_may_be_asked_is_tried() -> None:
    assert set(ASKING) == {field.alias for field in AgentOptions.model_fields.values()}


async def test_what_a_task_asks_of_agents_is_shown(api: Api) -> None:
    task = await api.submit(**CODE, **ASKING)
    plain = await api.submit(**CODE)

    assert {name: task[name] for name in ASKING} == SHOWN
    again = json_of(await api.get(f"/api/tasks/{task['id']}"))
    assert {name: again[name] for name in ASKING} == SHOWN
    assert {name: plain[name] for name in ASKING} == {
        "requiredCapabilities": [],
        "models": [],
        "fallbackModels": [],
        "requireDecisionReport": True,
        "output": None,
    }
    assert (task["state"], task["timeoutSeconds"], task["workerId"]) == ("QUEUED", 3600, None)


async def test_children_and_tasks_of_dags_may_ask_too(api: Api) -> None:
    batch = json_of(await api.post("/api/tasks", {"children": [{"taskType": "noop"}, {**CODE, **ASKING}]}))
    dag = json_of(await api.post("/api/dags", {"tasks": [{"key": "a", **CODE, **ASKING}]}))
    bulk = await api.post("/api/tasks/bulk", [{"taskType": "noop"}, {**CODE, **ASKING}])

    ids = [batch["children"][1]["id"], dag["tasks"][0]["id"], bulk.json()[1]["id"]]
    found = [json_of(await api.get(f"/api/tasks/{task_id}")) for task_id in ids]
    assert [{name: task[name] for name in ASKING} for task in found] == [SHOWN] * 3


@pytest.mark.parametrize("name", ASKING)
async def test_what_workers_do_may_not_ask_for_agents(api: Api, name: str) -> None:
    asked = {name: ASKING[name]}

    alone = await api.post("/api/tasks", {"taskType": "noop", **asked})
    below = await api.post("/api/tasks", {"children": [CODE, {"taskType": "noop", **asked}]})
    batch = await api.post("/api/tasks", {"children": [CODE], **asked})

    assert (code_of(alone), fields_of(alone)) == ((422, "invalid_request"), [name])
    assert alone.json()["detail"] == (f"{name}: Only a task that an agent does may have it; 'noop' is done by workers.")
    assert (code_of(below), fields_of(below)) == ((422, "invalid_request"), [f"children.1.{name}"])
    assert (code_of(batch), fields_of(batch)) == ((422, "invalid_request"), [name])


async def test_an_atomic_batch_holds_no_task_of_an_agent(api: Api) -> None:
    refused = await api.post("/api/tasks", {"documentId": "d", "atomic": True, "children": [CODE]})

    assert (code_of(refused), fields_of(refused)) == ((422, "invalid_request"), ["children.0.taskType"])


@pytest.mark.parametrize("name", ["maxCostUsd", "validation", "hold", "approval"])
async def test_what_is_not_there_yet_is_said_to_be_so(api: Api, name: str) -> None:
    assert code_of(await api.post("/api/tasks", {**CODE, name: None})) == (422, "not_supported_yet")


async def test_a_wrong_reference_is_told_how_it_is_written(api: Api) -> None:
    refused = await api.post("/api/tasks", {"taskType": "code", "payload": {"goal": "g", "contextRefs": ["plan"]}})

    assert (code_of(refused), fields_of(refused)) == ((422, "invalid_payload"), ["payload.contextRefs.0"])
    assert "document:<id>@<revision>" in refused.text


async def test_a_key_stands_for_what_was_asked_of_agents_too(api: Api) -> None:
    body = {**CODE, **ASKING, "idempotencyKey": "asked-of-agents"}

    answers = [await api.post("/api/tasks", sent) for sent in (body, body, {**body, "models": ["other"]})]

    assert [answer.status_code for answer in answers] == [201, 200, 422]
    assert code_of(answers[2]) == (422, "idempotency_mismatch")


async def test_explain_says_that_it_waits_for_an_agent(api: Api) -> None:
    task = await api.submit(**CODE, requiredCapabilities=["git"])

    explained = json_of(await api.get(f"/api/tasks/{task['id']}/explain"))

    assert explained["runnable"]
    assert [reason["code"] for reason in explained["reasons"]] == ["agent"]
    assert explained["reasons"][0]["detail"] == "It waits for an agent that does 'code' and is capable of git."


async def test_a_type_of_agents_is_held_back_as_others_are(api: Api) -> None:
    task = await api.submit(**CODE)
    try:
        breaker = await api.client.put("/api/circuit-breakers/code", json={"failureThreshold": 1})
        listed = (await api.get("/api/circuit-breakers")).json()
        limited = await api.client.put("/api/limits/code", json={"concurrency": 1})
        paused = await api.post("/api/task-types/code/pause")
        explained = json_of(await api.get(f"/api/tasks/{task['id']}/explain"))
    finally:
        await api.post("/api/task-types/code/resume")
        await api.client.delete("/api/limits/code")

    assert (breaker.status_code, limited.status_code, paused.status_code) == (200, 200, 200)
    assert {"code", "review"} <= {found["taskType"] for found in listed}
    assert (explained["runnable"], [reason["code"] for reason in explained["reasons"]]) == (False, ["paused"])
