"""Answers: an edit that was refused concerns whoever asked, and others only when tasks wait for it."""

import asyncio
from collections.abc import Sequence

import pytest

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed, Waiting
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import DagRequest, TaskRequest
from officeplane.domain.task import ClaimedTask, Task
from officeplane.store.connection import Connection
from tests.services.conftest import AnotherBench
from tests.services.editing import a_document
from tests.services.observe.test_metrics import sample, scrape
from tests.services.settle.test_dead_letters import letters
from tests.workbench import Workbench

NOOP = {"task_type": "noop"}
ANSWERS = [FailureKind.INVALID_EDIT, FailureKind.EDIT_CONFLICT]
WRONG = Failed(Failure(FailureKind.INVALID_EDIT, "there is no such page"))


async def refuse(bench: Workbench, task: Task | ClaimedTask, kind: FailureKind = FailureKind.INVALID_EDIT) -> None:
    """Let a task fail because of what was asked for."""
    claimed = task if isinstance(task, ClaimedTask) else await bench.claim_next(task)
    assert claimed.id == task.id
    await bench.settle(claimed, Failed(Failure(kind, "there is no such page")))


async def after(bench: Workbench, *dependencies: Task | ClaimedTask) -> Task:
    """Submit a task that depends on others."""
    return await bench.a_task(depends_on=[task.id for task in dependencies])


async def alerts(bench: Workbench) -> list[tuple[str, str]]:
    rows = await bench.execute(
        "SELECT body ->> 'taskId' AS task_id, body ->> 'reason' AS reason FROM deliveries ORDER BY id"
    )
    return [(row["task_id"], row["reason"]) for row in rows]


async def ids(bench: Workbench) -> list[str]:
    return [letter["task_id"] for letter in await letters(bench)]


@pytest.mark.parametrize("kind", ANSWERS)
async def test_a_refused_edit_is_an_answer_to_its_sender_and_wakes_nobody(
    bench: Workbench, another_bench: AnotherBench, kind: FailureKind
) -> None:
    async with another_bench(alert_url="http://127.0.0.1:9/") as alerting:
        task = await alerting.a_running_task(document_id="plan")
        await refuse(alerting, task, kind)

    assert await letters(bench) == []
    assert await alerts(bench) == []
    details = await bench.details(task.id)
    assert details.task.error == {"kind": kind, "message": "there is no such page"}
    assert [failure.kind for failure in details.failures] == [kind]
    assert (await bench.events(task))[-1] == "task.failed"


@pytest.mark.parametrize("kind", ANSWERS)
async def test_a_refused_edit_that_another_task_waits_for_has_a_letter(
    bench: Workbench, another_bench: AnotherBench, kind: FailureKind
) -> None:
    async with another_bench(alert_url="http://127.0.0.1:9/") as alerting:
        task = await alerting.a_running_task(document_id="plan")
        await after(alerting, task)
        await refuse(alerting, task, kind)

    (letter,) = await letters(bench)
    assert (letter["task_id"], letter["generation"], letter["kind"]) == (task.id, 1, kind)
    assert (letter["message"], letter["document_id"]) == ("there is no such page", "plan")
    assert (letter["poison_pill"], letter["recurring"], letter["total_cost_usd"]) == (False, False, 0)
    assert await alerts(bench) == [(task.id, "dead_lettered")]
    assert (await bench.events(task))[-2:] == ["task.failed", "task.dead_lettered"]


async def test_what_waited_and_was_cancelled_is_no_reason_for_a_letter(bench: Workbench) -> None:
    task = await bench.a_running_task()
    dependent = await after(bench, task)
    await bench.runtime.cancellation.cancel(LOCAL, dependent.id, None)

    await refuse(bench, task)

    assert await letters(bench) == []


async def test_who_begins_to_wait_for_a_refused_edit_makes_its_letter(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    async with another_bench(alert_url="http://127.0.0.1:9/") as alerting:
        task = await alerting.a_task()
        await refuse(alerting, task)
        dependent = await after(alerting, task)
        await after(alerting, task)

    assert await ids(bench) == [task.id]
    assert await alerts(bench) == [(task.id, "dead_lettered")]
    assert await bench.state(dependent) == "PENDING"


async def test_a_wait_that_was_not_stored_makes_no_letter(bench: Workbench) -> None:
    task = await bench.a_task()
    await refuse(bench, task)

    async def within(connection: Connection) -> None:
        await bench.runtime.submission.submit_within(
            LOCAL, connection, TaskRequest.from_python({**NOOP, "depends_on": [task.id]})
        )
        message = "the caller's own transaction came to nothing"
        raise LookupError(message)

    with pytest.raises(LookupError):
        await bench.runtime.ledger.in_transaction(within)

    assert await letters(bench) == []


async def test_a_wait_and_a_refusal_that_meet_leave_one_letter(bench: Workbench) -> None:
    for _ in range(10):
        task = await bench.a_running_task()
        await after(bench, task)

        await asyncio.gather(after(bench, task), refuse(bench, task), after(bench, task))

        assert [letter["task_id"] for letter in await letters(bench, task)] == [task.id]
        assert (await bench.events(task)).count("task.dead_lettered") == 1


async def test_a_wait_that_meets_the_first_refusal_never_misses_its_letter(bench: Workbench) -> None:
    for _ in range(10):
        task = await bench.a_running_task()

        dependent, _ = await asyncio.gather(after(bench, task), refuse(bench, task))

        assert await bench.state(dependent) == "PENDING"
        assert [letter["task_id"] for letter in await letters(bench, task)] == [task.id]


async def test_a_letter_that_was_made_late_is_decided_about_like_any_other(bench: Workbench) -> None:
    one, other = await bench.a_task(), await bench.a_task()
    for task in (one, other):
        await refuse(bench, task)
    waiting, lost = await after(bench, one), await after(bench, other)

    await bench.runtime.dead_letters.resolve(LOCAL, one.id, Ruling(Decision.RETRY, "ann"))
    await bench.runtime.dead_letters.resolve(LOCAL, other.id, Ruling(Decision.CANCEL, "ann"))
    await bench.complete(await bench.claim_next(one))

    assert await bench.states(one, waiting, lost) == ["COMPLETED", "QUEUED", "CANCELLED"]


async def test_a_refused_edit_is_retried_without_a_letter(bench: Workbench) -> None:
    task = await bench.a_task()
    await refuse(bench, task)

    await bench.runtime.reopening.retry(LOCAL, task.id)
    await bench.complete(await bench.claim_next(task))

    assert await bench.state(task) == "COMPLETED"
    assert await letters(bench) == []


async def test_each_generation_is_looked_at_anew(bench: Workbench) -> None:
    task = await bench.a_task()
    await refuse(bench, task)
    await after(bench, task)
    await bench.runtime.reopening.retry(LOCAL, task.id)

    await refuse(bench, task)

    assert [(one["generation"], one["resolution"]) for one in await letters(bench)] == [(1, "retry"), (2, None)]


async def test_a_batch_that_is_aborted_by_a_refused_edit_has_no_letter_in_it(bench: Workbench) -> None:
    parent, child, _ = await bench.a_batch(NOOP, NOOP)

    await refuse(bench, child)

    assert await bench.state(parent) == "FAILED"
    assert await letters(bench) == []


@pytest.mark.parametrize("late", [True, False])
async def test_who_waits_for_a_batch_waits_behind_the_letter_of_the_child_that_was_refused(
    bench: Workbench, late: bool
) -> None:
    parent, one, other = await bench.a_batch(NOOP, NOOP, on_child_failure="continue")
    if not late:
        await after(bench, parent)
    await refuse(bench, one)
    in_between = await letters(bench)
    await bench.complete(await bench.claim_next(other))
    if late:
        assert await letters(bench) == []
        await after(bench, parent)

    assert in_between == []
    assert await bench.state(parent) == "FAILED"
    assert await ids(bench) == [one.id]


async def an_atomic_batch(bench: Workbench) -> Sequence[Task]:
    await a_document(bench)
    edit = {"task_type": "add_chapter", "payload": {"title": "One"}}
    return await bench.a_batch(edit, edit, atomic=True, document_id="plan")


@pytest.mark.parametrize("of_child", [True, False])
@pytest.mark.parametrize("late", [True, False])
async def test_an_atomic_batch_has_the_letter_of_whoever_in_it_is_waited_for(
    bench: Workbench, late: bool, of_child: bool
) -> None:
    parent, child, _ = await an_atomic_batch(bench)
    awaited = child if of_child else parent
    if not late:
        await after(bench, awaited)
    failure = Failure(FailureKind.INVALID_EDIT, "there is no such page", child=0)
    await bench.settle(await bench.claim_next(parent), Failed(failure))
    if late:
        assert await letters(bench) == []
        await after(bench, awaited)

    assert await bench.states(parent, child) == ["FAILED", "FAILED"]
    assert await ids(bench) == [parent.id]


async def test_a_task_of_a_dag_has_a_letter_only_if_another_is_stuck_behind_it(bench: Workbench) -> None:
    request = DagRequest.model_validate(
        {
            "title": "a report",
            "tasks": [
                {"key": "first", "taskType": "noop"},
                {"key": "second", "taskType": "noop", "dependsOn": ["first"]},
                {"key": "leaf", "taskType": "noop"},
            ],
        }
    )
    dag_id, _ = await bench.runtime.dags.submit(LOCAL, request)
    by_key = {task.key: task.id for task in (await bench.runtime.dags.details(LOCAL, dag_id)).tasks}
    for key in ("leaf", "first"):
        await refuse(bench, (await bench.details(by_key[key])).task)

    assert await ids(bench) == [by_key["first"]]
    assert (await bench.runtime.dags.details(LOCAL, dag_id)).dag.status == "failed"


@pytest.mark.parametrize("late", [True, False])
async def test_who_waits_for_what_it_spawned_waits_behind_its_letter(bench: Workbench, late: bool) -> None:
    spawner = await bench.a_running_task()
    spawned = await bench.worker.spawner.spawn(spawner, TaskRequest.from_python(NOOP), "one")
    task = (await bench.details(spawned.task_id)).task
    if late:
        await refuse(bench, task)
    before = await ids(bench)
    await bench.settle(spawner, Waiting(spawned.task_id))
    if not late:
        await refuse(bench, task)

    assert before == []
    assert await bench.state(spawner) == "PENDING"
    assert await ids(bench) == [task.id]


async def test_who_is_made_to_wait_again_makes_the_letter(bench: Workbench) -> None:
    task = await bench.a_running_task()
    dependent = await after(bench, task)
    await bench.runtime.cancellation.cancel(LOCAL, dependent.id, None)
    await refuse(bench, task)

    await bench.runtime.reopening.retry(LOCAL, dependent.id)

    assert await bench.state(dependent) == "PENDING"
    assert await ids(bench) == [task.id]


async def test_a_batch_that_a_cancel_ends_has_the_letters_that_its_dependents_wait_behind(bench: Workbench) -> None:
    parent, one, other = await bench.a_batch(NOOP, NOOP, on_child_failure="continue")
    await after(bench, parent)
    await refuse(bench, one)

    await bench.runtime.cancellation.cancel(LOCAL, other.id, None)

    assert await bench.state(parent) == "FAILED"
    assert await ids(bench) == [one.id]


async def test_refused_edits_are_counted_apart_from_dead_letters(bench: Workbench) -> None:
    await refuse(bench, await bench.a_task())
    awaited = await bench.a_task()
    await refuse(bench, awaited)
    await after(bench, awaited)
    await bench.exhaust(await bench.a_task())

    metrics = await scrape(bench)

    assert metrics[sample("tasks_failed_total", type="noop", reason="invalid_edit")] == 2
    assert metrics[sample("tasks_failed_total", type="noop", reason="permanent")] == 1
    assert metrics[sample("tasks_dead_lettered_total", type="noop")] == 2
    assert metrics[sample("dead_letters_unresolved")] == 2


async def test_a_refused_edit_is_pruned_like_any_failure(bench: Workbench) -> None:
    task = await bench.a_task()
    await refuse(bench, task)
    await bench.let_days_pass(91, task)

    await bench.worker.retention.prune()

    assert await bench.execute("SELECT FROM tasks") == []
