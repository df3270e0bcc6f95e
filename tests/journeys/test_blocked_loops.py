"""Blocked loops: an async handler that blocks is named, stopped at its time, and takes nothing else down with it."""

from typing import Any

import asyncpg
from prometheus_client.parser import text_string_to_metric_families

from tests.fault_proxy import fault_proxy
from tests.journeys.conftest import Installation
from tests.journeys.processes import SHORT_LEASE
from tests.support import eventually
from tests.workers.marks import Marks
from workers.rescue import EXIT_CODE

FOR_GOOD = 600.0


def payload(marks: Marks, name: str = "it", **more: Any) -> dict[str, Any]:
    """Return the payload of a task that leaves marks."""
    return {"folder": str(marks.folder), "name": name, **more}


async def blocked(plane: Installation, marks: Marks, **fields: Any) -> dict[str, Any]:
    """Return a task that blocks its worker for good, once it has begun to."""
    task = await plane.api.submit("test.busy", payload=payload(marks, seconds=FOR_GOOD), maxRetries=0, **fields)
    await marks.seen("begin", "it", within=30)
    return task


async def beside(plane: Installation, marks: Marks, name: str = "beside", **fields: Any) -> dict[str, Any]:
    """Return a task that does no harm and waits at its gate, once it has begun to."""
    task = await plane.api.submit("test.mark", payload=payload(marks, name, gated=True), **fields)
    await marks.seen("begin", name, within=30)
    return task


async def test_a_handler_that_blocks_its_worker_times_out_with_it_and_what_ran_beside_it_goes_on_uncharged(
    deserted: Installation, marks: Marks
) -> None:
    first = await deserted.processes.worker()
    innocent = await beside(deserted, marks, documentId="contract")
    blocking = await blocked(deserted, marks, documentId="letter", timeoutSeconds=1)

    assert await first.ended() == EXIT_CODE == 75

    ended = await deserted.api.final(blocking)
    assert (ended["state"], ended["error"]["kind"], ended["attemptsCharged"]) == ("TIMEOUT", "timeout", 1)
    assert "handlers.py" in ended["error"]["message"]
    assert (await deserted.api.get(f"/api/dead-letters/{ended['id']}")).status_code == 200
    (gave_up,) = first.said("worker.gave_up")
    assert (gave_up["task_id"], gave_up["settled"], gave_up["left"]) == (blocking["id"], 2, 0)
    assert str(blocking["id"]) in first.last_line
    assert "exit code 75" in first.last_line
    assert await deserted.api.live_workers() == 0

    await deserted.processes.worker()
    await marks.seen("begin", "beside", 2)
    marks.open_gate("beside")
    after = await deserted.api.final(innocent)
    assert (after["state"], after["attempt"], after["attemptsCharged"]) == ("COMPLETED", 2, 0)
    following = [await deserted.api.submit("noop", documentId=name) for name in ("contract", "letter")]
    assert {task["state"] for task in await deserted.api.all_final(following)} == {"COMPLETED"}


async def test_a_blocked_loop_is_named_by_the_log_stats_metrics_explain_and_doctor(
    deserted: Installation, marks: Marks
) -> None:
    api, worker = deserted.api, await deserted.processes.worker()
    innocent = await beside(deserted, marks)
    blocking = await blocked(deserted, marks, timeoutSeconds=FOR_GOOD)
    waiting = await api.submit("test.say")

    said = await worker.says("loop.blocked")
    assert (said["task_id"], said["task_type"]) == (blocking["id"], "test.busy")
    assert "time.sleep" in said["stack"]

    async def seen() -> dict[str, Any]:
        (told,) = (await api.get("/api/stats")).json()["workers"]
        return dict(told["blocked"] or {})

    told = await eventually(seen)
    assert (told["taskId"], told["taskType"]) == (blocking["id"], "test.busy")
    assert told["seconds"] >= 2
    path, _, line = str(told["at"]).rpartition(":")
    assert path.endswith("tests/workers/handlers.py")
    assert line.isdigit()
    samples = {
        sample.labels["type"]: sample.value
        for family in text_string_to_metric_families((await api.get("/metrics")).text)
        for sample in family.samples
        if sample.name == "officeplane_workers_blocked"
    }
    assert (samples["test.busy"], samples["noop"]) == (1, 0)
    for task, codes in (
        (blocking, ["running", "worker_blocked"]),
        (innocent, ["running", "worker_blocked"]),
        (waiting, ["worker_blocked"]),
    ):
        reasons = (await api.explain(task))["reasons"]
        assert [reason["code"] for reason in reasons] == codes
        assert (reasons[-1]["taskId"], reasons[-1]["at"]) == (blocking["id"], told["at"])
    assert worker.is_running


async def test_a_blocking_handler_that_is_cancelled_ends_with_its_worker_and_is_cancelled(
    deserted: Installation, marks: Marks
) -> None:
    worker = await deserted.processes.worker()
    blocking = await blocked(deserted, marks, timeoutSeconds=FOR_GOOD)

    assert (await deserted.api.cancel(blocking)).status_code == 202

    assert await worker.ended() == EXIT_CODE
    ended = await deserted.api.final(blocking)
    assert (ended["state"], ended["attemptsCharged"]) == ("CANCELLED", 0)


async def test_who_runs_out_of_time_or_is_cancelled_beside_a_handler_that_has_time_left_does_not_wait_for_it(
    deserted: Installation, marks: Marks
) -> None:
    worker = await deserted.processes.worker()
    cancelled = await beside(deserted, marks, "cancelled")
    innocent = await beside(deserted, marks, documentId="contract", timeoutSeconds=8)
    await blocked(deserted, marks, timeoutSeconds=FOR_GOOD)
    await deserted.api.cancel(cancelled)
    marks.open_gate("beside")

    assert (await deserted.api.final(cancelled))["state"] == "CANCELLED"
    await worker.says("tasks.handed_back")
    await deserted.processes.worker()
    ended = await deserted.api.final(innocent)

    assert (ended["state"], ended["attempt"], ended["attemptsCharged"]) == ("COMPLETED", 2, 0)
    assert worker.is_running


async def test_whoever_runs_out_of_time_beside_a_handler_that_was_let_go_is_not_charged_for_it(
    deserted: Installation, marks: Marks
) -> None:
    worker = await deserted.processes.worker()
    innocent = await beside(deserted, marks, documentId="contract", timeoutSeconds=8)
    guilty = await deserted.api.submit(
        "test.stubborn", payload=payload(marks, "shrug", seconds=FOR_GOOD), timeoutSeconds=1, maxRetries=0
    )
    assert (await deserted.api.final(guilty))["state"] == "TIMEOUT"
    marks.open_gate("shrug")

    assert await worker.ended() == EXIT_CODE

    assert str(guilty["id"]) in worker.last_line
    marks.open_gate("beside")
    await deserted.processes.worker()
    ended = await deserted.api.final(innocent)
    assert (ended["state"], ended["attempt"], ended["attemptsCharged"]) == ("COMPLETED", 2, 0)


async def test_a_handler_that_was_let_go_and_blocks_its_worker_with_nothing_else_in_hand_ends_it(
    deserted: Installation, marks: Marks
) -> None:
    worker = await deserted.processes.worker()
    guilty = await deserted.api.submit(
        "test.stubborn", payload=payload(marks, seconds=FOR_GOOD), timeoutSeconds=1, maxRetries=0
    )
    assert (await deserted.api.final(guilty))["state"] == "TIMEOUT"
    marks.open_gate("it")

    assert await worker.ended() == EXIT_CODE

    assert str(guilty["id"]) in worker.last_line
    await deserted.processes.worker()
    assert (await deserted.api.final(await deserted.api.submit("noop")))["state"] == "COMPLETED"


async def test_a_blocked_worker_that_cannot_reach_postgres_ends_all_the_same_and_its_lease_does_the_rest(
    deserted: Installation, marks: Marks
) -> None:
    async with fault_proxy(deserted.database_url) as proxy:
        worker = await deserted.processes.worker(
            DATABASE_URL=proxy.url(deserted.database_url), LEASE_SECONDS=SHORT_LEASE
        )
        blocking = await blocked(deserted, marks, timeoutSeconds=1)
        await proxy.refuse()

        assert await worker.ended() == EXIT_CODE

    (gave_up,) = worker.said("worker.gave_up")
    assert (gave_up["settled"], gave_up["left"]) == (0, 1)
    await deserted.processes.worker()
    # If no renewal had seen it run, it is not charged, and blocks the other worker as well.
    ended = await deserted.api.final(blocking, within=35)
    assert ended["failures"][0]["kind"] == "crash"


async def test_what_another_holds_in_postgres_does_not_keep_a_blocked_worker_from_handing_back_the_rest(
    deserted: Installation, marks: Marks
) -> None:
    worker = await deserted.processes.worker()
    innocent = await beside(deserted, marks)
    blocking = await blocked(deserted, marks, timeoutSeconds=1)
    operator = await asyncpg.connect(deserted.database_url)
    async with operator.transaction():
        await operator.execute("SELECT FROM tasks WHERE id = $1 FOR UPDATE", blocking["id"])

        assert await worker.ended() == EXIT_CODE

        (gave_up,) = worker.said("worker.gave_up")
        assert (gave_up["settled"], gave_up["left"]) == (1, 1)
        assert (await deserted.api.task(innocent))["state"] == "QUEUED"
    await operator.close()


async def test_a_handler_that_lets_go_in_time_ends_nothing(deserted: Installation, marks: Marks) -> None:
    worker = await deserted.processes.worker()
    blocking = await deserted.api.submit("test.busy", payload=payload(marks, seconds=3))

    assert (await deserted.api.final(blocking))["state"] == "COMPLETED"
    await worker.says("loop.turns_again")
    assert (await deserted.api.final(await deserted.api.submit("noop")))["state"] == "COMPLETED"

    async def is_told() -> bool:
        (told,) = (await deserted.api.get("/api/stats")).json()["workers"]
        return told["blocked"] is None

    await eventually(is_told)


async def test_a_worker_that_was_frozen_beyond_every_deadline_is_not_taken_for_a_blocked_one(
    deserted: Installation, marks: Marks
) -> None:
    frozen = await deserted.processes.worker(LEASE_SECONDS=SHORT_LEASE)
    task = await beside(deserted, marks, timeoutSeconds=1, maxRetries=5, retry={"strategy": "immediate"})

    frozen.freeze()
    other = await deserted.processes.worker()
    # Its own attempt lapses, and five of the other's time out: more than the loop's second and five beyond it.
    assert (await deserted.api.final(task))["state"] == "TIMEOUT"
    frozen.thaw()
    await eventually(lambda: frozen.said("attempt.fenced") or marks.find("stopped", "beside", 1))
    await other.stop()

    assert (await deserted.api.final(await deserted.api.submit("noop")))["state"] == "COMPLETED"
    assert frozen.is_running
    assert frozen.said("worker.gave_up") == []
