"""Patching: what waits is changed, moved to its place and rung there; what has begun is left alone."""

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from officeplane.domain.document import Format
from officeplane.domain.errors import IllegalStateError, InvalidRequestError, TaskNotFoundError
from officeplane.domain.ids import TaskId
from officeplane.domain.patch import TaskPatch
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from tests.services.chores.test_ranks import drain_lane, hints, in_minutes, urgency
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

NOOP: dict[str, Any] = {"task_type": "noop"}
LATER = "2999-01-01T00:00:00Z"


async def patch(bench: Workbench, task: Task, **fields: Any) -> Task:
    """Change a task and return it; fields are named as in the API."""
    await bench.runtime.patches.patch(LOCAL, task.id, TaskPatch.model_validate(fields))
    return await now(bench, task)


async def now(bench: Workbench, task: Task) -> Task:
    return (await bench.details(task.id)).task


async def test_a_task_that_is_made_more_urgent_overtakes_its_lane_and_moves_to_its_list(bench: Workbench) -> None:
    tasks = [await bench.a_task(document_id="d") for _ in range(3)]
    await bench.hush()

    changed = await patch(bench, tasks[2], priority="CRITICAL")

    assert (changed.priority, changed.state) == (0, "QUEUED")
    assert await hints(bench, "critical") == [tasks[2].id]
    assert await bench.events(tasks[2]) == ["task.queued", "task.updated"]
    assert await drain_lane(bench, tasks) == [tasks[2].id, tasks[0].id, tasks[1].id]


async def test_a_task_that_is_made_less_urgent_no_longer_runs_first(bench: Workbench) -> None:
    task, other = await bench.a_task(priority="CRITICAL"), await bench.a_task()

    await patch(bench, task, priority={"scale": 10, "value": 1})

    assert await bench.rung() == [other.id, task.id]


async def test_a_deadline_is_set_and_cleared(bench: Workbench) -> None:
    task = await bench.a_task(priority="LOW")

    await patch(bench, task, deadline=in_minutes(30))
    assert await urgency(bench, task) == pytest.approx(20, abs=0.1)
    assert await hints(bench, "high") == [task.id]

    changed = await patch(bench, task, deadline=None)
    assert changed.deadline is None
    assert await urgency(bench, task) == pytest.approx(70, abs=0.1)
    assert await hints(bench, "high") == []
    assert set(await hints(bench, "low")) == {task.id}


async def test_title_and_tags_are_replaced_and_nothing_is_rung(bench: Workbench) -> None:
    task = await bench.a_task(title="old", tags=["a"])
    await bench.hush()

    changed = await patch(bench, task, title="new", tags=["b", "ä, }"])
    assert (changed.title, changed.tags) == ("new", ("b", "ä, }"))
    cleared = await patch(bench, task, title=None, tags=[])

    assert (cleared.title, cleared.tags) == (None, ())
    assert await bench.rung() == []
    assert cleared._replace(title="old", tags=("a",)) == task


async def test_tasks_of_one_bulk_keep_their_order_when_one_gets_another_title(bench: Workbench) -> None:
    ids = await bench.a_deep_lane("d", 20)
    tasks = [(await bench.details(task_id)).task for task_id in ids]

    for task in (tasks[13], tasks[2], tasks[19]):
        await patch(bench, task, title="other")

    assert await drain_lane(bench, tasks) == ids


async def test_a_task_is_put_off_and_queued_when_its_time_comes(bench: Workbench) -> None:
    task = await bench.a_task()

    off = await patch(bench, task, runAt=LATER)

    assert (off.state, off.queued_at) == ("PENDING", None)
    assert await bench.claim(task) == []
    await bench.make_due()
    await bench.worker.redelivery.promote()
    assert await bench.states(task) == ["QUEUED"]
    assert await bench.events(task) == ["task.queued", "task.pending", "task.queued"]


async def test_a_scheduled_task_is_brought_forward(bench: Workbench) -> None:
    task = await bench.a_task(run_at=LATER)

    forward = await patch(bench, task, runAt=in_minutes(-1))

    assert forward.state == "QUEUED"
    assert forward.queued_at is not None
    assert await bench.rung() == [task.id]
    assert await bench.events(task) == ["task.pending", "task.queued"]


async def test_a_back_off_is_cut_short_or_prolonged(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.fail(await bench.claim_next(task))
    await bench.hush()

    assert (await patch(bench, task, runAt=LATER)).state == "RETRYING"
    assert await bench.claim(task) == []
    assert await bench.rung() == []

    assert (await patch(bench, task, runAt=in_minutes(-1))).state == "RETRYING"
    assert await bench.rung() == [task.id]
    assert (await bench.claim_next(task)).attempt == 2


async def test_what_waits_for_a_sibling_waits_on_whatever_its_time(bench: Workbench) -> None:
    _, first, second = await bench.a_batch(NOOP, NOOP)

    assert (await patch(bench, second, runAt=in_minutes(-1))).state == "PENDING"
    assert (await patch(bench, second, runAt=LATER)).state == "PENDING"

    await bench.complete(await bench.claim_next(first))
    assert await bench.states(second) == ["PENDING"]
    await bench.make_due()
    await bench.worker.redelivery.promote()
    assert await bench.states(second) == ["QUEUED"]


async def test_the_time_of_a_batch_is_that_of_its_first_leaf(bench: Workbench) -> None:
    parent, inner, leaf, _, last = await bench.a_batch({"children": [NOOP, NOOP]}, NOOP)

    await patch(bench, parent, runAt=LATER)
    assert await bench.states(parent, inner, leaf, last) == ["PENDING"] * 4

    await bench.hush()
    await patch(bench, parent, runAt=in_minutes(-1))
    assert await bench.states(parent, inner, leaf, last) == ["QUEUED", "QUEUED", "QUEUED", "PENDING"]
    assert await bench.rung() == [leaf.id]


async def test_a_first_leaf_with_a_later_time_of_its_own_keeps_it(bench: Workbench) -> None:
    parent, leaf = await bench.a_batch({**NOOP, "run_at": LATER})

    await patch(bench, parent, runAt=in_minutes(60))
    await patch(bench, parent, runAt=in_minutes(-1))

    assert (await now(bench, leaf)).run_at == leaf.run_at
    assert await bench.states(parent, leaf) == ["QUEUED", "PENDING"]


async def test_children_follow_their_batch_in_what_they_have_in_common_with_it(bench: Workbench) -> None:
    deadline = in_minutes(600)
    parent, plain, own, inner, deep, own_deep = await bench.a_batch(
        NOOP,
        {**NOOP, "priority": "HIGH", "tags": ["own"]},
        {"children": [NOOP, {**NOOP, "priority": "BACKGROUND", "deadline": in_minutes(700)}]},
        tags=["t"],
        deadline=deadline,
    )

    await patch(bench, parent, priority="LOW", tags=["u"], deadline=None, title="only the parent's")

    rows = [await now(bench, task) for task in (parent, plain, own, inner, deep, own_deep)]
    assert [row.priority for row in rows] == [70, 70, 20, 70, 70, 90]
    assert [row.tags for row in rows] == [("u",), ("u",), ("own",), ("u",), ("u",), ("u",)]
    assert [row.deadline is None for row in rows] == [True, True, True, True, True, False]
    assert [row.title for row in rows] == ["only the parent's", None, None, None, None, None]


async def test_what_of_a_batch_does_not_wait_any_more_does_not_follow(bench: Workbench) -> None:
    parent, first, inner, deep = await bench.a_batch(NOOP, {"children": [NOOP]})
    await bench.claim_next(first)

    with pytest.raises(IllegalStateError, match="RUNNING"):
        await patch(bench, parent, priority="HIGH")
    await patch(bench, inner, priority="HIGH")

    assert [(await now(bench, task)).priority for task in (parent, first, inner, deep)] == [50, 50, 20, 20]


async def test_a_child_of_an_atomic_batch_has_only_words_of_its_own(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    chapter: dict[str, Any] = {"task_type": "add_chapter", "payload": {"title": "One"}}
    batch, child = await bench.a_batch(chapter, document_id="plan", atomic=True)

    for field, value in (("priority", "HIGH"), ("deadline", LATER), ("runAt", LATER)):
        with pytest.raises(InvalidRequestError) as refused:
            await patch(bench, child, **{field: value})
        assert [error.field for error in refused.value.errors] == [field]
    await patch(bench, child, title="The first")
    await patch(bench, batch, priority="HIGH")

    assert ((await now(bench, child)).title, (await now(bench, child)).priority) == ("The first", 20)
    assert (await bench.claim_next(batch)).id == batch.id


@pytest.mark.parametrize("state", ["RUNNING", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"])
async def test_what_has_begun_or_ended_is_not_changed(bench: Workbench, state: str) -> None:
    task = await bench.a_task(max_retries=0)
    if state == "RUNNING":
        await bench.claim_next(task)
    else:
        await bench.end(task, state)
    before = await now(bench, task)

    with pytest.raises(IllegalStateError, match=f"is {state}; it cannot be changed"):
        await patch(bench, task, title="late")

    assert await now(bench, task) == before


async def test_what_is_not_there_is_not_found(bench: Workbench) -> None:
    with pytest.raises(TaskNotFoundError):
        await bench.runtime.patches.patch(
            LOCAL, TaskId("01890a5d-ac96-774b-bcce-b302099a8057"), TaskPatch.model_validate({"title": "x"})
        )


async def test_a_patch_and_a_claim_at_once_have_one_winner(bench: Workbench, another_bench: AnotherBench) -> None:
    async with another_bench() as other:
        for number in range(30):
            task = await bench.a_task()
            patched, claimed = await asyncio.gather(
                other.runtime.patches.patch(LOCAL, task.id, TaskPatch.model_validate({"runAt": LATER})),
                bench.claim(task),
                return_exceptions=True,
            )

            state = await bench.state(task)
            if isinstance(patched, IllegalStateError):
                assert (state, claimed) != ("PENDING", [])
                assert state == "RUNNING", number
            else:
                assert patched is None
                assert (state, claimed) == ("PENDING", [])


async def test_a_patch_waits_for_whoever_claims_the_task_and_comes_too_late(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    task = await bench.a_task()
    async with another_bench() as other:
        async with bench.runtime.ledger.transaction() as connection:
            await connection.execute(
                "UPDATE tasks SET state = 'CANCELLED', finished_at = now() WHERE id = $1::uuid", task.id
            )
            patching = asyncio.create_task(patch(other, task, priority="HIGH"))
            await bench.somebody_waits_for_a_lock()

        with pytest.raises(IllegalStateError, match="CANCELLED"):
            await patching


REFUSED: list[dict[str, Any]] = [
    {}, {"priority": None}, {"runAt": None}, {"tags": None}, {"priority": 101}, {"priority": "urgent"},
    {"deadline": "soon"}, {"runAt": 5}, {"title": 5}, {"title": "x" * 201}, {"tags": ["x"] * 51}, {"tags": [""]},
    {"payload": {}}, {"state": "QUEUED"}, {"run_at": LATER}, {"boostPerMinute": 1},
]  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_a_patch_that_says_nothing_or_something_else_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TaskPatch.model_validate(body)
