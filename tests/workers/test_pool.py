"""A whole worker: what its handlers do to it, and how it stops."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from tests.support import eventually, stopwatch
from tests.workbench import Workbench
from tests.workers.hosting import a_worker
from tests.workers.marks import Marks
from workers import pool
from workers.attempts import STUBBORN_SECONDS
from workers.maintenance.all_chores import all_chores


def payload(marks: Marks, **more: Any) -> dict[str, Any]:
    """Return the payload of a task that leaves marks."""
    return {"folder": str(marks.folder), **more}


@pytest.fixture
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker that stops wait until what it abandons is settled, on a machine that stands still too."""
    assert pool.STOP_SECONDS >= STUBBORN_SECONDS + 0.5
    monkeypatch.setattr(pool, "STOP_SECONDS", 30.0)


def is_in(bench: Workbench, task: Task | ClaimedTask, state: TaskState) -> Callable[[], Awaitable[bool]]:
    """Return the question whether a task is in a state now."""

    async def ask() -> bool:
        return await bench.state(task) is state

    return ask


@pytest.mark.parametrize("what", ["system_exit", "keyboard_interrupt", "base_exception", "cancelled", "broken"])
async def test_nothing_that_a_handler_raises_ends_its_worker(bench: Workbench, what: str) -> None:
    task = await bench.a_task("test.raise", payload={"what": what}, max_retries=0)
    async with a_worker(bench) as worker:
        await eventually(is_in(bench, task, TaskState.FAILED))
        after = await bench.a_task()
        await eventually(is_in(bench, after, TaskState.COMPLETED))

        assert not worker.running.done()

    assert [failure.kind for failure in (await bench.details(task.id)).failures] == ["error"]


async def test_a_stubborn_handler_is_cancelled_within_two_seconds_and_its_late_result_is_nothing(
    bench: Workbench, marks: Marks
) -> None:
    task = await bench.a_task("test.stubborn", payload=payload(marks), document_id="contract")
    following = await bench.a_task(document_id="contract")
    async with a_worker(bench):
        await marks.seen("begin", "it")

        with stopwatch() as seconds:
            await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
            await eventually(is_in(bench, task, TaskState.CANCELLED))

            assert seconds() < 2
        await eventually(is_in(bench, following, TaskState.COMPLETED))
        marks.open_gate("it")
        await marks.seen("late", "it")
        after = await bench.a_task()
        await eventually(is_in(bench, after, TaskState.COMPLETED))

    assert await bench.state(task) is TaskState.CANCELLED
    assert (await bench.details(task.id)).task.result is None


async def test_a_stubborn_handler_that_timed_out_does_not_hold_up_the_next_attempt(
    bench: Workbench, marks: Marks
) -> None:
    # The second attempt may run out of time as well, before the gate is open.
    task = await bench.a_task("test.stubborn", payload=payload(marks), timeout_seconds=0.3, max_retries=20)
    async with a_worker(bench, concurrency=1):
        await marks.seen("begin", "it", 2)
        assert marks.find("late", "it") is None
        marks.open_gate("it")

        await eventually(is_in(bench, task, TaskState.COMPLETED))

    details = await bench.details(task.id)
    assert {failure.kind for failure in details.failures} == {"timeout"}
    assert details.task.result == {"late": True}


async def test_a_drain_lets_what_runs_finish(bench: Workbench, marks: Marks) -> None:
    task = await bench.a_task("test.mark", payload=payload(marks, gated=True))
    waiting = await bench.a_task("test.mark", payload=payload(marks, name="later"))
    async with a_worker(bench, concurrency=1) as worker:
        await marks.seen("begin", "it")

        worker.signals.heard()
        marks.open_gate("it")
        await worker.running

    assert await bench.states(task, waiting) == ["COMPLETED", "QUEUED"]
    assert marks.of("later") == []


@pytest.mark.usefixtures("no_hurry")
@pytest.mark.parametrize("task_type", ["test.mark", "test.mark_def", "test.stubborn"])
async def test_a_drain_that_takes_too_long_hands_what_runs_back_uncharged(
    bench: Workbench, marks: Marks, task_type: str
) -> None:
    task = await bench.a_task(task_type, payload=payload(marks, gated=True), document_id="contract")
    async with a_worker(bench, drain_seconds=0.2) as worker:
        await marks.seen("begin", "it")

        worker.signals.heard()
        await worker.running
        assert worker.pool.has_stubborn_handlers == (task_type == "test.stubborn")

    handed_back = (await bench.details(task.id)).task
    assert handed_back.state is TaskState.QUEUED
    assert (handed_back.attempt, handed_back.attempts_charged) == (1, 0)
    assert set(await bench.rung()) == {task.id}
    assert await bench.redis("EXISTS", "officeplane:doclock:contract") == 0
    marks.open_gate("it")


@pytest.mark.usefixtures("no_hurry")
@pytest.mark.parametrize("task_type", ["test.mark", "test.mark_def", "test.stubborn"])
async def test_a_second_signal_hands_back_what_runs_within_two_seconds(
    bench: Workbench, marks: Marks, task_type: str
) -> None:
    task = await bench.a_task(task_type, payload=payload(marks, gated=True))
    async with a_worker(bench, drain_seconds=30, heartbeat_seconds=5) as worker:
        await marks.seen("begin", "it")
        worker.signals.heard()

        with stopwatch() as seconds:
            worker.signals.heard()
            await worker.running

            assert seconds() < 2
    handed_back = (await bench.details(task.id)).task
    assert (handed_back.state, handed_back.attempts_charged) == (TaskState.QUEUED, 0)
    marks.open_gate("it")


@pytest.mark.usefixtures("no_hurry")
async def test_what_was_cancelled_is_not_handed_back(bench: Workbench, marks: Marks) -> None:
    task = await bench.a_task("test.stubborn", payload=payload(marks))
    async with a_worker(bench, drain_seconds=30) as worker:
        await marks.seen("begin", "it")
        await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
        worker.signals.heard()
        worker.signals.heard()
        await worker.running

    assert await bench.state(task) is TaskState.CANCELLED
    marks.open_gate("it")


async def test_a_worker_that_stopped_is_no_longer_seen_and_leads_nothing(bench: Workbench) -> None:
    async with a_worker(bench) as worker:

        async def leads() -> bool:
            rows = await bench.execute("SELECT chore FROM chore_leaders WHERE worker_id = $1", worker.id)
            return len(rows) == len(all_chores())

        await eventually(leads)

    assert await bench.execute("SELECT FROM workers") == []
    assert await bench.execute("SELECT FROM chore_leaders") == []


async def test_without_redis_the_sweeper_is_left_to_those_who_see_it(bench: Workbench) -> None:
    async def led_by(worker_id: str) -> set[str]:
        rows = await bench.execute("SELECT chore FROM chore_leaders WHERE worker_id = $1", worker_id)
        return {row["chore"] for row in rows}

    # Who leads a chore does so for one and a half sweeps: longer than this test takes.
    async with a_worker(bench, redis_url="", sweep_seconds=30) as blind:
        await eventually(lambda: led_by(blind.id))
        assert await led_by(blind.id) == {chore.name for chore in all_chores() if not chore.needs_redis}

        async with a_worker(bench, sweep_seconds=30) as seeing:
            await eventually(lambda: led_by(seeing.id))
            assert await led_by(seeing.id) == {"sweeper"} == {chore.name for chore in all_chores() if chore.needs_redis}


async def test_the_next_attempt_finds_what_the_last_one_saved(bench: Workbench, marks: Marks) -> None:
    task = await bench.a_task("test.report", payload=payload(marks))
    async with a_worker(bench):

        async def is_halfway() -> bool:
            return (await bench.details(task.id)).task.progress == {"fraction": 0.5, "message": "halfway"}

        await eventually(is_halfway)
        marks.open_gate("it")

        await eventually(is_in(bench, task, TaskState.COMPLETED))

    assert (await bench.details(task.id)).task.result == {"found": {"attempt": 1}}


async def test_the_lock_of_a_long_task_is_kept_and_taken_again_when_redis_lost_it(
    bench: Workbench, marks: Marks
) -> None:
    lock = "officeplane:doclock:contract"
    await bench.a_task("test.mark", payload=payload(marks, gated=True), document_id="contract")
    async with a_worker(bench, lock_ttl_seconds=0.6):
        await marks.seen("begin", "it")
        held = await eventually(lambda: bench.redis("GET", lock))
        # Nobody else keeps it from running out.
        await bench.redis("PEXPIRE", lock, "250")

        async def is_renewed() -> bool:
            left = await bench.redis("PTTL", lock)
            return isinstance(left, int) and left > 300

        await eventually(is_renewed)
        await bench.redis("DEL", lock)

        async def is_held_again() -> bool:
            return await bench.redis("GET", lock) == held

        await eventually(is_held_again)


async def test_a_stop_that_the_ledger_does_not_confirm_is_not_obeyed(bench: Workbench, marks: Marks) -> None:
    spared, cancelled = [
        await bench.a_task("test.mark", payload=payload(marks, gated=True, name=name)) for name in ("spared", "stopped")
    ]
    async with a_worker(bench, heartbeat_seconds=5):
        await marks.seen("begin", "spared")
        await marks.seen("begin", "stopped")

        await bench.runtime.doorbell.announcements.request_stop([spared.id])
        await bench.runtime.cancellation.cancel(LOCAL, cancelled.id, None)

        await marks.seen("stopped", "stopped")
        marks.open_gate("spared")
        await eventually(is_in(bench, spared, TaskState.COMPLETED))
    assert marks.of("spared") == ["begin", "end"]


async def test_what_a_worker_has_seen_is_in_the_ledger_when_it_has_stopped(bench: Workbench, marks: Marks) -> None:
    tasks = [await bench.a_task(document_id="contract") for _ in range(3)]
    failing = await bench.a_task("test.raise", payload={"what": "broken"}, max_retries=0)
    gated = await bench.a_task("test.mark", payload=payload(marks, gated=True))
    async with a_worker(bench, heartbeat_seconds=0.4) as worker:
        await marks.seen("begin", "it")
        for task in tasks:
            await eventually(is_in(bench, task, TaskState.COMPLETED))
        await eventually(is_in(bench, failing, TaskState.FAILED))

        async def the_wait_is_told() -> bool:
            return ("wait", "test.mark", 1) in await observed(bench)

        await eventually(the_wait_is_told)
        assert ("run", "test.mark", 1) not in await observed(bench)
        marks.open_gate("it")
        worker.signals.heard()
        await worker.running

    seen = await observed(bench)
    types = {"noop": 3, "test.raise": 1, "test.mark": 1}
    assert {one for one in seen if one[0] != "wasted_pop"} == {
        (measure, task_type, times) for measure in ("wait", "run") for task_type, times in types.items()
    }
    assert await bench.state(gated) is TaskState.COMPLETED


async def observed(bench: Workbench) -> set[tuple[str, str, int]]:
    """Return how often the workers observed what, by type."""
    rows = await bench.execute("SELECT measure, task_type, sum(count)::integer AS n FROM observations GROUP BY 1, 2")
    return {(row["measure"], row["task_type"], row["n"]) for row in rows}
