from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.api.client import UNKNOWN_ID, Api, Json


def in_minutes(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


async def test_a_deadline_and_an_ageing_are_shown_with_the_priority_that_comes_of_them(api: Api) -> None:
    task = await api.submit(deadline="2100-01-31T13:00:00+01:00", boostPerMinute=1, priority="LOW")

    assert (task["deadline"], task["boostPerMinute"]) == ("2100-01-31T12:00:00.000Z", 1.0)
    assert (task["priority"], task["priorityValue"], task["effectivePriority"]) == ("LOW", 70, 70.0)


async def test_priority_names_vs_1_10_vs_0_100(api: Api) -> None:
    """Trap: three notations of which two count the other way round; what is stored and shown is one of them."""
    given: list[object] = ["HIGH", 20, {"scale": 10, "value": 8}, "BACKGROUND", 90, {"scale": 10, "value": 1}]

    tasks = [await api.submit(priority=priority) for priority in given]

    assert [task["priorityValue"] for task in tasks] == [20, 20, 20, 90, 90, 90]
    assert [task["effectivePriority"] for task in tasks] == [20, 20, 20, 90, 90, 90]
    assert [task["priority"] for task in tasks] == ["HIGH", "HIGH", "HIGH", "LOW", "LOW", "LOW"]


async def test_a_near_deadline_shows_in_the_effective_priority_and_not_in_the_priority(api: Api) -> None:
    task = await api.submit(deadline=in_minutes(30), priority="LOW")

    assert (task["priority"], task["priorityValue"]) == ("LOW", 70)
    assert task["effectivePriority"] == pytest.approx(20, abs=0.2)


async def test_the_tasks_of_a_bulk_and_of_a_batch_have_deadlines_of_their_own(api: Api) -> None:
    soon, overdue = in_minutes(30), in_minutes(-1)
    bulk = await api.post(
        "/api/tasks/bulk", [{"taskType": "noop", "deadline": soon}, {"taskType": "noop", "deadline": overdue}]
    )
    batch = await api.submit(deadline=soon, children=[{"taskType": "noop"}, {"taskType": "noop", "deadline": overdue}])

    assert [task["effectivePriority"] for task in bulk.json()] == [pytest.approx(0, abs=0.2), -50.0]
    children = [await api.task(child["id"]) for child in batch["children"]]
    assert [child["effectivePriority"] for child in children] == [pytest.approx(0, abs=0.2), -50.0]


async def test_the_children_of_an_atomic_batch_have_no_urgency_of_their_own(api: Api) -> None:
    for field, value in (("deadline", in_minutes(1)), ("boostPerMinute", 1)):
        response = await api.post(
            "/api/tasks",
            {"documentId": "d", "atomic": True, "children": [{"taskType": "set_properties", field: value}]},
        )

        assert response.status_code == 422
        assert [error["field"] for error in response.json()["errors"]] == [f"children.0.{field}"]


async def test_explain_says_how_urgent_a_waiting_task_is_by_now(api: Api) -> None:
    waiting = await api.submit(deadline=in_minutes(30), documentId="urgency:1")
    running = await api.submit(documentId="urgency:2")
    await api.start(running["id"])

    explained = [(await api.get(f"/api/tasks/{task['id']}/explain")).json() for task in (waiting, running)]

    assert [one["effectivePriority"] for one in explained] == [pytest.approx(0, abs=0.2), None]


async def test_what_an_unfinished_task_does_already_is_answered_with_that_task(api: Api) -> None:
    body = {"taskType": "sleep", "documentId": "dedupe:1", "payload": {"seconds": 1}, "dedupe": "content"}
    first = await api.post("/api/tasks", body)

    again = await api.post("/api/tasks", {**body, "title": "again"})

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["title"] is None


async def patch(api: Api, task: Json, **body: object) -> httpx.Response:
    return await api.client.patch(f"/api/tasks/{task['id']}", json=body)


async def test_a_waiting_task_is_changed_and_answered_as_it_is_then(api: Api) -> None:
    task = await api.submit(title="old")

    response = await patch(
        api,
        task,
        priority="CRITICAL",
        title="new",
        tags=["t"],
        deadline="2100-01-01T00:00:00Z",
        runAt="2100-01-01T00:00:00Z",
    )

    assert response.status_code == 200
    changed = response.json()
    assert (changed["priority"], changed["title"], changed["tags"], changed["state"]) == (
        "CRITICAL",
        "new",
        ["t"],
        "PENDING",
    )
    assert (changed["deadline"], changed["runAt"]) == ("2100-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z")
    assert (await patch(api, task, title=None, deadline=None)).json() == {**changed, "title": None, "deadline": None}


REFUSED: list[tuple[dict[str, object], list[str]]] = [
    ({"priority": None}, ["priority"]),
    ({"runAt": None}, ["runAt"]),
    ({"tags": None}, ["tags"]),
    ({"payload": {}}, ["payload"]),
    ({"dependsOn": []}, ["dependsOn"]),
    ({"deadline": "tomorrow", "title": 5}, ["deadline", "title"]),
]


@pytest.mark.parametrize(("body", "fields"), REFUSED)
async def test_a_change_of_anything_else_is_refused_and_nothing_is_changed(
    api: Api, body: dict[str, object], fields: list[str]
) -> None:
    task = await api.submit(title="as it was")

    response = await patch(api, task, **{"title": "other", **body})

    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == fields
    assert (await api.task(task["id"]))["title"] == "as it was"


async def test_a_change_of_nothing_is_refused(api: Api) -> None:
    response = await patch(api, await api.submit())

    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert "name what to change" in response.json()["detail"]


async def test_a_claimed_task_is_not_changed_and_a_missing_one_is_not_found(api: Api) -> None:
    task = await api.submit()
    await api.start(task["id"])

    claimed = await patch(api, task, priority="HIGH")
    missing = await patch(api, {"id": UNKNOWN_ID}, priority="HIGH")

    assert (claimed.status_code, claimed.json()["code"]) == (409, "illegal_state")
    assert "RUNNING" in claimed.json()["detail"]
    assert (missing.status_code, missing.json()["code"]) == (404, "task_not_found")
