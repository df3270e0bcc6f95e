"""Promotion: scheduled tasks are queued when their time comes, and due retries are rung."""

import asyncio

from tests.workbench import Workbench

LATER = "2999-01-01T00:00:00Z"


async def in_seconds(bench: Workbench, seconds: float) -> None:
    """Let whatever is scheduled be due that long from now."""
    await bench.execute(
        "UPDATE tasks SET run_at = now() + make_interval(secs => $1::float8) WHERE state IN ('PENDING', 'RETRYING')",
        seconds,
    )


async def test_with_nothing_scheduled_there_is_no_next_time(bench: Workbench) -> None:
    await bench.a_task()

    assert await bench.worker.redelivery.promote() is None


async def test_a_task_whose_time_has_come_is_queued_and_rung(bench: Workbench) -> None:
    task = await bench.a_task(run_at=LATER, priority="HIGH")
    assert await bench.rung() == []

    await bench.make_due()
    await bench.worker.redelivery.promote()

    now = (await bench.details(task.id)).task
    assert now.state == "QUEUED"
    assert now.queued_at is not None
    assert await bench.redis("LRANGE", "officeplane:high", "0", "-1") == [task.id]
    assert await bench.events(task) == ["task.pending", "task.queued"]


async def test_what_is_not_due_stays_and_the_wait_for_it_is_told(bench: Workbench) -> None:
    task = await bench.a_task(run_at=LATER)
    await in_seconds(bench, 700)

    until_next = await bench.worker.redelivery.promote()

    assert until_next is not None
    assert 690 < until_next <= 700
    assert await bench.states(task) == ["PENDING"]


async def test_after_a_promotion_the_next_look_is_due_at_once(bench: Workbench) -> None:
    await bench.a_task(run_at=LATER)
    await bench.make_due()

    assert await bench.worker.redelivery.promote() == 0
    assert await bench.worker.redelivery.promote() is None


async def test_a_retry_that_is_due_is_rung_once(bench: Workbench) -> None:
    task = await bench.a_task(retry={"strategy": "fixed", "initial_seconds": 500})
    await bench.fail(await bench.claim_next(task))
    await bench.hush()
    until_due = await bench.worker.redelivery.promote()
    assert until_due is not None
    assert 490 < until_due <= 525

    await bench.make_due()
    await bench.worker.redelivery.promote()
    await bench.worker.redelivery.promote()

    assert await bench.rung() == [task.id]
    assert await bench.states(task) == ["RETRYING"]


async def test_a_child_whose_turn_has_not_come_is_not_promoted(bench: Workbench) -> None:
    _, _, second = await bench.a_batch({"task_type": "noop"}, {"task_type": "noop", "run_at": LATER})

    await bench.make_due()
    await bench.worker.redelivery.promote()

    assert await bench.states(second) == ["PENDING"]


async def test_two_promoters_at_once_queue_each_task_once(bench: Workbench) -> None:
    tasks = [await bench.a_task(run_at=LATER) for _ in range(30)]
    await bench.make_due()

    await asyncio.gather(bench.worker.redelivery.promote(), bench.another_worker().worker.redelivery.promote())

    assert sorted(await bench.rung()) == sorted(task.id for task in tasks)
    assert (await bench.events(*tasks)).count("task.queued") == 30


async def test_a_task_scheduled_for_the_past_is_queued_at_once(bench: Workbench) -> None:
    task = await bench.a_task(run_at="2001-01-01T00:00:00Z")

    assert await bench.states(task) == ["QUEUED"]
    assert await bench.rung() == [task.id]
