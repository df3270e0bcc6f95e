"""Many tasks cancelled or retried by one request."""

import asyncio
import secrets

import pytest

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed
from officeplane.services.operate import selection
from tests.api.client import Api, Json, code_of


@pytest.fixture
def tag() -> str:
    """What the tasks of one test have in common."""
    return f"t{secrets.token_hex(4)}"


async def changed(api: Api, action: str, **body: object) -> Json:
    response = await api.post(f"/api/tasks/{action}", body)
    assert response.status_code == 200, response.text
    answer: Json = response.json()
    return answer


async def states(api: Api, **query: str) -> dict[str, int]:
    tasks = (await api.get("/api/tasks", limit=500, **query)).json()
    return {state: sum(task["state"] == state for task in tasks) for state in {task["state"] for task in tasks}}


async def test_what_waits_and_fits_every_filter_is_cancelled_and_nothing_else(api: Api, tag: str) -> None:
    for number in range(3):
        await api.submit(documentId=f"{tag}-{number}", tags=[tag])
    await api.submit(documentId=f"{tag}-0")
    await api.submit(taskType="sleep", payload={"seconds": 1}, tags=[tag])

    answer = await changed(api, "cancel", taskType="noop", tag=tag, reason="wrong price list")

    assert answer == {"changed": 3, "next": None}
    assert await states(api, tag=tag) == {"CANCELLED": 3, "QUEUED": 1}
    assert await states(api, documentId=f"{tag}-0") == {"CANCELLED": 1, "QUEUED": 1}
    (one,) = (await api.get("/api/tasks", documentId=f"{tag}-1")).json()
    assert one["cancelReason"] == "wrong price list"


async def test_what_runs_is_asked_to_stop(api: Api, tag: str) -> None:
    task = await api.submit(tags=[tag])
    await api.start(task["id"])

    assert (await changed(api, "cancel", tag=tag))["changed"] == 1
    assert (await api.task(task["id"]))["cancelRequestedAt"] is not None


async def test_a_batch_goes_as_a_whole_and_is_counted_with_its_children(api: Api, tag: str) -> None:
    batches = [await api.submit(children=[{"taskType": "noop"}] * 60, tags=[tag]) for _ in range(3)]

    assert await changed(api, "cancel", tag=tag) == {"changed": 183, "next": None}
    for batch in batches:
        task = await api.task(batch["id"])
        assert (task["state"], task["childCounts"]) == ("CANCELLED", {"CANCELLED": 60})


async def test_children_alone_end_their_batches_as_if_each_had_been_cancelled(api: Api, tag: str) -> None:
    children = [{"taskType": "noop", "tags": [tag]}, {"taskType": "noop"}]
    batch = await api.submit(children=children)

    assert await changed(api, "cancel", tag=tag) == {"changed": 1, "next": None}
    assert (await api.task(batch["id"]))["state"] == "FAILED"


async def test_what_gave_up_is_queued_again_with_its_letters_resolved(api: Api, tag: str) -> None:
    for number in range(2):
        task = await api.submit(maxRetries=0, tags=[tag], documentId=f"{tag}-{number}")
        await api.end(await api.start(task["id"]), Failed(Failure(FailureKind.ERROR, "the price list is empty")))
    await api.submit(tags=[tag])

    assert await changed(api, "retry", tag=tag, state=["FAILED"]) == {"changed": 2, "next": None}
    assert await states(api, tag=tag) == {"QUEUED": 3}
    letters = (await api.get("/api/dead-letters", documentId=f"{tag}-0")).json()
    assert [letter["resolution"] for letter in letters] == ["retry"]


async def test_a_request_that_has_no_more_time_says_where_to_go_on(
    api: Api, tag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = [{"taskType": "noop", "tags": [tag]}] * 250
    assert (await api.post("/api/tasks/bulk", bodies)).status_code == 201
    # Each request has time for one page.
    monkeypatch.setattr(selection, "ENOUGH_SECONDS", 1e-6)

    answers = [await changed(api, "cancel", tag=tag)]
    while answers[-1]["next"] is not None:
        answers.append(await changed(api, "cancel", tag=tag, cursor=answers[-1]["next"]))

    assert [answer["changed"] for answer in answers] == [100, 100, 50]
    assert await states(api, tag=tag) == {"CANCELLED": 250}


async def test_two_who_cancel_the_same_count_each_task_once(api: Api, tag: str) -> None:
    bodies = [{"taskType": "noop", "tags": [tag]}] * 150
    assert (await api.post("/api/tasks/bulk", bodies)).status_code == 201

    one, other = await asyncio.gather(changed(api, "cancel", tag=tag), changed(api, "cancel", tag=tag))

    assert one["changed"] + other["changed"] == 150


@pytest.mark.parametrize("action", ["cancel", "retry"])
@pytest.mark.parametrize("body", [{}, {"cursor": None}, {"state": None}])
async def test_without_a_filter_nothing_is_changed(api: Api, action: str, body: Json) -> None:
    task = await api.submit()

    response = await api.post(f"/api/tasks/{action}", body)

    assert code_of(response) == (422, "invalid_request")
    assert "filter" in response.json()["detail"]
    assert (await api.task(task["id"]))["state"] == "QUEUED"


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("cancel", {"state": ["COMPLETED"]}),
        ("retry", {"state": ["FAILED", "RUNNING"]}),
        ("cancel", {"state": ["GONE"]}),
        ("cancel", {"state": []}),
        ("cancel", {"state": ["QUEUED"] * 101}),
        ("cancel", {"tag": "it", "limit": 5}),
        ("retry", {"tag": "it", "reason": "why not"}),
        ("cancel", {"documentId": "no document"}),
        ("cancel", {"parentId": "no-task"}),
    ],
)
async def test_a_filter_that_can_fit_nothing_is_refused(api: Api, action: str, body: Json) -> None:
    response = await api.post(f"/api/tasks/{action}", body)

    assert code_of(response) == (422, "invalid_request")


async def test_a_cursor_of_nobody_is_refused(api: Api) -> None:
    response = await api.post("/api/tasks/cancel", {"tag": "it", "cursor": "AAAA"})

    assert code_of(response) == (400, "invalid_cursor")
