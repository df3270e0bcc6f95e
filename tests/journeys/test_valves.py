"""What holds tasks back holds them for three real worker processes, whatever happens to these."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import asyncpg
import pytest

from tests.journeys.conftest import Install, Installation
from tests.journeys.processes import Process
from tests.journeys.test_degraded import NOWHERE
from tests.support import eventually, stopped_clock, stopwatch
from tests.workers.marks import Mark, Marks

SECOND = 1_000_000_000
TALK = "test.talk"


def talks(marks: Marks, count: int, prefix: str, **more: Any) -> list[dict[str, Any]]:
    """Return the bodies of tasks that leave marks under names of this prefix."""
    return [
        {
            "taskType": TALK,
            "maxRetries": more.get("max_retries", 0),
            "payload": {"folder": str(marks.folder), "name": f"{prefix}{n}", "seconds": more.get("seconds", 0.0)},
        }
        for n in range(count)
    ]


def begun(marks: Marks, prefix: str) -> list[Mark]:
    return [mark for mark in marks.all() if mark.what == "begin" and mark.name.startswith(prefix)]


async def breaker(plane: Installation) -> dict[str, Any]:
    found = (await plane.api.get("/api/circuit-breakers")).json()
    return next(one for one in found if one["taskType"] == TALK)


async def breaker_is(plane: Installation, state: str, *, within: float = 15) -> None:
    async def is_it() -> bool:
        return bool((await breaker(plane))["state"] == state)

    await eventually(is_it, within=within, what=f"a breaker that is {state}")


async def stays(fact: Callable[[], bool], seconds: float, what: str) -> None:
    """Watch for a while that something remains true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert fact(), what
        await asyncio.sleep(0.02)


def most_at_once(marks: Marks) -> int:
    """Return how many handlers ran at the same time at most, over all processes."""
    running = most = 0
    for mark in sorted(marks.all()):
        running += {"begin": 1, "end": -1}.get(mark.what, 0)
        most = max(most, running)
    return most


async def test_a_breaker_opens_holds_lets_one_through_survives_its_death_and_closes(
    install: Install, marks: Marks
) -> None:
    async with install() as plane:
        settings = {"BREAKER_FAILURE_THRESHOLD": "6", "BREAKER_HALF_OPEN_AFTER": "5"}
        workers = await plane.processes.workers(3, concurrency=2, **settings)
        failing = await plane.api.submit_many(talks(marks, 6, "fails", seconds=0.4))
        await plane.api.all_final(failing)
        assert len({mark.pid for mark in begun(marks, "fails")}) > 1, "they failed in different workers"
        assert (await breaker(plane))["state"] == "open"

        marks.open_gate("hanging")
        waiting = await plane.api.submit_many(talks(marks, 20, "waits", max_retries=1))
        explained = (await plane.api.get(f"/api/tasks/{waiting[-1]['id']}/explain")).json()
        assert explained["reasons"][0]["code"] == "breaker_open"
        assert begun(marks, "waits") == [], "it holds"

        (probe,) = await eventually(lambda: begun(marks, "waits"), within=20, what="a probe")
        assert (await breaker(plane))["state"] == "half_open"
        await stays(lambda: len(begun(marks, "waits")) == 1, 1.5, "only one is let through")
        await _worker(workers, probe).kill()
        await _let_leases_lapse(plane)
        second = await eventually(lambda: begun(marks, "waits")[1:], within=20, what="another probe")
        assert second[0].pid != probe.pid
        await stays(lambda: len(begun(marks, "waits")) == 2, 1.5, "only one is let through")

        marks.open_gate("repaired")
        ended = await plane.api.all_final(waiting, within=30)
        assert {task["state"] for task in ended} == {"COMPLETED"}
        assert sum(task["attempt"] for task in ended) == 21, "who waited used no attempt"
        assert (await breaker(plane))["failures"] == 0
        await breaker_is(plane, "closed")


@pytest.mark.parametrize("redis", ["with", "without"])
async def test_a_slowdown_reaches_every_worker_within_a_second(install: Install, marks: Marks, redis: str) -> None:
    async with install(at_redis=None if redis == "with" else NOWHERE) as plane:
        marks.open_gate("repaired")
        await plane.processes.workers(3, concurrency=2)
        tasks = await plane.api.submit_many(talks(marks, 300, "steady", seconds=0.05))
        await eventually(lambda: len({mark.pid for mark in begun(marks, "steady")}) == 3, what="three workers at work")

        (hurried,) = talks(marks, 1, "hurried", seconds=5)
        hurried["payload"]["name"] = "hurried"
        with stopped_clock() as seconds_at:
            slow = await plane.api.submit_many([{**hurried, "priority": "CRITICAL"}])

            said = (await marks.seen("limited", "hurried")).at
            ended = await plane.api.all_final([*tasks, *slow], within=40)
            begins = sorted(mark.at for mark in begun(marks, "steady"))
            while_slow = [at for at in begins if said < at < said + 2.4 * SECOND]
            assert not any(seconds_at(at) > seconds_at(said) + 1 for at in while_slow), "nobody starts one of its type"
        assert begins[-1] > said + 2.4 * SECOND, "there was more to do"
        assert {(task["state"], task["attemptsCharged"]) for task in ended} == {("COMPLETED", 0)}
        assert (await plane.api.task(slow[0]))["attempt"] == 2


async def test_a_limit_of_two_is_never_exceeded_by_three_workers(install: Install, marks: Marks) -> None:
    async with install() as plane:
        marks.open_gate("repaired")
        assert (await plane.api.put(f"/api/limits/{TALK}", {"concurrency": 2})).status_code == 200
        await plane.processes.workers(3, concurrency=4)
        bodies = talks(marks, 60, "free", seconds=0.03)
        bodies += [{**body, "documentId": f"d{n % 5}"} for n, body in enumerate(talks(marks, 30, "lane", seconds=0.03))]

        tasks = await plane.api.submit_many(bodies)

        ended = await plane.api.all_final(tasks, within=40)
        assert {(task["state"], task["attempt"]) for task in ended} == {("COMPLETED", 1)}
        assert most_at_once(marks) == 2
        assert len({mark.pid for mark in marks.all()}) > 1


async def test_a_rate_is_never_exceeded_by_more_than_what_was_saved_up_and_is_used(
    install: Install, marks: Marks
) -> None:
    async with install() as plane:
        marks.open_gate("repaired")
        assert (await plane.api.put(f"/api/limits/{TALK}", {"ratePerSecond": 20})).status_code == 200
        await plane.processes.workers(3, concurrency=4)

        tasks = await plane.api.submit_many(talks(marks, 130, "rated"))

        ended = await plane.api.all_final(tasks, within=60)
        begins = sorted(datetime.fromisoformat(task["startedAt"]).timestamp() for task in ended)
        for since in begins:
            # A second's worth may have been saved up; and what a round was allowed may be claimed a moment later.
            assert len([at for at in begins if since < at <= since + 5]) <= 5 * 20 + 20 + 2
        # A machine that is busy with other things may not keep up, but it will for some seconds.
        later = begins[20:]
        assert any(len([at for at in later if since <= at < since + 3]) > 0.75 * 3 * 20 for since in later)


async def test_a_lane_that_is_paused_while_one_of_it_runs_stops_after_that_one(install: Install, marks: Marks) -> None:
    async with install() as plane:
        await plane.processes.workers(3)
        bodies = [
            {"taskType": "test.mark", "documentId": "d", "payload": {"folder": str(marks.folder), "name": name, **more}}
            for name, more in (("first", {"gated": True}), ("second", {}), ("third", {}))
        ]
        first, second, third = await plane.api.submit_many(bodies)
        await marks.seen("begin", "first")

        assert (await plane.api.post("/api/documents/d/pause")).json() == {"paused": True}
        marks.open_gate("first")

        assert (await plane.api.final(first))["state"] == "COMPLETED"
        await stays(lambda: marks.of("second") == [], 1.5, "nothing follows")
        with stopwatch() as seconds:
            assert (await plane.api.post("/api/documents/d/resume")).json() == {"paused": False}
            assert [(await plane.api.final(task))["state"] for task in (second, third)] == ["COMPLETED"] * 2
            assert seconds() < 1.5


async def _let_leases_lapse(plane: Installation) -> None:
    connection = await asyncpg.connect(plane.database_url)
    try:
        await connection.execute(
            "UPDATE tasks SET lease_until = now() - interval '1 hour' WHERE lease_until IS NOT NULL"
        )
    finally:
        await connection.close()


def _worker(workers: list[Process], mark: Mark) -> Process:
    return next(worker for worker in workers if worker.pid == mark.pid)
