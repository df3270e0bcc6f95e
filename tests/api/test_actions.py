import pytest

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed
from tests.api.client import Api, Json, code_of, problem_of


async def a_final_task(api: Api, state: str) -> Json:
    """A task that has ended in this state."""
    task = await api.submit(maxRetries=0)
    match state:
        case "COMPLETED":
            await api.end(await api.start(task["id"]))
        case "FAILED":
            await api.fail(task["id"])
        case "TIMEOUT":
            await api.end(await api.start(task["id"]), Failed(Failure(FailureKind.TIMEOUT, "too slow")))
        case _:
            await api.post(f"/api/tasks/{task['id']}/cancel", {})
    task = await api.task(task["id"])
    assert task["state"] == state
    return task


async def test_a_waiting_task_is_cancelled_at_once(api: Api) -> None:
    task = await api.submit()

    response = await api.post(f"/api/tasks/{task['id']}/cancel", {"reason": "No longer needed."})

    assert response.status_code == 200
    cancelled = response.json()
    assert (cancelled["state"], cancelled["cancelReason"]) == ("CANCELLED", "No longer needed.")
    assert cancelled["finishedAt"] is not None


@pytest.mark.parametrize("raw", [b"", b"{}"])
async def test_a_reason_need_not_be_given(api: Api, raw: bytes) -> None:
    task = await api.submit()

    response = await api.post(f"/api/tasks/{task['id']}/cancel", raw=raw)

    assert (response.status_code, response.json()["cancelReason"]) == (200, None)


async def test_nothing_at_all_need_be_sent(api: Api) -> None:
    task = await api.submit()

    cancelled = await api.client.post(f"/api/tasks/{task['id']}/cancel")
    retried = await api.client.post(f"/api/tasks/{task['id']}/retry")

    assert (cancelled.status_code, retried.status_code) == (200, 200)


async def test_a_running_task_is_asked_to_stop_as_often_as_one_likes(api: Api) -> None:
    task = await api.submit()
    claimed = await api.start(task["id"])

    first = await api.post(f"/api/tasks/{task['id']}/cancel", {"reason": "Enough."})
    second = await api.post(f"/api/tasks/{task['id']}/cancel", {})

    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["state"] == second.json()["state"] == "RUNNING"
    assert first.json()["cancelRequestedAt"] == second.json()["cancelRequestedAt"] is not None
    assert second.json()["cancelReason"] == "Enough."
    await api.end(claimed, Failed(Failure(FailureKind.CANCELLED, "asked to stop")))
    assert (await api.task(task["id"]))["state"] == "CANCELLED"


async def test_children_go_with_their_batch(api: Api) -> None:
    batch = await api.submit(children=[{"taskType": "noop"}, {"taskType": "noop"}])

    cancelled = (await api.post(f"/api/tasks/{batch['id']}/cancel", {})).json()

    assert cancelled["childCounts"] == {"CANCELLED": 2}


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"])
async def test_a_final_task_cannot_be_cancelled(api: Api, state: str) -> None:
    task = await a_final_task(api, state)

    response = await api.post(f"/api/tasks/{task['id']}/cancel", {})

    assert code_of(response) == (409, "illegal_state")
    assert state in problem_of(response)["detail"]
    assert await api.task(task["id"]) == task


@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "CANCELLED"])
async def test_a_task_that_gave_up_can_be_queued_again(api: Api, state: str) -> None:
    task = await a_final_task(api, state)

    response = await api.post(f"/api/tasks/{task['id']}/retry", {})

    assert response.status_code == 200
    again = response.json()
    assert (again["state"], again["generation"], again["attemptsCharged"]) == ("QUEUED", 2, 0)
    assert (again["finishedAt"], again["cancelRequestedAt"]) == (None, None)


@pytest.mark.parametrize("state", ["QUEUED", "COMPLETED"])
async def test_what_has_not_given_up_cannot_be_queued_again(api: Api, state: str) -> None:
    task = await api.submit() if state == "QUEUED" else await a_final_task(api, state)

    response = await api.post(f"/api/tasks/{task['id']}/retry", {})

    assert code_of(response) == (409, "illegal_state")
    assert state in problem_of(response)["detail"]
