"""One task, from its submission to its end, whatever its handler does."""

from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from tests.journeys.conftest import Working
from tests.support import stopwatch
from tests.workers.marks import Marks


def payload(marks: Marks, **more: Any) -> dict[str, Any]:
    """Return the payload of a task that leaves marks."""
    return {"folder": str(marks.folder), **more}


@pytest.mark.parametrize("task_type", ["test.mark", "test.mark_def"])
@pytest.mark.parametrize("document", [None, "contract-42"])
async def test_a_task_is_run_and_its_result_can_be_read(
    plane: Working, marks: Marks, task_type: str, document: str | None
) -> None:
    task = await plane.api.submit(task_type, documentId=document, payload=payload(marks))

    ended = await plane.api.final(task)

    assert (task["state"], ended["state"]) == ("QUEUED", "COMPLETED")
    assert (ended["result"]["name"], ended["result"]["attempt"]) == ("it", 1)
    assert marks.of("it") == ["begin", "end"]


async def test_a_task_that_fails_is_tried_again_after_growing_pauses(plane: Working) -> None:
    with stopwatch() as seconds:
        task = await plane.api.submit("test.fail", payload={"times": 3}, documentId="retried")
        ended = await plane.api.final(task)
        took = seconds()

    assert (ended["state"], ended["result"]) == ("COMPLETED", {"attempt": 4})
    (await_first, await_second) = [
        _seconds(later["startedAt"]) - _seconds(earlier["startedAt"]) for earlier, later in pairwise(ended["failures"])
    ]
    # 0.2, 0.4 and 0.8 s, a little jitter upward, and the way back into a slot.
    assert await_first >= 0.2
    assert await_second >= 0.4
    # The promoter may see each of them a second late, and a busy machine later; the default's are 155 s.
    assert took < 15
    assert [failure["kind"] for failure in ended["failures"]] == ["error"] * 3


async def test_a_task_whose_retries_are_used_up_has_failed(plane: Working) -> None:
    task = await plane.api.submit("test.fail", payload={"times": 99}, maxRetries=1)

    ended = await plane.api.final(task)

    assert (ended["state"], ended["attempt"]) == ("FAILED", 2)
    assert ended["error"] == {"kind": "error", "message": "RuntimeError: attempt 2 goes wrong"}


@pytest.mark.parametrize("task_type", ["test.mark", "test.mark_def", "test.stubborn"])
async def test_a_task_past_its_timeout_ends_as_timeout(plane: Working, marks: Marks, task_type: str) -> None:
    with stopwatch() as seconds:
        task = await plane.api.submit(
            task_type, payload=payload(marks, gated=True), documentId="slow", timeoutSeconds=1.5, maxRetries=0
        )
        ended = await plane.api.final(task)
        took = seconds()

    assert (ended["state"], ended["error"]["kind"]) == ("TIMEOUT", "timeout")
    assert ended["failures"][0]["durationSeconds"] > 1.4
    assert took < 4


async def test_a_task_that_kills_its_process_twice_is_a_poison_pill(plane: Working) -> None:
    task = await plane.api.submit("test.die", payload={"what": "segfault"}, maxRetries=20)

    ended = await plane.api.final(task)

    assert (ended["state"], ended["attempt"], ended["error"]["kind"]) == ("FAILED", 2, "crash")
    assert "poison pill" in ended["error"]["message"]
    assert all(worker.is_running for worker in plane.workers)


async def test_a_task_that_failed_can_be_tried_again_with_a_fresh_budget(plane: Working) -> None:
    task = await plane.api.submit("test.fail", payload={"times": 2}, maxRetries=1)
    failed = await plane.api.final(task)

    answer = await plane.api.retry(task)

    # A worker may have ended it again by the time the answer is read.
    assert (answer.status_code, answer.json()["generation"]) == (200, 2)
    ended = await plane.api.final(task)
    assert (failed["state"], ended["state"], ended["attempt"], ended["generation"]) == ("FAILED", "COMPLETED", 3, 2)
    assert (await plane.api.retry(task)).status_code == 409


async def test_a_task_for_later_waits_for_its_time(plane: Working) -> None:
    task = await plane.api.submit("noop", runAt="2100-01-01T00:00:00Z")

    reasons = (await plane.api.explain(task))["reasons"]

    assert [reason["code"] for reason in reasons] == ["scheduled"]
    assert (await plane.api.task(task))["state"] == "PENDING"


def _seconds(time_text: str) -> float:
    return datetime.fromisoformat(time_text).timestamp()
