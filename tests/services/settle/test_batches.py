"""Batches: children in order, and a parent that ends with the last of them."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

import pytest

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed, Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from officeplane.services.settle.judgement import EndedAttempt
from tests.workbench import Workbench

NOOP: Final[Mapping[str, Any]] = {"task_type": "noop"}
HARD: Final[Mapping[str, Any]] = {"task_type": "noop", "max_retries": 0}


async def run(bench: Workbench, task: Task, result_json: str | None = None) -> ClaimedTask:
    """Claim and complete one task."""
    claimed = await bench.claim_next(task)
    assert claimed.id == task.id
    await bench.complete(claimed, result_json)
    return claimed


async def end(bench: Workbench, task: Task, how: str) -> None:
    """Bring a task whose turn has come to a final state; STOPPED is cancelled while it runs."""
    if how != "STOPPED":
        await bench.end(task, how)
        return
    running = await bench.claim_next(task)
    await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
    await bench.complete(running)


async def test_children_run_in_order_and_the_parent_completes_with_the_last(bench: Workbench) -> None:
    parent, *children = await bench.a_batch(NOOP, NOOP, NOOP)
    assert await bench.states(parent, *children) == ["QUEUED", "QUEUED", "PENDING", "PENDING"]

    running = await bench.claim_next(children[0])
    assert await bench.states(parent, *children) == ["RUNNING", "RUNNING", "PENDING", "PENDING"]

    await bench.complete(running)
    assert await bench.states(parent, *children) == ["RUNNING", "COMPLETED", "QUEUED", "PENDING"]

    await run(bench, children[1])
    await run(bench, children[2])
    assert await bench.states(parent, *children) == ["COMPLETED"] * 4
    assert await bench.events(parent) == ["task.queued", "task.running", "task.completed"]


async def test_the_next_child_is_rung_when_its_turn_comes(bench: Workbench) -> None:
    _, first, second = await bench.a_batch(NOOP, NOOP)
    await bench.hush()

    await run(bench, first)

    assert await bench.rung() == [second.id]


async def test_a_child_that_waits_for_its_retry_keeps_the_next_waiting(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(NOOP, NOOP)

    await bench.fail(await bench.claim_next(first))

    assert await bench.states(parent, first, second) == ["RUNNING", "RETRYING", "PENDING"]


async def test_a_child_that_gives_up_ends_its_batch(bench: Workbench) -> None:
    parent, *children = await bench.a_batch(NOOP, HARD, NOOP, {"children": [NOOP]})
    await run(bench, children[0])

    await bench.exhaust(children[1])

    assert await bench.states(parent, *children) == [
        "FAILED", "COMPLETED", "FAILED", "CANCELLED", "CANCELLED", "CANCELLED",
    ]  # fmt: skip
    error = (await bench.details(parent.id)).task.error
    assert error == {"kind": "error", "message": f"child {children[1].id} did not complete"}
    assert (await bench.details(children[2].id)).task.cancel_reason == "its batch ended before its turn"
    assert (await bench.counters())[("noop", "cancelled", "")] == 2


async def test_a_batch_that_continues_runs_the_rest_and_fails_with_the_last(bench: Workbench) -> None:
    parent, *children = await bench.a_batch(HARD, NOOP, NOOP, on_child_failure="continue")

    await bench.exhaust(children[0])
    assert await bench.states(parent, *children) == ["RUNNING", "FAILED", "QUEUED", "PENDING"]

    await run(bench, children[1])
    await run(bench, children[2])
    assert await bench.states(parent, *children) == ["FAILED", "FAILED", "COMPLETED", "COMPLETED"]


@pytest.mark.parametrize("policy", ["abort", "continue"])
@pytest.mark.parametrize(
    "ends", list(product(["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "STOPPED"], repeat=2)), ids="-".join
)
async def test_however_its_children_end_a_batch_ends_accordingly(
    bench: Workbench, policy: str, ends: Sequence[str]
) -> None:
    parent, *children = await bench.a_batch(HARD, HARD, on_child_failure=policy)
    expected = ["CANCELLED" if how == "STOPPED" else how for how in ends]
    gave_up = expected[0] != "COMPLETED"
    if policy == "abort" and gave_up:
        expected[1] = "CANCELLED"

    await end(bench, children[0], ends[0])
    if policy == "continue" or not gave_up:
        await end(bench, children[1], ends[1])

    batch = "COMPLETED" if expected == ["COMPLETED", "COMPLETED"] else "FAILED"
    assert await bench.states(parent, *children) == [batch, *expected]
    assert (await bench.events(parent))[-1] == f"task.{batch.lower()}"


async def test_a_nested_batch_ends_with_its_deepest_child(bench: Workbench) -> None:
    tree = await bench.a_batch({"children": [{"children": [{"children": [{"children": [NOOP]}]}]}]})
    *batches, leaf = tree
    running = await bench.claim_next(leaf)
    assert await bench.states(*batches) == ["RUNNING"] * 5

    await bench.complete(running)

    assert await bench.states(*tree) == ["COMPLETED"] * 6
    assert (await bench.counters())[("batch_edit", "completed", "")] == 5


async def test_after_a_nested_batch_the_next_begins_with_its_first_leaf(bench: Workbench) -> None:
    root, left, left_leaf, right, inner, right_leaf = await bench.a_batch(
        {"children": [NOOP]}, {"children": [{"children": [NOOP]}]}
    )

    await run(bench, left_leaf)

    assert await bench.states(root, left, right, inner, right_leaf) == [
        "RUNNING", "COMPLETED", "QUEUED", "QUEUED", "QUEUED",
    ]  # fmt: skip

    await run(bench, right_leaf)
    assert await bench.states(root, left, right, inner, right_leaf) == ["COMPLETED"] * 5


async def test_a_failure_deep_below_fails_everything_above(bench: Workbench) -> None:
    root, inner, leaf, later = await bench.a_batch({"children": [HARD]}, NOOP)

    await bench.exhaust(leaf)

    assert await bench.states(root, inner, leaf, later) == ["FAILED", "FAILED", "FAILED", "CANCELLED"]
    assert (await bench.details(root.id)).task.error == {
        "kind": "error", "message": f"child {inner.id} did not complete",
    }  # fmt: skip


async def test_an_inner_batch_that_fails_may_be_gone_on_from(bench: Workbench) -> None:
    root, inner, leaf, later = await bench.a_batch({"children": [HARD]}, NOOP, on_child_failure="continue")

    await bench.exhaust(leaf)
    assert await bench.states(root, inner, later) == ["RUNNING", "FAILED", "QUEUED"]

    await run(bench, later)
    assert await bench.states(root) == ["FAILED"]


async def test_children_may_be_of_other_types_and_on_other_documents(bench: Workbench) -> None:
    parent, *children = await bench.a_batch(
        NOOP,
        {**NOOP, "document_id": "e"},
        {"task_type": "test.note", "payload": {"text": "hello"}, "document_id": "f"},
        document_id="d",
    )

    claimed = [await run(bench, child) for child in children]

    assert [task.document_id for task in claimed] == ["d", "e", "f"]
    assert await bench.states(parent) == ["COMPLETED"]


async def test_a_batch_does_not_occupy_its_document_between_its_children(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(NOOP, NOOP, document_id="d")
    await run(bench, first)
    urgent = await bench.a_task(document_id="d", priority="CRITICAL")

    assert (await bench.claim_next(second)).id == urgent.id
    assert await bench.states(parent, second) == ["RUNNING", "QUEUED"]


async def test_the_time_of_a_batch_holds_back_its_first_leaf(bench: Workbench) -> None:
    tree = await bench.a_batch({"children": [NOOP]}, run_at="2999-01-01T00:00:00Z")
    assert await bench.states(*tree) == ["PENDING", "PENDING", "PENDING"]

    await bench.make_due()
    await bench.worker.redelivery.promote()

    assert await bench.states(*tree) == ["QUEUED", "QUEUED", "QUEUED"]
    assert await bench.rung() == [tree[2].id]


async def test_a_later_child_waits_for_its_own_time_too(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch(NOOP, {**NOOP, "run_at": "2999-01-01T00:00:00Z"})
    await run(bench, first)
    assert await bench.states(parent, second) == ["RUNNING", "PENDING"]

    await bench.make_due()
    await bench.worker.redelivery.promote()

    await run(bench, second)
    assert await bench.states(parent) == ["COMPLETED"]


async def test_two_batches_that_end_in_one_group_each_end_once(bench: Workbench) -> None:
    trees = [await bench.a_batch(NOOP, NOOP) for _ in range(10)]
    for _, first, _ in trees:
        await run(bench, first)
    running = [await bench.claim_next(last) for _, _, last in trees]
    ends = [EndedAttempt(task, Succeeded(None)) for task in running]

    await asyncio.gather(
        bench.settle_together(ends),
        bench.settle_together(ends[::-1]),
    )

    assert {await bench.state(parent) for parent, _, _ in trees} == {"COMPLETED"}
    assert (await bench.counters())[("batch_edit", "completed", "")] == 10


async def test_a_batch_that_continues_has_one_child_under_way_after_a_retry_too(bench: Workbench) -> None:
    parent, first, second, third = await bench.a_batch(HARD, NOOP, NOOP, on_child_failure="continue")
    await bench.exhaust(first)
    running = await bench.claim_next(second)

    await bench.runtime.reopening.retry(LOCAL, first.id)
    assert await bench.states(first, second, third) == ["PENDING", "RUNNING", "PENDING"]

    await bench.complete(running)
    assert await bench.states(first, second, third) == ["QUEUED", "COMPLETED", "PENDING"]

    await run(bench, first)
    await run(bench, third)
    assert await bench.states(parent) == ["COMPLETED"]


async def test_a_child_and_its_retried_brother_ending_at_once_end_the_batch_once(bench: Workbench) -> None:
    """One is settled while the other is cancelled: both want to move their parent."""
    for _ in range(10):
        parent, first, second = await bench.a_batch(HARD, NOOP, on_child_failure="continue")
        await bench.exhaust(first)
        running = await bench.claim_next(second)
        await bench.runtime.reopening.retry(LOCAL, first.id)

        await asyncio.gather(
            bench.settle_together([EndedAttempt(running, Succeeded(None))]),
            bench.runtime.cancellation.cancel(LOCAL, first.id, None),
        )

        assert await bench.states(parent, first, second) == ["FAILED", "CANCELLED", "COMPLETED"]
        assert (await bench.events(parent)).count("task.failed") == 1


async def test_a_parent_whose_row_was_locked_when_its_child_began_still_ends(bench: Workbench) -> None:
    parent, child = await bench.a_batch(NOOP)
    async with bench.runtime.ledger.transaction() as connection:
        await connection.fetch("SELECT FROM tasks WHERE id = $1::uuid FOR UPDATE", parent.id)
        running = await bench.claim_next(child)

    await bench.complete(running)

    assert await bench.states(parent) == ["COMPLETED"]


async def test_a_settlement_and_the_cancellation_of_its_batch_do_not_deadlock(bench: Workbench) -> None:
    for _ in range(10):
        parent, first, second = await bench.a_batch(NOOP, NOOP)
        running = await bench.claim_next(first)

        await asyncio.gather(
            bench.settle_together([EndedAttempt(running, Succeeded(None))]),
            bench.runtime.cancellation.cancel(LOCAL, parent.id, None),
        )

        assert await bench.states(parent, second) == ["CANCELLED", "CANCELLED"]
        assert await bench.state(first) in ("COMPLETED", "CANCELLED")


async def test_children_of_many_trees_settle_together_with_plain_tasks(bench: Workbench) -> None:
    plain = await bench.a_running_task()
    good, bad = await bench.a_batch(NOOP), await bench.a_batch(HARD)
    running = [await bench.claim_next(good[1]), await bench.claim_next(bad[1])]

    await bench.settle_together(
        [
            EndedAttempt(plain, Succeeded(None)),
            EndedAttempt(running[0], Succeeded(None)),
            EndedAttempt(running[1], Failed(Failure(FailureKind.PERMANENT, "no"))),
        ]
    )

    assert await bench.states(plain, good[0], bad[0]) == ["COMPLETED", "COMPLETED", "FAILED"]
