"""Alerts: a worker that is killed between a task's end and the answer to its alert has lost none."""

from typing import Any

import asyncpg

from tests.journeys.conftest import Installation
from tests.receiver import receiving
from tests.support import eventually

GIVES_UP: dict[str, Any] = {"payload": {"seconds": 60}, "timeoutSeconds": 0.1, "maxRetries": 0}


async def execute(plane: Installation, sql: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(plane.database_url)
    try:
        return list(await connection.fetch(sql))
    finally:
        await connection.close()


async def test_an_alert_outlives_the_worker_that_was_sending_it(deserted: Installation) -> None:
    async with receiving() as receiver:
        receiver.status = 0
        victim = await deserted.processes.worker(ALERT_URL=receiver.url)
        task = await deserted.api.submit("sleep", **GIVES_UP)
        await eventually(lambda: receiver.told, within=20, what="the first try")

        await victim.kill()

        receiver.status = 200
        await execute(deserted, "UPDATE deliveries SET due_at = now()")
        heir = await deserted.processes.worker(ALERT_URL=receiver.url)
        await heir.says("alert.sent")
        assert receiver.task_ids == [task["id"]] * 2
        assert await execute(deserted, "SELECT FROM deliveries") == []


async def test_an_alert_outlives_the_worker_that_settled_its_task(deserted: Installation) -> None:
    async with receiving() as receiver:
        # Nobody listens yet, as if the crash came before the first try.
        await receiver.die()
        victim = await deserted.processes.worker(ALERT_URL=receiver.url)
        task = await deserted.api.submit("sleep", **GIVES_UP)
        assert (await deserted.api.final(task))["state"] == "TIMEOUT"

        await victim.kill()

        await receiver.start()
        await execute(deserted, "UPDATE deliveries SET due_at = now()")
        await deserted.processes.worker(ALERT_URL=receiver.url)
        await eventually(lambda: receiver.told, within=20, what="the alert")
        assert set(receiver.task_ids) == {task["id"]}
