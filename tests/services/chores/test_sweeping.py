"""Sweeping: what Redis does not know is rung again, and locks without a holder are freed."""

import asyncio

import pytest

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.domain.principal import LOCAL
from officeplane.services.chores import redelivery
from tests.fault_proxy import Direction, FaultProxy
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

LOCK, PARKED = "officeplane:doclock:d", "officeplane:parked:d"


async def sweep(bench: Workbench) -> int:
    return await bench.worker.redelivery.sweep()


async def test_with_nothing_to_do_nothing_is_rung(bench: Workbench) -> None:
    assert await sweep(bench) == 0


async def test_a_push_that_was_lost_is_made_up_for(bench: Workbench) -> None:
    free, in_lane = await bench.a_task(), await bench.a_task(document_id="d")
    await bench.hush()
    await bench.let_rings_age()

    assert await sweep(bench) == 2

    assert sorted(await bench.rung()) == sorted([free.id, in_lane.id])


async def test_a_hint_that_was_popped_and_lost_is_rung_again(bench: Workbench) -> None:
    lost, waiting = await bench.a_task(), await bench.a_task()
    assert await bench.runtime.doorbell.bells.take(1) == [lost.id]
    await bench.let_rings_age()

    assert await sweep(bench) == 1

    assert await bench.rung() == [waiting.id, lost.id]


async def test_a_hint_that_may_be_on_its_way_is_left_alone(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redelivery, "GRACE_SECONDS", 60.0)
    await bench.a_task()
    await bench.hush()

    assert await sweep(bench) == 0


async def test_what_waits_on_its_list_is_not_rung_again_however_old(bench: Workbench) -> None:
    tasks = [await bench.a_task(priority=priority) for priority in (0, 20, 50, 50, 90)]
    tasks += [await bench.a_task(document_id="d") for _ in range(3)]
    before = await bench.rung()
    await bench.let_rings_age()

    assert await sweep(bench) == 0

    assert await bench.rung() == before


async def test_what_was_just_rung_is_not_rung_again(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    # Less than the age that rings are given here, and more than the test takes.
    monkeypatch.setattr(redelivery, "GRACE_SECONDS", 9.0)
    for number in range(20):
        await bench.a_task(**({"document_id": f"d{number}"} if number % 2 else {}))
    await bench.hush()
    await bench.let_rings_age()
    assert await sweep(bench) == 20

    assert await sweep(bench) == 0
    await bench.hush()
    assert await sweep(bench) == 0


async def test_a_redis_that_lost_everything_is_told_everything_in_bounded_portions(bench: Workbench) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * (redelivery.RINGS_AT_ONCE + 500))
    await bench.redis("FLUSHALL")
    await bench.let_rings_age()

    assert await sweep(bench) == redelivery.RINGS_AT_ONCE == 5_000
    assert await sweep(bench) == 500
    assert await sweep(bench) == 0

    assert sorted(await bench.rung()) == sorted(task.id for task in tasks)


async def test_garbage_on_one_list_keeps_nobody_from_being_rung_on_another(bench: Workbench) -> None:
    lost = await bench.a_task()
    await bench.hush()
    await bench.redis("RPUSH", "officeplane:critical", "{}", "garbage")
    await bench.let_rings_age()

    assert await sweep(bench) == 1

    await bench.redis("DEL", "officeplane:critical")
    assert await bench.rung() == [lost.id]


async def test_of_each_lane_only_the_head_is_rung(bench: Workbench) -> None:
    heads = [await bench.a_task(document_id=f"d{number}") for number in range(20)]
    for head in heads:
        await bench.a_task(document_id=str(head.document_id))
    await bench.redis("FLUSHALL")
    await bench.let_rings_age()

    assert await sweep(bench) == 20

    assert sorted(await bench.rung()) == sorted(head.id for head in heads)


async def work_that_nobody_knows(bench: Workbench) -> list[str]:
    """Let tasks wait whose handler was taken away: one without a document, one in a lane, one that has aged."""
    free, in_lane = await bench.a_task(), await bench.a_task(document_id="d")
    aged = await bench.a_task(priority="LOW")
    await bench.execute("UPDATE tasks SET task_type = 'nobody.knows'")
    await bench.execute("UPDATE tasks SET rank = rank - 100 WHERE id = $1", aged.id)
    await bench.hush()
    await bench.let_rings_age()
    return sorted([free.id, in_lane.id, aged.id])


async def test_work_that_no_live_worker_can_take_is_not_rung(bench: Workbench) -> None:
    await work_that_nobody_knows(bench)
    gone = bench.another_worker()
    await gone.beat(task_types=["nobody.knows"])
    await bench.execute("UPDATE workers SET last_seen_at = now() - interval '1 hour'")
    known = await bench.a_task()
    await bench.hush()
    await bench.let_rings_age()

    assert await sweep(bench) == 1

    assert await bench.rung() == [known.id]


async def test_a_worker_that_comes_up_with_a_new_type_gets_its_work_with_the_next_sweep(bench: Workbench) -> None:
    waiting = await work_that_nobody_knows(bench)
    assert await sweep(bench) == 0

    await bench.another_worker().beat(task_types=["nobody.knows"])

    assert await sweep(bench) == len(waiting)
    assert sorted(await bench.rung()) == waiting


async def test_an_occupied_lane_is_not_rung(bench: Workbench) -> None:
    first, second = await bench.a_task(document_id="d"), await bench.a_task(document_id="d")
    await bench.claim(first)
    await bench.hush()
    await bench.let_rings_age()

    assert await sweep(bench) == 0

    assert await bench.states(second) == ["QUEUED"]


@pytest.mark.parametrize("on_retry", ["block", "yield"])
async def test_a_lane_whose_head_waits_for_its_retry_is_rung_if_it_yields(bench: Workbench, on_retry: str) -> None:
    head, behind = await bench.a_task(document_id="d", on_retry=on_retry), await bench.a_task(document_id="d")
    await bench.fail(await bench.claim_next(head))
    await bench.hush()
    await bench.let_rings_age()

    await sweep(bench)

    assert await bench.rung() == ([behind.id] if on_retry == "yield" else [])


async def test_what_another_is_writing_is_left_to_the_next_sweep(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.hush()
    await bench.let_rings_age()
    async with bench.runtime.ledger.transaction() as connection:
        await connection.fetch("SELECT FROM tasks FOR UPDATE")

        assert await sweep(bench) == 0

    assert await sweep(bench) == 1
    assert await bench.rung() == [task.id]


async def test_aged_work_moves_to_the_more_urgent_list_once(bench: Workbench) -> None:
    task = await bench.a_task(priority="LOW")
    # 70 becomes 59 after 110 minutes.
    await bench.execute("UPDATE tasks SET rank = rank - 0.1 * 111")

    assert await sweep(bench) == 1
    assert await sweep(bench) == 0

    assert await bench.redis("LRANGE", "officeplane:tasks", "0", "-1") == [task.id]


async def test_work_ages_through_every_list_up_to_the_most_urgent(bench: Workbench) -> None:
    await bench.a_task(priority="BACKGROUND", document_id="d")
    await bench.execute("UPDATE tasks SET rank = rank - 0.1 * 1000")

    await sweep(bench)

    assert await bench.redis("LLEN", "officeplane:critical") == 1


async def test_a_tail_of_foreign_ids_says_nothing_and_hides_no_other_list(bench: Workbench) -> None:
    await bench.a_task()
    high = await bench.a_task(priority="HIGH")
    await bench.hush()
    await bench.redis("LPUSH", "officeplane:tasks", "01890000-0000-7000-8000-000000000000")
    await bench.let_rings_age()

    assert await sweep(bench) == 1

    assert high.id in await bench.rung()


async def test_a_ring_that_did_not_get_through_is_made_up_for_later(
    bench: Workbench, another_bench: AnotherBench, redis_proxy: FaultProxy, redis_url: str
) -> None:
    task = await bench.a_task()
    await bench.hush()
    await bench.let_rings_age()
    async with another_bench(redis_url=redis_proxy.url(redis_url)) as cut_off:
        sweeping = asyncio.create_task(sweep(cut_off))
        # The look at the lists has passed; the push will not.
        await redis_proxy.passed(b"LRANGE")
        redis_proxy.drop(Direction.REQUESTS)
        assert await sweeping == 1
    assert await bench.rung() == []
    await bench.let_rings_age()

    assert await sweep(bench) == 1

    assert await bench.rung() == [task.id]


async def test_without_redis_a_sweep_marks_nothing(bench: Workbench, polling: Workbench) -> None:
    task = await bench.a_task()
    await bench.hush()
    await bench.let_rings_age()

    with pytest.raises(RedisUnavailable):
        await sweep(polling)

    assert await sweep(bench) == 1
    assert await bench.rung() == [task.id]


async def test_two_sweeps_at_once_ring_each_task_once(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    # What one has marked the other takes for rung, however far apart the two get.
    monkeypatch.setattr(redelivery, "GRACE_SECONDS", 9.0)
    tasks = [await bench.a_task() for _ in range(50)]
    await bench.hush()
    await bench.let_rings_age()

    rang = await asyncio.gather(sweep(bench), sweep(bench.another_worker()))

    assert sum(rang) == 50
    assert sorted(await bench.rung()) == sorted(task.id for task in tasks)


async def test_a_lock_without_a_holder_is_freed_at_the_second_sweep(bench: Workbench) -> None:
    task = await bench.a_task(document_id="d")
    await bench.hush()
    await bench.redis("SET", LOCK, "dead:hold", "PX", "600000")
    await bench.redis("SET", PARKED, f"2:{task.id}", "PX", "600000")

    await sweep(bench)
    assert await bench.redis("GET", LOCK) == "dead:hold"

    await sweep(bench)
    assert await bench.redis("EXISTS", LOCK, PARKED) == 0
    assert set(await bench.rung()) == {task.id}


async def test_a_lock_that_changed_hands_between_two_sweeps_is_no_orphan(bench: Workbench) -> None:
    await bench.a_task(document_id="d")
    for holder in ("one", "two", "three"):
        await bench.redis("SET", LOCK, f"{holder}:hold", "PX", "600000")

        await sweep(bench)

    assert await bench.redis("GET", LOCK) == "three:hold"


async def test_the_lock_of_a_lane_that_gets_on_is_no_orphan_although_it_is_seen_between_two_tasks(
    bench: Workbench,
) -> None:
    heads = [await bench.a_task(document_id="d") for _ in range(3)]
    await bench.redis("SET", LOCK, "busy:hold", "PX", "600000")
    for head in heads:
        await sweep(bench)

        await bench.runtime.cancellation.cancel(LOCAL, head.id, None)

    assert await bench.redis("GET", LOCK) == "busy:hold"


async def test_the_lock_of_an_occupied_lane_is_no_orphan(bench: Workbench) -> None:
    running = await bench.a_running_task(document_id="d")
    await bench.a_task(document_id="d")

    for _ in range(3):
        await sweep(bench)

    assert await bench.redis("GET", LOCK) == f"{bench.worker.worker_id}:{running.hold_id}"


async def test_the_lock_of_a_lane_without_runnable_work_is_left_to_its_ttl(bench: Workbench) -> None:
    await bench.a_task()
    blocked = await bench.a_task(document_id="d")
    await bench.fail(await bench.claim_next(blocked))
    await bench.redis("SET", LOCK, "other:hold", "PX", "600000")

    for _ in range(3):
        await sweep(bench)

    assert await bench.redis("GET", LOCK) == "other:hold"
