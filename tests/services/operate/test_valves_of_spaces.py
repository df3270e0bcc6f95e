"""Two spaces hold their types back each for itself, as two installations would."""

from collections.abc import AsyncIterator

import pytest

from officeplane.domain.errors import OutsideError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import TaskId
from officeplane.domain.outcome import Failed, Succeeded
from officeplane.domain.principal import LOCAL, Principal, Scope
from officeplane.domain.valve import Breaker, BreakerState, Limits
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.store.doctor import examine_plane
from tests.callers import a_caller
from tests.services.conftest import AnotherBench
from tests.services.operate.breakers import THRESHOLD
from tests.workbench import Workbench

ACME = a_caller(space="acme")


@pytest.fixture
async def bench(bench: Workbench, another_bench: AnotherBench) -> AsyncIterator[Workbench]:
    """A plane whose breakers open as they do by default."""
    async with another_bench(breaker_failure_threshold=THRESHOLD) as workbench:
        yield workbench


@pytest.fixture
def acme(bench: Workbench) -> Workbench:
    """The same plane, as somebody of another space has it."""
    return bench.called_by(ACME)


async def breaker(bench: Workbench) -> Breaker:
    found = await bench.runtime.valves.breakers(bench.caller)
    return next(valve.breaker for valve in found if valve.task_type == "noop")


async def fail_times(bench: Workbench, times: int) -> None:
    for task in await bench.submit_many([{"task_type": "noop"}] * times):
        await bench.fail(await bench.claim_next(task))


async def reasons(bench: Workbench, task_id: TaskId) -> list[str]:
    explained = await bench.runtime.explanations.explain(bench.caller, task_id)
    return [reason.code for reason in explained.reasons]


async def test_one_spaces_failures_open_its_own_breaker_and_no_other(bench: Workbench, acme: Workbench) -> None:
    await fail_times(acme, THRESHOLD)
    theirs, ours = await acme.a_task(), await bench.a_task()

    assert (await breaker(acme)).state is BreakerState.OPEN
    assert await breaker(bench) == Breaker()
    assert [task.id for task in await bench.claim(theirs, ours)] == [ours.id]


async def test_what_the_default_space_does_holds_no_other_back(bench: Workbench, acme: Workbench) -> None:
    await fail_times(bench, THRESHOLD)
    theirs, ours = await acme.a_task(), await bench.a_task()

    assert (await breaker(bench)).state is BreakerState.OPEN
    assert [task.id for task in await bench.claim(ours, theirs)] == [theirs.id]


async def test_a_success_in_one_space_forgives_nothing_in_another(bench: Workbench, acme: Workbench) -> None:
    await fail_times(acme, THRESHOLD - 1)

    await bench.complete(await bench.a_running_task())

    assert (await breaker(acme)).failures == THRESHOLD - 1
    await acme.complete(await acme.a_running_task())
    assert (await breaker(acme)).failures == 0


async def test_a_failure_that_ends_beside_another_spaces_success_is_counted(bench: Workbench, acme: Workbench) -> None:
    theirs, ours = await acme.a_running_task(), await bench.a_running_task()
    failed = Failed(Failure(FailureKind.ERROR, "no"))

    await bench.settle_together([EndedAttempt(theirs, failed), EndedAttempt(ours, Succeeded(None))])

    assert ((await breaker(acme)).failures, (await breaker(bench)).failures) == (1, 0)


async def test_each_half_open_breaker_has_a_probe_of_its_own_space(bench: Workbench, acme: Workbench) -> None:
    for one in (bench, acme):
        await fail_times(one, THRESHOLD)
    await bench.execute("DELETE FROM tasks")
    tasks = [await one.a_task() for one in (bench, bench, acme, acme)]
    await bench.execute("UPDATE valves SET retry_at = now()")
    await bench.worker.valve_timers.tend()
    await bench.worker.valve_timers.tend()

    claimed = await bench.claim(*tasks)

    assert {task.space for task in claimed} == {"default", "acme"}
    assert len(claimed) == 2
    theirs = next(task for task in claimed if task.space == "acme")
    await acme.complete(theirs)
    await bench.hush()
    await bench.worker.valve_timers.tend()
    assert [(await breaker(one)).state for one in (acme, bench)] == [BreakerState.CLOSED, BreakerState.HALF_OPEN]
    assert await bench.rung(ACME.space) == [task.id for task in tasks[2:] if task.id != theirs.id]


async def test_a_space_that_is_told_to_wait_slows_down_alone(bench: Workbench, acme: Workbench) -> None:
    running = await acme.a_running_task()
    await acme.fail(running, FailureKind.RATE_LIMITED)
    theirs, ours = await acme.a_task(), await bench.a_task()

    assert [task.id for task in await bench.claim(theirs, ours)] == [ours.id]
    assert await reasons(acme, theirs.id) == ["rate_limited", "no_worker"]

    await bench.execute("UPDATE valves SET slow_until = now()")
    await bench.hush()
    await bench.worker.valve_timers.tend()
    assert theirs.id in await bench.rung(ACME.space)


async def test_a_type_is_paused_and_resumed_in_one_space(bench: Workbench, acme: Workbench) -> None:
    valves = bench.runtime.valves
    theirs, ours = await acme.a_task(document_id="d"), await bench.a_task(document_id="d")
    await valves.pause_type(ACME, "noop")
    await bench.hush()

    assert [task.id for task in await bench.claim(theirs, ours)] == [ours.id]
    assert await reasons(acme, theirs.id) == ["paused", "no_worker"]

    await valves.resume_type(ACME, "noop")
    assert await bench.rung(ACME.space) == [theirs.id]
    assert (await bench.claim_next(theirs)).id == theirs.id


async def test_the_sweeper_and_a_worker_that_polls_leave_out_what_one_space_holds(
    bench: Workbench, acme: Workbench, another_bench: AnotherBench
) -> None:
    await bench.runtime.valves.pause_type(ACME, "noop")
    theirs, ours = await acme.a_task(), await bench.a_task()
    in_lane = await acme.a_task(document_id="d")
    await bench.hush()
    await bench.let_rings_age()

    await bench.worker.redelivery.sweep()

    assert await bench.rung() == [ours.id]
    async with another_bench(redis_url="") as polling:
        assert [task.id for task in await polling.worker.desk.claim_from_ledger(10)] == [ours.id]
    assert await acme.states(theirs, in_lane) == ["QUEUED", "QUEUED"]


async def test_one_spaces_limit_neither_holds_nor_counts_anothers_tasks(bench: Workbench, acme: Workbench) -> None:
    await bench.runtime.valves.set_limits(ACME, "noop", Limits(concurrency=1))
    theirs = [await acme.a_task() for _ in range(2)]
    ours = [await bench.a_task() for _ in range(3)]

    claimed = await bench.claim(*ours, *theirs)

    assert {task.id for task in claimed} == {theirs[0].id, *(task.id for task in ours)}
    assert await bench.runtime.valves.limits(LOCAL, "noop") == Limits()
    assert await reasons(acme, theirs[1].id) == ["limit_reached", "no_worker"]


async def test_two_spaces_have_limits_of_their_own_for_one_type(bench: Workbench, acme: Workbench) -> None:
    await bench.runtime.valves.set_limits(ACME, "noop", Limits(concurrency=1))
    await bench.runtime.valves.set_limits(LOCAL, "noop", Limits(concurrency=2))
    tasks = [await one.a_task() for one in (acme, bench) for _ in range(3)]
    lanes = [await one.a_task(document_id=f"d{n}") for one in (acme, bench) for n in range(2)]

    claimed = await bench.claim(*tasks, *lanes)

    assert sorted(task.space for task in claimed) == ["acme", "default", "default"]
    (theirs,) = [task for task in claimed if task.space == "acme"]
    assert bench.worker.desk.freed([theirs]) == ["acme/noop"]


async def test_two_spaces_have_a_rate_of_their_own_for_one_type(bench: Workbench, acme: Workbench) -> None:
    for caller in (ACME, LOCAL):
        await bench.runtime.valves.set_limits(caller, "noop", Limits(rate_per_second=1))
    tasks = [await one.a_task() for one in (acme, bench) for _ in range(2)]

    claimed = await bench.claim(*tasks)

    assert sorted(task.space for task in claimed) == ["acme", "default"]


async def test_the_list_of_breakers_is_the_spaces_own_and_has_the_names_that_its_callers_use(
    bench: Workbench, acme: Workbench
) -> None:
    await bench.runtime.valves.open_breaker(ACME, "noop")

    names = [valve.task_type for valve in await bench.runtime.valves.breakers(ACME)]

    assert names == [valve.task_type for valve in await bench.runtime.valves.breakers(LOCAL)]
    assert (await bench.runtime.valves.reset_breaker(ACME, "noop")).task_type == "noop"
    assert await breaker(acme) == Breaker()


NARROWED = a_caller(space="acme", task_types=("sleep", "test.*"))


async def test_whoever_is_narrowed_to_types_sees_and_holds_no_other(bench: Workbench) -> None:
    valves = bench.runtime.valves

    seen = {valve.task_type for valve in await valves.breakers(NARROWED)}

    assert "sleep" in seen
    assert "noop" not in seen
    for refused in (
        valves.limits(NARROWED, "noop"),
        valves.set_limits(NARROWED, "noop", Limits()),
        valves.pause_type(NARROWED, "noop"),
        valves.resume_type(NARROWED, "noop"),
        valves.open_breaker(NARROWED, "noop"),
        valves.reset_breaker(NARROWED, "noop"),
        valves.set_breaker(NARROWED, "noop", 1, None),
    ):
        with pytest.raises(OutsideError):
            await refused
    assert await bench.execute("SELECT FROM valves") == []
    await valves.pause_type(NARROWED, "sleep")


async def test_whoever_is_narrowed_to_documents_holds_no_type_back_for_all_documents(bench: Workbench) -> None:
    narrowed = a_caller(Scope.READ, Scope.CONTROL, documents=("mine",))

    assert await bench.runtime.valves.limits(narrowed, "noop") == Limits()
    with pytest.raises(OutsideError, match="all tasks of type 'noop'"):
        await bench.runtime.valves.pause_type(narrowed, "noop")

    assert await bench.execute("SELECT FROM valves") == []


@pytest.mark.parametrize("caller", [LOCAL, ACME], ids=["default", "acme"])
async def test_the_longest_wait_leaves_out_what_its_own_space_holds(bench: Workbench, caller: Principal) -> None:
    other = ACME if caller is LOCAL else LOCAL
    await bench.called_by(caller).a_task()
    reader = a_caller(Scope.READ, space=caller.space)

    await bench.runtime.valves.pause_type(other, "noop")
    assert (await bench.runtime.statistics.stats(reader)).oldest_wait_seconds is not None

    await bench.runtime.valves.pause_type(caller, "noop")
    assert (await bench.runtime.statistics.stats(reader)).oldest_wait_seconds is None


async def test_doctor_says_of_which_space_it_is_that_is_held(bench: Workbench, acme: Workbench) -> None:
    for one in (bench, acme):
        await one.a_task(document_id="d")
        await bench.runtime.valves.pause_type(one.caller, "noop")
    await bench.runtime.valves.pause_document(ACME, "d")

    async with bench.runtime.ledger.transaction() as connection:
        held = (await examine_plane(connection, 30)).held_back

    assert held == {"type noop of space acme": "paused", "type noop": "paused", "document d of space acme": "paused"}
