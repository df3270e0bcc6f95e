"""Circuit breakers: failures in a row hold a type back, until a probe or somebody by hand says that it works again."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from officeplane.domain.document import Format
from officeplane.domain.errors import NoBreakerError, UnknownTaskTypeError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import DocumentId
from officeplane.domain.outcome import Failed, Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.valve import OF_ITS_OWN, Breaker
from officeplane.services.settle.judgement import EndedAttempt
from tests.services.conftest import AnotherBench
from tests.services.operate.breakers import (
    CLOSED,
    HALF_OPEN,
    OPEN,
    THRESHOLD,
    breaker,
    fail_times,
    opened,
)
from tests.workbench import Workbench


@pytest.fixture
async def bench(bench: Workbench, another_bench: AnotherBench) -> AsyncIterator[Workbench]:
    """A plane whose breakers open as they do by default."""
    async with another_bench(breaker_failure_threshold=THRESHOLD) as workbench:
        yield workbench


async def test_failures_in_a_row_open_the_breaker_and_what_waits_uses_no_attempt(bench: Workbench) -> None:
    waiting, other = await bench.a_task(), await bench.a_task("sleep", payload={"seconds": 0})
    await fail_times(bench, THRESHOLD - 1)
    assert (await breaker(bench)).state is CLOSED

    await fail_times(bench, 1)

    found = await breaker(bench)
    assert (found.state, found.failures) == (OPEN, THRESHOLD)
    assert found.opened_at is not None
    assert found.retry_at is not None
    assert (found.retry_at - found.opened_at).total_seconds() == pytest.approx(60, abs=1)
    assert [task.id for task in await bench.claim(waiting, other)] == [other.id]
    assert (await bench.details(waiting.id)).task.attempt == 0


async def test_a_success_begins_the_count_anew(bench: Workbench) -> None:
    await fail_times(bench, THRESHOLD - 1)
    await bench.complete(await bench.a_running_task())
    assert (await breaker(bench)).failures == 0

    await fail_times(bench, THRESHOLD - 1)

    assert (await breaker(bench)).state is CLOSED


async def test_failures_that_end_beside_a_success_are_not_in_a_row(bench: Workbench) -> None:
    running = [await bench.a_running_task() for _ in range(THRESHOLD + 1)]
    ended = [EndedAttempt(task, Failed(Failure(FailureKind.ERROR, "no"))) for task in running[1:]]

    await bench.settle_together([*ended, EndedAttempt(running[0], Succeeded(None))])

    assert (await breaker(bench)).failures == 0


async def test_failures_that_are_settled_together_are_all_counted(bench: Workbench) -> None:
    running = [await bench.a_running_task() for _ in range(THRESHOLD)]

    await bench.settle_together([EndedAttempt(t, Failed(Failure(FailureKind.TIMEOUT, "late"))) for t in running])

    assert (await breaker(bench)).state is OPEN


async def test_a_failure_that_is_told_once_more_counts_once(bench: Workbench) -> None:
    running = await bench.a_running_task()

    for _ in range(2):
        await bench.fail(running)

    assert (await breaker(bench)).failures == 1


async def test_failures_seen_by_different_workers_are_counted_together(bench: Workbench) -> None:
    workers = [bench.another_worker() for _ in range(THRESHOLD)]
    running = [await worker.a_running_task() for worker in workers]

    await asyncio.gather(*(worker.fail(task) for worker, task in zip(workers, running, strict=True)))

    assert (await breaker(bench)).state is OPEN


@pytest.mark.parametrize("kind", sorted(OF_ITS_OWN))
async def test_a_users_mistake_closes_a_type_to_nobody(bench: Workbench, kind: FailureKind) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * THRESHOLD)
    for running in await bench.claim(*tasks):
        await bench.fail(running, kind)

    assert ((await breaker(bench)).state, (await breaker(bench)).failures) == (CLOSED, 0)


async def test_a_worker_that_died_says_nothing_of_the_types_it_ran(bench: Workbench) -> None:
    for _ in range(THRESHOLD):
        await bench.a_running_task()
    await bench.let_leases_lapse()

    assert await bench.worker.redelivery.reap() == THRESHOLD

    assert (await breaker(bench)).failures == 0


async def test_a_type_of_its_own_has_a_threshold_and_a_time_of_its_own(bench: Workbench) -> None:
    await bench.runtime.valves.set_breaker(LOCAL, "noop", 2, 5)
    await fail_times(bench, 2)

    found = await breaker(bench)

    assert found.state is OPEN
    assert found.opened_at is not None
    assert found.retry_at is not None
    assert (found.retry_at - found.opened_at).total_seconds() == pytest.approx(5, abs=0.5)
    await bench.runtime.valves.set_breaker(LOCAL, "noop", None, None)
    back = await breaker(bench)
    assert back.retry_at is not None
    assert (back.retry_at - found.opened_at).total_seconds() == pytest.approx(60, abs=1)


async def test_what_ran_before_a_breaker_opened_neither_closes_nor_opens_it(bench: Workbench) -> None:
    early, earlier = await bench.a_running_task(), await bench.a_running_task()
    await opened(bench)
    await bench.complete(early)
    assert (await breaker(bench)).state is OPEN
    await bench.execute("UPDATE valves SET retry_at = now()")
    await bench.worker.valve_timers.tend()

    await bench.fail(earlier)

    assert (await breaker(bench)).state is HALF_OPEN


async def test_a_breaker_is_reset_by_hand_and_what_waited_is_rung(bench: Workbench) -> None:
    await opened(bench)
    waiting = await bench.a_task()
    await bench.hush()

    assert (await bench.runtime.valves.reset_breaker(LOCAL, "noop")).breaker == Breaker()

    assert await bench.rung() == [waiting.id]
    assert (await bench.claim_next(waiting)).id == waiting.id


async def test_a_breaker_is_opened_by_hand(bench: Workbench) -> None:
    waiting = await bench.a_task()

    found = (await bench.runtime.valves.open_breaker(LOCAL, "noop")).breaker

    assert found.state is OPEN
    assert found.retry_at is not None
    assert await bench.claim(waiting) == []


async def test_a_breaker_of_a_type_that_nobody_knows_is_refused(bench: Workbench) -> None:
    valves = bench.runtime.valves
    for action in (valves.reset_breaker, valves.open_breaker):
        with pytest.raises(UnknownTaskTypeError):
            await action(LOCAL, "nobody.knows")


async def test_every_handler_has_a_breaker_and_no_edit_has_one(bench: Workbench) -> None:
    found = {valve.task_type: valve.breaker for valve in await bench.runtime.valves.breakers(LOCAL)}

    assert found.keys() >= {"noop", "sleep", "test.note"}
    assert not found.keys() & {"add_section", "set_cells", "upload", "revert", "batch_edit"}
    assert set(found.values()) == {Breaker()}


async def test_the_breaker_of_an_edit_can_be_neither_set_nor_opened(bench: Workbench) -> None:
    valves = bench.runtime.valves

    with pytest.raises(NoBreakerError, match="pause it"):
        await valves.open_breaker(LOCAL, "add_section")
    with pytest.raises(NoBreakerError):
        await valves.set_breaker(LOCAL, "add_section", 3, None)

    assert await bench.execute("SELECT FROM valves") == []


@pytest.mark.parametrize("kind", sorted(set(FailureKind) - OF_ITS_OWN))
async def test_edits_that_fail_by_one_authors_document_hold_nobodys_edits_back(
    bench: Workbench, kind: FailureKind
) -> None:
    await bench.runtime.documents.create(LOCAL, "theirs", Format.DOCX, None, None)
    edit = {"task_type": "add_section", "document_id": "theirs", "payload": {"title": "T"}, "max_retries": 0}

    for task in await bench.submit_many([edit] * THRESHOLD):
        await bench.fail(await bench.claim_next(task), kind)

    assert await bench.execute("SELECT FROM valves") == []


async def test_attempts_that_were_given_less_time_than_their_type_has_hold_nobody_back(bench: Workbench) -> None:
    hasty = {"task_type": "test.patient", "timeout_seconds": 0.1}
    for task in await bench.submit_many([hasty] * THRESHOLD):
        await bench.fail(await bench.claim_next(task), FailureKind.TIMEOUT)
    assert (await breaker(bench, "test.patient")).failures == 0

    given = [{"task_type": "test.patient", **more} for more in ({}, {"timeout_seconds": 12}, {"timeout_seconds": 60})]
    for task in await bench.submit_many(given):
        await bench.fail(await bench.claim_next(task), FailureKind.TIMEOUT)

    assert (await breaker(bench, "test.patient")).failures == len(given)


async def test_a_task_without_a_time_of_its_own_or_its_types_has_the_default_and_counts(bench: Workbench) -> None:
    own, shorter = await bench.submit_many([{"task_type": "noop"}, {"task_type": "noop", "timeout_seconds": 599}])

    for task in (own, shorter):
        await bench.fail(await bench.claim_next(task), FailureKind.TIMEOUT)

    assert (await breaker(bench)).failures == 1


async def crash_in(bench: Workbench, *documents: str | None) -> None:
    """Let a task of each document take its process down."""
    for document_id in documents:
        task = await bench.a_task(document_id=document_id, on_retry="yield", max_retries=0)
        await bench.crash(await bench.claim_next(task))


async def test_one_document_that_takes_processes_down_holds_no_type_back(bench: Workbench) -> None:
    await crash_in(bench, *["theirs"] * (THRESHOLD + 1))

    found = await breaker(bench)
    assert (found.state, found.failures) == (CLOSED, 1)


async def test_a_handler_that_dies_of_every_document_is_held_back(bench: Workbench) -> None:
    await crash_in(bench, *(f"d{n}" for n in range(THRESHOLD - 2)), None, None)

    assert (await breaker(bench)).state is OPEN


async def test_crashes_that_are_settled_together_count_once_a_document(bench: Workbench) -> None:
    alone = await bench.a_running_task()
    one, other = await bench.a_running_task(document_id="a"), await bench.a_running_task(document_id="b")
    died = Failed(Failure(FailureKind.CRASH, "exit status 9"), killed_its_child=True)

    await bench.settle_together([EndedAttempt(task, died) for task in (alone, one, other)])

    assert (await breaker(bench)).failures == 3
    await bench.worker.desk.leave_lanes([DocumentId("a"), DocumentId("b")])
    await crash_in(bench, "a", "c")
    assert (await breaker(bench)).failures == 4


async def test_a_document_that_crashes_again_after_a_success_counts_again(bench: Workbench) -> None:
    await crash_in(bench, "a", "b")
    await bench.complete(await bench.a_running_task())
    assert (await breaker(bench)).failures == 0

    await crash_in(bench, "a")

    assert (await breaker(bench)).failures == 1


async def test_a_task_says_that_its_breaker_is_open_and_when_it_is_tried(bench: Workbench) -> None:
    await opened(bench)
    waiting = await bench.a_task()

    (reason, *_) = (await bench.runtime.explanations.explain(LOCAL, waiting.id)).reasons

    assert (reason.code, reason.facts["state"]) == ("breaker_open", "open")
    assert reason.facts["retryAt"]


async def test_a_breaker_that_was_opened_by_hand_is_not_explained_by_failures_that_never_were(
    bench: Workbench,
) -> None:
    await bench.runtime.valves.open_breaker(LOCAL, "noop")

    (reason, *_) = (await bench.runtime.explanations.explain(LOCAL, (await bench.a_task()).id)).reasons

    assert reason.detail.startswith("The breaker of type 'noop' was opened by hand; one is tried from ")


async def test_the_sweeper_does_not_ring_for_a_type_whose_breaker_is_open(bench: Workbench) -> None:
    await bench.a_task()
    await opened(bench)
    await bench.hush()
    await bench.let_rings_age()

    await bench.worker.redelivery.sweep()

    assert await bench.rung() == []


async def test_while_every_valve_is_open_nothing_has_to_be_looked_after(bench: Workbench) -> None:
    assert await bench.worker.valve_timers.tend() is None
