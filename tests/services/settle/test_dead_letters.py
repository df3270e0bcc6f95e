"""Dead letters: one for every generation that gave up, written where it gave up."""

import json
from typing import Any

import pytest

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed, Lapsed, Outcome, Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from officeplane.services.settle.judgement import EndedAttempt
from tests.callers import called
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

GONE_WRONG = Failed(Failure(FailureKind.ERROR, "it went wrong"))


async def letters(bench: Workbench, *tasks: Task | ClaimedTask) -> list[dict[str, Any]]:
    """Return the letters of tasks, or all there are, oldest first."""
    rows = await bench.execute("SELECT *, task_id::text AS task_id FROM dead_letters ORDER BY seq")
    return [row for row in rows if not tasks or row["task_id"] in {task.id for task in tasks}]


async def decisions(bench: Workbench, task: Task | ClaimedTask) -> list[tuple[str, str, str | None]]:
    """Return what was decided about a task, by whom, and why."""
    rows = await bench.execute("SELECT * FROM dead_letter_decisions WHERE task_id = $1::uuid ORDER BY id", task.id)
    return [(row["decision"], row["decided_by"], row["note"]) for row in rows]


async def run_out(bench: Workbench, task: Task, *workers: Workbench, message: str = "it went wrong") -> None:
    """Let each of the workers in turn fail the task."""
    for worker in workers or (bench,):
        await bench.make_due()
        claimed = await worker.claim_next(task)
        assert claimed.id == task.id
        await worker.settle(claimed, Failed(Failure(FailureKind.ERROR, message)))


@pytest.mark.parametrize(
    ("outcome", "state", "kind"),
    [
        (GONE_WRONG, "FAILED", "error"),
        (Failed(Failure(FailureKind.PERMANENT, "never")), "FAILED", "permanent"),
        (Failed(Failure(FailureKind.TIMEOUT, "too slow")), "TIMEOUT", "timeout"),
        (Succeeded('{"text": "\\u0000"}'), "FAILED", "invalid_output"),
    ],
)
async def test_whatever_gives_up_leaves_a_letter(bench: Workbench, outcome: Outcome, state: str, kind: str) -> None:
    task = await bench.a_running_task(document_id="plan", max_retries=0)

    await bench.settle(task, outcome)

    (letter,) = await letters(bench)
    assert await bench.state(task) == state
    assert (letter["task_id"], letter["generation"], letter["kind"]) == (task.id, 1, kind)
    assert (letter["task_type"], letter["document_id"], letter["dag_id"]) == ("noop", "plan", None)
    assert (letter["resolution"], letter["poison_pill"], letter["recurring"]) == (None, False, False)
    assert (await bench.events(task))[-2:] == [f"task.{state.lower()}", "task.dead_lettered"]


async def test_what_does_not_give_up_leaves_none(bench: Workbench) -> None:
    await bench.complete(await bench.a_running_task())
    await bench.fail(await bench.a_running_task())
    await bench.hand_back(await bench.a_running_task())
    await bench.end(await bench.a_task(), "CANCELLED")
    stopped = await bench.a_running_task(max_retries=0)
    await bench.runtime.cancellation.cancel(LOCAL, stopped.id, None)
    await bench.fail(stopped)

    assert await letters(bench) == []


async def test_what_was_lost_before_it_failed_leaves_none(bench: Workbench) -> None:
    task = await bench.a_running_task(max_retries=0)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()

    await bench.settle(task, GONE_WRONG)

    assert len(await letters(bench)) == 0


async def test_a_reaped_crash_that_was_the_last_leaves_a_letter(bench: Workbench) -> None:
    task = await bench.a_running_task(max_retries=0)
    await bench.let_leases_lapse()

    await bench.settle_together([EndedAttempt(task, Lapsed(True, False))], only_lapsed=True)

    (letter,) = await letters(bench, task)
    assert letter["kind"] == "crash"


async def test_a_poison_pill_says_so(bench: Workbench) -> None:
    task = await bench.a_task()
    for _ in range(2):
        await bench.make_due()
        await bench.crash(await bench.claim_next(task))

    (letter,) = await letters(bench)
    assert letter["poison_pill"]


async def test_tasks_that_end_together_have_a_letter_each_and_one_event(bench: Workbench) -> None:
    tasks = [await bench.a_running_task(max_retries=0) for _ in range(3)]
    fine = await bench.a_running_task()

    await bench.settle_together(
        [*(EndedAttempt(task, GONE_WRONG) for task in tasks), EndedAttempt(fine, Succeeded(None))]
    )

    assert {letter["task_id"] for letter in await letters(bench)} == {task.id for task in tasks}
    assert len({letter["fingerprint"] for letter in await letters(bench)}) == 1
    rows = await bench.execute("SELECT cardinality(task_ids) AS n FROM events WHERE kind = 'task.dead_lettered'")
    assert [row["n"] for row in rows] == [3]


async def test_a_batch_has_the_letter_of_its_child_and_none_of_its_own(bench: Workbench) -> None:
    parent, child, later = await bench.a_batch({"task_type": "noop"}, {"task_type": "noop"})
    await bench.exhaust(child)

    assert await bench.states(parent, later) == ["FAILED", "CANCELLED"]
    assert [letter["task_id"] for letter in await letters(bench)] == [child.id]


async def test_the_costs_of_all_attempts_are_added_up(bench: Workbench) -> None:
    task = await bench.a_task(max_retries=2)
    await run_out(bench, task, bench, bench)
    await bench.execute("UPDATE task_failures SET cost_usd = 0.25")
    await run_out(bench, task)

    (letter,) = await letters(bench)
    assert letter["total_cost_usd"] == 0.5


async def test_equal_failures_of_two_workers_mark_the_letter_and_shorten_nothing(bench: Workbench) -> None:
    other = bench.another_worker()
    alike, unlike, alone = [await bench.a_task(max_retries=1) for _ in range(3)]
    await run_out(bench, alike, message="no row 1")
    await run_out(bench, alike, other, message="no row 22")
    # So that no breaker opens.
    await bench.complete(await bench.a_running_task())
    await run_out(bench, unlike)
    await run_out(bench, unlike, other, message="something else")
    await run_out(bench, alone, bench, bench)

    marks = {letter["task_id"]: letter["recurring"] for letter in await letters(bench)}
    assert [marks[task.id] for task in (alike, unlike, alone)] == [True, False, False]
    assert [letter["poison_pill"] for letter in await letters(bench)] == [False] * 3


async def test_a_retry_resolves_the_letter_and_says_who_did_it(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.exhaust(task)

    await bench.runtime.reopening.retry(called("alice"), task.id)

    (letter,) = await letters(bench)
    assert (letter["resolution"], letter["resolved_by"]) == ("retry", "alice")
    assert await decisions(bench, task) == [("retry", "alice", None)]


async def test_a_retry_of_the_batch_resolves_the_letters_of_its_children(bench: Workbench) -> None:
    noop = {"task_type": "noop"}
    parent, *children = await bench.a_batch(noop, noop, noop, on_child_failure="continue")
    for child in children[:2]:
        await bench.exhaust(child)
    await bench.complete(await bench.claim_next(children[2]))

    await bench.runtime.reopening.retry(called("bob"), parent.id)

    assert [letter["resolution"] for letter in await letters(bench)] == ["retry", "retry"]
    assert [await decisions(bench, child) for child in children] == [[("retry", "bob", None)]] * 2 + [[]]


async def test_there_are_as_many_letters_as_generations_that_gave_up(bench: Workbench) -> None:
    task = await bench.a_task()
    for _ in range(3):
        await bench.exhaust(task)
        await bench.runtime.reopening.retry(LOCAL, task.id)
    await bench.complete(await bench.claim_next(task))

    assert [letter["generation"] for letter in await letters(bench)] == [1, 2, 3]
    assert all(letter["resolution"] == "retry" for letter in await letters(bench))


async def test_without_an_address_for_alerts_there_are_none(bench: Workbench) -> None:
    await bench.exhaust(await bench.a_task())

    assert await bench.execute("SELECT FROM deliveries") == []


async def test_with_an_address_every_letter_brings_an_alert(bench: Workbench, another_bench: AnotherBench) -> None:
    async with another_bench(alert_url="http://127.0.0.1:9/") as alerting:
        task = await alerting.a_task()
        await alerting.exhaust(task)
        await alerting.fail(await alerting.a_running_task())

    (row,) = await bench.execute("SELECT destination, body, tries FROM deliveries")
    assert (row["destination"], row["tries"]) == ("alerts", 0)
    assert json.loads(row["body"]) == {"taskId": task.id, "generation": 1, "reason": "dead_lettered"}


async def test_an_error_shows_its_message_and_not_its_fingerprint(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.exhaust(task)

    assert (await bench.details(task.id)).task.error == json.loads('{"kind": "permanent", "message": "it went wrong"}')
