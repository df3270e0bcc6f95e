"""The settler: outcomes go together, once, through trouble, and lanes go on or are given back."""

from collections.abc import AsyncIterator

import asyncpg
import pytest
from structlog.testing import capture_logs

from officeplane.config import Settings
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed, Succeeded
from officeplane.domain.task import ClaimedTask, Task
from tests.fault_proxy import Direction, FaultProxy, fault_proxy
from tests.support import eventually
from tests.workbench import Workbench, open_workbench
from tests.workers.hosting import QUICK
from tests.workers.settling import Finished, a_settler
from workers.settler import Gathering


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[FaultProxy]:
    async with fault_proxy(database_url) as opened:
        yield opened


@pytest.fixture
async def through_proxy(proxy: FaultProxy, bench: Workbench, redis_url: str) -> AsyncIterator[Workbench]:
    """A worker's hands whose every statement passes the proxy."""
    settings: Settings = bench.runtime.settings
    async with open_workbench(proxy.url(settings.database_url), redis_url, **QUICK) as workbench:
        yield workbench


async def settlements_of(bench: Workbench, task: Task | ClaimedTask) -> int:
    """Return how many settlements have written this task's end."""
    (row,) = await bench.execute(
        "SELECT count(*) AS n FROM events WHERE kind = 'task.completed' AND $1 = ANY(task_ids)", task.id
    )
    return int(row["n"])


async def test_what_ends_during_a_settlement_is_settled_together_with_the_next(
    bench: Workbench, database_url: str
) -> None:
    first, second, third = [await bench.a_running_task() for _ in range(3)]
    finished = Finished()
    operator = await asyncpg.connect(database_url)
    async with a_settler(bench, finished, at_once=1) as settler:
        async with operator.transaction():
            await operator.execute("SELECT FROM tasks WHERE id = $1 FOR UPDATE", first.id)
            settler.add(first, Succeeded(None))
            await bench.somebody_waits_for_a_lock()
            settler.add(second, Succeeded(None))
            settler.add(third, Succeeded(None))
        await finished.all(first, second, third)
    await operator.close()

    groups = await bench.execute("SELECT task_ids::text[] FROM events WHERE kind = 'task.completed' ORDER BY xid, id")
    assert [set(group["task_ids"]) for group in groups] == [{first.id}, {second.id, third.id}]


async def test_a_settlement_that_has_to_wait_does_not_keep_another_from_its_commit(
    bench: Workbench, database_url: str
) -> None:
    stuck, free = [await bench.a_running_task() for _ in range(2)]
    finished = Finished()
    operator = await asyncpg.connect(database_url)
    async with a_settler(bench, finished) as settler:
        async with operator.transaction():
            await operator.execute("SELECT FROM tasks WHERE id = $1 FOR UPDATE", stuck.id)
            settler.add(stuck, Succeeded(None))
            await bench.somebody_waits_for_a_lock()
            settler.add(free, Succeeded(None))

            await finished.all(free)
            assert finished.tasks == [free.id]
        await finished.all(stuck)
    await operator.close()


async def test_what_ended_while_postgres_was_away_is_settled_afterwards_and_once(
    bench: Workbench, proxy: FaultProxy, through_proxy: Workbench
) -> None:
    tasks = [await through_proxy.a_running_task() for _ in range(3)]
    finished = Finished()
    async with a_settler(through_proxy, finished) as settler:
        await proxy.refuse()
        with capture_logs() as logs:
            for task in tasks:
                settler.add(task, Succeeded(None))
            await eventually(lambda: [log for log in logs if log["event"] == "settlement.postponed"])
        assert not finished.tasks

        await proxy.heal()
        await finished.all(*tasks)

    assert [await settlements_of(bench, task) for task in tasks] == [1, 1, 1]
    assert sorted(finished.tasks) == sorted(task.id for task in tasks)


async def test_a_commit_whose_answer_was_lost_is_not_made_twice(
    bench: Workbench, proxy: FaultProxy, through_proxy: Workbench
) -> None:
    earlier, task = await through_proxy.a_running_task(), await through_proxy.a_running_task()
    finished = Finished()
    async with a_settler(through_proxy, finished) as settler:
        # The statement is known on its connection now, so that the next reply is the one to its commit.
        settler.add(earlier, Succeeded(None))
        await finished.all(earlier)
        proxy.cut_after(Direction.REPLIES, 1)
        settler.add(task, Succeeded('{"answer": 42}'))

        async def is_completed() -> bool:
            return await bench.state(task) is TaskState.COMPLETED

        await eventually(is_completed)
        assert task.id not in finished.tasks
        await proxy.heal()
        await finished.all(task)

    assert await settlements_of(bench, task) == 1
    assert list((await bench.counters()).values()) == [2]
    assert finished.tasks == [earlier.id, task.id]


async def test_an_attempt_whose_lease_is_over_before_postgres_is_back_is_left_to_the_reaper(
    bench: Workbench, proxy: FaultProxy, through_proxy: Workbench
) -> None:
    task = await through_proxy.a_running_task(document_id="contract")
    finished = Finished()
    async with a_settler(through_proxy, finished, lease_seconds=0.1) as settler:
        await proxy.refuse()
        settler.add(task, Succeeded(None))

        await finished.all(task)

    assert await bench.state(task) is TaskState.RUNNING
    assert through_proxy.worker.desk.holds == [], "its lock would be renewed for ever"


async def test_who_left_a_suspect_to_the_reaper_takes_the_next_one(
    bench: Workbench, proxy: FaultProxy, through_proxy: Workbench
) -> None:
    task, other = await bench.a_task(), await bench.a_task()
    await bench.execute("UPDATE tasks SET suspect = true")
    suspect = await through_proxy.claim_next(task)
    finished = Finished()
    async with a_settler(through_proxy, finished, lease_seconds=0.1) as settler:
        await proxy.refuse()
        settler.add(suspect, Succeeded(None))
        await finished.all(suspect)
        await proxy.heal()

    assert (await through_proxy.claim_next(other)).suspect


async def test_a_claim_that_was_lost_is_finished_without_a_settlement(bench: Workbench) -> None:
    task = await bench.a_running_task()
    finished = Finished()
    async with a_settler(bench, finished) as settler:
        settler.add(task, None)

        await finished.all(task)

    assert await bench.state(task) is TaskState.RUNNING


async def test_the_lane_goes_on_with_its_next_task_without_a_hint(bench: Workbench) -> None:
    first = await bench.a_running_task(document_id="contract")
    second = await bench.a_task(document_id="contract")
    await bench.hush()
    finished = Finished()
    async with a_settler(bench, finished) as settler:
        settler.add(first, Succeeded(None))

        await finished.all(first)

    assert [task.id for task in finished.followed_by] == [second.id]
    assert len(bench.worker.desk.holds) == 1


async def test_a_lane_goes_on_in_the_commit_that_ends_its_last_task(bench: Workbench) -> None:
    first = await bench.a_running_task(document_id="contract")
    second = await bench.a_task(document_id="contract")
    finished = Finished()
    async with a_settler(bench, finished) as settler:
        settler.add(first, Succeeded(None))

        await finished.all(first)

    rows = await bench.execute("SELECT xid::text, kind, task_ids::text[] FROM events ORDER BY xid DESC, id LIMIT 2")
    assert [(row["kind"], row["task_ids"]) for row in rows] == [
        ("task.completed", [first.id]),
        ("task.running", [second.id]),
    ]
    assert len({row["xid"] for row in rows}) == 1


async def test_a_head_that_has_to_wait_is_not_overtaken_by_what_stands_behind_it(bench: Workbench) -> None:
    # Its retry is not due before this test is over, however slow the machine.
    first = await bench.a_running_task(document_id="contract", max_retries=3, retry={"initial_seconds": 3_600})
    behind = await bench.a_task(document_id="contract")
    finished = Finished()
    async with a_settler(bench, finished) as settler:
        settler.add(first, Failed(Failure(FailureKind.ERROR, "not yet")))

        await finished.all(first)

    assert finished.followed_by == []
    assert await bench.state(first) is TaskState.RETRYING
    assert await bench.state(behind) is TaskState.QUEUED


async def test_what_followed_is_found_again_when_the_answer_to_its_commit_was_lost(
    bench: Workbench, proxy: FaultProxy, through_proxy: Workbench
) -> None:
    earlier, later = [await through_proxy.a_task(document_id="contract") for _ in range(2)]
    last = await through_proxy.a_task(document_id="contract")
    running = await through_proxy.claim_next(earlier)
    finished = Finished()
    async with a_settler(through_proxy, finished) as settler:
        # The statement is known on its connection now, so that the next reply is the one to its commit.
        settler.add(running, Succeeded(None))
        await finished.all(running)
        (following,) = finished.followed_by
        proxy.cut_after(Direction.REPLIES, 1)
        settler.add(following, Succeeded(None))

        async def is_claimed() -> bool:
            return await bench.state(last) is TaskState.RUNNING

        await eventually(is_claimed)
        await proxy.heal()
        await finished.all(following)

    found = await through_proxy.worker.desk.claim([])
    assert following.id == later.id
    assert [task.id for task in found] == [last.id]
    assert await settlements_of(bench, following) == 1


async def test_an_empty_lane_is_given_back(bench: Workbench) -> None:
    task = await bench.a_running_task(document_id="contract")
    finished = Finished()
    async with a_settler(bench, finished) as settler:
        settler.add(task, Succeeded(None))

        await finished.all(task)

    assert bench.worker.desk.holds == []
    assert await bench.redis("EXISTS", "officeplane:doclock:contract") == 0


async def test_while_stopping_no_lane_is_continued_and_the_next_task_is_rung(bench: Workbench) -> None:
    first = await bench.a_running_task(document_id="contract")
    second = await bench.a_task(document_id="contract")
    await bench.hush()
    finished = Finished()
    async with a_settler(bench, finished) as settler:
        settler.may_continue = False
        settler.add(first, Succeeded(None))

        await finished.all(first)

    assert finished.followed_by == []
    assert bench.worker.desk.holds == []
    assert await bench.rung() == [second.id]


async def test_what_is_handed_back_for_another_try_goes_before_what_has_gathered_meanwhile() -> None:
    gathering = Gathering[int]()
    gathering.add([3, 4])

    gathering.add([1, 2], first=True)

    assert await gathering.take() == [1, 2, 3, 4]
