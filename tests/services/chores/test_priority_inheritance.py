"""Priority inheritance: what urgent work waits for inherits its rank, and urgent work does not overtake it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from officeplane.domain.ids import TaskId
from officeplane.domain.outcome import Waiting
from officeplane.domain.task import Task
from officeplane.handlers.spawning import spawn_request
from tests.services.chores.test_ranks import hints, in_minutes, let_minutes_pass, rank_anew, urgency
from tests.services.dags.test_dags import a_dag
from tests.services.operate.test_patches import patch
from tests.workbench import Workbench

NOOP: dict[str, Any] = {"task_type": "noop"}
NOOP_BODY: dict[str, Any] = {"taskType": "noop"}
URGENT: dict[str, Any] = {**NOOP, "priority": "CRITICAL"}


async def urgencies(bench: Workbench, *tasks: Task) -> list[int]:
    return [round(await urgency(bench, task)) for task in tasks]


async def lifted(bench: Workbench) -> list[TaskId]:
    rows = await bench.execute("SELECT id FROM tasks WHERE inherited_rank IS NOT NULL ORDER BY seq")
    return [TaskId(str(row["id"])) for row in rows]


async def test_an_urgent_child_lifts_the_earlier_children_of_its_batch_and_not_the_later(bench: Workbench) -> None:
    _, first, second, urgent, last = await bench.a_batch(NOOP, NOOP, URGENT, NOOP)

    await rank_anew(bench)

    assert await urgencies(bench, first, second, urgent, last) == [0, 0, 0, 50]
    assert await hints(bench, "critical") == [first.id]
    assert await bench.states(first, second, urgent, last) == ["QUEUED", "PENDING", "PENDING", "PENDING"]


async def test_what_is_lifted_overtakes_the_lane_in_which_urgent_work_is_stuck(bench: Workbench) -> None:
    ahead = await bench.a_deep_lane("d", 20)
    _, first, urgent = await bench.a_batch(NOOP, URGENT, document_id="d")
    await rank_anew(bench)

    order: list[TaskId] = []
    for _ in range(22):
        claimed = await bench.claim_next(first)
        order.append(claimed.id)
        await bench.complete(claimed)

    assert order == [first.id, urgent.id, *ahead]


async def test_children_inherit_urgency_through_batches_of_batches(bench: Workbench) -> None:
    tasks = await bench.a_batch(
        NOOP,
        {"children": [NOOP, {"children": [NOOP, NOOP]}]},
        {"children": [NOOP, {"children": [URGENT, NOOP]}, NOOP]},
        NOOP,
    )

    await rank_anew(bench)

    leaves = [task for task in tasks if not task.is_batch]
    assert await urgencies(bench, *leaves) == [0, 0, 0, 0, 0, 0, 50, 50, 50]


async def test_a_batch_whose_children_are_alike_lifts_nothing(bench: Workbench) -> None:
    await bench.a_batch(NOOP, NOOP, {"children": [NOOP, NOOP]}, priority="CRITICAL", deadline=in_minutes(60))
    await bench.a_batch(URGENT, NOOP, {**NOOP, "priority": "LOW"})

    assert await bench.execute("SELECT FROM tasks WHERE lifts") == []


async def test_a_deadline_that_comes_nearer_lifts_more_and_more(bench: Workbench) -> None:
    _, first, urgent = await bench.a_batch(NOOP, {**NOOP, "deadline": in_minutes(90)})
    await rank_anew(bench)
    before = await urgencies(bench, first, urgent)

    await let_minutes_pass(bench, 60)
    await rank_anew(bench)

    assert before[0] == before[1] == pytest.approx(37.5, abs=0.6)
    assert await urgencies(bench, first, urgent) == [-6, -6]
    assert await hints(bench, "critical") == [first.id]


async def test_a_dependency_is_lifted_however_far_back(bench: Workbench) -> None:
    root = await bench.a_task()
    batch, one, two = await bench.a_batch(NOOP, NOOP, depends_on=[root.id], priority="LOW")
    middle = await bench.a_task(depends_on=[batch.id])
    other = await bench.a_task()
    await bench.a_task(priority="HIGH", depends_on=[middle.id])

    await rank_anew(bench)

    assert await urgencies(bench, root, one, two, middle, other) == [20, 20, 20, 20, 50]
    assert await hints(bench, "high") == [root.id]


async def test_of_several_that_wait_the_most_urgent_counts(bench: Workbench) -> None:
    low = await bench.a_task(priority="BACKGROUND")
    normal = await bench.a_task(depends_on=[low.id])
    await bench.a_task(priority="HIGH", depends_on=[low.id])
    await rank_anew(bench)
    assert await urgencies(bench, low, normal) == [20, 50]

    await bench.a_task(priority="CRITICAL", depends_on=[normal.id])
    await rank_anew(bench)

    assert await urgencies(bench, low, normal) == [0, 0]


async def test_what_nobody_urgent_waits_for_any_more_sinks_back(bench: Workbench) -> None:
    low = await bench.a_task(priority="LOW")
    middle = await bench.a_task(depends_on=[low.id])
    urgent = await bench.a_task(priority="CRITICAL", depends_on=[middle.id])
    await rank_anew(bench)
    assert await lifted(bench) == [low.id, middle.id]

    await patch(bench, urgent, priority="BACKGROUND")
    await rank_anew(bench)

    # What it still waits for is more urgent than it is; the one in the middle still lifts the first.
    assert await urgencies(bench, low, middle, urgent) == [50, 50, 90]
    assert await lifted(bench) == [low.id]


async def test_a_task_made_urgent_afterwards_lifts_too(bench: Workbench) -> None:
    _, first, second = await bench.a_batch(NOOP, NOOP)

    await patch(bench, second, deadline=in_minutes(-1))
    await rank_anew(bench)

    assert await urgencies(bench, first, second) == [-50, -50]


async def test_what_is_lifted_already_is_not_written_again(bench: Workbench) -> None:
    await bench.a_batch(*[NOOP] * 30, URGENT)

    moved = [await rank_anew(bench) for _ in range(3)]

    assert moved == [30, 0, 0]


async def test_a_long_batch_is_lifted_in_parts(bench: Workbench) -> None:
    tasks = await bench.a_batch(*[NOOP] * 490, {**NOOP, "priority": 0})

    assert await rank_anew(bench) == 490

    assert await lifted(bench) == [task.id for task in tasks[1:-1]]


@pytest.mark.parametrize("boost", [None, 2.0])
async def test_work_that_is_as_urgent_itself_inherits_nothing(bench: Workbench, boost: float | None) -> None:
    options: dict[str, Any] = {} if boost is None else {"boost_per_minute": boost}
    first = await bench.a_task(priority="CRITICAL", **options)
    await bench.a_task(priority="HIGH", depends_on=[first.id])

    await rank_anew(bench)

    assert await lifted(bench) == []


async def test_who_waits_for_what_it_spawned_lifts_it(bench: Workbench) -> None:
    spawner = await bench.a_running_task(priority="CRITICAL")
    spawned = await bench.worker.spawner.spawn(spawner, spawn_request("noop", None, {"priority": "LOW"}), "it")
    await bench.settle(spawner, Waiting(spawned.task_id))

    await rank_anew(bench)

    assert spawned.task_id in await hints(bench, "critical")
    assert await lifted(bench) == [spawned.task_id]


async def test_an_urgent_task_of_a_dag_lifts_all_that_comes_before_it_and_nothing_else(bench: Workbench) -> None:
    before = await bench.a_task()
    urgent = {**NOOP_BODY, "priority": "CRITICAL", "dependsOn": ["b", "c"]}
    inner = {"children": [NOOP_BODY, {**NOOP_BODY, "dependsOn": [before.id]}], "dependsOn": ["a"]}
    dag = await a_dag(bench, a=(), b=inner, c=("a",), urgent=urgent, after=("urgent",), beside=("a",))

    await rank_anew(bench)

    # What is on the longest path is five points more urgent than its priority says.
    lowest = [round((await dag.task(key)).effective_priority(datetime.now(UTC))) for key in ("a", "b", "c", "urgent")]
    others = [round((await dag.task(key)).effective_priority(datetime.now(UTC))) for key in ("after", "beside")]
    assert (lowest, others) == ([-5, -5, -5, -5], [45, 50])
    assert await urgencies(bench, before) == [-5]
    children = await bench.execute("SELECT inherited_rank FROM tasks WHERE parent_id IS NOT NULL")
    assert all(child["inherited_rank"] is not None for child in children)


async def test_a_dag_of_equals_lifts_nothing(bench: Workbench) -> None:
    await a_dag(bench, a=(), b=("a",), c=("a", "b"), d=("c",))

    assert await rank_anew(bench) == 0
    assert await bench.execute("SELECT FROM tasks WHERE lifts") == []
