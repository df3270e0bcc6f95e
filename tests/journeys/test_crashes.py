"""Crashes: workers killed and frozen, tasks that kill; documents go on, and every effect is there once."""

from typing import Any

import asyncpg

from tests.journeys.conftest import Installation
from tests.journeys.processes import LEASE_SECONDS, SHORT_LEASE, Process
from tests.support import eventually, stopwatch
from tests.workers.marks import Marks, is_running
from workers.maintenance.all_chores import all_chores


def payload(marks: Marks, name: str = "it") -> dict[str, Any]:
    """Return the payload of a task that waits at its gate."""
    return {"folder": str(marks.folder), "name": name, "gated": True}


def hosting(workers: list[Process], pid: int) -> tuple[Process, Process]:
    """Return the worker with this pid, then the other."""
    first, second = workers
    return (first, second) if first.pid == pid else (second, first)


async def completions(plane: Installation, task: dict[str, Any]) -> int:
    """Return how often the ledger says that a task was completed."""
    connection = await asyncpg.connect(plane.database_url)
    try:
        return int(
            await connection.fetchval(
                "SELECT count(*) FROM events WHERE kind = 'task.completed' AND $1 = ANY(task_ids)", task["id"]
            )
        )
    finally:
        await connection.close()


async def test_the_document_of_a_killed_worker_goes_on_within_its_lease_and_four_seconds(
    deserted: Installation, marks: Marks
) -> None:
    workers = await deserted.processes.workers(2, LEASE_SECONDS=SHORT_LEASE)
    task = await deserted.api.submit("test.mark", documentId="contract", payload=payload(marks))
    following = await deserted.api.submit("noop", documentId="contract")
    victim, _ = hosting(workers, (await marks.seen("begin", "it")).pid)

    with stopwatch() as seconds:
        await victim.kill()
        await marks.seen("begin", "it", 2, within=30)
        assert seconds() < LEASE_SECONDS + 4

    marks.open_gate("it")
    ended = await deserted.api.final(task)
    assert (ended["state"], ended["result"]["attempt"]) == ("COMPLETED", 2)
    assert [failure["kind"] for failure in ended["failures"]] == ["crash"]
    assert (await deserted.api.final(following))["state"] == "COMPLETED"
    assert await completions(deserted, task) == 1
    assert marks.of("it") == ["begin", "begin", "end"]


async def test_a_worker_frozen_beyond_its_lease_wakes_up_to_find_its_attempt_fenced(
    deserted: Installation, marks: Marks
) -> None:
    workers = await deserted.processes.workers(2, LEASE_SECONDS=SHORT_LEASE)
    task = await deserted.api.submit("test.mark", documentId="contract", payload=payload(marks))
    frozen, other = hosting(workers, (await marks.seen("begin", "it")).pid)

    frozen.freeze()
    again = await marks.seen("begin", "it", 2, within=30)
    assert again.pid == other.pid
    marks.open_gate("it")
    ended = await deserted.api.final(task)
    frozen.thaw()

    # It settles in vain, or hears first that its claim is lost.
    await eventually(lambda: frozen.said("attempt.fenced") or marks.find("stopped", "it", 1))
    after = await deserted.api.submit("noop", documentId="contract")
    assert (await deserted.api.final(after))["state"] == "COMPLETED"
    assert await deserted.api.task(task) == ended
    assert (ended["state"], ended["result"]["attempt"]) == ("COMPLETED", 2)
    assert await completions(deserted, task) == 1


async def test_children_and_what_they_started_end_with_a_worker_that_is_killed(
    deserted: Installation, marks: Marks
) -> None:
    worker = await deserted.processes.worker()
    await deserted.api.submit("test.family", payload={"folder": str(marks.folder)}, maxRetries=0)
    child, grandchild = await marks.seen("begin", "it"), await marks.seen("grandchild", "it")

    with stopwatch() as seconds:
        await worker.kill()
        await eventually(lambda: not is_running(child.pid) and not is_running(grandchild.pid))
        assert seconds() < 3


async def test_a_task_that_killed_two_workers_is_given_to_no_third(deserted: Installation, marks: Marks) -> None:
    workers = await deserted.processes.workers(3, LEASE_SECONDS=SHORT_LEASE)
    task = await deserted.api.submit("test.kill_worker", payload=payload(marks), maxRetries=20)

    ended = await deserted.api.final(task)

    assert (ended["state"], ended["attempt"], ended["error"]["kind"]) == ("FAILED", 2, "crash")
    assert "poison pill" in ended["error"]["message"]
    letter = (await deserted.api.get(f"/api/dead-letters/{ended['id']}")).json()
    assert (letter["poisonPill"], letter["error"]["kind"], len(letter["failures"])) == (True, "crash", 2)
    assert sorted(worker.is_running for worker in workers) == [False, False, True]
    assert (await deserted.api.final(await deserted.api.submit("noop")))["state"] == "COMPLETED"


async def test_the_chores_of_a_killed_leader_are_led_by_another_within_their_lapse(deserted: Installation) -> None:
    workers = await deserted.processes.workers(3)
    connection = await asyncpg.connect(deserted.database_url)

    async def leaders() -> set[int]:
        rows = await connection.fetch(
            "SELECT w.pid FROM chore_leaders l JOIN workers w ON w.id = l.worker_id WHERE l.until > clock_timestamp()"
        )
        return {row["pid"] for row in rows} if len(rows) == len(all_chores()) else set()

    leading = await eventually(leaders)
    assert leading <= {worker.pid for worker in workers}
    # Mostly one leads them all; where it stood still for a moment, another has taken some.
    leader = next(worker for worker in workers if worker.pid in leading)

    await leader.kill()

    async def others_lead() -> bool:
        return bool(now := await leaders()) and leader.pid not in now

    with stopwatch() as seconds:
        await eventually(others_lead)
        # It lapses after 1.5 sweeps of 0.5 s; the others stand every half of one. The rest is for slow machines.
        assert seconds() < 5
    await connection.close()


async def test_a_worker_killed_between_a_spawn_and_the_settlement_has_spawned_once(deserted: Installation) -> None:
    """The second attempt finds the task, though nobody was left to say that there was one."""
    await deserted.processes.workers(2, LEASE_SECONDS=SHORT_LEASE)
    task = await deserted.api.submit("test.spawn_and_die", payload={"task_type": "test.say", "payload": {"said": 1}})

    ended = await deserted.api.final(task)

    assert (ended["state"], [failure["kind"] for failure in ended["failures"]]) == ("COMPLETED", ["crash"])
    assert ended["result"]["saved"] == {"spawned": ended["result"]["spawned"]}
    assert ended["result"]["result"] == {"said": 1}
    connection = await asyncpg.connect(deserted.database_url)
    spawned = await connection.fetch("SELECT id FROM tasks WHERE spawned_by = $1", task["id"])
    await connection.close()
    assert [str(row["id"]) for row in spawned] == [ended["result"]["spawned"]]
