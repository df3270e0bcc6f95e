"""Postgres killed in the middle: what was accepted is done, and what was not was refused."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from officeplane.embedded.stack import EmbeddedStack, embedded_stack
from tests.journeys.conftest import Install
from tests.journeys.lanes import assert_one_at_a_time, tasks_on_documents
from tests.support import eventually
from tests.workers.marks import Marks


@pytest.fixture(scope="module")
async def own_stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedStack]:
    """Servers of this module's own; what they have committed is on the disk."""
    async with embedded_stack(tmp_path_factory.mktemp("own-stack")) as servers:
        yield servers


async def test_every_task_that_was_accepted_ends_although_postgres_was_killed(
    install: Install, own_stack: EmbeddedStack, marks: Marks
) -> None:
    async with install(at_database=own_stack.database_url, at_redis=own_stack.redis_url) as plane:
        workers = await plane.processes.workers(2)
        bodies = tasks_on_documents(marks, 200, 10, seconds=0.02)
        tasks = await plane.api.submit_many(bodies[:150])
        await marks.seen("begin", "d5:35")

        await own_stack.postgres.kill()
        refused = await plane.api.post("/api/tasks", bodies[150])
        assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
        assert refused.headers["Retry-After"]
        await own_stack.postgres.start()

        async def accepted() -> dict[str, Any] | None:
            answer = await plane.api.post("/api/tasks", bodies[151])
            return answer.json() if answer.status_code == 201 else None

        tasks.append(await eventually(accepted, what="a task that is accepted"))
        tasks += await plane.api.submit_many(bodies[152:])

        ended = await plane.api.all_final(tasks)
        assert {task["state"] for task in ended} == {"COMPLETED"}
        assert_one_at_a_time(marks)
        assert all(worker.is_running for worker in workers)
