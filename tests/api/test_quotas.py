"""`/api/spaces`: shown and limited; what is too much is 429 with the quota that said so."""

from collections.abc import AsyncIterator

import pytest

from tests.api.client import Api, code_of

UNLIMITED = dict.fromkeys(
    (
        "maxWaitingTasks", "maxDocuments", "maxBytes", "maxRevisionsPerDocument", "submissionsPerMinute",
        "uploadsPerMinute", "maxStreams", "maxWaits", "maxAgents",
    )
)  # fmt: skip


@pytest.fixture(autouse=True)
async def no_limit_stays(api: Api) -> AsyncIterator[None]:
    yield
    await api.client.put("/api/spaces/default", json={})


async def limit(api: Api, **quotas: int) -> None:
    answer = await api.client.put("/api/spaces/default", json=quotas)
    assert answer.status_code == 200, answer.text


async def test_spaces_are_listed_and_shown_with_what_they_use(api: Api) -> None:
    await limit(api, maxDocuments=7)

    listed = (await api.get("/api/spaces")).json()
    shown = (await api.get("/api/spaces/default")).json()

    assert {"name": "default", **UNLIMITED, "maxDocuments": 7} in listed
    assert shown.keys() == {"name", *UNLIMITED, "usage"}
    assert shown["usage"].keys() == {"waitingTasks", "documents", "bytes"}


async def test_what_is_left_out_is_as_usual_and_null_lifts(api: Api) -> None:
    await limit(api, maxDocuments=7)

    answer = await api.client.put("/api/spaces/default", json={"maxStreams": 3, "maxWaits": None})

    assert answer.json().items() >= {**UNLIMITED, "maxStreams": 3}.items()


async def test_a_space_that_is_not_there_is_not_found(api: Api) -> None:
    assert code_of(await api.get("/api/spaces/nobody")) == (404, "space_not_found")
    assert code_of(await api.client.put("/api/spaces/nobody", json={})) == (404, "space_not_found")
    assert code_of(await api.client.put("/api/spaces/default", json={"maxTea": 1})) == (422, "invalid_request")
    assert code_of(await api.client.put("/api/spaces/default", json={"maxWaits": -1})) == (422, "invalid_request")


async def test_too_much_is_429_with_the_quota_and_when_to_ask_again(api: Api) -> None:
    await limit(api, submissionsPerMinute=0)

    answer = await api.post("/api/tasks", {"taskType": "noop"})

    assert code_of(answer) == (429, "overloaded")
    assert (answer.json()["quota"], answer.json()["limit"]) == ("submissionsPerMinute", 0)
    assert answer.headers["Retry-After"] == "60"


async def test_streams_and_waits_have_limits_too(api: Api) -> None:
    task = (await api.post("/api/tasks", {"taskType": "noop"})).json()
    await limit(api, maxStreams=0, maxWaits=0)

    stream = await api.get("/api/events")
    wait = await api.get(f"/api/tasks/{task['id']}", wait=5)

    assert (code_of(stream), stream.json()["quota"]) == ((429, "overloaded"), "maxStreams")
    assert (code_of(wait), wait.json()["quota"]) == ((429, "overloaded"), "maxWaits")
    assert (await api.get(f"/api/tasks/{task['id']}")).status_code == 200
