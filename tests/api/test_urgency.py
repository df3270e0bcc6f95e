from datetime import UTC, datetime, timedelta

import pytest

from tests.api.plane import Api


def in_minutes(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


async def test_a_deadline_and_an_ageing_are_shown_with_the_priority_that_comes_of_them(api: Api) -> None:
    task = await api.submit(deadline="2100-01-31T13:00:00+01:00", boostPerMinute=2, priority="LOW")

    assert (task["deadline"], task["boostPerMinute"]) == ("2100-01-31T12:00:00.000Z", 2.0)
    assert (task["priority"], task["priorityValue"], task["effectivePriority"]) == ("LOW", 70, 70.0)


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
