"""The lease keeper: claims are kept while there is hope, and news of them reaches the worker's loop."""

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from officeplane.domain.ids import TaskId, WorkerId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from officeplane.services.observe.observations import Meter
from officeplane.store.workers import Heartbeat
from tests.fault_proxy import fault_proxy
from tests.support import eventually, stopwatch
from tests.workbench import Workbench
from tests.workers.hosting import a_worker
from tests.workers.marks import Marks
from workers import lease
from workers.lease import OVERTIME_SECONDS, Claim, LeaseKeeper, LeaseNews, LeaseTerms
from workers.rescue import Rescue

LEASE_SECONDS = 1.5
HEARTBEAT_SECONDS = 0.2


class Heard:
    """What the keeper told the loop."""

    def __init__(self) -> None:
        self.cancelled: list[TaskId] = []
        self.lost: list[Claim] = []
        self.news = LeaseNews(self.cancelled.extend, self.lost.extend)


@asynccontextmanager
async def a_keeper(
    bench: Workbench, database_url: str, heard: Heard, *, heartbeat_seconds: float = HEARTBEAT_SECONDS
) -> AsyncGenerator[LeaseKeeper, None]:
    """Run a keeper that holds nothing yet."""
    keeper = LeaseKeeper(
        LeaseTerms(database_url, LEASE_SECONDS, heartbeat_seconds),
        heard.news,
        lambda: Heartbeat(WorkerId("keeper"), "here", os.getpid(), 3, 0, ["noop"], []),
        Meter(),
        Rescue(database_url, WorkerId("keeper"), bench.runtime.settlements, counted_by="keeper"),
    )
    keeper.start()
    try:
        yield keeper
    finally:
        await keeper.stop()


async def lease_left(bench: Workbench, task_id: TaskId) -> float:
    """Return for how many seconds the task's lease still runs."""
    (row,) = await bench.execute(
        "SELECT extract(epoch FROM lease_until - clock_timestamp())::float8 AS left FROM tasks WHERE id = $1", task_id
    )
    return float(row["left"])


async def has_looked(bench: Workbench) -> bool:
    """Whether the keeper has been at the ledger."""
    return bool(await bench.execute("SELECT FROM workers WHERE id = 'keeper'"))


async def has_run_out(bench: Workbench, task_id: TaskId) -> bool:
    return await lease_left(bench, task_id) < 0


async def is_long(bench: Workbench, task_id: TaskId) -> bool:
    """Whether somebody has just renewed the lease."""
    return await lease_left(bench, task_id) > LEASE_SECONDS / 2


async def a_leased_task(bench: Workbench) -> ClaimedTask:
    """Return a running task whose lease is as short as those that the keeper gives."""
    task = await bench.a_running_task(timeout_seconds=60)
    await bench.execute("UPDATE tasks SET lease_until = clock_timestamp() + make_interval(secs => $1)", LEASE_SECONDS)
    return task


async def is_lost(bench: Workbench, task: Task | ClaimedTask) -> bool:
    """Let every lease run out and reap, unless the keeper was quicker; a worker's own reaper may be quicker too."""
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    return bool((await bench.details(task.id)).failures)


async def test_a_handler_that_blocks_the_loop_keeps_its_lease(bench: Workbench, marks: Marks) -> None:
    # A lease that no machine outlasts which stands still between two renewals.
    lease_seconds = 5.0
    task = await bench.a_task("test.busy", payload={"folder": str(marks.folder), "seconds": lease_seconds + 1})
    async with a_worker(bench, lease_seconds=lease_seconds):
        await marks.seen("end", "it")  # it holds up the test's own loop too

        assert await bench.worker.redelivery.reap() == 0

        async def has_completed() -> bool:
            return await bench.state(task) is TaskState.COMPLETED

        await eventually(has_completed)
    assert marks.of("it") == ["begin", "end"]


async def test_no_lease_is_kept_beyond_the_attempts_timeout_and_five_seconds(
    bench: Workbench, database_url: str
) -> None:
    claimed = await a_leased_task(bench)
    # As if that time were nearly over, to spare the wait.
    task = claimed._replace(timeout_seconds=0.5 - OVERTIME_SECONDS)
    async with a_keeper(bench, database_url, Heard()) as keeper:
        keeper.hold(task)

        # It never would, were it kept on.
        await eventually(lambda: has_run_out(bench, task.id))

    assert await bench.worker.redelivery.reap() == 1


async def test_a_lease_is_kept_as_long_as_the_attempt_may_run(bench: Workbench, database_url: str) -> None:
    task = await a_leased_task(bench)
    async with a_keeper(bench, database_url, Heard()) as keeper:
        keeper.hold(task)

        time.sleep(2 * LEASE_SECONDS)

        # Without the keeper it is over by now.
        await eventually(lambda: is_long(bench, task.id))


async def test_a_claim_that_was_let_go_is_not_kept(bench: Workbench, database_url: str) -> None:
    task, heard = await a_leased_task(bench), Heard()
    async with a_keeper(bench, database_url, heard) as keeper:
        keeper.hold(task)
        keeper.drop(task)

        await eventually(lambda: has_run_out(bench, task.id))
    assert heard.lost == []


async def test_a_late_drop_does_not_let_go_of_the_claim_made_since(bench: Workbench, database_url: str) -> None:
    first = await bench.a_running_task(retry={"strategy": "immediate"})
    await bench.fail(first)
    (second,) = await bench.worker.desk.claim([first.id])
    heard = Heard()
    async with a_keeper(bench, database_url, heard) as keeper:
        keeper.hold(first)
        keeper.hold(second)
        keeper.drop(first)
        await bench.execute("UPDATE tasks SET lease_until = clock_timestamp() WHERE id = $1", second.id)

        await eventually(lambda: is_long(bench, second.id))


async def test_a_lost_claim_is_told(bench: Workbench, database_url: str) -> None:
    task, heard = await bench.a_running_task(), Heard()
    async with a_keeper(bench, database_url, heard) as keeper:
        keeper.hold(task)
        await eventually(lambda: is_lost(bench, task))

        await eventually(lambda: heard.lost)

    assert set(heard.lost) == {(task.id, task.claim_id)}


async def test_a_cancel_request_is_told_within_a_second(bench: Workbench, database_url: str) -> None:
    task, heard = await bench.a_running_task(), Heard()
    async with a_keeper(bench, database_url, heard) as keeper:
        keeper.hold(task)
        await eventually(lambda: has_looked(bench))
        await bench.runtime.cancellation.cancel(LOCAL, task.id, None)

        with stopwatch() as seconds:
            await eventually(lambda: heard.cancelled)

            # It looks five times a second here; the rest is for a busy machine.
            assert seconds() < 1.2

    assert set(heard.cancelled) == {task.id}


async def test_a_keeper_that_lost_its_database_goes_on_when_it_is_back(bench: Workbench, database_url: str) -> None:
    task, heard = await bench.a_running_task(), Heard()
    async with fault_proxy(database_url) as proxy, a_keeper(bench, proxy.url(database_url), heard) as keeper:
        keeper.hold(task)
        await proxy.passed(b"lease_until")
        await proxy.refuse()
        await bench.execute("UPDATE tasks SET lease_until = clock_timestamp()")
        await proxy.heal()

        await eventually(lambda: is_long(bench, task.id))

    assert heard.lost == []


async def test_a_keeper_goes_on_after_what_nobody_foresaw(bench: Workbench, database_url: str) -> None:
    task, heard = await bench.a_running_task(), Heard()
    await bench.execute("ALTER TABLE workers RENAME TO workers_away")
    with capture_logs() as logs:
        async with a_keeper(bench, database_url, heard) as keeper:
            keeper.hold(task)
            await eventually(lambda: [log for log in logs if log["event"] == "leases.not_kept"], what="the trouble")
            await bench.execute("UPDATE tasks SET lease_until = clock_timestamp()")
            await bench.execute("ALTER TABLE workers_away RENAME TO workers")

            await eventually(lambda: is_long(bench, task.id))

    assert heard.lost == []


async def test_a_worker_that_waits_for_work_says_that_nothing_runs(bench: Workbench, marks: Marks) -> None:
    async with a_worker(bench) as worker:

        async def said() -> int:
            (row,) = await bench.execute("SELECT running FROM workers WHERE id = $1", worker.id)
            return int(row["running"])

        async def is_seen() -> bool:
            return bool(await bench.execute("SELECT FROM workers WHERE id = $1", worker.id))

        async def says(running: int) -> bool:
            return await said() == running

        await eventually(is_seen)
        assert await said() == 0
        await bench.a_task("test.mark", payload={"folder": str(marks.folder), "gated": True})
        await eventually(lambda: says(1))
        marks.open_gate("it")
        await eventually(lambda: says(0))


async def test_an_attempt_stops_when_its_claim_is_lost_and_writes_nothing(bench: Workbench, marks: Marks) -> None:
    task = await bench.a_task(
        "test.mark", payload={"folder": str(marks.folder), "gated": True}, retry={"initial_seconds": 3600}
    )
    async with a_worker(bench):
        await marks.seen("begin", "it")
        await eventually(lambda: is_lost(bench, task))

        await marks.seen("stopped", "it")

    assert [failure.kind for failure in (await bench.details(task.id)).failures] == ["crash"]


async def test_a_cancel_request_stops_an_attempt_within_two_seconds_without_redis(
    bench: Workbench, marks: Marks
) -> None:
    task = await bench.a_task("test.mark", payload={"folder": str(marks.folder), "gated": True})
    async with a_worker(bench, redis_url="", heartbeat_seconds=30):
        await marks.seen("begin", "it")

        async def is_cancelled() -> bool:
            return await bench.state(task) is TaskState.CANCELLED

        with stopwatch() as seconds:
            await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
            await marks.seen("stopped", "it")
            await eventually(is_cancelled)

            assert seconds() < 2


async def test_a_keeper_that_is_between_two_looks_stops_at_once(
    bench: Workbench, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "WATCH_SECONDS", 30.0)
    async with a_keeper(bench, database_url, Heard(), heartbeat_seconds=30) as keeper:
        await eventually(lambda: has_looked(bench))

        with stopwatch() as seconds:
            await keeper.stop()

            assert seconds() < 5
