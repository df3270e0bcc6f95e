"""Settlement: an attempt ends once, whole, or was lost before."""

import asyncio
from typing import NamedTuple

import pytest

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed, Outcome, Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Fenced, Settlement
from officeplane.store.settlements import Settled
from tests.fault_proxy import Direction, FaultProxy
from tests.services.conftest import AnotherBench
from tests.support import eventually
from tests.workbench import Workbench

ERROR = Failed(Failure(FailureKind.ERROR, "it went wrong"))


async def settle_together(bench: Workbench, *ends: tuple[ClaimedTask, Outcome]) -> list[Settlement]:
    return await bench.settle_together([EndedAttempt(task, outcome) for task, outcome in ends])


def states_of(settled: list[Settlement]) -> list[str]:
    return [one.state.value if isinstance(one, Settled) else "fenced" for one in settled]


async def test_a_completed_attempt_keeps_its_result(bench: Workbench) -> None:
    running = await bench.a_running_task()

    await bench.complete(running, '{"answer": 42}')

    task = (await bench.details(running.id)).task
    assert task.state is TaskState.COMPLETED
    assert task.result == {"answer": 42}
    assert task.finished_at is not None


async def test_an_attempt_without_a_result_completes_without_one(bench: Workbench) -> None:
    running = await bench.a_running_task()

    await bench.complete(running)

    assert (await bench.details(running.id)).task.result is None


async def test_a_failed_attempt_is_a_row_and_the_tasks_error(bench: Workbench) -> None:
    running = await bench.a_running_task()

    await bench.fail(running)

    details = await bench.details(running.id)
    failures = details.failures
    assert details.task.error == {"kind": "error", "message": "it went wrong"}
    assert [(row.attempt, row.worker_id, row.kind, row.message) for row in failures] == [
        (1, bench.worker.worker_id, "error", "it went wrong")
    ]
    assert failures[0].duration_seconds >= 0


async def test_every_failed_attempt_is_kept_and_success_adds_none(bench: Workbench) -> None:
    task = await bench.a_task()
    for _ in range(3):
        await bench.fail(await bench.claim_next(task))
        await bench.make_due()
    await bench.complete(await bench.claim_next(task))

    details = await bench.details(task.id)
    now = details.task
    assert [row.attempt for row in details.failures] == [1, 2, 3]
    assert (now.state, now.attempt, now.attempts_charged) == ("COMPLETED", 4, 3)


@pytest.mark.parametrize(
    ("kind", "state", "charged"),
    [
        (FailureKind.ERROR, "RETRYING", 1),
        (FailureKind.TIMEOUT, "RETRYING", 1),
        (FailureKind.CRASH, "RETRYING", 1),
        (FailureKind.INVALID_OUTPUT, "RETRYING", 1),
        (FailureKind.RATE_LIMITED, "RETRYING", 0),
        (FailureKind.INFRASTRUCTURE, "RETRYING", 0),
        (FailureKind.PERMANENT, "FAILED", 1),
        (FailureKind.INVALID_EDIT, "FAILED", 1),
        (FailureKind.EDIT_CONFLICT, "FAILED", 1),
        (FailureKind.BUDGET_EXCEEDED, "FAILED", 1),
        (FailureKind.AUTH_FAILURE, "FAILED", 1),
    ],
)
async def test_the_kind_of_a_failure_decides_what_it_costs(
    bench: Workbench, kind: FailureKind, state: str, charged: int
) -> None:
    running = await bench.a_running_task()

    await bench.fail(running, kind)

    task = (await bench.details(running.id)).task
    assert (task.state, task.attempts_charged) == (state, charged)


@pytest.mark.parametrize(("kind", "state"), [(FailureKind.TIMEOUT, "TIMEOUT"), (FailureKind.ERROR, "FAILED")])
async def test_the_last_attempt_decides_between_failed_and_timeout(
    bench: Workbench, kind: FailureKind, state: str
) -> None:
    task = await bench.a_task(max_retries=1)
    await bench.fail(await bench.claim_next(task), FailureKind.TIMEOUT)
    assert await bench.states(task) == ["RETRYING"]
    await bench.make_due()

    await bench.fail(await bench.claim_next(task), kind)

    assert await bench.states(task) == [state]


async def test_uncharged_attempts_do_not_use_up_the_retries(bench: Workbench) -> None:
    task = await bench.a_task(max_retries=0)
    for _ in range(4):
        await bench.fail(await bench.claim_next(task), FailureKind.INFRASTRUCTURE)
        await bench.make_due()

    assert await bench.states(task) == ["RETRYING"]

    await bench.fail(await bench.claim_next(task))
    assert await bench.states(task) == ["FAILED"]


class Waits(NamedTuple):
    """How long a retry waits, counted from when its failure was settled: at least and at most."""

    shortest: float
    longest: float


async def waits_of(bench: Workbench, claimed: ClaimedTask) -> Waits:
    """Let an attempt fail and return how long the next one waits."""
    before = await bench.clock()
    await bench.fail(claimed)
    after = await bench.clock()
    due = (await bench.details(claimed.id)).task.run_at
    return Waits((due - after).total_seconds(), (due - before).total_seconds())


async def test_retries_wait_five_twenty_five_and_one_hundred_and_twenty_five_seconds(bench: Workbench) -> None:
    task = await bench.a_task()

    for least in (5, 25, 125):
        claimed = await bench.claim_next(task)
        waits = await waits_of(bench, claimed)
        assert waits.longest >= least
        assert waits.shortest <= least * 1.05
        await bench.make_due()


async def test_a_policy_of_the_tasks_own_decides_its_wait(bench: Workbench) -> None:
    task = await bench.a_task(retry={"strategy": "fixed", "initial_seconds": 70, "jitter": False})

    waits = await waits_of(bench, await bench.claim_next(task))

    assert waits.shortest <= 70 <= waits.longest


async def test_a_retry_without_a_wait_is_rung_at_once(bench: Workbench) -> None:
    task = await bench.a_task(retry={"strategy": "immediate"})
    running = await bench.claim_next(task)
    await bench.hush()

    await bench.fail(running)

    assert await bench.rung() == [task.id]


async def test_a_retry_with_a_wait_is_not_rung(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.hush()

    await bench.fail(running)

    assert await bench.rung() == []


async def test_an_attempt_handed_back_is_queued_uncharged_and_rung(bench: Workbench) -> None:
    running = await bench.a_running_task(document_id="d")
    await bench.hush()

    await bench.hand_back(running)

    details = await bench.details(running.id)
    task = details.task
    assert (task.state, task.attempt, task.attempts_charged, details.failures) == ("QUEUED", 1, 0, ())
    assert set(await bench.rung()) == {running.id}


async def test_a_cancellation_wins_over_a_completion(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, running.id, "enough")

    await bench.complete(running, '{"answer": 42}')

    task = (await bench.details(running.id)).task
    assert (task.state, task.result, task.cancel_reason) == ("CANCELLED", None, "enough")


@pytest.mark.parametrize("kind", list(FailureKind))
async def test_a_cancellation_wins_over_any_failure(bench: Workbench, kind: FailureKind) -> None:
    running = await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, running.id, None)

    await bench.fail(running, kind)

    assert (await bench.details(running.id)).failures == ()
    assert await bench.states(running) == ["CANCELLED"]


async def test_a_cancellation_wins_over_handing_back(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, running.id, None)
    await bench.hush()

    await bench.hand_back(running)

    assert await bench.states(running) == ["CANCELLED"]
    assert await bench.rung() == []


async def test_a_stale_worker_cannot_settle_a_task_it_lost(bench: Workbench) -> None:
    lost = await bench.a_running_task()
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()

    settled = await bench.complete(lost, '{"answer": 42}')

    assert isinstance(settled, Fenced)
    assert (await bench.details(lost.id)).task.result is None


async def test_a_stale_worker_cannot_settle_a_task_that_another_now_runs(bench: Workbench) -> None:
    task = await bench.a_task()
    lost = await bench.claim_next(task)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    theirs = await bench.another_worker().claim_next(task)

    assert isinstance(await bench.complete(lost, '"mine"'), Fenced)
    assert isinstance(await bench.complete(theirs, '"theirs"'), Settled)

    assert (await bench.details(task.id)).task.result == "theirs"


async def test_a_worker_cannot_settle_what_it_handed_back_once_another_has_it(bench: Workbench) -> None:
    task = await bench.a_task()
    handed_back = await bench.claim_next(task)
    await bench.hand_back(handed_back)
    await bench.another_worker().claim(task)

    assert isinstance(await bench.complete(handed_back), Fenced)

    assert await bench.states(task) == ["RUNNING"]


async def test_a_late_completion_changes_nothing_of_what_was_handed_back(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.hand_back(running)

    await bench.complete(running, '"late"')

    task = (await bench.details(running.id)).task
    assert (task.state, task.result) == ("QUEUED", None)


async def test_a_worker_cannot_settle_a_task_that_was_retried_by_hand(bench: Workbench) -> None:
    task = await bench.a_task()
    stale = await bench.claim_next(task)
    await bench.fail(stale, FailureKind.PERMANENT)
    await bench.runtime.reopening.retry(LOCAL, task.id)

    assert isinstance(await bench.complete(stale), Fenced)

    assert await bench.states(task) == ["QUEUED"]


async def test_a_fenced_attempt_leaves_no_trace_but_its_count(bench: Workbench) -> None:
    lost = await bench.a_running_task()
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    before = (await bench.events(lost), (await bench.details(lost.id)).failures)
    counters = await bench.counters()

    await bench.fail(lost)

    assert (await bench.events(lost), (await bench.details(lost.id)).failures) == before
    assert await bench.counters() == {**counters, ("noop", "fenced", ""): 1}


async def test_of_a_group_only_what_was_lost_is_fenced(bench: Workbench) -> None:
    tasks = [await bench.a_running_task() for _ in range(3)]
    await bench.execute("UPDATE tasks SET lease_until = now() - interval '1 hour' WHERE id = $1::uuid", tasks[1].id)
    await bench.execute("UPDATE tasks SET lease_until = now() + interval '1 hour' WHERE id <> $1::uuid", tasks[1].id)
    await bench.worker.redelivery.reap()

    settled = await settle_together(bench, *((task, Succeeded(None)) for task in tasks))

    assert states_of(settled) == ["COMPLETED", "fenced", "COMPLETED"]


@pytest.mark.parametrize("bad", ['"a\\u0000b"', '"\\ud800"', "1e999999"], ids=["NUL", "lone surrogate", "a number"])
async def test_of_a_group_only_the_result_that_cannot_be_stored_fails(bench: Workbench, bad: str) -> None:
    tasks = [await bench.a_running_task() for _ in range(7)]
    results = [Succeeded(bad if number == 4 else f'{{"n": {number}}}') for number in range(7)]

    settled = await settle_together(bench, *zip(tasks, results, strict=True))

    assert states_of(settled) == ["COMPLETED"] * 4 + ["FAILED"] + ["COMPLETED"] * 2
    failed = await bench.details(tasks[4].id)
    assert failed.task.error == {"kind": "invalid_output", "message": "its result could not be stored"}
    assert [row.kind for row in failed.failures] == ["invalid_output"]
    assert (await bench.details(tasks[5].id)).task.result == {"n": 5}


async def test_a_child_whose_result_cannot_be_stored_fails_and_so_does_its_batch(bench: Workbench) -> None:
    parent, first, second = await bench.a_batch({"task_type": "noop"}, {"task_type": "noop"})

    await bench.complete(await bench.claim_next(first), '"\\u0000"')

    assert await bench.states(parent, first, second) == ["FAILED", "FAILED", "CANCELLED"]


async def test_a_settlement_that_is_repeated_is_recognised(bench: Workbench) -> None:
    running = await bench.a_running_task()
    first = await bench.complete(running, '"once"')
    before = (await bench.events(running), await bench.counters())

    again = await bench.complete(running, '"twice"')

    assert isinstance(first, Settled)
    assert isinstance(again, Settled)
    assert again.state == first.state
    assert (await bench.details(running.id)).task.result == "once"
    assert (await bench.events(running), await bench.counters()) == before


async def test_a_childs_settlement_that_is_repeated_moves_its_batch_once(bench: Workbench) -> None:
    parent, first, second, third = await bench.a_batch(*[{"task_type": "noop"}] * 3)
    running = await bench.claim_next(first)
    await bench.complete(running)
    before = await bench.events(parent, first, second, third)

    assert isinstance(await bench.complete(running), Settled)

    assert await bench.states(parent, second, third) == ["RUNNING", "QUEUED", "PENDING"]
    assert await bench.events(parent, first, second, third) == before


async def test_a_settlement_whose_commit_was_not_heard_of_is_not_lost_on_its_worker(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    async with another_bench(database_url=postgres_proxy.url(database_url)) as cut_off:
        # The statement is known to the connection, so that all of it is sent at once.
        await settle_together(cut_off, (await cut_off.a_running_task(), Succeeded(None)))
        running = await cut_off.a_running_task()
        postgres_proxy.drop(Direction.REPLIES)
        settling = asyncio.create_task(settle_together(cut_off, (running, Succeeded('"once"'))))

        async def is_completed() -> bool:
            return await bench.states(running) == ["COMPLETED"]

        await eventually(is_completed)
        postgres_proxy.cut()
        with pytest.raises(Exception, match="Postgres is not available"):
            await settling
        await postgres_proxy.heal()

        assert states_of(await settle_together(cut_off, (running, Succeeded('"once"')))) == ["COMPLETED"]

    assert await bench.events(running) == ["task.queued", "task.running", "task.completed"]


async def test_a_lease_that_is_renewed_during_a_settlement_does_not_fence_it(bench: Workbench) -> None:
    running = await bench.a_running_task()
    async with bench.runtime.ledger.transaction() as connection:
        await connection.execute("UPDATE tasks SET lease_until = now() + interval '1 minute'")
        settling = asyncio.create_task(settle_together(bench, (running, Succeeded('"done"'))))
        await bench.somebody_waits_for_a_lock()

    assert states_of(await settling) == ["COMPLETED"]
    assert await bench.events(running) == ["task.queued", "task.running", "task.completed"]
    assert await bench.counters() == {("noop", "completed", ""): 1}


async def test_a_cancellation_that_commits_during_a_settlement_wins(bench: Workbench) -> None:
    running = await bench.a_running_task()
    async with bench.runtime.ledger.transaction() as connection:
        await connection.execute("UPDATE tasks SET cancel_requested_at = now()")
        settling = asyncio.create_task(settle_together(bench, (running, Succeeded('"done"'))))
        await bench.somebody_waits_for_a_lock()

    assert states_of(await settling) == ["CANCELLED"]


async def test_two_settlements_of_one_attempt_at_once_write_it_once(bench: Workbench) -> None:
    tasks = [await bench.a_running_task() for _ in range(20)]
    ends = [(task, Succeeded(None)) for task in tasks]

    both = await asyncio.gather(settle_together(bench, *ends), settle_together(bench, *reversed(ends)))

    assert {state for settled in both for state in states_of(settled)} == {"COMPLETED"}
    assert await bench.counters() == {("noop", "completed", ""): 20}
    assert (await bench.events(*tasks)).count("task.completed") == 20


async def test_what_ends_together_is_counted_and_told_once_by_kind(bench: Workbench) -> None:
    kinds: list[Outcome] = [Succeeded(None), Succeeded(None), ERROR, Failed(Failure(FailureKind.PERMANENT, "no"))]
    tasks = [await bench.a_running_task() for _ in kinds]
    await bench.execute("TRUNCATE events")

    await settle_together(bench, *zip(tasks, kinds, strict=True))

    assert await bench.counters() == {
        ("noop", "completed", ""): 2,
        ("noop", "retrying", "error"): 1,
        ("noop", "failed", "permanent"): 1,
    }
    rows = await bench.execute("SELECT kind, cardinality(task_ids) AS n FROM events ORDER BY kind")
    assert [(row["kind"], row["n"]) for row in rows] == [
        ("task.completed", 2),
        ("task.dead_lettered", 1),
        ("task.failed", 1),
        ("task.retrying", 1),
    ]


async def test_a_settlement_that_meets_a_deadlock_is_repeated_whole(
    bench: Workbench, another_bench: AnotherBench, database_url: str
) -> None:
    """The settlement has locked one task and wants the other; so does, the other way round, somebody else."""
    tasks = sorted([await bench.a_running_task() for _ in range(2)], key=lambda task: task.id)
    lock = "SELECT FROM tasks WHERE id = $1::uuid FOR UPDATE"
    # It looks for a deadlock once, so long after it began to wait: there has to be one by then.
    async with another_bench(database_url=f"{database_url}?deadlock_timeout=3s") as settler:
        async with bench.runtime.ledger.transaction() as connection:
            # This side does not look for deadlocks, so it is the settlement that is sacrificed.
            await connection.execute("SET LOCAL deadlock_timeout = '10s'")
            await connection.fetch(lock, tasks[1].id)
            settling = asyncio.create_task(settle_together(settler, *((task, Succeeded(None)) for task in tasks)))
            await bench.somebody_waits_for_a_lock()
            await connection.fetch(lock, tasks[0].id)

        assert states_of(await settling) == ["COMPLETED", "COMPLETED"]
    assert await bench.counters() == {("noop", "completed", ""): 2}


async def test_a_failure_message_is_kept_whole_up_to_its_limit(bench: Workbench) -> None:
    running = await bench.a_running_task()

    await settle_together(bench, (running, Failed(Failure(FailureKind.ERROR, "x" * 8_192))))

    (failure,) = (await bench.details(running.id)).failures
    assert len(failure.message) == 8_192
