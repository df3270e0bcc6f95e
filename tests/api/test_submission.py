import asyncio
import re
import secrets

import asyncpg
import pytest

from officeplane.domain.dag import TASKS_MAX
from officeplane.domain.ids import parse_task_id
from officeplane.domain.outcome import Succeeded
from tests.api.client import Api, Json, code_of, fields_of
from tests.support import eventually

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def test_a_submitted_task_is_answered_with_its_place_and_can_be_read_there(api: Api) -> None:
    response = await api.post(
        "/api/tasks",
        {"taskType": "sleep", "payload": {"seconds": 1.5}, "documentId": "doc.1", "title": "Rest", "tags": ["a", "b"]},
    )

    assert response.status_code == 201
    task = response.json()
    assert parse_task_id(task["id"]) == task["id"]
    assert response.headers["Location"] == f"/api/tasks/{task['id']}"
    assert (await api.get(response.headers["Location"])).json() == task


async def test_what_is_not_given_has_the_defaults_of_the_contract(api: Api) -> None:
    task = await api.submit()

    moments = {name: task.pop(name) for name in ("createdAt", "queuedAt", "runAt")}
    assert all(TIME.fullmatch(moment) for moment in moments.values())
    assert task == {
        "id": task["id"],
        "taskType": "noop",
        "state": "QUEUED",
        "priority": "NORMAL",
        "priorityValue": 50,
        "effectivePriority": 50.0,
        "deadline": None,
        "boostPerMinute": 0.1,
        "title": None,
        "documentId": None,
        "payload": {},
        "result": None,
        "error": None,
        "attempt": 0,
        "attemptsCharged": 0,
        "generation": 1,
        "maxRetries": 3,
        "timeoutSeconds": 600.0,
        "onRetry": "block",
        "parentId": None,
        "position": None,
        "key": None,
        "tags": [],
        "workerId": None,
        "createdBy": "local",
        "onBehalfOf": None,
        "startedAt": None,
        "finishedAt": None,
        "cancelRequestedAt": None,
        "cancelReason": None,
        "progress": None,
        "failures": [],
        "children": None,
        "childCounts": None,
        "dagId": None,
        "spawnedBy": None,
        "dependsOn": [],
        "blockedBy": [],
        "requiredCapabilities": None,
        "models": None,
        "fallbackModels": None,
        "requireDecisionReport": None,
        "output": None,
        "agentId": None,
        "model": None,
        "claimedAt": None,
        "heartbeatAt": None,
        "costUsd": None,
        "tokens": None,
        "decisionReport": None,
    }


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ("CRITICAL", "CRITICAL", 0),
        ("HIGH", "HIGH", 20),
        ("NORMAL", "NORMAL", 50),
        ("LOW", "LOW", 70),
        ("BACKGROUND", "LOW", 90),
        (0, "CRITICAL", 0),
        (29, "HIGH", 29),
        (100, "LOW", 100),
        ({"scale": 10, "value": 10}, "CRITICAL", 0),
        ({"scale": 10, "value": 1}, "LOW", 90),
    ],
)
async def test_a_priority_is_shown_by_the_name_of_its_tier_and_as_a_number(
    api: Api, given: object, name: str, value: int
) -> None:
    task = await api.submit(priority=given)

    assert (task["priority"], task["priorityValue"]) == (name, value)


async def test_a_task_that_is_to_run_later_is_pending_until_then(api: Api) -> None:
    task = await api.submit(runAt="2100-01-31T13:00:00+01:00")

    assert (task["state"], task["runAt"], task["queuedAt"]) == ("PENDING", "2100-01-31T12:00:00.000Z", None)


@pytest.mark.parametrize(
    "run_at",
    [
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59.999999Z",
        "9999-12-31T23:59:59.999999-12:00",
    ],
)
async def test_a_time_at_the_end_of_the_calendar_is_refused_or_can_be_shown(api: Api, run_at: str) -> None:
    submitted = await api.post("/api/tasks", {"taskType": "noop", "documentId": "doc:calendar", "runAt": run_at})

    listed = await api.get("/api/tasks", documentId="doc:calendar")

    assert submitted.status_code == 201 or code_of(submitted) == (422, "invalid_request")
    assert listed.status_code == 200


async def test_a_batch_lists_its_children_in_order_and_counts_them(api: Api) -> None:
    batch = await api.submit(
        documentId="doc-batch",
        priority="HIGH",
        children=[{"key": "one", "taskType": "noop"}, {"taskType": "sleep", "payload": {"seconds": 0}}],
    )

    assert batch["taskType"] == "batch_edit"
    assert [(child["taskType"], child["state"], child["key"]) for child in batch["children"]] == [
        ("noop", "QUEUED", "one"),
        ("sleep", "PENDING", None),
    ]
    assert batch["childCounts"] == {"QUEUED": 1, "PENDING": 1}
    assert await api.task(batch["id"]) == batch
    child = await api.task(batch["children"][1]["id"])
    assert (child["parentId"], child["position"], child["documentId"]) == (batch["id"], 1, "doc-batch")
    assert (child["priority"], child["children"]) == ("HIGH", None)


async def test_a_key_used_again_gives_the_task_as_it_is_now(api: Api) -> None:
    body = {"taskType": "noop", "idempotencyKey": "again/1"}
    first = (await api.post("/api/tasks", body)).json()
    await api.end(await api.start(first["id"]), Succeeded('{"done": true}'))

    replay = await api.post("/api/tasks", body)

    assert replay.status_code == 200
    assert replay.headers["Idempotency-Replayed"] == "true"
    assert replay.headers["Location"] == f"/api/tasks/{first['id']}"
    assert (replay.json()["id"], replay.json()["state"]) == (first["id"], "COMPLETED")
    assert replay.json()["result"] == {"done": True}


async def test_a_key_means_the_same_in_the_header_and_in_the_body(api: Api) -> None:
    in_body = await api.post("/api/tasks", {"taskType": "noop", "idempotencyKey": "either way"})

    in_header = await api.post("/api/tasks", {"taskType": "noop"}, {"Idempotency-Key": "either way"})
    in_both = await api.post(
        "/api/tasks", {"taskType": "noop", "idempotencyKey": "either way"}, {"Idempotency-Key": "either way"}
    )

    assert (in_body.status_code, in_header.status_code, in_both.status_code) == (201, 200, 200)
    assert in_body.json()["id"] == in_header.json()["id"] == in_both.json()["id"]
    assert "Idempotency-Replayed" not in in_body.headers


async def test_a_replayed_batch_still_shows_its_children(api: Api) -> None:
    body = {"idempotencyKey": "batch again", "children": [{"taskType": "noop"}]}
    first = await api.post("/api/tasks", body)

    replay = await api.post("/api/tasks", body)

    assert replay.json() == first.json()


async def test_a_key_with_another_body_is_refused(api: Api) -> None:
    await api.submit(idempotencyKey="taken")

    response = await api.post("/api/tasks", {"taskType": "noop", "title": "Another", "idempotencyKey": "taken"})

    assert code_of(response) == (422, "idempotency_mismatch")


@pytest.mark.parametrize("key", ["", "a" * 256, "tab\there", "käse"])
async def test_a_header_that_is_no_key_is_refused(api: Api, key: str) -> None:
    before = await api.rows()

    response = await api.client.post(
        "/api/tasks", json={"taskType": "noop"}, headers=[(b"Idempotency-Key", key.encode("latin-1"))]
    )

    assert code_of(response) == (422, "invalid_parameter")
    assert fields_of(response) == ["Idempotency-Key"]
    assert await api.rows() == before


async def test_two_different_keys_for_one_task_are_refused(api: Api) -> None:
    response = await api.post(
        "/api/tasks", {"taskType": "noop", "idempotencyKey": "one"}, {"Idempotency-Key": "another"}
    )

    assert code_of(response) == (422, "invalid_parameter")
    assert fields_of(response) == ["Idempotency-Key"]


async def test_many_requests_at_once_with_one_key_make_one_task(api: Api) -> None:
    body = {"taskType": "noop", "idempotencyKey": "crowd"}

    responses = await asyncio.gather(*(api.post("/api/tasks", body) for _ in range(20)))

    assert sorted({response.status_code for response in responses}) == [200, 201]
    assert [response.status_code for response in responses].count(201) == 1
    assert len({response.json()["id"] for response in responses}) == 1


async def test_a_key_that_is_just_being_used_is_to_be_tried_again(api: Api) -> None:
    other_process = await asyncpg.connect(api.settings.database_url)
    try:
        async with other_process.transaction():
            await other_process.execute(
                "INSERT INTO idempotency_keys (key, request_hash, task_id) VALUES ('busy', '', gen_random_uuid())"
            )

            response = await api.post("/api/tasks", {"taskType": "noop", "idempotencyKey": "busy"})

            assert code_of(response) == (409, "idempotency_in_progress")
            assert response.headers["Retry-After"] == "1"
    finally:
        await other_process.close()


async def test_a_bulk_is_answered_in_the_order_given(api: Api) -> None:
    titles = [f"Number {number}" for number in range(25)]

    response = await api.post("/api/tasks/bulk", [{"taskType": "noop", "title": title} for title in titles])

    assert response.status_code == 201
    assert [task["title"] for task in response.json()] == titles


async def test_a_bulk_has_a_key_for_each_of_its_bodies(api: Api) -> None:
    known = await api.submit(idempotencyKey="bulk/0")

    response = await api.post(
        "/api/tasks/bulk",
        [{"taskType": "noop", "idempotencyKey": "bulk/0"}, {"taskType": "noop", "idempotencyKey": "bulk/1"}],
    )

    assert response.status_code == 201
    assert response.json()[0]["id"] == known["id"]
    assert response.json()[1]["id"] != known["id"]


async def test_a_key_in_the_header_of_a_bulk_is_refused(api: Api) -> None:
    response = await api.post("/api/tasks/bulk", [{"taskType": "noop"}], {"Idempotency-Key": "all of them"})

    assert code_of(response) == (422, "invalid_parameter")


async def test_one_wrong_task_refuses_its_whole_bulk(api: Api) -> None:
    before = await api.rows()
    bodies: list[object] = [{"taskType": "noop", "idempotencyKey": f"whole/{number}"} for number in range(10)]
    bodies[7] = {"taskType": "sleep", "payload": {"seconds": "two"}}

    response = await api.post("/api/tasks/bulk", bodies)

    assert code_of(response) == (422, "invalid_payload")
    assert fields_of(response) == ["7.payload.seconds"]
    assert await api.rows() == before


async def test_a_bulk_of_a_thousand_tasks_is_taken_and_one_more_is_not(api: Api) -> None:
    before = await api.rows()

    taken = await api.post("/api/tasks/bulk", [{"taskType": "noop"}] * 1_000)
    refused = await api.post("/api/tasks/bulk", [{"taskType": "noop"}] * 1_001)

    assert (taken.status_code, len(taken.json())) == (201, 1_000)
    assert code_of(refused) == (422, "invalid_request")
    assert await api.rows() == before + 1_000


async def test_a_bulk_holds_ten_thousand_tasks_with_their_children(api: Api) -> None:
    before = await api.rows()
    batch = {"children": [{"taskType": "noop"}] * 499}

    taken = await api.post("/api/tasks/bulk", [batch] * 20)
    refused = await api.post("/api/tasks/bulk", [*[batch] * 20, {"taskType": "noop"}])

    assert (taken.status_code, len(taken.json())) == (201, 20)
    assert code_of(refused) == (422, "invalid_request")
    assert await api.rows() == before + 10_000


@pytest.mark.parametrize(
    ("path", "start", "end"),
    [
        ("/api/tasks/bulk", "[", "]"),
        ("/api/tasks", '{"children": [', "]}"),
        ("/api/dags", '{"tasks": [', "]}"),
        ("/api/documents/d/preview", '{"children": [', "]}"),
    ],
)
async def test_too_many_tasks_are_counted_even_in_the_smallest_body_that_can_hold_them(
    api: Api, path: str, start: str, end: str
) -> None:
    """Each takes two bytes at least, so the shortest of these bodies are not counted at all: they hold fewer."""
    one_too_many = TASKS_MAX + (0 if "children" in start else 1)
    as_many_as_may_be = start + ",".join("1" * (one_too_many - 1)) + end
    too_many = start + ",".join("1" * one_too_many) + end

    looked_at = await api.post(path, raw=as_many_as_may_be.encode())
    refused = await api.post(path, raw=too_many.encode())

    assert code_of(looked_at) == code_of(refused) == (422, "invalid_request")
    assert looked_at.json()["detail"] != refused.json()["detail"] == "It holds more than 10,000 tasks."
    assert refused.json()["errors"] == [{"field": "", "message": "It holds more than 10,000 tasks."}]
    assert len(as_many_as_may_be) <= len(too_many) - 2


async def tasks_with(api: Api, tag: str) -> list[Json]:
    """The tasks of a tag, once there are any."""

    async def found() -> list[Json]:
        listed: list[Json] = (await api.get("/api/tasks", tag=tag)).json()
        return listed

    return await eventually(found)


async def test_a_submission_that_waits_is_answered_with_the_end_of_its_task(api: Api) -> None:
    tag = f"t{secrets.token_hex(4)}"
    sending = asyncio.ensure_future(api.post("/api/tasks?wait=30", {"taskType": "noop", "tags": [tag]}))

    (waiting,) = await tasks_with(api, tag)
    await api.end(await api.start(waiting["id"]), Succeeded('{"said": 1}'))

    response = await sending
    assert response.status_code == 201
    assert (response.json()["state"], response.json()["result"]) == ("COMPLETED", {"said": 1})
    assert response.headers["Location"] == f"/api/tasks/{waiting['id']}"


async def test_a_submission_that_waits_is_answered_when_its_task_fails_too(api: Api) -> None:
    tag = f"t{secrets.token_hex(4)}"
    sending = asyncio.ensure_future(api.post("/api/tasks?wait=30", {"taskType": "noop", "tags": [tag]}))

    (waiting,) = await tasks_with(api, tag)
    await api.fail(waiting["id"], "no such clause")

    response = await sending
    assert (response.status_code, response.json()["state"]) == (201, "FAILED")
    assert response.json()["error"]["message"] == "no such clause"


async def test_a_submission_that_waited_long_enough_is_answered_with_its_task_as_it_is(api: Api) -> None:
    response = await api.post("/api/tasks?wait=0.05", {"taskType": "noop"})

    assert (response.status_code, response.json()["state"]) == (201, "QUEUED")


async def test_a_repeated_submission_waits_as_the_first_did(api: Api) -> None:
    body = {"taskType": "noop", "idempotencyKey": secrets.token_hex(8)}
    task = (await api.post("/api/tasks", body)).json()
    await api.end(await api.start(task["id"]))

    response = await api.post("/api/tasks?wait=30", body)

    assert (response.status_code, response.json()["state"]) == (200, "COMPLETED")
    assert response.headers["Idempotency-Replayed"] == "true"


async def test_a_refusal_does_not_wait(api: Api) -> None:
    assert code_of(await api.post("/api/tasks?wait=30", {"taskType": "no-such-type"})) == (422, "unknown_task_type")


async def test_lists_show_who_asked_and_when(api: Api) -> None:
    name = f"ann {secrets.token_hex(4)}"
    task = await api.submit(onBehalfOf=name)
    created = task["createdAt"]

    async def listed(**query: str) -> list[str]:
        return [one["id"] for one in (await api.get("/api/tasks", onBehalfOf=name, **query)).json()]

    assert await listed() == await listed(createdBy=task["createdBy"]) == [task["id"]]
    assert await listed(createdBy="key:nobody") == []
    assert await listed(since=created) == [task["id"]]
    assert await listed(since=created, until="2990-01-01T00:00:00+02:00") == [task["id"]]
    assert await listed(until=created) == []
    assert code_of(await api.get("/api/tasks", since="yesterday")) == (422, "invalid_parameter")
    assert code_of(await api.get("/api/tasks", until="2026-01-05T00:00:00")) == (422, "invalid_parameter")


@pytest.mark.parametrize(
    ("given", "meant"), [("task_type", "taskType"), ("created_by", "createdBy"), ("stat", "state")]
)
async def test_an_unknown_parameter_is_answered_with_the_one_that_was_probably_meant(
    api: Api, given: str, meant: str
) -> None:
    response = await api.get("/api/tasks", **{given: "x"})

    assert code_of(response) == (422, "invalid_parameter")
    assert response.json()["errors"] == [
        {"field": given, "message": f"There is no such parameter; did you mean {meant}?"}
    ]
