"""Probes: of a type whose breaker is half-open one task at a time finds out whether it works again."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import DocumentId
from officeplane.domain.principal import LOCAL
from tests.services.conftest import AnotherBench
from tests.services.operate.breakers import (
    CLOSED,
    HALF_OPEN,
    OPEN,
    THRESHOLD,
    a_probe,
    breaker,
    half_opened,
    let_the_probe_lapse,
    probe_of,
)
from tests.workbench import Workbench


@pytest.fixture
async def bench(bench: Workbench, another_bench: AnotherBench) -> AsyncIterator[Workbench]:
    """A plane whose breakers open as they do by default."""
    async with another_bench(breaker_failure_threshold=THRESHOLD) as workbench:
        yield workbench


async def test_after_a_while_exactly_one_task_is_let_through(bench: Workbench) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 20)

    await bench.worker.valve_timers.tend()
    claimed = await asyncio.gather(*(bench.another_worker().claim(*tasks) for _ in range(3)))

    assert len([task for of_worker in claimed for task in of_worker]) == 1
    await bench.worker.valve_timers.tend()
    assert await bench.another_worker().claim(*tasks) == []


async def test_the_probe_is_rung_and_nothing_else(bench: Workbench) -> None:
    await half_opened(bench)
    first, _ = await bench.submit_many([{"task_type": "noop"}] * 2)
    await bench.hush()
    await bench.let_rings_age()

    await bench.worker.valve_timers.tend()
    await bench.worker.valve_timers.tend()

    assert await bench.rung() == [first.id]


async def test_a_worker_without_redis_finds_the_probe(bench: Workbench, polling: Workbench) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 5)
    await bench.worker.valve_timers.tend()

    claimed = await polling.worker.desk.claim_from_ledger(10)

    assert [task.id for task in claimed] == [tasks[0].id]


async def test_a_probe_that_does_well_closes_the_breaker_and_what_waited_is_rung(bench: Workbench) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 3)
    await bench.complete(await a_probe(bench, *tasks))
    await bench.hush()

    await bench.worker.valve_timers.tend()

    found = await breaker(bench)
    assert (found.state, found.failures, found.opened_at, found.retry_at) == (CLOSED, 0, None, None)
    assert await bench.rung() == [task.id for task in tasks[1:]]
    assert len(await bench.claim(*tasks)) == 2


async def test_a_probe_that_fails_opens_the_breaker_again(bench: Workbench) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 3)
    await bench.fail(await a_probe(bench, *tasks))

    found = await breaker(bench)

    assert found.state is OPEN
    assert found.retry_at is not None
    assert found.retry_at > datetime.now(UTC)
    assert await bench.claim(*tasks) == []


@pytest.mark.parametrize("kind", [FailureKind.PERMANENT, FailureKind.INVALID_EDIT])
async def test_a_probe_that_fails_for_reasons_of_its_own_leaves_it_to_another(
    bench: Workbench, kind: FailureKind
) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 3)
    first = await a_probe(bench, *tasks)
    await bench.fail(first, kind)

    second = await a_probe(bench, *tasks)

    assert second.id != first.id
    assert (await breaker(bench)).state is HALF_OPEN


async def test_a_half_open_breaker_does_not_wedge_if_its_probe_crashes(bench: Workbench) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 3)
    first = await a_probe(bench, *tasks)
    await let_the_probe_lapse(bench)
    await bench.worker.valve_timers.tend()
    assert await bench.claim(*tasks) == [], "the first may still be running"

    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    survivor = bench.another_worker()
    await survivor.worker.valve_timers.tend()
    (second,) = await survivor.claim(*tasks)

    assert second.id != first.id
    await survivor.complete(second)
    await survivor.worker.valve_timers.tend()
    assert (await breaker(bench)).state is CLOSED


async def test_a_probe_that_nobody_claims_in_time_gives_way_to_another(bench: Workbench) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 2)
    await bench.worker.valve_timers.tend()
    first = await probe_of(bench)
    await let_the_probe_lapse(bench)
    assert await bench.claim(*tasks) == [], "its time is over"

    await bench.worker.valve_timers.tend()

    assert await probe_of(bench) != first
    assert len(await bench.claim(*tasks)) == 1


async def test_a_probe_that_is_cancelled_or_gone_gives_way_to_another(bench: Workbench) -> None:
    await half_opened(bench)
    first, second = await bench.submit_many([{"task_type": "noop"}] * 2)
    await bench.worker.valve_timers.tend()
    await bench.end(first, "CANCELLED")
    await bench.worker.valve_timers.tend()
    assert await probe_of(bench) == second.id
    await bench.execute("DELETE FROM tasks")
    third = await bench.a_task()

    await bench.worker.valve_timers.tend()

    assert await probe_of(bench) == third.id


async def test_a_type_that_no_live_worker_knows_is_not_tried_until_one_does(bench: Workbench) -> None:
    await half_opened(bench)
    task = await bench.a_task()
    await bench.execute("UPDATE tasks SET task_type = 'nobody.knows'")
    await bench.execute("UPDATE valves SET task_type = 'nobody.knows'")
    await bench.hush()
    await bench.worker.valve_timers.tend()
    assert await bench.rung() == []

    await bench.another_worker().beat(task_types=["nobody.knows"])
    await bench.worker.valve_timers.tend()

    assert await bench.rung() == [task.id]


async def test_two_leaders_choose_one_probe(bench: Workbench) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 10)

    await asyncio.gather(*(bench.another_worker().worker.valve_timers.tend() for _ in range(4)))

    assert len(await bench.claim(*tasks)) == 1


async def test_a_probe_heads_its_lane(bench: Workbench) -> None:
    await half_opened(bench)
    await bench.a_running_task("sleep", document_id="busy", payload={"seconds": 0})
    behind = await bench.a_task(document_id="busy", priority="CRITICAL")
    in_paused = await bench.a_task(document_id="paused", priority="CRITICAL")
    await bench.runtime.valves.pause_document(LOCAL, DocumentId("paused"))
    head, second = await bench.a_task(document_id="d"), await bench.a_task(document_id="d")

    assert (await a_probe(bench, behind, in_paused, second)).id == head.id


async def test_a_half_open_type_that_is_paused_is_not_tried(bench: Workbench) -> None:
    await half_opened(bench)
    tasks = await bench.submit_many([{"task_type": "noop"}] * 2)
    await bench.worker.valve_timers.tend()
    await bench.runtime.valves.pause_type(LOCAL, "noop")

    assert await bench.claim(*tasks) == []
