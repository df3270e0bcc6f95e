"""Claiming without Redis: the same order and exclusion, straight from the ledger."""

import asyncio

import pytest

from officeplane.domain.task import ClaimedTask
from officeplane.services.claims import desk
from tests.agents import agents_tasks
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench


async def claimed_by(worker: Workbench, up_to: int = 10) -> list[ClaimedTask]:
    return await worker.worker.desk.claim_from_ledger(up_to)


async def drained(worker: Workbench, up_to: int = 1) -> list[str]:
    """Claim and complete until nothing is left."""
    order: list[str] = []
    while claimed := await claimed_by(worker, up_to):
        for task in claimed:
            order.append(task.id)
            await worker.complete(task)
    return order


async def test_the_most_urgent_comes_first(polling: Workbench) -> None:
    given = [await polling.a_task(priority=priority) for priority in (50, 90, 0, 20, 70)]

    assert await drained(polling) == [given[at].id for at in (2, 3, 0, 4, 1)]


async def test_a_lane_keeps_its_order_and_its_exclusion(polling: Workbench) -> None:
    tasks = [await polling.a_task(document_id="d") for _ in range(4)]

    (head,) = await claimed_by(polling)
    assert head.id == tasks[0].id
    assert await claimed_by(polling) == []
    assert await claimed_by(polling.another_worker()) == []

    await polling.complete(head)
    assert await drained(polling) == [task.id for task in tasks[1:]]


async def test_no_more_is_claimed_than_asked_for(polling: Workbench) -> None:
    for number in range(5):
        await polling.a_task(document_id=f"d{number}")
        await polling.a_task()

    assert len(await claimed_by(polling, 3)) == 3


async def test_what_is_not_due_is_not_claimed(polling: Workbench) -> None:
    await polling.a_task(run_at="2999-01-01T00:00:00Z")
    await polling.a_task(document_id="d", run_at="2999-01-01T00:00:00Z")
    (failing,) = await polling.claim(await polling.a_task())
    await polling.fail(failing)

    assert await claimed_by(polling) == []


async def test_a_head_that_yields_lets_the_next_pass(polling: Workbench) -> None:
    head, behind = await polling.a_task(document_id="d", on_retry="yield"), await polling.a_task(document_id="d")
    await polling.fail(await polling.claim_next(head))

    assert await drained(polling) == [behind.id]


async def test_a_deep_lane_does_not_hide_the_others(polling: Workbench) -> None:
    deep = await polling.a_deep_lane("deep", desk.LANES_PER_POLL + 50, priority="CRITICAL")
    other, free = await polling.a_task(document_id="other", priority="LOW"), await polling.a_task(priority="LOW")

    claimed = await claimed_by(polling, 5)

    assert [task.id for task in claimed if task.document_id == "deep"] == [deep[0]]
    assert {other.id, free.id} <= {task.id for task in claimed}


async def test_a_deep_lane_that_is_occupied_does_not_hide_the_others(polling: Workbench) -> None:
    await polling.a_deep_lane("deep", desk.LANES_PER_POLL + 50, priority="CRITICAL")
    await claimed_by(polling.another_worker(), 1)
    other = await polling.a_task(document_id="other", priority="LOW")

    assert [task.id for task in await claimed_by(polling, 1)] == [other.id]


async def test_a_lane_blocked_by_its_retry_does_not_hide_the_others(polling: Workbench) -> None:
    head = await polling.a_task(document_id="blocked", priority="CRITICAL")
    await polling.fail(await polling.claim_next(head))
    await polling.a_task(document_id="blocked", priority="CRITICAL")
    other = await polling.a_task(document_id="other", priority="LOW")

    assert [task.id for task in await claimed_by(polling, 1)] == [other.id]


async def test_tasks_of_types_this_worker_does_not_know_do_not_hide_the_others(
    polling: Workbench, another_bench: AnotherBench
) -> None:
    for number in range(3):
        await polling.a_task("test.patient", priority="CRITICAL")
        await polling.a_task("test.patient", document_id=f"d{number}", priority="CRITICAL")
        await polling.a_task(document_id=f"d{number}", priority="CRITICAL")
    known = await polling.a_task(priority="LOW")

    async with another_bench(redis_url="", handlers=()) as ignorant:
        assert [task.id for task in await claimed_by(ignorant, 1)] == [known.id]


async def test_suspects_that_must_wait_do_not_hide_the_others(polling: Workbench) -> None:
    for _ in range(3):
        await polling.a_task(priority="CRITICAL")
    await polling.execute("UPDATE tasks SET suspect = true")
    innocent = await polling.a_task(priority="LOW")
    (suspect,) = await claimed_by(polling, 1)
    assert suspect.suspect

    assert [task.id for task in await claimed_by(polling, 1)] == [innocent.id]


async def test_every_lane_gets_its_turn_round_by_round(polling: Workbench) -> None:
    await polling.execute(
        "INSERT INTO tasks (id, task_type, document_id, payload, state, priority, rank, runnable, yields, blockers, "
        "run_at, max_retries, timeout_seconds, created_at, queued_at, rung_at, rung_tier) "
        "SELECT gen_random_uuid(), 'noop', 'lane ' || n, '{}', 'QUEUED', 50, n, true, false, 0, now(), 3, 600, "
        "now(), now(), now(), 2 FROM generate_series(1, $1::integer) AS n",
        2 * desk.LANES_PER_POLL + 10,
    )
    seen: set[str | None] = set()

    for _ in range(4):
        seen |= {task.document_id for task in await claimed_by(polling, 3_000)}

    assert len(seen) == 2 * desk.LANES_PER_POLL + 10


async def test_workers_with_and_without_redis_share_a_lane_safely(bench: Workbench, polling: Workbench) -> None:
    tasks = [await bench.a_task(document_id="d") for _ in range(20)]
    order: list[str] = []

    async def work(worker: Workbench) -> None:
        for task in [*await worker.claim(*tasks), *await claimed_by(worker)]:
            order.append(task.id)
            await worker.complete(task)

    while len(order) < len(tasks):
        await asyncio.gather(work(bench), work(polling), work(polling.another_worker()))

    assert order == [task.id for task in tasks]


async def test_a_deep_lane_that_is_occupied_does_not_hide_tasks_without_a_document(polling: Workbench) -> None:
    await polling.a_deep_lane("deep", desk.LANES_PER_POLL + 50)
    await claimed_by(polling.another_worker(), 1)
    free = await polling.a_task()

    assert [task.id for task in await claimed_by(polling, 1)] == [free.id]


async def test_a_thousand_lanes_in_which_nothing_can_be_done_do_not_hide_the_next(
    polling: Workbench, another_bench: AnotherBench
) -> None:
    unknown = [{"task_type": "test.patient", "document_id": f"a{n}"} for n in range(desk.LANES_PER_POLL)]
    await polling.submit_many(unknown)
    known = await polling.a_task(document_id="z")

    async with another_bench(redis_url="", handlers=()) as ignorant:
        found = [*await claimed_by(ignorant, 1), *await claimed_by(ignorant, 1)]

    assert [task.id for task in found] == [known.id]


async def test_what_agents_do_leaves_room_for_what_is_urgent(
    polling: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "LANES_PER_POLL", 2)
    for _ in range(3):
        await polling.a_task(priority=50)
    await agents_tasks(polling, 5, priority=0)
    urgent = await polling.a_task(priority=5)

    assert [task.id for task in await claimed_by(polling, 1)] == [urgent.id]
