import asyncio
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from officeplane.api.cursors import cursor_after
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed, Succeeded
from tests.api.client import UNKNOWN_ID, Api, code_of, fields_of

MALFORMED_IDS = ["nope", "1", UNKNOWN_ID[:-1], UNKNOWN_ID + "0", "%00", "..%2f..", "%ff%fe", "ä"]


@pytest.mark.parametrize("task_id", [UNKNOWN_ID, *MALFORMED_IDS])
@pytest.mark.parametrize("action", ["GET ", "GET /explain", "POST /cancel", "POST /retry"])
async def test_an_id_that_no_task_has_is_not_found_whatever_its_form(api: Api, task_id: str, action: str) -> None:
    method, path = action.split(" ")

    response = await api.client.request(method, f"/api/tasks/{task_id}{path}")

    assert code_of(response) in {(404, "task_not_found"), (404, "not_found")}
    if "%2f" not in task_id:
        assert code_of(response)[1] == "task_not_found"


async def test_an_id_is_understood_in_capitals_too(api: Api) -> None:
    task = await api.submit()

    assert (await api.task(task["id"].upper()))["id"] == task["id"]


async def test_a_failed_attempt_is_shown_with_its_kind_and_message(api: Api) -> None:
    task = await api.submit(documentId="doc-failed", maxRetries=0)
    await api.end(await api.start(task["id"]), Failed(Failure(FailureKind.ERROR, "ValueError: no")))

    shown = await api.task(task["id"])

    assert (shown["state"], shown["attempt"], shown["attemptsCharged"]) == ("FAILED", 1, 1)
    assert shown["error"] == {"kind": "error", "message": "ValueError: no"}
    (failure,) = shown["failures"]
    assert (failure["attempt"], failure["kind"], failure["message"]) == (1, "error", "ValueError: no")
    of_attempt = {"attempt", "workerId", "kind", "message", "startedAt", "durationSeconds", "costUsd"}
    of_agents = {"agentId", "model", "tokens", "lateResult"}
    assert set(failure) == of_attempt | of_agents
    assert all(failure[name] is None for name in of_agents)
    assert failure["durationSeconds"] >= 0


async def test_waiting_ends_as_soon_as_the_task_does(api: Api) -> None:
    task = await api.submit()
    claimed = await api.start(task["id"])
    waiting = asyncio.create_task(api.get(f"/api/tasks/{task['id']}", wait=50))
    await asyncio.sleep(0)

    await api.end(claimed, Succeeded('{"answer": 42}'))

    async with asyncio.timeout(30):
        assert (await waiting).json()["result"] == {"answer": 42}


async def test_waiting_gives_the_task_as_it_is_when_the_time_is_over(api: Api) -> None:
    task = await api.submit()

    response = await api.get(f"/api/tasks/{task['id']}", wait=0.05)

    assert (response.status_code, response.json()["state"]) == (200, "QUEUED")


@pytest.mark.parametrize("wait", ["61", "-1", "soon", "", "nan", "inf", "1_0", " 1"])
async def test_a_wait_out_of_range_is_refused(api: Api, wait: str) -> None:
    task = await api.submit()

    response = await api.get(f"/api/tasks/{task['id']}", wait=wait)

    assert code_of(response) == (422, "invalid_parameter")
    assert fields_of(response) == ["wait"]


async def test_waiting_for_a_task_that_is_not_there_does_not_wait(api: Api) -> None:
    async with asyncio.timeout(30):
        assert code_of(await api.get(f"/api/tasks/{UNKNOWN_ID}", wait=60)) == (404, "task_not_found")


async def follow_links(api: Api, path: str, **query: str | int) -> list[list[str]]:
    """The ids of each page, from the first to the last."""
    response = await api.get(path, **query)
    pages = [[task["id"] for task in response.json()]]
    while "next" in response.links:
        following = response.links["next"]["url"]
        kept = parse_qs(urlsplit(following).query)
        assert {name: kept[name] for name in query} == {name: [str(value)] for name, value in query.items()}
        response = await api.client.get(following)
        pages.append([task["id"] for task in response.json()])
    return pages


async def test_pages_lead_through_everything_newest_first(api: Api) -> None:
    ids = [(await api.submit(documentId="doc:pages"))["id"] for _ in range(7)]

    pages = await follow_links(api, "/api/tasks", documentId="doc:pages", limit=3)

    assert [len(page) for page in pages] == [3, 3, 1]
    assert [task_id for page in pages for task_id in page] == ids[::-1]


async def test_a_page_ends_early_rather_than_be_too_large_to_be_shown(api: Api) -> None:
    await api.client.post("/api/documents", json={"id": "doc:heavy", "format": "docx"})
    large = {"documentId": "doc:heavy", "taskType": "add_section", "payload": {"title": "A", "content": "x" * 900_000}}
    ids = [(await api.submit(**large))["id"] for _ in range(21)]

    pages = await follow_links(api, "/api/tasks", documentId="doc:heavy", limit=21)

    assert [len(page) for page in pages] == [10, 10, 1]
    assert [task_id for page in pages for task_id in page] == ids[::-1]


async def test_a_page_of_large_batches_ends_early_too(api: Api) -> None:
    children = [{"taskType": "noop", "key": f"{'long' * 20}{index}"} for index in range(500)]
    bulk = [{"children": children, "documentId": "doc:families"} for _ in range(19)]
    for _ in range(10):
        assert (await api.client.post("/api/tasks/bulk", json=bulk)).status_code == 201

    page = await api.get("/api/tasks", documentId="doc:families", taskType="batch_edit", limit=500)

    assert 0 < len(page.json()) < 190
    assert "next" in page.links


async def test_what_is_added_meanwhile_does_not_move_the_pages(api: Api) -> None:
    ids = [(await api.submit(documentId="doc:moving"))["id"] for _ in range(4)]
    first = await api.get("/api/tasks", documentId="doc:moving", limit=2)
    await api.submit(documentId="doc:moving")

    second = await api.client.get(first.links["next"]["url"])

    assert [task["id"] for task in second.json()] == [ids[1], ids[0]]


async def test_a_list_that_is_not_full_has_no_next_page(api: Api) -> None:
    await api.submit(documentId="doc:short")

    assert "Link" not in (await api.get("/api/tasks", documentId="doc:short", limit=2)).headers


async def test_every_filter_lets_through_only_what_fits(api: Api) -> None:
    document = "doc:filters"
    urgent = await api.submit(documentId=document, priority=5, tags=["red", "big"])
    high = await api.submit(documentId=document, priority=25, tags=["red"])
    normal = await api.submit(documentId=document, taskType="sleep", payload={"seconds": 0})
    low = await api.submit(documentId=document, priority=75)
    background = await api.submit(documentId=document, priority="BACKGROUND", runAt="2100-01-01T00:00:00Z")
    batch = await api.submit(documentId=document, children=[{"taskType": "noop"}])
    child = batch["children"][0]

    async def ids(**query: str | list[str]) -> set[str]:
        response = await api.get("/api/tasks", documentId=document, **query)
        return {task["id"] for task in response.json()}

    assert await ids(priority="CRITICAL") == {urgent["id"]}
    assert await ids(priority="HIGH") == {high["id"]}
    assert await ids(priority="NORMAL") == {normal["id"], batch["id"], child["id"]}
    assert await ids(priority="LOW") == {low["id"], background["id"]}
    assert await ids(priority="BACKGROUND") == {background["id"]}
    assert await ids(taskType="sleep") == {normal["id"]}
    assert await ids(tag="red") == {urgent["id"], high["id"]}
    assert await ids(tag="red", priority="HIGH") == {high["id"]}
    assert await ids(parentId=batch["id"]) == {child["id"]}
    assert await ids(state="PENDING") == {background["id"]}
    assert len(await ids(state=["PENDING", "QUEUED"])) == 7
    assert await ids(state="COMPLETED") == set()


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=DONE", "state"),
        ("state=queued", "state"),
        ("state=QUEUED&state=NOPE", "state"),
        ("state=", "state"),
        ("priority=URGENT", "priority"),
        ("priority=5", "priority"),
        ("priority=HIGH&priority=LOW", "priority"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=ten", "limit"),
        ("limit=1.5", "limit"),
        ("limit=1_0", "limit"),
        ("limit=", "limit"),
        ("limit=99999999999999999999999999", "limit"),
        ("documentId=-x", "documentId"),
        ("documentId=", "documentId"),
        ("parentId=nope", "parentId"),
        ("tag=", "tag"),
        ("tag=%00", "tag"),
        ("taskType=", "taskType"),
        ("taskType=a%00b", "taskType"),
        ("colour=red", "colour"),
        ("State=QUEUED", "State"),
        ("document_id=doc", "document_id"),
    ],
)
async def test_a_filter_that_says_nothing_known_is_refused(api: Api, query: str, field: str) -> None:
    response = await api.client.get(f"/api/tasks?{query}")

    assert code_of(response) == (422, "invalid_parameter")
    assert fields_of(response) == [field]


async def test_what_is_wrong_with_a_filter_is_said_in_words_about_requests(api: Api) -> None:
    ten = await api.client.get("/api/tasks?limit=ten")
    nope = await api.client.get("/api/tasks?parentId=nope")

    assert ten.json()["detail"] == "limit: not a number"
    assert nope.json()["detail"] == "parentId: not the id of a task"


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "0", "AAAAAAAAAAAAAAAA", "a" * 1000, "%00", "ä", cursor_after(5)[:-1] + "A", cursor_after(5) + "="],
)
async def test_a_cursor_that_was_not_given_out_is_refused(api: Api, cursor: str) -> None:
    assert code_of(await api.get("/api/tasks", cursor=cursor)) == (400, "invalid_cursor")


@pytest.mark.parametrize("seq", [1, 255, 2**63 - 1])
async def test_every_cursor_that_can_be_given_out_is_taken_back(api: Api, seq: int) -> None:
    response: httpx.Response = await api.get("/api/tasks", cursor=cursor_after(seq), limit=1)

    assert response.status_code == 200


async def test_an_explanation_says_why_a_task_waits(api: Api) -> None:
    later = await api.submit(runAt="2100-01-01T00:00:00Z")

    explanation = (await api.get(f"/api/tasks/{later['id']}/explain")).json()

    assert explanation["runnable"] is False
    (reason, *_) = explanation["reasons"]
    assert (reason["code"], reason["runAt"]) == ("scheduled", "2100-01-01T00:00:00.000Z")
    assert reason["detail"]


async def test_an_explanation_names_who_holds_the_lane(api: Api) -> None:
    holder = await api.submit(documentId="doc:held")
    waiting = await api.submit(documentId="doc:held")
    claimed = await api.start(holder["id"])

    explanation = (await api.get(f"/api/tasks/{waiting['id']}/explain")).json()

    assert holder["id"] in str(explanation["reasons"])
    await api.end(claimed)
