"""Lanes: a worker stays in one for a while, then others get a turn."""

import pytest

from officeplane.dispatch.locks import Hold
from officeplane.domain.ids import DocumentId
from officeplane.domain.outcome import Succeeded
from officeplane.domain.task import ClaimedTask
from officeplane.services.claims.lanes import HOLD_SECONDS_MAX, HOLD_TASKS_MAX, LaneStay
from officeplane.services.settle.judgement import EndedAttempt
from tests.workbench import Workbench

LANE = DocumentId("d")


async def settled(bench: Workbench, task: ClaimedTask) -> ClaimedTask | None:
    """End an attempt as the settler does, and return what follows it in its lane."""
    await bench.settle_together([EndedAttempt(task, Succeeded(None))])
    following = await bench.worker.desk.continue_lanes([LANE])
    return following[0] if following else None


async def lock(bench: Workbench) -> str | None:
    (value,) = await bench.runtime.doorbell.locks.holders([LANE])
    return value


async def test_a_lane_goes_on_under_the_same_hold(bench: Workbench) -> None:
    first, second = [await bench.a_task(document_id=LANE) for _ in range(2)]
    running = await bench.claim_next(first)

    following = await settled(bench, running)

    assert following is not None
    assert (following.id, following.hold_id) == (second.id, running.hold_id)
    assert following.claim_id != running.claim_id
    assert await lock(bench) == f"{bench.worker.worker_id}:{running.hold_id}"


async def test_a_more_urgent_arrival_follows_first(bench: Workbench) -> None:
    running = await bench.a_running_task(document_id=LANE)
    await bench.a_task(document_id=LANE)
    urgent = await bench.a_task(document_id=LANE, priority="CRITICAL")

    following = await settled(bench, running)

    assert following is not None
    assert following.id == urgent.id


async def test_an_empty_lane_is_given_back(bench: Workbench) -> None:
    running = await bench.a_running_task(document_id=LANE)

    assert await settled(bench, running) is None

    assert await lock(bench) is None
    assert bench.worker.desk.holds == []


async def test_a_lane_is_held_for_thirty_two_tasks_and_then_rung_again(bench: Workbench) -> None:
    tasks = [await bench.a_task(document_id=LANE) for _ in range(HOLD_TASKS_MAX + 1)]
    following: ClaimedTask | None = await bench.claim_next(tasks[0])
    await bench.hush()
    ended = 0

    while following is not None:
        following = await settled(bench, following)
        ended += 1

    assert ended == HOLD_TASKS_MAX == 32
    assert await lock(bench) is None
    assert set(await bench.rung()) == {tasks[-1].id}


@pytest.mark.parametrize(("seconds", "may"), [(HOLD_SECONDS_MAX - 0.1, True), (HOLD_SECONDS_MAX, False)])
def test_a_lane_is_held_for_five_seconds(seconds: float, may: bool) -> None:
    lane = LaneStay(Hold(LANE, "worker", "hold"), is_locked=True, since=100.0)

    assert HOLD_SECONDS_MAX == 5
    assert lane.may_continue(100.0 + seconds) is may


async def test_a_lane_left_is_rung_even_if_its_lock_was_lost(bench: Workbench) -> None:
    first, second = [await bench.a_task(document_id=LANE) for _ in range(2)]
    running = await bench.claim_next(first)
    await bench.redis("FLUSHDB")

    await bench.complete(running)

    assert await bench.rung() == [second.id]


async def test_a_lane_left_does_not_take_away_anothers_lock(bench: Workbench) -> None:
    running = await bench.a_running_task(document_id=LANE)
    await bench.redis("SET", "officeplane:doclock:d", "other:hold", "PX", "60000")

    await bench.complete(running)

    assert await lock(bench) == "other:hold"


async def test_a_lane_that_is_blocked_by_its_retry_is_given_back_and_not_rung(bench: Workbench) -> None:
    head = await bench.a_task(document_id=LANE)
    await bench.a_task(document_id=LANE)
    running = await bench.claim_next(head)
    await bench.hush()

    await bench.fail(running)

    assert await lock(bench) is None
    assert await bench.rung() == []


async def test_leaving_a_lane_that_is_not_held_is_nothing(bench: Workbench) -> None:
    await bench.a_task(document_id=LANE)
    await bench.hush()

    await bench.worker.desk.leave_lanes([LANE])

    assert await bench.worker.desk.continue_lanes([LANE]) == []
    assert await bench.rung() == []
