"""Waiting: an announcement makes it quick, the ledger makes it sure."""

import asyncio

import pytest

from officeplane.domain.errors import TaskNotFoundError
from officeplane.domain.ids import TaskId
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task, TaskDetails
from tests.fault_proxy import FaultProxy
from tests.services.conftest import AnotherBench
from tests.support import eventually
from tests.workbench import Workbench

# What comes so late that it cannot have ended a wait, and a look that comes at once.
NEVER, SOON = 600.0, 0.05


async def wait(bench: Workbench, task: Task, seconds: float = NEVER) -> TaskDetails:
    return await bench.runtime.long_poll.wait(LOCAL, task.id, seconds)


async def complete_unheard(bench: Workbench, task: Task) -> None:
    """End a task without anybody saying so."""
    await bench.execute("UPDATE tasks SET state = 'COMPLETED', finished_at = now() WHERE id = $1::uuid", task.id)


async def listening(bench: Workbench) -> None:
    """Return once this plane hears announcements, by waiting for one."""
    task = await bench.a_task()
    while True:
        waiting = asyncio.create_task(wait(bench, task, 0.2))
        await bench.runtime.doorbell.announcements.announce("ended", [task.id])
        started = asyncio.get_running_loop().time()
        await waiting
        if asyncio.get_running_loop().time() - started < 0.15:
            return


async def test_an_announced_end_is_heard_at_once(another_bench: AnotherBench) -> None:
    async with another_bench(poll_seconds=NEVER) as bench:
        await listening(bench)
        task = await bench.a_task()
        running = await bench.claim_next(task)
        waiting = asyncio.create_task(wait(bench, task))

        await bench.complete(running, '"done"')

        async with asyncio.timeout(20):
            assert (await waiting).task.result == "done"


async def test_an_end_in_another_process_is_heard_too(bench: Workbench, another_bench: AnotherBench) -> None:
    async with another_bench(poll_seconds=NEVER) as waiting_process:
        await listening(waiting_process)
        task = await bench.a_task()
        waiting = asyncio.create_task(wait(waiting_process, task))

        await bench.complete(await bench.claim_next(task))

        async with asyncio.timeout(20):
            assert (await waiting).task.state == "COMPLETED"


async def test_an_end_that_was_not_announced_is_found_in_the_ledger(another_bench: AnotherBench) -> None:
    async with another_bench(poll_seconds=SOON) as bench:
        task = await bench.a_task()
        waiting = asyncio.create_task(wait(bench, task))

        await complete_unheard(bench, task)

        async with asyncio.timeout(20):
            assert (await waiting).task.state == "COMPLETED"


async def test_without_redis_the_ledger_is_asked(another_bench: AnotherBench) -> None:
    async with another_bench(redis_url="", poll_seconds=SOON) as bench:
        task = await bench.a_task()
        waiting = asyncio.create_task(wait(bench, task))

        await bench.complete(await bench.claim_next(task))

        async with asyncio.timeout(20):
            assert (await waiting).task.state == "COMPLETED"


async def test_what_ended_while_redis_was_away_is_found_when_it_is_back(
    another_bench: AnotherBench, redis_proxy: FaultProxy, redis_url: str
) -> None:
    async with another_bench(redis_url=redis_proxy.url(redis_url), poll_seconds=NEVER) as bench:
        await listening(bench)
        task = await bench.a_task()
        waiting = asyncio.create_task(wait(bench, task))
        await redis_proxy.refuse()
        await complete_unheard(bench, task)

        await redis_proxy.heal()

        async with asyncio.timeout(20):
            assert (await waiting).task.state == "COMPLETED"


async def test_a_ledger_that_is_away_for_a_moment_does_not_end_the_polling(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    async with another_bench(database_url=postgres_proxy.url(database_url), poll_seconds=SOON) as cut_off:
        task = await cut_off.a_task()
        postgres_proxy.forget()
        waiting = asyncio.create_task(wait(cut_off, task))
        # The waiter has asked for the task once, so the poll has asked for it several times.
        await eventually(lambda: postgres_proxy.count(bytes.fromhex(task.id.replace("-", ""))) >= 4)
        await postgres_proxy.refuse()
        await complete_unheard(bench, task)
        await postgres_proxy.heal()

        async with asyncio.timeout(20):
            assert (await waiting).task.state == "COMPLETED"


async def test_a_task_that_has_ended_is_answered_at_once(another_bench: AnotherBench) -> None:
    async with another_bench(poll_seconds=NEVER) as bench:
        task = await bench.a_task()
        await complete_unheard(bench, task)

        assert (await wait(bench, task, NEVER)).task.state == "COMPLETED"


async def test_when_the_time_is_over_the_task_is_answered_as_it_is(bench: Workbench) -> None:
    task = await bench.a_task()

    assert (await wait(bench, task, 0.01)).task.state == "QUEUED"


async def test_nobody_waits_for_a_task_that_is_not_there(bench: Workbench) -> None:
    with pytest.raises(TaskNotFoundError):
        await bench.runtime.long_poll.wait(LOCAL, TaskId("01890000-0000-7000-8000-000000000000"), 10)


async def test_all_who_wait_for_a_task_are_answered_though_one_has_gone(another_bench: AnotherBench) -> None:
    async with another_bench(poll_seconds=SOON) as bench:
        task, other = await bench.a_task(), await bench.a_task()
        waiting = [asyncio.create_task(wait(bench, task)) for _ in range(5)]
        elsewhere = asyncio.create_task(wait(bench, other))
        await asyncio.sleep(0)
        waiting.pop().cancel()

        await bench.complete(await bench.claim_next(task))

        async with asyncio.timeout(20):
            assert {(await one).task.state for one in waiting} == {"COMPLETED"}
        assert not elsewhere.done()
        elsewhere.cancel()


async def test_a_retried_task_is_waited_for_anew(another_bench: AnotherBench) -> None:
    async with another_bench(poll_seconds=SOON) as bench:
        task = await bench.a_task()
        await bench.exhaust(task)
        assert (await wait(bench, task)).task.state == "FAILED"
        await bench.runtime.reopening.retry(LOCAL, task.id)
        waiting = asyncio.create_task(wait(bench, task))

        await bench.complete(await bench.claim_next(task))

        async with asyncio.timeout(20):
            assert (await waiting).task.state == "COMPLETED"


@pytest.mark.parametrize("ends", ["completed", "cancelled", "failed"])
async def test_a_batch_is_announced_when_it_ends_with_its_children(another_bench: AnotherBench, ends: str) -> None:
    async with another_bench(poll_seconds=NEVER) as bench:
        await listening(bench)
        parent, child, dropped = await bench.a_batch({"task_type": "noop"}, {"task_type": "noop"})
        waiting = [asyncio.create_task(wait(bench, task)) for task in (parent, dropped)]
        await asyncio.sleep(0)

        match ends:
            case "completed":
                await bench.complete(await bench.claim_next(child))
                await bench.complete(await bench.claim_next(dropped))
            case "cancelled":
                await bench.runtime.cancellation.cancel(LOCAL, parent.id, None)
            case _:
                await bench.exhaust(child)

        async with asyncio.timeout(20):
            assert (await waiting[0]).task.state.lower() == ends
            assert (await waiting[1]).task.finished_at is not None
