"""What those of another space, and those without `control`, are told of types that are held back, and of hosts."""

from collections.abc import AsyncIterator

import httpx
import pytest

from officeplane.domain.narrowing import NOT_NARROWED
from officeplane.domain.principal import Scope
from tests.api.client import Api, a_key, code_of, stranger_to
from tests.api.spaces import a_caller_with


@pytest.fixture
async def acme(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who may do everything in a space."""
    async with a_caller_with(api, *Scope, space="acme", narrowing=NOT_NARROWED) as caller:
        yield caller.client


@pytest.fixture
async def reader(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who may read in the default space, and nothing else."""
    async with stranger_to(api.app, await a_key(api.app, Scope.READ)) as client:
        yield client


async def breaker(client: httpx.AsyncClient) -> dict[str, object]:
    found = (await client.get("/api/circuit-breakers")).json()
    return next(one for one in found if one["taskType"] == "noop")


async def test_a_breaker_a_limit_and_a_pause_are_of_the_callers_space(api: Api, acme: httpx.AsyncClient) -> None:
    ours = await breaker(api.client)

    opened = await acme.post("/api/circuit-breakers/noop/open")
    limited = await acme.put("/api/limits/noop", json={"concurrency": 3})
    await acme.put("/api/circuit-breakers/noop", json={"failureThreshold": 2})

    assert (opened.json()["taskType"], opened.json()["state"]) == ("noop", "open")
    assert limited.json() == {"taskType": "noop", "concurrency": 3, "ratePerSecond": None}
    assert ((await breaker(acme))["state"], (await breaker(acme))["failureThreshold"]) == ("open", 2)
    assert await breaker(api.client) == ours
    assert (await api.get("/api/limits/noop")).json()["concurrency"] is None
    assert (await acme.post("/api/task-types/noop/pause")).json() == {"paused": True}
    assert 'officeplane_task_type_paused{type="noop"} 1.0' in (await acme.get("/metrics")).text
    told = (await api.get("/metrics")).text
    assert 'officeplane_task_type_paused{type="noop"} 0.0' in told
    assert 'officeplane_task_type_paused{space="acme",type="noop"} 1.0' in told
    assert (await acme.post("/api/circuit-breakers/noop/reset")).json()["state"] == "closed"
    assert (await acme.delete("/api/limits/noop")).status_code == 204
    assert (await acme.post("/api/task-types/noop/resume")).json() == {"paused": False}


async def test_an_explanation_has_the_types_name_as_the_space_knows_it(acme: httpx.AsyncClient) -> None:
    task = (await acme.post("/api/tasks", json={"taskType": "noop"})).json()
    await acme.post("/api/task-types/noop/pause")

    told = (await acme.get(f"/api/tasks/{task['id']}/explain")).json()

    assert told["reasons"][0] == {"code": "paused", "detail": "Task type 'noop' is paused.", "taskType": "noop"}
    assert "acme" not in str(told)
    await acme.post("/api/task-types/noop/resume")


async def test_hosts_are_told_to_those_who_control_the_default_space_and_to_nobody_else(
    api: Api, reader: httpx.AsyncClient, acme: httpx.AsyncClient
) -> None:
    task = await api.submit()
    await api.start(task["id"])
    theirs = (await acme.post("/api/tasks", json={"taskType": "noop"})).json()
    await api.start(theirs["id"])
    path = f"/api/tasks/{task['id']}"

    assert (await api.task(task["id"]))["workerId"] == api.worker.worker_id
    for client, seen in ((reader, task), (acme, theirs)):
        shown = await client.get(f"/api/tasks/{seen['id']}")
        explained = await client.get(f"/api/tasks/{seen['id']}/explain")
        listed = await client.get("/api/tasks", params={"limit": 10})
        assert shown.json()["workerId"] is None
        assert explained.json()["reasons"][0]["workerId"] is None
        for answer in (shown, explained, listed, await client.get("/api/stats"), await client.get("/metrics")):
            assert answer.status_code == 200
            assert api.worker.worker_id.split(":")[1] not in answer.text
    assert code_of(await acme.get(path)) == (404, "task_not_found")
    assert (await acme.get("/api/stats")).json()["workers"] == []


async def test_a_key_with_control_of_the_default_space_sees_the_whole(api: Api, acme: httpx.AsyncClient) -> None:
    await acme.post("/api/tasks", json={"taskType": "noop"})
    key = await a_key(api.app, Scope.READ, Scope.CONTROL)

    async with stranger_to(api.app, key) as operator:
        told = (await operator.get("/metrics")).text
        whole = (await operator.get("/api/stats")).json()

    assert 'officeplane_task_queue_depth{priority_tier="normal",space="acme",status="ready"} ' in told
    assert "officeplane_workers " in told
    ours = (await api.get("/api/stats")).json()
    assert [whole[name] for name in ("states", "workers")] == [ours[name] for name in ("states", "workers")]
