"""Ranking: work whose urgency changes while it waits is moved to its place, and rung there."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from officeplane.domain.ids import TaskId
from officeplane.domain.priority import DEADLINE_URGENCY_MAX, deadline_urgency
from officeplane.domain.task import Task
from officeplane.services.chores import ranks
from tests.workbench import Workbench


def in_minutes(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


async def let_minutes_pass(bench: Workbench, minutes: float) -> None:
    """Make everything be that much older, and every deadline that much nearer."""
    await bench.execute(
        "UPDATE tasks SET created_at = created_at - m.passed, rank = rank - 0.1 * $1::float8,"
        "                 inherited_rank = inherited_rank - 0.1 * $1::float8,"
        "                 deadline = deadline - m.passed, rung_at = rung_at - m.passed"
        "  FROM (SELECT make_interval(secs => $1::float8 * 60) AS passed) m WHERE finished_at IS NULL",
        minutes,
    )


async def rank_anew(bench: Workbench) -> int:
    return await bench.worker.ranks.rank_anew()


async def urgency(bench: Workbench, task: Task) -> float:
    return (await bench.details(task.id)).task.effective_priority(datetime.now(UTC))


async def drain_lane(bench: Workbench, tasks: Sequence[Task]) -> list[TaskId]:
    """Run all tasks of one lane and return their order."""
    order: list[TaskId] = []
    for _ in tasks:
        claimed = await bench.claim_next(tasks[0])
        order.append(claimed.id)
        await bench.complete(claimed)
    return order


async def hints(bench: Workbench, tier: str) -> list[str]:
    reply = await bench.redis("LRANGE", f"officeplane:{tier}", "0", "-1")
    assert isinstance(reply, list)
    return [str(hint) for hint in reply]


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no deadline come nearer while a test lasts: in its last minutes it does so every third of a second."""
    monkeypatch.setattr(ranks, "WORTH_WRITING", 5.0)


async def test_what_is_plain_is_never_ranked_anew(bench: Workbench) -> None:
    task = await bench.a_task(priority="LOW")
    await let_minutes_pass(bench, 60)

    assert await rank_anew(bench) == 0

    assert await urgency(bench, task) == pytest.approx(64, abs=0.1)


@pytest.mark.usefixtures("coarse")
async def test_a_task_is_as_urgent_at_once_as_its_deadline_makes_it(bench: Workbench) -> None:
    task = await bench.a_task(priority="LOW", deadline=in_minutes(30))

    assert task.effective_priority(task.created_at) == pytest.approx(70 - DEADLINE_URGENCY_MAX / 2, abs=0.1)
    assert await hints(bench, "high") == [task.id]
    assert await rank_anew(bench) == 0


async def test_a_deadline_that_comes_nearer_moves_its_task_from_list_to_list(bench: Workbench) -> None:
    began = time.monotonic()
    task = await bench.a_task(priority="LOW", deadline=in_minutes(180))
    assert await hints(bench, "low") == [task.id]

    for minutes, tier in ((75, "tasks"), (55, "high"), (40, "critical")):
        await let_minutes_pass(bench, minutes)
        assert await rank_anew(bench) == 1
        assert await hints(bench, tier) == [task.id]

    def after(seconds: float) -> float:
        return 70 - 17 - seconds / 600 - deadline_urgency(600 - seconds)

    passed = await urgency(bench, task)
    assert after(time.monotonic() - began) - 0.1 <= passed <= after(0) + 0.1


async def test_after_the_deadline_a_task_stays_as_urgent_as_it_was_then(bench: Workbench) -> None:
    task = await bench.a_task(priority="BACKGROUND", deadline=in_minutes(-10_000))

    assert task.effective_priority(task.created_at) == pytest.approx(90 - DEADLINE_URGENCY_MAX)
    assert await hints(bench, "critical") == [task.id]


async def test_an_ageing_of_its_own_takes_a_task_ahead_of_those_that_age_like_all(bench: Workbench) -> None:
    plain = await bench.a_task(document_id="d")
    slow = await bench.a_task(document_id="d", boost_per_minute=0.0)
    quick = await bench.a_task(document_id="d", priority="LOW", boost_per_minute=2.0)
    await let_minutes_pass(bench, 30)

    assert await rank_anew(bench) == 2

    assert [round(await urgency(bench, task)) for task in (quick, plain, slow)] == [10, 47, 50]
    assert await drain_lane(bench, [plain, slow, quick]) == [quick.id, plain.id, slow.id]


async def test_effective_priority_is_what_the_column_orders_by_and_not_computed_beside_it(bench: Workbench) -> None:
    """Trap: an effective priority is computed for people, and the work is ordered by a column that does not know it."""
    given: list[dict[str, Any]] = [
        {"priority": "NORMAL"},
        {"priority": "LOW", "deadline": in_minutes(200)},
        {"priority": "BACKGROUND", "deadline": in_minutes(60)},
        {"priority": "HIGH", "boost_per_minute": 0.0},
        {"priority": "LOW", "boost_per_minute": 1.2},
        {"priority": 35},
    ]
    tasks = [await bench.a_task(document_id="d", **options) for options in given]
    await let_minutes_pass(bench, 50)
    await rank_anew(bench)
    shown = {task.id: await urgency(bench, task) for task in tasks}

    taken = await drain_lane(bench, tasks)

    assert taken == sorted(shown, key=shown.__getitem__)


async def test_who_is_not_due_is_moved_and_not_rung(bench: Workbench) -> None:
    later = await bench.a_task(priority="LOW", deadline=in_minutes(60), run_at=in_minutes(50))
    retrying = await bench.a_task(priority="LOW", deadline=in_minutes(60))
    await bench.fail(await bench.claim_next(retrying))
    await bench.hush()
    await let_minutes_pass(bench, 59)

    assert await rank_anew(bench) == 2

    assert await bench.rung() == []
    await bench.make_due()
    await bench.worker.redelivery.promote()
    assert sorted(await hints(bench, "critical")) == sorted([later.id, retrying.id])


@pytest.mark.usefixtures("coarse")
async def test_two_leaders_at_once_rank_and_ring_once(bench: Workbench) -> None:
    tasks = [await bench.a_task(priority="LOW", deadline=in_minutes(300)) for _ in range(3)]
    await bench.hush()
    await let_minutes_pass(bench, 290)
    other = bench.another_worker()

    moved = [await rank_anew(bench), await rank_anew(other), await rank_anew(bench)]

    assert moved == [3, 0, 0]
    assert sorted(await bench.rung()) == sorted(task.id for task in tasks)


async def test_more_than_a_part_is_ranked_part_by_part(bench: Workbench) -> None:
    await bench.submit_many([{"task_type": "noop", "priority": "LOW", "deadline": in_minutes(300)}] * 600)
    await let_minutes_pass(bench, 290)

    assert await rank_anew(bench) == 600


async def test_children_inherit_the_deadline_and_the_ageing_of_their_batch(bench: Workbench) -> None:
    parent, inherits, own = await bench.a_batch(
        {"task_type": "noop"},
        {"task_type": "noop", "deadline": in_minutes(5), "boost_per_minute": 3.0},
        deadline=in_minutes(60),
        boost_per_minute=2.0,
    )

    assert (inherits.deadline, inherits.boost_per_minute) == (parent.deadline, 2.0)
    assert own.boost_per_minute == 3.0
    assert own.deadline is not None
    assert parent.deadline is not None
    assert own.deadline < parent.deadline


async def test_what_has_begun_shows_how_urgent_it_was_then(bench: Workbench) -> None:
    task = await bench.a_task(priority="HIGH")
    claimed = await bench.claim_next(task)
    await bench.complete(claimed)

    ended = await urgency(bench, task)

    assert ended == pytest.approx(20, abs=0.1)
    assert ended == await urgency(bench, task)
