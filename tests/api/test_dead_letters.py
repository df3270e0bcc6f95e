"""`/api/dead-letters` as its users see it."""

import re

import pytest

from tests.api.client import UNKNOWN_ID, Api, Json, json_of


async def a_letter(api: Api, message: str = "It broke.", **fields: object) -> str:
    """Let a task give up and return its id."""
    task = await api.submit(**fields)
    await api.fail(task["id"], message)
    return str(task["id"])


async def letter_of(api: Api, task_id: str) -> Json:
    response = await api.get(f"/api/dead-letters/{task_id}")
    assert response.status_code == 200, response.text
    return json_of(response)


async def resolve(api: Api, task_id: str, **body: object) -> Json:
    response = await api.post(f"/api/dead-letters/{task_id}/resolve", body)
    assert response.status_code == 200, response.text
    return json_of(response)


async def listed(api: Api, **query: str) -> list[str]:
    response = await api.get("/api/dead-letters", **query)
    assert response.status_code == 200, response.text
    return [letter["taskId"] for letter in response.json()]


async def test_a_letter_says_what_went_wrong_and_what_it_cost(api: Api) -> None:
    task_id = await a_letter(api, "It broke.", documentId="letters-1")

    letter = await letter_of(api, task_id)

    failures = (await api.task(task_id))["failures"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", letter.pop("deadLetteredAt"))
    assert re.fullmatch("[0-9a-f]{16}", letter.pop("fingerprint"))
    assert letter == {
        "taskId": task_id,
        "generation": 1,
        "taskType": "noop",
        "documentId": "letters-1",
        "dagId": None,
        "error": {"kind": "permanent", "message": "It broke."},
        "failures": failures,
        "totalCostUsd": 0.0,
        "poisonPill": False,
        "recurring": False,
        "escalatedAt": None,
        "resolution": None,
        "resolvedBy": None,
        "resolvedAt": None,
        "note": None,
        "decisions": [],
    }
    assert len(failures) == 1


@pytest.mark.parametrize("path", ["", "/resolve"])
@pytest.mark.parametrize("task_id", [UNKNOWN_ID, "no-id"])
async def test_a_task_that_has_not_given_up_has_no_letter(api: Api, path: str, task_id: str) -> None:
    whole = f"/api/dead-letters/{task_id}{path}"

    response = await (api.post(whole, {"note": "Hm."}) if path else api.get(whole))

    assert (response.status_code, response.json()["code"]) == (404, "dead_letter_not_found")


async def test_the_list_is_filtered_and_goes_from_new_to_old(api: Api) -> None:
    message = "Only this once, in this test of lists."
    older, newer = [await a_letter(api, message, documentId="letters-2") for _ in range(2)]
    other = await a_letter(api, "Something else.", documentId="letters-3")
    fingerprint = (await letter_of(api, older))["fingerprint"]

    assert await listed(api, fingerprint=fingerprint) == [newer, older]
    assert await listed(api, documentId="letters-2") == [newer, older]
    assert await listed(api, documentId="letters-3", taskType="noop") == [other]
    assert await listed(api, documentId="letters-3", taskType="sleep") == []

    await resolve(api, older, resolution="cancel")
    assert await listed(api, fingerprint=fingerprint, resolved="false") == [newer]
    assert await listed(api, fingerprint=fingerprint, resolved="true") == [older]
    assert await listed(api, fingerprint=fingerprint) == [newer, older]


async def test_the_list_goes_on_over_pages(api: Api) -> None:
    made = [await a_letter(api, documentId="letters-4") for _ in range(3)]
    for resolved in ({}, {"resolved": "false"}):
        first = await api.get("/api/dead-letters", documentId="letters-4", limit=2, **resolved)
        second = await api.client.get(first.links["next"]["url"])

        assert [letter["taskId"] for page in (first, second) for letter in page.json()] == made[::-1]
        assert "next" not in second.links


@pytest.mark.parametrize("query", [{"resolved": "maybe"}, {"limit": "0"}, {"state": "FAILED"}, {"documentId": "/"}])
async def test_a_filter_that_is_not_known_is_refused(api: Api, query: dict[str, str]) -> None:
    response = await api.get("/api/dead-letters", **query)

    assert (response.status_code, response.json()["code"]) == (422, "invalid_parameter")


async def test_a_retry_by_its_letter_queues_the_task_with_a_fresh_budget(api: Api) -> None:
    task_id = await a_letter(api)

    letter = await resolve(api, task_id, resolution="retry", note="The server is back.", resolvedBy="alice")

    assert (letter["resolution"], letter["resolvedBy"], letter["note"]) == ("retry", "alice", "The server is back.")
    (decision,) = letter["decisions"]
    assert (decision["decision"], decision["by"], decision["note"]) == ("retry", "alice", "The server is back.")
    assert letter["resolvedAt"] == decision["at"] or letter["resolvedAt"] < decision["at"]
    task = await api.task(task_id)
    assert (task["state"], task["generation"], task["attemptsCharged"]) == ("QUEUED", 2, 0)


async def test_a_retry_of_the_task_resolves_its_letter_and_tells_who_asked(api: Api) -> None:
    task_id = await a_letter(api)

    await api.post(f"/api/tasks/{task_id}/retry")

    letter = await letter_of(api, task_id)
    assert (letter["resolution"], letter["resolvedBy"]) == ("retry", "local")


async def test_a_task_that_gives_up_again_has_a_new_letter_with_the_old_decisions(api: Api) -> None:
    task_id = await a_letter(api)
    await resolve(api, task_id, resolution="retry")
    await api.fail(task_id)

    letter = await letter_of(api, task_id)

    assert (letter["generation"], letter["resolution"]) == (2, None)
    assert len(letter["failures"]) == 2
    assert [(one["decision"], one["generation"]) for one in letter["decisions"]] == [("retry", 1)]
    assert await listed(api, fingerprint=letter["fingerprint"], resolved="true")


async def test_a_retry_with_another_payload_runs_that_one(api: Api) -> None:
    task_id = await a_letter(api, taskType="sleep", payload={"seconds": 60})

    letter = await resolve(api, task_id, resolution="modify_and_retry", payload={"seconds": 0})

    assert letter["resolution"] == "modify_and_retry"
    task = await api.task(task_id)
    assert (task["state"], task["payload"]) == ("QUEUED", {"seconds": 0})


@pytest.mark.parametrize(
    ("payload", "code"),
    [({"seconds": "many"}, "invalid_payload"), ({"hours": 1}, "invalid_payload"),
     ({"seconds": {"$ref": "first.slept"}}, "invalid_reference")],
)  # fmt: skip
async def test_another_payload_has_to_fit_the_type(api: Api, payload: Json, code: str) -> None:
    task_id = await a_letter(api, taskType="sleep", payload={"seconds": 60})

    response = await api.post(
        f"/api/dead-letters/{task_id}/resolve", {"resolution": "modify_and_retry", "payload": payload}
    )

    assert (response.status_code, response.json()["code"]) == (422, code)
    assert (await letter_of(api, task_id))["decisions"] == []
    assert (await api.task(task_id))["state"] == "FAILED"


@pytest.mark.parametrize(
    "body",
    [{}, {"resolution": "modify_and_retry"}, {"resolution": "retry", "payload": {}}, {"payload": {}},
     {"resolution": "ignore"}, {"resolution": "note"}, {"note": ""}, {"resolution": "retry", "reason": "why"}],
)  # fmt: skip
async def test_a_decision_that_makes_no_sense_is_refused(api: Api, body: Json) -> None:
    task_id = await a_letter(api)

    response = await api.post(f"/api/dead-letters/{task_id}/resolve", body)

    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert (await letter_of(api, task_id))["decisions"] == []


@pytest.mark.parametrize("resolution", ["cancel", "delete"])
async def test_what_is_given_up_for_good_stays_failed(api: Api, resolution: str) -> None:
    task_id = await a_letter(api)

    letter = await resolve(api, task_id, resolution=resolution)

    assert letter["resolution"] == resolution
    assert (await api.task(task_id))["state"] == "FAILED"


async def test_a_note_and_an_escalation_leave_the_letter_unresolved(api: Api) -> None:
    task_id = await a_letter(api)

    await resolve(api, task_id, note="Asked the authors.")
    letter = await resolve(api, task_id, resolution="escalate")

    assert (letter["resolution"], letter["note"]) == (None, "Asked the authors.")
    assert letter["escalatedAt"]
    assert [one["decision"] for one in letter["decisions"]] == ["note", "escalate"]
    assert task_id in await listed(api, resolved="false", fingerprint=letter["fingerprint"])


@pytest.mark.parametrize("again", ["retry", "cancel", "escalate", None])
async def test_a_letter_is_resolved_once(api: Api, again: str | None) -> None:
    task_id = await a_letter(api)
    before = await resolve(api, task_id, resolution="cancel")

    response = await api.post(f"/api/dead-letters/{task_id}/resolve", {"resolution": again, "note": "Again."})

    assert (response.status_code, response.json()["code"]) == (409, "illegal_state")
    assert "cancel" in response.json()["detail"]
    assert await letter_of(api, task_id) == before


async def test_all_letters_of_a_fingerprint_are_resolved_together(api: Api) -> None:
    message = "A cause of its own, in this test of many."
    alike = [await a_letter(api, message) for _ in range(3)]
    other = await a_letter(api, "Another cause.")
    await resolve(api, alike[0], resolution="cancel")
    fingerprint = (await letter_of(api, alike[0]))["fingerprint"]

    response = await api.post(
        "/api/dead-letters/resolve", {"fingerprint": fingerprint, "resolution": "retry", "resolvedBy": "bob"}
    )

    assert response.status_code == 200, response.text
    assert response.json() == {
        "fingerprint": fingerprint,
        "decision": "retry",
        "count": 2,
        "skipped": [],
        "cursor": None,
    }
    assert [(await api.task(task_id))["state"] for task_id in (*alike, other)] == [
        "FAILED",
        "QUEUED",
        "QUEUED",
        "FAILED",
    ]
    assert [(await letter_of(api, task_id))["resolvedBy"] for task_id in alike[1:]] == ["bob", "bob"]
    assert (await letter_of(api, other))["resolution"] is None


async def test_a_fingerprint_nobody_knows_is_not_found(api: Api) -> None:
    response = await api.post("/api/dead-letters/resolve", {"fingerprint": "0" * 16, "resolution": "retry"})

    assert (response.status_code, response.json()["code"]) == (404, "dead_letter_not_found")


async def test_another_payload_that_fits_none_of_them_refuses_the_whole(api: Api) -> None:
    message = "A cause of its own, in this test of payloads."
    alike = [await a_letter(api, message, taskType="sleep", payload={"seconds": 60}) for _ in range(2)]
    fingerprint = (await letter_of(api, alike[0]))["fingerprint"]
    body = {"fingerprint": fingerprint, "resolution": "modify_and_retry", "payload": {"hours": 1}}

    response = await api.post("/api/dead-letters/resolve", body)

    assert (response.status_code, response.json()["code"]) == (422, "invalid_payload")
    assert [(await api.task(task_id))["state"] for task_id in alike] == ["FAILED", "FAILED"]


async def test_a_cursor_that_is_none_of_ours_is_refused(api: Api) -> None:
    body = {"fingerprint": "0" * 16, "note": "Hm.", "cursor": "x"}

    response = await api.post("/api/dead-letters/resolve", body)

    assert (response.status_code, response.json()["code"]) == (400, "invalid_cursor")
