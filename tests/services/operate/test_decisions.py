"""Review: decisions about dead letters, raced, in batches and by the hundred."""

import asyncio
import random
from contextlib import suppress
from typing import Any, Final

import pytest

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.errors import IllegalStateError, InvalidReferenceError, LetterResolvedError, OfficePlaneError
from officeplane.domain.outcome import Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from officeplane.services.operate import dead_letters as review
from officeplane.services.settle.judgement import EndedAttempt
from tests.callers import called
from tests.services.conftest import AnotherBench
from tests.services.dags.test_dags import a_dag
from tests.services.settle.test_dead_letters import GONE_WRONG, decisions
from tests.workbench import Workbench

NOOP: Final = {"task_type": "noop"}


def ruling(decision: Decision, note: str | None = None) -> Ruling:
    return Ruling(decision, "alice", note)


async def that_gave_up(bench: Workbench, count: int, **options: Any) -> list[Task]:
    tasks = await bench.submit_many([{**NOOP, "max_retries": 0, **options}] * count)
    claimed = await bench.claim(*tasks)
    await bench.settle_together([EndedAttempt(task, GONE_WRONG) for task in claimed])
    return tasks


async def fingerprint_of(bench: Workbench, task: Task) -> str:
    return (await bench.runtime.dead_letters.letter(LOCAL, task.id)).letter.fingerprint


async def test_a_retry_of_a_childs_letter_reopens_its_batch(bench: Workbench) -> None:
    parent, first, later = await bench.a_batch(NOOP, NOOP)
    await bench.exhaust(first)

    await bench.runtime.dead_letters.resolve(LOCAL, first.id, ruling(Decision.RETRY))

    assert await bench.states(parent, first, later) == ["RUNNING", "QUEUED", "PENDING"]
    assert first.id in await bench.rung()


async def test_another_payload_of_a_child_may_refer_to_what_the_old_one_did(bench: Workbench) -> None:
    refers = {"task_type": "sleep", "payload": {"seconds": {"$ref": "first.slept"}}, "max_retries": 0}
    _, first, second = await bench.a_batch({**NOOP, "key": "first"}, refers)
    await bench.complete(await bench.claim_next(first), '{"slept": 0, "rested": 1}')
    await bench.exhaust(second)
    change = ruling(Decision.MODIFY_AND_RETRY)

    with pytest.raises(InvalidReferenceError):
        await bench.runtime.dead_letters.resolve(LOCAL, second.id, change, {"seconds": {"$ref": "other.slept"}})
    await bench.runtime.dead_letters.resolve(LOCAL, second.id, change, {"seconds": {"$ref": "first.rested"}})

    again = await bench.claim_next(second)
    assert await bench.worker.leases.resolve_payload(again) == '{"seconds": 1}'


async def test_a_retry_in_spite_of_what_was_decided_is_a_decision_too(bench: Workbench) -> None:
    (task,) = await that_gave_up(bench, 1)
    await bench.runtime.dead_letters.resolve(LOCAL, task.id, ruling(Decision.CANCEL))
    await bench.runtime.reopening.retry(called("bob"), task.id)
    await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
    await bench.runtime.reopening.retry(called("carol"), task.id)

    assert await decisions(bench, task) == [("cancel", "alice", None), ("retry", "bob", None)]
    assert (await bench.runtime.dead_letters.letter(LOCAL, task.id)).letter.resolution is Decision.CANCEL


@pytest.mark.parametrize("one", list(Decision))
@pytest.mark.parametrize("other", [Decision.RETRY, Decision.DELETE])
async def test_of_two_who_decide_at_once_only_one_resolves(bench: Workbench, one: Decision, other: Decision) -> None:
    (task,) = await that_gave_up(bench, 1)
    payloads = {Decision.MODIFY_AND_RETRY: dict[str, object]()}

    ends = await asyncio.gather(
        *(
            bench.runtime.dead_letters.resolve(LOCAL, task.id, ruling(made), payloads.get(made))
            for made in (one, other)
        ),
        return_exceptions=True,
    )

    refused = [end for end in ends if isinstance(end, BaseException)]
    assert all(isinstance(end, LetterResolvedError) for end in refused)
    made = [decision for decision, _, _ in await decisions(bench, task)]
    assert len(made) == 2 - len(refused)
    assert len([decision for decision in made if decision not in {"note", "escalate"}]) == 1


async def test_a_retry_of_the_task_and_of_its_letter_at_once_start_one_generation(bench: Workbench) -> None:
    (task,) = await that_gave_up(bench, 1)

    ends = await asyncio.gather(
        bench.runtime.reopening.retry(LOCAL, task.id),
        bench.runtime.dead_letters.resolve(LOCAL, task.id, ruling(Decision.RETRY)),
        return_exceptions=True,
    )

    assert len([end for end in ends if isinstance(end, OfficePlaneError)]) == 1
    assert (await bench.details(task.id)).task.generation == 2
    assert len(await decisions(bench, task)) == 1


@pytest.mark.parametrize("decision", [Decision.RETRY, Decision.NOTE])
async def test_many_that_are_alike_are_resolved_in_parts(bench: Workbench, decision: Decision) -> None:
    many = review.ALIKE_AT_ONCE + 30
    tasks = await that_gave_up(bench, many)
    fingerprint = await fingerprint_of(bench, tasks[0])

    first = await bench.runtime.dead_letters.resolve_alike(LOCAL, fingerprint, ruling(decision, "All of them."))
    assert first.last is not None
    second = await bench.runtime.dead_letters.resolve_alike(
        LOCAL, fingerprint, ruling(decision, "All of them."), after=first.last
    )

    assert (first.count, second.count, second.last) == (review.ALIKE_AT_ONCE, 30, None)
    (row,) = await bench.execute("SELECT count(DISTINCT task_id) AS tasks, count(*) AS n FROM dead_letter_decisions")
    assert (row["tasks"], row["n"]) == (many, many)


async def test_what_cannot_be_done_for_one_of_them_is_told_and_done_for_the_others(bench: Workbench) -> None:
    first, second = await that_gave_up(bench, 2)
    # As after a retry by a program that knew nothing of letters.
    await bench.execute(
        "UPDATE tasks SET state = 'QUEUED', generation = 2, finished_at = NULL WHERE id = $1::uuid", first.id
    )

    part = await bench.runtime.dead_letters.resolve_alike(
        LOCAL, await fingerprint_of(bench, first), ruling(Decision.RETRY)
    )

    assert part.count == 1
    assert [(skipped.task_id, skipped.reason.code) for skipped in part.skipped] == [(first.id, "illegal_state")]
    assert await bench.state(second) == "QUEUED"


async def test_an_escalation_alerts_again(bench: Workbench, another_bench: AnotherBench) -> None:
    async with another_bench(alert_url="http://127.0.0.1:9/") as alerting:
        (task,) = await that_gave_up(alerting, 1)
        await alerting.runtime.dead_letters.resolve(LOCAL, task.id, ruling(Decision.ESCALATE))
        await alerting.runtime.dead_letters.resolve(LOCAL, task.id, ruling(Decision.NOTE, "Hm."))
    await bench.runtime.dead_letters.resolve(LOCAL, task.id, ruling(Decision.ESCALATE))

    rows = await bench.execute("SELECT body ->> 'reason' AS reason FROM deliveries ORDER BY id")
    assert [row["reason"] for row in rows] == ["dead_lettered", "escalated"]
    assert [decision for decision, _, _ in await decisions(bench, task)] == ["escalate", "note", "escalate"]


async def test_a_letter_outlives_its_task(bench: Workbench) -> None:
    (task,) = await that_gave_up(bench, 1)
    await bench.runtime.dead_letters.resolve(LOCAL, task.id, ruling(Decision.DELETE, "It never made sense."))

    await bench.worker.retention.prune()

    reviewed = await bench.runtime.dead_letters.letter(LOCAL, task.id)
    assert reviewed.failures == ()
    assert (reviewed.letter.message, reviewed.letter.note) == ("it went wrong", "It never made sense.")
    assert [decided.decision for decided in reviewed.decisions] == [Decision.DELETE]


def after(*tasks: Task, **options: Any) -> dict[str, Any]:
    """Return a task that waits for others."""
    return {**NOOP, "depends_on": [task.id for task in tasks], **options}


@pytest.mark.parametrize("decision", [Decision.CANCEL, Decision.DELETE])
async def test_what_waits_for_a_task_that_is_given_up_for_good_is_cancelled_with_it(
    bench: Workbench, decision: Decision
) -> None:
    failing, fine = await bench.a_task(), await bench.a_task()
    (waiting,) = await bench.submit(after(failing, fine))
    (behind,) = await bench.submit(after(waiting))
    parent, *children = await bench.submit({"children": [NOOP, NOOP], "depends_on": [behind.id]})
    await bench.exhaust(failing)
    assert await bench.states(waiting, behind, parent) == ["PENDING"] * 3

    await bench.runtime.dead_letters.resolve(LOCAL, failing.id, ruling(decision))

    assert await bench.states(failing, waiting, behind, parent, *children) == ["FAILED"] + ["CANCELLED"] * 5
    assert await bench.events(behind) == ["task.pending", "task.cancelled"]


@pytest.mark.parametrize("decision", [Decision.NOTE, Decision.ESCALATE])
async def test_what_is_not_decided_yet_leaves_dependents_waiting_and_a_retry_lets_them_go_on(
    bench: Workbench, decision: Decision
) -> None:
    failing = await bench.a_task()
    (waiting,) = await bench.submit(after(failing))
    await bench.exhaust(failing)

    await bench.runtime.dead_letters.resolve(LOCAL, failing.id, ruling(decision, "Hm."))
    assert await bench.state(waiting) == "PENDING"

    await bench.runtime.dead_letters.resolve(LOCAL, failing.id, ruling(Decision.RETRY))
    await bench.complete(await bench.claim_next(failing))
    assert await bench.state(waiting) == "QUEUED"


async def test_what_waits_for_a_batch_is_cancelled_with_the_last_letter_that_could_have_saved_it(
    bench: Workbench,
) -> None:
    parent, *children = await bench.a_batch(NOOP, NOOP, on_child_failure="continue")
    (waiting,) = await bench.submit(after(parent))
    for child in children:
        await bench.exhaust(child)

    await bench.runtime.dead_letters.resolve(LOCAL, children[0].id, ruling(Decision.CANCEL))
    assert await bench.state(waiting) == "PENDING"

    await bench.runtime.dead_letters.resolve(LOCAL, children[1].id, ruling(Decision.CANCEL))
    assert await bench.state(waiting) == "CANCELLED"


async def test_nothing_is_put_behind_what_was_given_up_for_good(bench: Workbench) -> None:
    failing = await bench.a_task()
    parent, first, _ = await bench.a_batch(NOOP, NOOP)
    (waiting,) = await bench.submit(after(failing))
    for task in (failing, first):
        await bench.exhaust(task)
    await bench.submit(after(failing, parent))

    for task in (failing, first):
        await bench.runtime.dead_letters.resolve(LOCAL, task.id, ruling(Decision.CANCEL))

    for gone in (failing, parent):
        with pytest.raises(InvalidReferenceError, match=f"Given up for good is task {gone.id}"):
            await bench.submit(after(gone))
    with pytest.raises(IllegalStateError, match=f"task {failing.id}, which it depends on, was given up for good"):
        await bench.runtime.reopening.retry(LOCAL, waiting.id)
    await bench.runtime.reopening.retry(LOCAL, failing.id)
    await bench.runtime.reopening.retry(LOCAL, waiting.id)
    (later,) = await bench.submit(after(failing))
    assert await bench.states(waiting, later) == ["PENDING", "PENDING"]


async def test_a_retry_in_vain_is_refused_and_leaves_the_letter_unresolved(bench: Workbench) -> None:
    dependency = await bench.a_task()
    (task,) = await bench.submit(after(dependency))
    await bench.complete(await bench.claim_next(dependency))
    await bench.exhaust(task)
    await bench.execute("DELETE FROM tasks WHERE id = $1::uuid", dependency.id)

    with pytest.raises(OfficePlaneError, match="depends on"):
        await bench.runtime.dead_letters.resolve(LOCAL, task.id, ruling(Decision.RETRY))

    assert (await bench.runtime.dead_letters.letter(LOCAL, task.id)).letter.resolution is None
    assert await decisions(bench, task) == []


async def test_a_dag_is_done_with_once_its_dead_letter_is_given_up_for_good(bench: Workbench) -> None:
    """It neither hangs on the letter nor is it said to be completed."""
    dag = await a_dag(bench, a=(), b=("a",), c=("b",), beside=())
    await dag.end("FAILED", "a")
    await dag.end("COMPLETED", "beside")
    failing = await dag.task("a")
    assert (await bench.runtime.dead_letters.letter(LOCAL, failing.id)).letter.dag_id == dag.id

    await bench.runtime.dead_letters.resolve(LOCAL, failing.id, ruling(Decision.CANCEL))

    assert await dag.states("a", "b", "c", "beside") == "FAILED CANCELLED CANCELLED COMPLETED"
    assert await dag.status() == "failed"
    assert await dag.events() == ["dag.failed"]


@pytest.mark.parametrize("decision", [Decision.RETRY, Decision.MODIFY_AND_RETRY])
async def test_a_dead_letter_that_is_retried_reopens_its_dag(bench: Workbench, decision: Decision) -> None:
    dag = await a_dag(bench, a=(), b=("a",))
    await dag.end("FAILED", "a")
    assert await dag.status() == "failed"
    payload: dict[str, object] | None = {} if decision is Decision.MODIFY_AND_RETRY else None

    await bench.runtime.dead_letters.resolve(LOCAL, (await dag.task("a")).id, ruling(decision), payload)

    assert await dag.status() == "running"
    await dag.end("COMPLETED", "a", "b")
    assert await dag.status() == "completed"


async def test_what_was_decided_to_go_goes_with_its_dag_and_not_before(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), beside=())
    await dag.end("FAILED", "a")
    failing = await dag.task("a")
    await bench.runtime.dead_letters.resolve(LOCAL, failing.id, ruling(Decision.DELETE))

    await bench.worker.retention.prune()

    assert await dag.states("a", "beside") == "FAILED QUEUED"


async def test_a_cause_that_struck_many_dags_is_retried_with_all_of_them(bench: Workbench) -> None:
    dags = [await a_dag(bench, a=(), b=("a",)) for _ in range(3)]
    for dag in dags:
        await dag.end("FAILED", "a")
    fingerprint = await fingerprint_of(bench, await dags[0].task("a"))

    part = await bench.runtime.dead_letters.resolve_alike(LOCAL, fingerprint, ruling(Decision.RETRY))

    assert (part.count, part.skipped) == (3, [])
    assert [await dag.status() for dag in dags] == ["running"] * 3


async def test_what_a_cancelled_task_had_spawned_and_waited_for_is_asked_to_stop_with_it(bench: Workbench) -> None:
    failing = await bench.a_task()
    (waiting,) = await bench.submit(after(failing))
    await bench.exhaust(failing)
    spawned = await bench.a_task()
    running = await bench.claim_next(spawned)
    await bench.execute("UPDATE tasks SET spawned_by = $1::uuid WHERE id = $2::uuid", waiting.id, spawned.id)
    await bench.execute(
        "INSERT INTO task_edges (task_id, depends_on) VALUES ($1::uuid, $2::uuid)", waiting.id, spawned.id
    )
    await bench.execute("UPDATE tasks SET blockers = 2, unmet = 2 WHERE id = $1::uuid", waiting.id)

    await bench.runtime.dead_letters.resolve(LOCAL, failing.id, ruling(Decision.CANCEL))

    assert await bench.states(waiting, spawned) == ["CANCELLED", "RUNNING"]
    assert await bench.worker.leases.cancelled([(running.id, running.claim_id)]) == [spawned.id]


async def test_another_payload_in_a_dag_may_refer_to_what_the_old_one_did(bench: Workbench) -> None:
    waits = {"taskType": "sleep", "maxRetries": 0, "dependsOn": ["a"], "payload": {"seconds": {"$ref": "a.slept"}}}
    dag = await a_dag(bench, a=(), b=waits)
    await bench.complete(await bench.claim_next(await dag.task("a")), '{"slept": 7, "rested": 1}')
    await dag.end("FAILED", "b")
    failing = await dag.task("b")
    change = ruling(Decision.MODIFY_AND_RETRY)

    with pytest.raises(InvalidReferenceError, match="refers to 'a', and so another may refer to that and nothing else"):
        await bench.runtime.dead_letters.resolve(LOCAL, failing.id, change, {"seconds": {"$ref": "c.slept"}})
    await bench.runtime.dead_letters.resolve(LOCAL, failing.id, change, {"seconds": {"$ref": "a.rested"}})

    again = await bench.claim_next(failing)
    assert await bench.worker.leases.resolve_payload(again) == '{"seconds": 1}'


async def test_another_payload_may_not_refer_to_anything_if_the_old_one_did_not(bench: Workbench) -> None:
    dag = await a_dag(
        bench, a=(), b={"taskType": "sleep", "maxRetries": 0, "dependsOn": ["a"], "payload": {"seconds": 1}}
    )
    await dag.end("COMPLETED", "a")
    await dag.end("FAILED", "b")
    failing = await dag.task("b")

    with pytest.raises(InvalidReferenceError, match="refers to nothing, and so may no other"):
        await bench.runtime.dead_letters.resolve(
            LOCAL, failing.id, ruling(Decision.MODIFY_AND_RETRY), {"seconds": {"$ref": "a.slept"}}
        )


async def test_what_several_people_decide_while_tasks_end_leaves_no_dag_and_no_letter_behind(bench: Workbench) -> None:
    """Nothing hangs, nothing is decided twice, and whatever gave up has left its letter."""
    dice = random.Random(7)
    for _ in range(8):
        await a_dag(bench, a=(), b=("a",), c=("a", "b"), d=("c",))

    async def is_over() -> bool:
        # At one moment: a letter that is resolved sets a DAG going.
        left = "SELECT FROM dags WHERE status = 'running' UNION ALL SELECT FROM dead_letters WHERE resolved_at IS NULL"
        return not await bench.execute(left)

    async def work(worker: Workbench) -> None:
        while not await is_over():
            for task in await worker.worker.desk.claim_from_ledger(5):
                await worker.settle(task, Succeeded(None) if dice.random() < 0.6 else GONE_WRONG)
                # Failures hold types back; that has tests of its own.
                await bench.execute("DELETE FROM valves")

    async def decide() -> None:
        while not await is_over():
            for row in await bench.execute("SELECT task_id::text AS id FROM dead_letters WHERE resolved_at IS NULL"):
                decision = dice.choice([Decision.RETRY, Decision.RETRY, Decision.NOTE, Decision.CANCEL])
                with suppress(LetterResolvedError, IllegalStateError):
                    await bench.runtime.dead_letters.resolve(LOCAL, row["id"], ruling(decision, "Hm."))

    await asyncio.gather(work(bench), work(bench.another_worker()), *(decide() for _ in range(3)))

    (row,) = await bench.execute(
        "SELECT (SELECT count(*) FROM dead_letters) AS letters, "
        "(SELECT count(*) FROM dead_letter_decisions WHERE decision <> 'note') AS decisions, "
        "(SELECT coalesce(sum(cardinality(task_ids)), 0) FROM events WHERE kind = 'task.failed') AS failed, "
        "(SELECT count(*) FROM tasks WHERE finished_at IS NULL) AS unfinished"
    )
    assert row["letters"] == row["decisions"] == row["failed"]
    assert row["unfinished"] == 0
