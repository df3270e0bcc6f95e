"""Priorities, and who can do what: one worker with one slot, so that there is an order to see."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from tests.journeys.conftest import Install, Installation
from tests.support import eventually
from tests.workers.marks import Marks


@pytest.fixture(scope="module")
async def lone(install: Install) -> AsyncIterator[Installation]:
    """An installation with one slot, whose worker knows the built-in types and the tests'."""
    async with install() as made:
        await made.processes.worker(concurrency=1)
        yield made


def a_task(marks: Marks, name: str, **fields: Any) -> dict[str, Any]:
    """Return the fields of a task that leaves marks under its name."""
    return {"payload": {"folder": str(marks.folder), "name": name, "gated": name == "first"}, **fields}


@pytest.mark.parametrize("document", [None, "urgent"])
async def test_the_more_urgent_is_done_first_and_equals_in_the_order_accepted(
    lone: Installation, marks: Marks, document: str | None
) -> None:
    first = await lone.api.submit("test.mark", **a_task(marks, "first", documentId=document))
    await marks.seen("begin", "first", within=120)
    given: list[tuple[str, Any]] = [
        ("background", "BACKGROUND"),
        ("low", "LOW"),
        ("normal-1", "NORMAL"),
        ("normal-2", 50),
        ("high", {"scale": 10, "value": 8}),
        ("critical", "CRITICAL"),
    ]

    waiting = [
        await lone.api.submit("test.mark", **a_task(marks, name, documentId=document, priority=priority))
        for name, priority in given
    ]
    marks.open_gate("first")

    await lone.api.all_final([first, *waiting])
    order = [mark.name for mark in marks.all() if mark.what == "begin"]
    # Exact within a document; without one, tasks of one list are equals: LOW and BACKGROUND share theirs.
    least = ["background", "low"] if document is None else ["low", "background"]
    assert order == ["first", "critical", "high", "normal-1", "normal-2", *least]


async def test_a_task_of_a_type_that_no_worker_knows_stays_queued_and_says_so(
    deserted: Installation, marks: Marks
) -> None:
    await deserted.processes.worker(HANDLERS="")
    task = await deserted.api.submit("test.mark", **a_task(marks, "it", documentId="unknown"))
    known = await deserted.api.submit("noop", documentId="known")
    await deserted.api.final(known)

    async def says_no_worker() -> bool:
        reasons = (await deserted.api.explain(task))["reasons"]
        return [(reason["code"], reason["workers"]) for reason in reasons] == [("no_worker", 1)]

    await eventually(says_no_worker, what="no_worker")
    assert (await deserted.api.task(task))["state"] == "QUEUED"
    await deserted.processes.worker()
    assert (await deserted.api.final(task))["state"] == "COMPLETED"


THOUSANDS: Final = 3_000
# They take ten seconds in one slot where nothing else runs.
PATIENT: Final = pytest.mark.timeout(300)


async def begun(installation: Installation, task: dict[str, Any]) -> str:
    """Return when a task was begun, once it has ended."""
    started_at = (await installation.api.final(task, within=240))["startedAt"]
    assert isinstance(started_at, str)
    return started_at


def from_now(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


@PATIENT
@pytest.mark.parametrize("document", [None, "crowded"])
async def test_a_low_task_behind_thousands_of_normal_ones_overtakes_when_its_deadline_is_near(
    lone: Installation, marks: Marks, document: str | None
) -> None:
    first = await lone.api.submit("test.mark", **a_task(marks, "first", documentId=document))
    await marks.seen("begin", "first", within=120)
    one = {"taskType": "noop", "documentId": document}
    crowd = [task for _ in range(THOUSANDS // 1_000) for task in await lone.api.submit_many([one] * 1_000)]
    near = await lone.api.submit("noop", documentId=document, priority="LOW", deadline=from_now(10))
    far = await lone.api.submit("noop", documentId=document, priority="LOW", deadline=from_now(6_000))
    marks.open_gate("first")

    moments = [await begun(lone, task) for task in (first, near, crowd[0], crowd[-1], far)]

    assert moments == sorted(moments)


@PATIENT
async def test_work_that_becomes_urgent_while_it_waits_overtakes_with_all_that_it_waits_for(
    lone: Installation, marks: Marks
) -> None:
    first = await lone.api.submit("test.mark", **a_task(marks, "first"))
    await marks.seen("begin", "first", within=120)
    crowd = await lone.api.submit_many([{"taskType": "noop"}] * 1_000)
    ageing = await lone.api.submit("noop", priority=32, boostPerMinute=100)
    batch = await lone.api.submit_batch(
        {"taskType": "noop"}, {"taskType": "noop", "priority": "CRITICAL"}, priority="LOW"
    )
    earlier, urgent = batch["children"]

    async def has_risen() -> bool:
        shown: list[float] = [(await lone.api.task(task))["effectivePriority"] for task in (ageing, earlier)]
        ageing_now, earlier_now = shown
        return ageing_now < 30 and earlier_now < 10

    # The ranker comes by every ten seconds.
    await eventually(has_risen, within=60, what="a more urgent tier")
    marks.open_gate("first")
    moments = [await begun(lone, task) for task in (first, earlier, urgent, crowd[0])]

    assert moments == sorted(moments)
    assert await begun(lone, ageing) < await begun(lone, crowd[0])
