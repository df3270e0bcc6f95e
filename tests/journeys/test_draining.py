"""Draining: a worker that is told to stop loses nothing, charges nothing, and exits with 0."""

import asyncio
import signal
from typing import Any, Final

import pytest

from tests.fault_proxy import Direction, fault_proxy
from tests.journeys.conftest import Installation
from tests.journeys.processes import Process
from tests.support import eventually, stopwatch
from tests.workers.marks import Marks
from workers.signals import LAST_SECONDS

ENDED_WITHIN_SECONDS: Final = LAST_SECONDS + 3
"""How long a worker has after a second signal, and what a busy machine takes to start, reap and tell."""


async def a_worker_that_has_settled(plane: Installation, **settings: str) -> Process:
    """Return a worker whose next settlement is no slower than others: it has little time for that when it is to end."""
    worker = await plane.processes.worker(concurrency=3, **settings)
    assert (await plane.api.final(await plane.api.submit("noop")))["state"] == "COMPLETED"
    return worker


def payload(marks: Marks, name: str = "it") -> dict[str, Any]:
    """Return the payload of a task that waits at its gate."""
    return {"folder": str(marks.folder), "name": name, "gated": True}


async def test_a_worker_with_work_in_hand_finishes_it_and_takes_no_more(deserted: Installation, marks: Marks) -> None:
    worker = await deserted.processes.worker(concurrency=3)
    types = ["test.mark", "test.mark_def", "test.mark"]
    tasks = [
        await deserted.api.submit(kind, documentId=f"d{n}", payload=payload(marks, f"d{n}"))
        for n, kind in enumerate(types)
    ]
    for number in range(3):
        await marks.seen("begin", f"d{number}")

    worker.signal(signal.SIGTERM)
    await worker.says("worker.draining")
    behind = await deserted.api.submit("noop", documentId="d0")
    other = await deserted.api.submit("noop")
    marks.open_all_gates()

    assert await worker.ended() == 0
    assert {task["state"] for task in await deserted.api.all_final(tasks)} == {"COMPLETED"}
    assert [(await deserted.api.task(task))["state"] for task in (behind, other)] == ["QUEUED", "QUEUED"]
    assert await deserted.api.live_workers() == 0
    await deserted.processes.worker()
    assert {task["state"] for task in await deserted.api.all_final([behind, other])} == {"COMPLETED"}


async def test_what_is_not_finished_in_time_is_handed_back_uncharged(deserted: Installation, marks: Marks) -> None:
    worker = await a_worker_that_has_settled(deserted, DRAIN_SECONDS="0.5")
    types = ["test.mark", "test.mark_def", "test.stubborn"]
    tasks = [await deserted.api.submit(kind, documentId=kind, payload=payload(marks, kind)) for kind in types]
    for kind in types:
        await marks.seen("begin", kind)

    with stopwatch() as seconds:
        assert await worker.stop() == 0
        assert seconds() < 0.5 + 5

    for task in tasks:
        now = await deserted.api.task(task)
        assert (now["state"], now["attempt"], now["attemptsCharged"]) == ("QUEUED", 1, 0)
        assert now["failures"] == []
    marks.open_all_gates()
    await deserted.processes.worker()
    ended = await deserted.api.all_final(tasks)
    assert {(task["state"], task["attempt"], task["attemptsCharged"]) for task in ended} == {("COMPLETED", 2, 0)}


@pytest.mark.parametrize("task_type", ["test.mark", "test.mark_def", "test.stubborn"])
async def test_a_second_signal_ends_a_worker_within_two_seconds(
    deserted: Installation, marks: Marks, task_type: str
) -> None:
    assert LAST_SECONDS < 2
    worker = await a_worker_that_has_settled(deserted, HEARTBEAT_SECONDS="5", LEASE_SECONDS="30", DRAIN_SECONDS="25")
    task = await deserted.api.submit(task_type, payload=payload(marks))
    await marks.seen("begin", "it")
    worker.signal(signal.SIGTERM)
    await worker.says("worker.draining")

    with stopwatch() as seconds:
        worker.signal(signal.SIGTERM)
        assert await worker.ended() == 0
        assert seconds() < ENDED_WITHIN_SECONDS

    now = await deserted.api.task(task)
    assert (now["state"], now["attemptsCharged"]) == ("QUEUED", 0)


async def test_who_is_still_waited_for_when_a_server_has_to_end_is_told_to_ask_again(deserted: Installation) -> None:
    async with fault_proxy(deserted.database_url) as proxy:
        server = await deserted.processes.serve(DATABASE_URL=proxy.url(deserted.database_url), DRAIN_SECONDS="1")
        # What is asked is seen before it goes on: whatever came before is answered, and this is not.
        proxy.delay_seconds = 0.05
        asking = asyncio.create_task(server.post("/api/tasks", {"taskType": "noop", "title": "asked too late"}))
        await proxy.passed(b"asked too late")
        proxy.drop(Direction.REPLIES)
        server.process.signal(signal.SIGTERM)

        answer = await asking

        assert (answer.status_code, answer.json()["code"]) == (503, "server_stopping")
        assert answer.headers["Retry-After"] == "1"
        proxy.cut()
        await proxy.heal()
        assert await server.process.ended() == 0
        assert not server.process.stacks
        await server.aclose()


async def test_a_second_signal_ends_a_worker_although_postgres_does_not_answer(
    deserted: Installation, marks: Marks
) -> None:
    async with fault_proxy(deserted.database_url) as proxy:
        worker = await deserted.processes.worker(concurrency=3, DATABASE_URL=proxy.url(deserted.database_url))
        await deserted.api.submit("test.mark", payload=payload(marks))
        await marks.seen("begin", "it")
        proxy.hold()
        worker.signal(signal.SIGTERM)
        await worker.says("worker.draining")

        with stopwatch() as seconds:
            worker.signal(signal.SIGTERM)
            assert await worker.ended() == 0
            assert seconds() < ENDED_WITHIN_SECONDS


async def test_a_second_signal_ends_a_worker_whose_loop_a_handler_holds_up(
    deserted: Installation, marks: Marks
) -> None:
    worker = await deserted.processes.worker()
    await deserted.api.submit("test.busy", payload={"folder": str(marks.folder), "seconds": 60})
    await marks.seen("begin", "it")
    worker.signal(signal.SIGTERM)

    def ends_when_told_again() -> bool:
        worker.signal(signal.SIGTERM)
        return not worker.is_running

    with stopwatch() as seconds:
        # Two at the same moment are one, and this worker cannot say that it has heard the first.
        await eventually(ends_when_told_again)
        assert seconds() < ENDED_WITHIN_SECONDS
    assert await worker.ended() == 0


async def test_an_idle_worker_stops_at_once(deserted: Installation) -> None:
    worker = await deserted.processes.worker(HEARTBEAT_SECONDS="5", LEASE_SECONDS="30", DRAIN_SECONDS="25")

    with stopwatch() as seconds:
        assert await worker.stop() == 0
        # It has 25 s for what runs, and nothing runs.
        assert seconds() < 10
