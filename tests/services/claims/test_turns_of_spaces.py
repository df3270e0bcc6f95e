"""Spaces take turns, with Redis and without; nobody's flood hides what others have."""

import pytest

from officeplane.domain.priority import Tier
from officeplane.domain.space import DEFAULT, Space
from officeplane.domain.task import Task
from officeplane.services.claims import desk
from tests.callers import a_caller
from tests.workbench import Workbench

ACME, EVIL = Space("acme"), Space("evil")


async def a_task_of(bench: Workbench, space: Space, **options: object) -> Task:
    (task,) = await bench.submit({"task_type": "noop", **options}, a_caller(space=space))
    return task


async def test_what_is_submitted_in_a_space_is_rung_on_its_list(bench: Workbench) -> None:
    free = await a_task_of(bench, ACME, priority="HIGH")
    in_lane = await a_task_of(bench, ACME, document_id="d")
    own = await bench.a_task(document_id="d")

    tails = await bench.runtime.doorbell.bells.tails()

    assert {place: hints for place, hints in tails.items() if hints} == {
        (ACME, Tier.HIGH): [free.id],
        (ACME, Tier.NORMAL): [in_lane.id],
        (DEFAULT, Tier.NORMAL): [own.id],
    }


async def test_what_a_batch_and_a_retry_make_ready_is_rung_for_their_space(bench: Workbench) -> None:
    children = [{"task_type": "noop", "key": "a"}, {"task_type": "noop", "key": "b"}]
    batch = await bench.submit({"children": children, "document_id": "d"}, a_caller(space=ACME))
    failing = await a_task_of(bench, EVIL, retry={"strategy": "immediate"})
    bells = bench.runtime.doorbell.bells
    await bells.take(10)

    await bench.complete(await bench.claim_next(batch[1]))
    await bench.fail(await bench.claim_next(failing))

    tails = await bells.tails()
    assert tails[ACME, Tier.NORMAL][-1] == batch[2].id
    assert tails[EVIL, Tier.NORMAL] == [failing.id]
    assert tails[DEFAULT, Tier.NORMAL] == []


async def test_hints_parked_behind_a_lock_return_to_the_list_of_their_space(bench: Workbench) -> None:
    running = await bench.claim_next(await a_task_of(bench, ACME, document_id="d"))
    waiting = await a_task_of(bench, ACME, document_id="d")
    bells = bench.runtime.doorbell.bells
    await bells.take(10)
    assert await bench.claim(waiting) == []

    await bench.complete(running)

    assert set(await bells.take(10)) == {waiting.id}


async def test_the_sweeper_mends_what_was_lost_of_a_space(bench: Workbench) -> None:
    kept, lost = await a_task_of(bench, ACME), await a_task_of(bench, EVIL, document_id="d")
    keys = bench.runtime.doorbell.connection.keys
    await bench.redis("LREM", keys.turns[Tier.NORMAL], "0", keys.hint_list(Tier.NORMAL, EVIL))
    await bench.let_rings_age()

    assert await bench.worker.redelivery.sweep() == 1

    # Its list was still there, and is found again with the turn.
    assert await bench.runtime.doorbell.bells.take(10) == [kept.id, lost.id, lost.id]


async def test_the_sweeper_leaves_alone_what_waits_for_the_turn_of_its_space(bench: Workbench) -> None:
    for space in (ACME, EVIL, DEFAULT):
        await a_task_of(bench, space)
        await a_task_of(bench, space, priority="LOW", document_id="d")
    await bench.let_rings_age()

    assert await bench.worker.redelivery.sweep() == 0


async def test_a_hint_of_a_space_that_was_popped_and_lost_is_rung_again(bench: Workbench) -> None:
    lost, waiting = await a_task_of(bench, ACME), await a_task_of(bench, ACME)
    assert await bench.runtime.doorbell.bells.take(1) == [lost.id]
    await bench.let_rings_age()

    assert await bench.worker.redelivery.sweep() == 1

    assert (await bench.runtime.doorbell.bells.tails())[ACME, Tier.NORMAL] == [waiting.id, lost.id]


async def test_what_a_valve_lets_go_is_rung_for_its_space(bench: Workbench) -> None:
    waiting = await a_task_of(bench, ACME)
    await bench.runtime.valves.resume_type(a_caller(space=ACME), "noop")

    tails = await bench.runtime.doorbell.bells.tails()

    assert tails[ACME, Tier.NORMAL] == [waiting.id, waiting.id]
    assert tails[DEFAULT, Tier.NORMAL] == []


@pytest.mark.parametrize("flooder", [DEFAULT, EVIL])
@pytest.mark.parametrize("documents", [True, False])
async def test_without_redis_no_flood_hides_another_space(
    bench: Workbench, flooder: Space, documents: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "LANES_PER_POLL", 10)
    for number in range(30):
        await a_task_of(bench, flooder, **({"document_id": f"d{number}"} if documents else {}))
    options = {"document_id": "z"} if documents else {}
    mine = [await a_task_of(bench, space, **options) for space in (ACME, EVIL, DEFAULT) if space != flooder]

    claimed = await bench.worker.desk.claim_from_ledger(6)

    assert {task.id for task in mine} <= {task.id for task in claimed}
    assert len(claimed) == 6


async def test_without_redis_one_space_is_served_in_the_order_of_ranks(bench: Workbench) -> None:
    tasks = [await bench.a_task(priority=priority) for priority in (90, 50, 0, 60, 20)]

    claimed = await bench.worker.desk.claim_from_ledger(3)

    assert {task.id for task in claimed} == {tasks[number].id for number in (2, 4, 1)}
