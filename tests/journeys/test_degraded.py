"""Without Redis, with half of it, and with it gone and back: exclusion, order and every task are kept."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.dispatch.own_server import OwnServer, own_server
from tests.fault_proxy import fault_proxy
from tests.journeys.conftest import Install, Installation
from tests.journeys.lanes import assert_in_order, assert_one_at_a_time, open_gates_of, tasks_on_documents
from tests.support import eventually, stopwatch
from tests.workers.marks import Marks

NOWHERE = "redis://127.0.0.1:9/0"


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[OwnServer]:
    """A Redis to kill; it runs."""
    async with own_server(tmp_path) as server:
        await server.start()
        yield server


async def dispatch_of(plane: Installation) -> dict[str, Any]:
    """Return what the API says of its servers."""
    return dict((await plane.api.get("/api/health/ready")).json())


async def test_a_plane_that_never_saw_redis_works(install: Install, marks: Marks) -> None:
    async with install(at_redis=NOWHERE) as plane:
        await plane.processes.workers(2)
        bodies = tasks_on_documents(marks, 120, 12, seconds=0.02, gated=4)

        tasks: list[dict[str, Any]] = []
        took: list[float] = []
        for first in range(0, 120, 40):
            with stopwatch() as seconds:
                tasks += await plane.api.submit_many(bodies[first : first + 40])
                took.append(seconds())

        # A wait for Redis is as long every time; what else holds a machine up is not.
        assert min(took) < 1
        await open_gates_of(marks, bodies)
        ended = await plane.api.all_final(tasks)
        assert {(task["state"], task["attempt"]) for task in ended} == {("COMPLETED", 1)}
        assert_one_at_a_time(marks)
        assert_in_order(marks)
        assert len({mark.pid for mark in marks.all()}) == 2
        health = await dispatch_of(plane)
        assert (health["redis"], health["dispatch"], health["workers"]) == ("down", "polling", 2)

        cancelled = await plane.api.submit(
            "test.mark", payload={"folder": str(marks.folder), "name": "held", "gated": True}
        )
        await marks.seen("begin", "held")
        await plane.api.cancel(cancelled)
        assert (await plane.api.final(cancelled))["state"] == "CANCELLED"


async def test_redis_killed_while_it_is_needed_and_back_empty_costs_no_task(
    install: Install, marks: Marks, redis: OwnServer
) -> None:
    async with install(at_redis=redis.url) as plane:
        await plane.processes.workers(2)
        bodies = tasks_on_documents(marks, 150, 10, seconds=0.02)
        tasks = await plane.api.submit_many(bodies[:100])
        await marks.seen("begin", "d5:15")

        redis.kill()
        for body in bodies[100:110]:
            with stopwatch() as seconds:
                answer = await plane.api.post("/api/tasks", body)
                assert seconds() < 1
            assert answer.status_code == 201
            tasks.append(answer.json())
        await marks.seen("begin", bodies[109]["payload"]["name"])
        await redis.start()
        tasks += await plane.api.submit_many(bodies[110:])

        ended = await plane.api.all_final(tasks)
        assert {(task["state"], task["attempt"]) for task in ended} == {("COMPLETED", 1)}
        assert_one_at_a_time(marks)
        assert_in_order(marks)

        async def is_back() -> bool:
            return str((await dispatch_of(plane))["dispatch"]) == "redis"

        await eventually(is_back)


async def test_a_worker_that_lost_sight_of_redis_and_one_that_sees_it_share_the_work(
    install: Install, marks: Marks, redis: OwnServer
) -> None:
    async with install(at_redis=redis.url) as plane, fault_proxy(redis.url) as proxy:
        await plane.processes.worker()
        await plane.processes.worker(REDIS_URL=proxy.url(redis.url))
        bodies = tasks_on_documents(marks, 200, 10, seconds=0.01, gated=4)
        tasks = await plane.api.submit_many(bodies[:50])
        await open_gates_of(marks, bodies)
        await marks.seen("begin", "d0:10")

        await proxy.refuse()
        tasks += await plane.api.submit_many(bodies[50:150])
        await marks.seen("begin", "d0:100")
        await proxy.heal()
        tasks += await plane.api.submit_many(bodies[150:])

        ended = await plane.api.all_final(tasks)
        assert {(task["state"], task["attempt"]) for task in ended} == {("COMPLETED", 1)}
        assert_one_at_a_time(marks)
        assert_in_order(marks)
        assert len({mark.pid for mark in marks.all()}) == 2
