"""Metering: what workers see is told to the ledger once, however often it is sent."""

import asyncio
from collections import Counter
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.observation import BOUNDS_SECONDS, Bucket, Measure, Observed
from officeplane.services.observe.observations import Meter
from officeplane.store import observations
from tests.fault_proxy import Direction, FaultProxy
from tests.services.conftest import AnotherBench
from tests.support import eventually
from tests.workbench import Workbench


def a_meter(*runs: float) -> Meter:
    meter = Meter()
    for seconds in runs:
        meter.ran("noop", seconds)
    return meter


def ran(up_to: float, times: int, seconds: float) -> Observed:
    return Observed(Bucket(Measure.RUN, "noop", up_to), times, seconds)


async def totals(bench: Workbench) -> list[Observed]:
    return await observations.totals(bench.runtime.ledger)


async def report(bench: Workbench, meter: Meter) -> None:
    await bench.worker.leases.report(bench.worker.worker_id, meter)


@given(st.lists(st.floats(0, 10_000), max_size=30), st.lists(st.integers(0, 30), max_size=5))
def test_reports_add_up_to_what_was_seen(seen: list[float], told_after: list[int]) -> None:
    meter, told = Meter(), Counter[float]()
    for n, seconds in enumerate([*seen, None]):
        if n in told_after or seconds is None:
            told.update({one.bucket.up_to: one.times for one in meter.report().observed})
            meter.reported()
        if seconds is not None:
            meter.ran("noop", seconds)

    assert +told == Counter(next(bound for bound in BOUNDS_SECONDS if seconds <= bound) for seconds in seen)


def test_a_time_that_is_a_bound_is_within_it() -> None:
    meter = a_meter(0.25, 0.2500001, 3_600, 3_601)

    assert [one.bucket.up_to for one in meter.report().observed] == [0.25, 0.5, 3_600, inf]


def test_a_report_is_the_same_until_it_has_arrived() -> None:
    meter = a_meter(1)
    first = meter.report()
    meter.ran("noop", 1)

    assert meter.report() == first
    meter.reported()
    assert (meter.report().number, meter.report().observed) == (first.number + 1, [ran(1, 1, 1)])


def test_where_nothing_was_seen_nothing_is_reported() -> None:
    meter = a_meter()
    meter.popped_in_vain(0)

    assert meter.report().observed == []


async def test_a_report_that_is_sent_twice_is_added_once(bench: Workbench) -> None:
    meter = a_meter(2, 2, 20)
    number, observed = meter.report()
    for _ in range(2):
        await observations.add(bench.runtime.ledger, bench.worker.worker_id, number, observed)
    meter.reported()
    meter.ran("noop", 2)

    await report(bench, meter)

    assert await totals(bench) == [ran(2.5, 3, 6), ran(30, 1, 20)]


async def test_a_report_whose_answer_is_lost_is_added_once(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    meter = a_meter(1)
    async with another_bench(database_url=postgres_proxy.url(database_url)) as cut_off:
        # The statement is known to the connection, so that all of it is sent at once.
        await report(cut_off, meter)
        meter.ran("noop", 1)
        postgres_proxy.drop(Direction.REPLIES)
        reporting = asyncio.create_task(report(cut_off, meter))

        async def has_arrived() -> bool:
            return await totals(bench) == [ran(1, 2, 2)]

        await eventually(has_arrived)
        postgres_proxy.cut()
        with pytest.raises(DatabaseUnavailableError):
            await reporting
        await postgres_proxy.heal()
        meter.ran("noop", 1)

        for _ in range(2):
            await report(cut_off, meter)

    assert await totals(bench) == [ran(1, 3, 3)]


async def test_the_reports_of_all_workers_add_up(bench: Workbench) -> None:
    for worker, seconds in ((bench, 3), (bench.another_worker(), 4)):
        await report(worker, a_meter(seconds))

    assert await totals(bench) == [ran(5, 2, 7)]


async def test_what_workers_saw_that_are_gone_is_folded_and_stays(bench: Workbench) -> None:
    for seconds in (3, 4, 50):
        leaving = bench.another_worker()
        await leaving.beat()
        await report(leaving, a_meter(seconds))
        await leaving.worker.leases.leave(leaving.worker.worker_id)
        await bench.worker.retention.prune()
    await bench.beat()
    await report(bench, a_meter(3))

    await bench.worker.retention.prune()

    assert await totals(bench) == [ran(5, 3, 10), ran(60, 1, 50)]
    assert len(await bench.execute("SELECT FROM observations")) == 3


async def test_a_worker_that_was_given_up_and_comes_back_goes_on_counting(bench: Workbench) -> None:
    meter = a_meter(3)
    await bench.beat()
    await report(bench, meter)
    await bench.worker.leases.leave(bench.worker.worker_id)
    await bench.worker.retention.prune()

    meter.ran("noop", 4)
    await bench.beat()
    await report(bench, meter)

    assert await totals(bench) == [ran(5, 2, 7)]


async def test_a_pop_that_leads_to_no_claim_is_wasted(bench: Workbench) -> None:
    task, done = await bench.a_task(), await bench.a_task()
    lane = await bench.a_deep_lane("contract", 3)
    await bench.complete(await bench.claim_next(done))

    await bench.worker.desk.claim([task.id, done.id, *lane])
    await report(bench, bench.worker.meter)

    assert await totals(bench) == [Observed(Bucket(Measure.WASTED_POP, "", inf), 3, 0)]


async def test_a_wait_begins_when_the_task_could_run(bench: Workbench) -> None:
    waiting, late = await bench.a_task(), await bench.a_task()
    await bench.fail(await bench.claim_next(late))
    await bench.execute(
        "UPDATE tasks SET queued_at = queued_at - interval '1 hour', run_at = run_at - interval '1 hour'"
    )
    await bench.execute("UPDATE tasks SET run_at = now() - interval '5 s' WHERE id = $1::uuid", late.id)

    waited = {task.id: task.waited_seconds for task in await bench.claim(waiting, late)}

    assert 3_600 <= waited[waiting.id] < 3_630
    assert 5 <= waited[late.id] < 35
