"""`officeplane tasks` against a running installation."""

import getpass
import json
import uuid
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import LATER, OBJECTS, Officeplane, Plane, Tasks
from tests.support import eventually


async def test_a_submitted_task_is_shown_with_its_whole_id(tasks: Tasks, plane: Plane) -> None:
    ended = await tasks("submit", "noop", "--run-at", LATER, "--title", "Later")

    assert ended.code == 0
    (task_id,) = [word for word in ended.out.split() if len(word) == 36 and word.count("-") == 4]
    async with httpx.AsyncClient(timeout=30) as client:
        task = (await client.get(f"{plane.url}/api/tasks/{task_id}")).json()
    assert task["title"] == "Later"


async def test_every_option_arrives(tasks: Tasks) -> None:
    ended = await tasks(
        *("submit", "sleep", "--payload", '{"seconds": 0}', "--document", "cli-options", "--priority", "high"),
        *("--title", "All of them", "--max-retries", "2", "--timeout", "7.5", "--run-at", LATER),
        *("--tag", "one", "--tag", "two", "--json"),
    )

    task = ended.object
    assert task["taskType"] == "sleep"
    assert task["documentId"] == "cli-options"
    assert task["priority"] == "HIGH"
    assert task["title"] == "All of them"
    assert task["maxRetries"] == 2
    assert task["timeoutSeconds"] == 7.5
    assert task["tags"] == ["one", "two"]
    assert str(task["runAt"]).startswith("2100-01-01T00:00:00")


async def test_a_priority_may_be_a_number(tasks: Tasks) -> None:
    ended = await tasks("submit", "noop", "--priority", "35", "--json")

    assert ended.object["priorityValue"] == 35


async def test_waiting_ends_well_when_the_task_does(tasks: Tasks) -> None:
    ended = await tasks("submit", "noop", "--wait", "20", "--json")

    assert ended.code == 0
    assert ended.object["state"] == "COMPLETED"


async def test_waiting_ends_with_1_when_the_task_fails(tasks: Tasks) -> None:
    ended = await tasks("submit", "cli.fail", "--wait", "20")

    assert ended.code == 1
    assert "FAILED" in ended.out
    assert "there is no such sheet" in ended.out


async def test_waiting_ends_with_1_when_the_time_is_up(tasks: Tasks) -> None:
    ended = await tasks("submit", "noop", "--run-at", LATER, "--wait", "0.2")

    assert ended.code == 1
    assert "Not finished after 0.2 s" in ended.err


async def test_a_task_is_in_the_name_of_whoever_submits_it(tasks: Tasks) -> None:
    own = await tasks("submit", "noop", "--json")
    named = await tasks("submit", "noop", "--by", "ann", "--json")

    assert [ended.object["onBehalfOf"] for ended in (own, named)] == [getpass.getuser(), "ann"]
    assert (await tasks("submit", "--body", '{"taskType": "noop"}', "--by", "ann")).code == 2


async def test_the_same_key_submits_once(tasks: Tasks) -> None:
    key = str(uuid.uuid4())

    first = await tasks("submit", "noop", "--key", key, "--json")
    again = await tasks("submit", "noop", "--key", key)

    assert again.code == 0
    assert str(first.object["id"]) in again.out
    assert "used before" in again.err


@pytest.mark.parametrize("source", ["inline", "file", "stdin"])
async def test_a_payload_comes_from_anywhere(tasks: Tasks, tmp_path: Path, source: str) -> None:
    text = '{"seconds": 0.01}'
    (tmp_path / "payload.json").write_text(text)
    given = {"inline": text, "file": f"@{tmp_path / 'payload.json'}", "stdin": "-"}[source]

    ended = await tasks("submit", "sleep", "--payload", given, "--json", stdin=text)

    assert ended.object["payload"] == {"seconds": 0.01}


async def test_a_whole_batch_is_submitted_from_a_file_and_waited_for(tasks: Tasks, tmp_path: Path) -> None:
    body = {"children": [{"taskType": "noop", "key": "a"}, {"taskType": "noop", "key": "b"}]}
    (tmp_path / "batch.json").write_text(json.dumps(body))

    ended = await tasks("submit", "--body", f"@{tmp_path / 'batch.json'}", "--wait", "20", "--json")

    assert ended.code == 0
    assert ended.object["childCounts"]


async def test_a_list_is_submitted_in_its_order(tasks: Tasks) -> None:
    bodies = [{"taskType": "noop", "title": str(number)} for number in range(5)]

    ended = await tasks("submit", "--body", "-", "--wait", "20", "--json", stdin=json.dumps(bodies))

    assert ended.code == 0
    assert [(task["title"], task["state"]) for task in ended.objects] == [(str(n), "COMPLETED") for n in range(5)]


async def test_a_refusal_names_its_code_and_ends_with_1(tasks: Tasks) -> None:
    ended = await tasks("submit", "no.such.type")

    assert ended.code == 1
    assert ended.out == ""
    assert "(unknown_task_type)" in ended.err.splitlines()[0]


async def test_a_wrong_field_is_told_on_a_line_of_its_own(tasks: Tasks) -> None:
    ended = await tasks("submit", "sleep", "--payload", '{"seconds": "long"}')

    assert ended.code == 1
    assert "(invalid_payload)" in ended.err.splitlines()[0]
    assert any("seconds" in line for line in ended.err.splitlines()[1:])


async def test_the_list_is_the_apis_over_as_many_pages_as_it_takes(tasks: Tasks, plane: Plane) -> None:
    bodies = [{"taskType": "noop", "tags": ["many"]} for _ in range(600)]
    submitted = (await tasks("submit", "--body", "-", "--json", stdin=json.dumps(bodies))).objects

    listed = (await tasks("list", "--tag", "many", "--limit", "550", "--json")).objects

    assert [task["id"] for task in listed] == [task["id"] for task in reversed(submitted)][:550]


async def test_listed_json_is_the_apis(tasks: Tasks, plane: Plane) -> None:
    await tasks.submit("noop", runAt=LATER, tags=["quiet"])

    ended = await tasks("list", "--tag", "quiet", "--json")

    async with httpx.AsyncClient(timeout=30) as client:
        answer = await client.get(f"{plane.url}/api/tasks", params={"tag": "quiet"})
    assert ended.objects == OBJECTS.validate_json(answer.content)


@pytest.mark.parametrize(
    "filters",
    [
        ["--document", "cli-filter"],
        ["--tag", "cli-filter"],
        ["--tag", "cli-filter", "--type", "noop"],
        ["--tag", "cli-filter", "--priority", "low"],
        ["--tag", "cli-filter", "--state", "pending"],
        ["--tag", "cli-filter", "--state", "COMPLETED", "--state", "PENDING"],
    ],
)
async def test_filters_find_the_task(tasks: Tasks, filters: list[str]) -> None:
    task_id = await tasks.submit("noop", documentId="cli-filter", tags=["cli-filter"], priority="LOW", runAt=LATER)

    ended = await tasks("list", *filters)

    assert task_id in ended.out


@pytest.mark.parametrize(
    "filters", [["--document", "none"], ["--tag", "none"], ["--tag", "cli-other", "--state", "COMPLETED"]]
)
async def test_filters_leave_out_the_rest(tasks: Tasks, filters: list[str]) -> None:
    await tasks.submit("noop", tags=["cli-other"], runAt=LATER)

    ended = await tasks("list", *filters)

    assert ended.code == 0
    assert ended.out == ""
    assert ended.err == "No tasks match.\n"


async def test_a_filter_value_that_is_not_known_is_refused(tasks: Tasks) -> None:
    ended = await tasks("list", "--state", "asleep")

    assert ended.code == 1
    assert "(invalid_parameter)" in ended.err


async def test_a_task_is_shown_with_its_failed_attempts(tasks: Tasks) -> None:
    task_id = await tasks.submit("cli.fail")
    await tasks("watch", task_id)

    ended = await tasks("show", task_id)

    assert ended.code == 0
    assert task_id in ended.out
    assert ended.out.count("there is no such sheet") == 2  # as its error, and in the table of attempts


async def test_a_nested_batch_is_shown_as_a_tree(tasks: Tasks) -> None:
    inner = {"key": "inner", "children": [{"taskType": "noop", "key": "deep"}]}
    body = {"children": [{"taskType": "noop", "key": "first"}, inner]}
    batch = (await tasks("submit", "--body", json.dumps(body), "--wait", "20", "--json")).object

    shown = await tasks("show", str(batch["id"]))
    listed = await tasks("list", "--parent", str(batch["id"]), "--json")

    tree = [line for line in shown.out.splitlines() if "──" in line]
    assert [line.split()[-1] for line in tree] == ["first", "inner", "deep"]
    assert {str(task["id"]) for task in listed.objects} == {
        word for line in tree[:2] for word in line.split() if len(word) == 36
    }


async def test_shown_json_is_the_apis(tasks: Tasks, plane: Plane) -> None:
    task_id = await tasks.submit("noop", runAt=LATER)

    ended = await tasks("show", task_id, "--json")

    async with httpx.AsyncClient(timeout=30) as client:
        answer = await client.get(f"{plane.url}/api/tasks/{task_id}")
    assert ended.out == f"{answer.text}\n"


@pytest.mark.parametrize("action", ["show", "explain", "cancel", "retry", "watch"])
@pytest.mark.parametrize("task_id", ["nonsense", str(uuid.UUID(int=0))])
async def test_a_task_that_is_not_there_ends_with_1(tasks: Tasks, action: str, task_id: str) -> None:
    ended = await tasks(action, task_id)

    assert ended.code == 1
    assert "(task_not_found)" in ended.err


async def test_a_waiting_task_is_cancelled_once(tasks: Tasks) -> None:
    task_id = await tasks.submit("noop", runAt=LATER)

    first = await tasks("cancel", task_id, "--reason", "not needed")
    second = await tasks("cancel", task_id)

    assert (first.code, first.out) == (0, f"{task_id} is CANCELLED\n")
    assert second.code == 1
    assert "(illegal_state)" in second.err
    assert (await tasks.read(task_id))["cancelReason"] == "not needed"


async def test_all_that_fit_are_cancelled_and_queued_again(tasks: Tasks) -> None:
    mine = [await tasks.submit("noop", runAt=LATER, tags=["cli-many"]) for _ in range(3)]
    other = await tasks.submit("noop", runAt=LATER)

    cancelled = await tasks("cancel", "--tag", "cli-many", "--state", "pending", "--reason", "all of it")
    states = [str((await tasks.read(task_id))["state"]) for task_id in (*mine, other)]
    queued = await tasks("retry", "--tag", "cli-many", "--json")

    assert (cancelled.code, cancelled.out) == (0, "3 cancelled\n")
    assert states == ["CANCELLED", "CANCELLED", "CANCELLED", "PENDING"]
    assert queued.object == {"changed": 3}


@pytest.mark.parametrize("arguments", [("cancel",), ("retry",), ("cancel", str(uuid.uuid4()), "--tag", "it")])
async def test_either_one_task_is_named_or_filters_are(tasks: Tasks, arguments: tuple[str, ...]) -> None:
    ended = await tasks(*arguments)

    assert ended.code == 2
    assert "TASK_ID" in ended.err


async def test_a_running_task_is_asked_to_stop(tasks: Tasks) -> None:
    task_id = await tasks.submit("cli.linger")
    await eventually(lambda: _is_running(tasks, task_id))

    cancelled = await tasks("cancel", task_id)
    watched = await tasks("watch", task_id)

    # It lingers for a moment only, and may have ended before the answer was written.
    told = {f"{task_id} is RUNNING; it was asked to stop\n", f"{task_id} is CANCELLED\n"}
    assert (cancelled.code, cancelled.out in told) == (0, True)
    assert watched.code == 1
    assert "CANCELLED" in watched.out.splitlines()[-1]


async def test_a_cancelled_task_is_queued_again(tasks: Tasks) -> None:
    task_id = await tasks.submit("noop", runAt=LATER)
    await tasks("cancel", task_id)

    ended = await tasks("retry", task_id)

    assert ended.code == 0
    assert ended.out.startswith(f"{task_id} is ")


async def test_a_completed_task_is_not_retried(tasks: Tasks) -> None:
    done = await tasks("submit", "noop", "--wait", "20", "--json")

    ended = await tasks("retry", str(done.object["id"]))

    assert ended.code == 1
    assert "COMPLETED" in ended.err
    assert "(illegal_state)" in ended.err


async def test_a_waiting_task_is_changed(tasks: Tasks) -> None:
    task_id = await tasks.submit("noop", runAt=LATER, deadline=LATER)

    changed = await tasks("update", task_id, "--priority", "high", "--title", "new", "--tag", "a", "--deadline", "none")
    empty = await tasks("update", task_id)
    wrong = await tasks("update", task_id, "--run-at", "soon")

    assert (changed.code, changed.out) == (0, f"{task_id} is PENDING\n")
    task = await tasks.read(task_id)
    assert (task["priority"], task["title"], task["tags"], task["deadline"]) == ("HIGH", "new", ["a"], None)
    assert (empty.code, wrong.code) == (2, 1)
    assert "runAt" in wrong.err


async def test_the_same_is_not_submitted_twice_at_a_time(tasks: Tasks) -> None:
    given = ("submit", "noop", "--document", "cli-dedupe", "--dedupe", "--run-at", LATER, "--deadline", LATER, "--json")

    first, again = await tasks(*given), await tasks(*given)

    assert first.object["id"] == again.object["id"]
    assert str(first.object["deadline"]).startswith("2100-01-01T00:00:00")


async def test_why_a_task_waits_is_explained(tasks: Tasks) -> None:
    task_id = await tasks.submit("noop", runAt=LATER)

    for_people = await tasks("explain", task_id)
    for_programs = await tasks("explain", task_id, "--json")

    assert for_people.out.startswith("not runnable\n  scheduled: ")
    assert for_programs.object["runnable"] is False


async def _is_running(tasks: Tasks, task_id: str) -> bool:
    return (await tasks.read(task_id))["state"] == "RUNNING"


async def test_with_json_a_refusal_is_json_as_the_api_said_it(tasks: Tasks) -> None:
    ended = await tasks("submit", "noop", "--payload", '{"x": 1}', "--json")

    assert (ended.code, ended.out) == (1, "")
    problem = json.loads(ended.err)
    assert problem["code"] == "invalid_payload"
    assert problem["errors"] == [{"field": "payload.x", "message": "There is no such field."}]


async def test_with_json_it_is_json_too_that_nobody_answers(officeplane: Officeplane) -> None:
    ended = await officeplane("tasks", "list", "--json", "--url", "http://127.0.0.1:9")

    assert (ended.code, ended.out) == (3, "")
    problem = json.loads(ended.err)
    assert problem["code"] == "unreachable"
    assert "No answer from http://127.0.0.1:9" in problem["detail"]
