"""The loop: slots are kept filled, by Redis while it is there, from the ledger at once when it is not."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from officeplane.domain.ids import TaskId
from officeplane.domain.task import ClaimedTask
from tests.fault_proxy import FaultProxy, fault_proxy
from tests.support import deadline_watch, eventually, stopwatch
from tests.workbench import Workbench, open_workbench
from tests.workers.hosting import QUICK
from workers.loop import Loop
from workers.slots import Slots

FOR_EVER = 3600.0


@dataclass
class Hands:
    """A loop, its slots, and what it has started."""

    loop: Loop
    slots: Slots
    running: asyncio.Task[None]
    started: list[TaskId] = field(default_factory=list[TaskId])

    async def has_started(self, *task_ids: TaskId, within: float = 20) -> None:
        """Return once these are started."""
        await eventually(lambda: set(self.started) >= set(task_ids), within=within, what="the start of these tasks")


@asynccontextmanager
async def a_loop(
    hands: Workbench,
    *,
    slots: int = 3,
    poll_seconds: float = FOR_EVER,
    look_seconds: float = FOR_EVER,
    keeps_slots: bool = True,
) -> AsyncGenerator[Hands, None]:
    """Run a loop whose attempts never end, or at once."""
    places, started = Slots(slots), list[TaskId]()

    def start(task: ClaimedTask) -> None:
        started.append(task.id)
        if not keeps_slots:
            places.release()

    loop = Loop(
        hands.runtime.doorbell,
        hands.worker.desk,
        places,
        start,
        poll_seconds=poll_seconds,
        look_seconds=look_seconds,
    )
    watching = asyncio.create_task(loop.watch_redis())
    running = asyncio.create_task(loop.run())
    try:
        yield Hands(loop, places, running, started)
    finally:
        loop.stop()
        watching.cancel()
        # A loop that waits for Redis to come back waits as long as it may; the tests have it wait for ever.
        running.cancel()
        await asyncio.wait({running, watching})


@pytest.fixture
async def redis_proxy(redis_url: str) -> AsyncIterator[FaultProxy]:
    async with fault_proxy(redis_url) as opened:
        yield opened


@pytest.fixture
async def database_proxy(database_url: str) -> AsyncIterator[FaultProxy]:
    async with fault_proxy(database_url) as opened:
        yield opened


@pytest.fixture
async def hands(bench: Workbench, database_proxy: FaultProxy, redis_proxy: FaultProxy) -> AsyncIterator[Workbench]:
    """A worker's hands, with a proxy before each server."""
    known = bench.runtime.settings
    urls = database_proxy.url(known.database_url), redis_proxy.url(known.redis_url)
    async with open_workbench(*urls, **QUICK) as workbench:
        yield workbench


@pytest.fixture
async def unheard(bench: Workbench) -> AsyncIterator[Workbench]:
    """Hands that ring no bell for what they submit."""
    async with open_workbench(bench.runtime.settings.database_url, "", **QUICK) as workbench:
        yield workbench


async def test_a_task_is_started_when_its_bell_rings(bench: Workbench, hands: Workbench) -> None:
    async with a_loop(hands) as loop:
        task = await bench.a_task()

        await loop.has_started(task.id)


async def test_no_more_is_taken_than_there_are_slots(bench: Workbench, hands: Workbench) -> None:
    tasks = [await bench.a_task() for _ in range(5)]
    async with a_loop(hands, slots=2) as loop:
        await eventually(lambda: len(loop.started) == 2)
        # Which of them first is not said: two rounds claim at once.
        assert set(loop.started) == {task.id for task in tasks[:2]}

        loop.slots.release()

        await loop.has_started(tasks[2].id)
        assert len(await bench.rung()) == 2


async def test_a_task_whose_hints_always_go_to_workers_that_do_not_know_its_type_is_found(
    bench: Workbench, hands: Workbench
) -> None:
    task = await bench.a_task()
    assert await bench.runtime.doorbell.bells.take(1) == [task.id]  # by one that cannot use it

    async with a_loop(hands, look_seconds=0) as loop:
        await loop.has_started(task.id)


async def test_while_one_half_of_the_slots_is_being_claimed_the_other_takes(
    bench: Workbench, hands: Workbench, redis_proxy: FaultProxy, database_proxy: FaultProxy
) -> None:
    for _ in range(6):
        await bench.a_task()
    await hands.execute("SELECT 1")
    database_proxy.hold()
    async with a_loop(hands, slots=6):

        async def all_are_taken() -> bool:
            return not await bench.rung()

        await eventually(all_are_taken)
        assert redis_proxy.count(b"\r\nBRPOP\r\n") == 2
        await database_proxy.heal()


async def test_hints_that_reach_a_stopping_worker_go_back_to_their_list(
    bench: Workbench, hands: Workbench, redis_proxy: FaultProxy
) -> None:
    async with a_loop(hands) as loop:
        await redis_proxy.passed(b"BRPOP")  # it waits in there for a second, and is never cancelled
        loop.loop.stop()
        task = await bench.a_task(priority="HIGH")

        await asyncio.wait_for(loop.running, 20)

        assert loop.started == []
        assert await bench.rung() == [task.id]
        assert await bench.redis("LRANGE", "officeplane:high", "0", "-1") == [task.id]


async def test_a_take_that_fails_is_followed_by_a_look_at_the_ledger_at_once(
    unheard: Workbench, hands: Workbench, redis_proxy: FaultProxy
) -> None:
    task = await unheard.a_task()
    async with a_loop(hands) as loop:
        await redis_proxy.passed(b"BRPOP")
        assert loop.started == []

        with stopwatch() as seconds:
            await redis_proxy.refuse()
            await loop.has_started(task.id)

            # It would never be, were it left to the next time to poll.
            assert seconds() < 1


async def test_a_take_that_is_overdue_is_followed_by_a_look_at_the_ledger_at_once(
    unheard: Workbench, hands: Workbench, redis_proxy: FaultProxy
) -> None:
    task = await unheard.a_task()
    async with a_loop(hands) as loop:
        await redis_proxy.passed(b"BRPOP")
        assert loop.started == []

        with deadline_watch() as seconds:
            redis_proxy.hold()
            await loop.has_started(task.id)

            assert seconds() < 5


async def test_without_redis_the_ledger_is_asked_again_at_once_while_there_is_more(
    bench: Workbench, hands: Workbench, redis_proxy: FaultProxy
) -> None:
    await redis_proxy.refuse()
    tasks = [await bench.a_task(document_id=f"d{n % 4}") for n in range(4)] + [await bench.a_task() for _ in range(8)]

    async with a_loop(hands, slots=2, keeps_slots=False) as loop:
        await loop.has_started(*(task.id for task in tasks))


async def test_without_redis_new_work_is_found_within_the_polling_time(
    bench: Workbench, hands: Workbench, redis_proxy: FaultProxy
) -> None:
    await redis_proxy.refuse()
    async with a_loop(hands, poll_seconds=0.2) as loop:
        await eventually(lambda: not hands.runtime.doorbell.availability.available)
        with stopwatch() as seconds:
            task = await bench.a_task()
            await loop.has_started(task.id)

            # A fifth of a second, and what a busy machine takes for a claim; by itself it would wait for ever.
            assert seconds() < 2


async def test_the_bells_are_listened_to_again_when_redis_is_back(
    bench: Workbench, hands: Workbench, redis_proxy: FaultProxy
) -> None:
    await redis_proxy.refuse()
    async with a_loop(hands) as loop:
        await eventually(lambda: not hands.runtime.doorbell.availability.available)
        await redis_proxy.heal()

        with stopwatch() as seconds:
            await redis_proxy.passed(b"BRPOP")

            assert seconds() < 2
        task = await bench.a_task()
        await loop.has_started(task.id)


async def test_hints_that_cannot_be_claimed_go_back_while_postgres_is_away(
    bench: Workbench, hands: Workbench, database_proxy: FaultProxy, redis_proxy: FaultProxy
) -> None:
    async with a_loop(hands) as loop:
        await redis_proxy.passed(b"BRPOP")
        await database_proxy.refuse()
        task = await bench.a_task()
        await redis_proxy.passed(b"RPUSH")
        assert loop.started == []

        await database_proxy.heal()

        await loop.has_started(task.id)


async def test_a_loop_that_was_stopped_ends_within_a_second_or_so(hands: Workbench, redis_proxy: FaultProxy) -> None:
    async with a_loop(hands) as loop:
        await redis_proxy.passed(b"BRPOP")

        with stopwatch() as seconds:
            loop.loop.stop()
            await asyncio.wait_for(loop.running, 20)

            assert seconds() < 3


async def test_a_loop_without_redis_ends_at_once_when_it_is_stopped(hands: Workbench, redis_proxy: FaultProxy) -> None:
    await redis_proxy.refuse()
    async with a_loop(hands, poll_seconds=30) as loop:
        await eventually(lambda: not hands.runtime.doorbell.availability.available)

        with stopwatch() as seconds:
            loop.loop.stop()
            await asyncio.wait_for(loop.running, 20)

            assert seconds() < 1.5
