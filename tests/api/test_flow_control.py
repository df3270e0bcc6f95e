"""Pauses, circuit breakers and limits over HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from officeplane.runtime import Runtime
from tests.api.client import Api, json_of


@pytest.fixture(autouse=True)
async def nothing_held(api: Api) -> AsyncIterator[None]:
    """Every test lets go what it held back."""
    yield
    runtime: Runtime = api.app.state.server.runtime
    await runtime.ledger.fetch("DELETE FROM valves")
    await runtime.ledger.fetch("DELETE FROM paused_documents")


async def breaker(api: Api, task_type: str = "noop") -> dict[str, Any]:
    found = (await api.get("/api/circuit-breakers")).json()
    return next(one for one in found if one["taskType"] == task_type)


@pytest.fixture(autouse=True)
async def lane(api: Api) -> str:
    """A name that no document has, and a task that waits in its lane."""
    await api.submit(documentId="any.lane:1")
    return "any.lane:1"


@pytest.mark.parametrize("path", ["/api/task-types/noop", "/api/documents/any.lane:1"])
async def test_pause_and_resume_say_how_it_is_now(api: Api, path: str) -> None:
    for action, paused in (("pause", True), ("pause", True), ("resume", False), ("resume", False)):
        response = await api.post(f"{path}/{action}")

        assert (response.status_code, response.json()) == (200, {"paused": paused})


@pytest.mark.parametrize("action", ["pause", "resume"])
async def test_a_lane_that_does_not_exist_is_neither_paused_nor_resumed(api: Api, action: str) -> None:
    response = await api.post(f"/api/documents/nobody.knows/{action}")

    assert (response.status_code, response.json()["code"]) == (404, "document_not_found")
    assert (await api.get("/api/documents", paused="true")).json() == []


async def test_what_is_paused_is_listed_with_its_time_and_a_document_shows_it(api: Api, lane: str) -> None:
    made = json_of(await api.post("/api/documents", {"format": "docx"}))
    assert (made["paused"], made["pausedAt"]) == (False, None)
    for document_id in (lane, made["id"]):
        await api.post(f"/api/documents/{document_id}/pause")

    first = await api.get("/api/documents", paused="true", limit=1)
    second = await api.client.get(first.links["next"]["url"])
    others = (await api.get("/api/documents", paused="false", limit=500)).json()

    shown = json_of(await api.get(f"/api/documents/{made['id']}"))
    assert shown["paused"]
    assert shown["pausedAt"] > made["createdAt"]
    assert first.json() == [shown]
    (found,) = second.json()
    assert found.keys() == {"id", "queued", "running", "paused", "pausedAt"}
    assert (found["id"], found["paused"]) == (lane, True)
    assert found["queued"] > 0
    assert made["id"] not in {one["id"] for one in others}
    await api.client.delete(f"/api/documents/{made['id']}")


async def test_a_paused_task_says_so(api: Api) -> None:
    task = await api.submit(documentId="held")
    await api.post("/api/documents/held/pause")

    explained = json_of(await api.get(f"/api/tasks/{task['id']}/explain"))

    assert not explained["runnable"]
    assert explained["reasons"][0]["code"] == "paused"


async def test_an_id_that_cannot_be_one_is_refused(api: Api) -> None:
    response = await api.post("/api/documents/-no/pause")

    assert (response.status_code, response.json()["code"]) == (422, "invalid_parameter")


@pytest.mark.parametrize("path", [
    "/api/documents/any.lane:1/pause", "/api/documents/any.lane:1/resume", "/api/task-types/noop/pause",
    "/api/task-types/noop/resume", "/api/circuit-breakers/noop/open", "/api/circuit-breakers/noop/reset",
])  # fmt: skip
async def test_an_action_that_takes_no_words_refuses_them_and_is_not_done(api: Api, path: str) -> None:
    before = await breaker(api)

    response = await api.post(path, {"paused": False})

    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "paused")
    assert await breaker(api) == before
    assert (await api.post(path, {})).status_code == 200


@pytest.mark.parametrize("path", [
    "/api/task-types/no.such/pause", "/api/task-types/no.such/resume",
    "/api/circuit-breakers/no.such/reset", "/api/circuit-breakers/no.such/open",
])  # fmt: skip
async def test_a_type_that_nobody_knows_is_refused(api: Api, path: str) -> None:
    response = await api.post(path)

    assert (response.status_code, response.json()["code"]) == (422, "unknown_task_type")


async def test_an_edit_has_no_breaker_to_be_set_or_opened(api: Api) -> None:
    listed = (await api.get("/api/circuit-breakers")).json()
    assert "add_section" not in {one["taskType"] for one in listed}

    opened = await api.post("/api/circuit-breakers/add_section/open")
    put = await api.client.put("/api/circuit-breakers/add_section", json={"failureThreshold": 2})

    assert [(one.status_code, one.json()["code"]) for one in (opened, put)] == [(404, "no_circuit_breaker")] * 2


async def test_a_breaker_is_closed_at_first_and_as_the_installation_has_it(api: Api) -> None:
    assert await breaker(api) == {
        "taskType": "noop", "state": "closed", "failures": 0, "openedAt": None, "retryAt": None,
        "failureThreshold": 5, "halfOpenAfterSeconds": 60,
    }  # fmt: skip


async def test_a_breaker_is_set_opened_and_reset(api: Api) -> None:
    response = await api.client.put("/api/circuit-breakers/noop", json={"failureThreshold": 2})
    assert (response.status_code, response.json()["failureThreshold"]) == (200, 2)

    opened = json_of(await api.post("/api/circuit-breakers/noop/open"))
    assert opened["state"] == "open"
    assert opened["openedAt"] < opened["retryAt"]
    assert await breaker(api) == opened

    reset = json_of(await api.post("/api/circuit-breakers/noop/reset"))
    assert (reset["state"], reset["failures"], reset["openedAt"], reset["failureThreshold"]) == ("closed", 0, None, 2)
    back = await api.client.put("/api/circuit-breakers/noop", json={})
    assert back.json()["failureThreshold"] == 5


@pytest.mark.parametrize("body", [
    {"failureThreshold": 0}, {"failureThreshold": "3"}, {"halfOpenAfterSeconds": 0}, {"half_open_after_seconds": 3},
    {"threshold": 3}, [],
])  # fmt: skip
async def test_a_breaker_that_makes_no_sense_is_refused(api: Api, body: object) -> None:
    response = await api.client.put("/api/circuit-breakers/noop", json=body)

    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert (await breaker(api))["failureThreshold"] == 5


async def test_limits_are_declared_shown_and_lifted(api: Api) -> None:
    none = {"taskType": "noop", "ratePerSecond": None, "concurrency": None}
    assert (await api.get("/api/limits/noop")).json() == none

    put = await api.client.put("/api/limits/noop", json={"ratePerSecond": 0.5, "concurrency": 2})
    assert (put.status_code, put.json()) == (200, {"taskType": "noop", "ratePerSecond": 0.5, "concurrency": 2})
    assert (await api.get("/api/limits/noop")).json() == put.json()
    one = await api.client.put("/api/limits/noop", json={"concurrency": 2})
    assert one.json()["ratePerSecond"] is None

    assert (await api.client.delete("/api/limits/noop")).status_code == 204
    assert (await api.get("/api/limits/noop")).json() == none


@pytest.mark.parametrize("body", [
    {"ratePerSecond": 0}, {"ratePerSecond": -1}, {"concurrency": 0}, {"concurrency": 1.5}, {"rate": 1},
    {"concurrency": "2"},
])  # fmt: skip
async def test_limits_that_make_no_sense_are_refused(api: Api, body: object) -> None:
    response = await api.client.put("/api/limits/noop", json=body)

    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert (await api.client.put("/api/limits/no.such", json={})).json()["code"] == "unknown_task_type"
