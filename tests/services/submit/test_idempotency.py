"""Idempotency keys: a request that is repeated is one request."""

import asyncio
from typing import Any

import pytest

from officeplane.domain.errors import IdempotencyInProgressError, IdempotencyMismatchError
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import TaskRequest
from officeplane.services.submit.submission import Submitted
from tests.fault_proxy import Direction, FaultProxy
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench


def a_request(key: str | None = "k", **options: Any) -> TaskRequest:
    given = {"task_type": "noop", "idempotency_key": key, **options}
    return TaskRequest.from_python(given)


async def submit(bench: Workbench, request: TaskRequest) -> Submitted:
    return await bench.runtime.submission.submit(LOCAL, request)


async def count(bench: Workbench) -> int:
    return len(await bench.execute("SELECT FROM tasks"))


async def test_a_replay_answers_with_the_task_as_it_is_now(bench: Workbench) -> None:
    first = await submit(bench, a_request())
    await bench.complete(await bench.claim_next(first.task), '{"answer": 42}')
    await bench.hush()

    again = await submit(bench, a_request())

    assert (first.replayed, again.replayed) == (False, True)
    assert again.task == (await bench.details(first.task.id)).task
    assert (again.task.state, again.task.result) == ("COMPLETED", {"answer": 42})
    assert await count(bench) == 1
    assert await bench.rung() == []


async def test_another_body_under_the_same_key_is_refused(bench: Workbench) -> None:
    await submit(bench, a_request())

    with pytest.raises(IdempotencyMismatchError):
        await submit(bench, a_request(title="other"))

    assert await count(bench) == 1


async def test_one_key_at_once_in_one_process_is_one_task(bench: Workbench) -> None:
    stored = await asyncio.gather(*(submit(bench, a_request()) for _ in range(20)))

    assert len({one.task.id for one in stored}) == 1
    assert [one.replayed for one in stored].count(False) == 1
    assert await count(bench) == 1


async def test_one_key_at_once_in_two_processes_is_one_task(bench: Workbench, another_bench: AnotherBench) -> None:
    async with another_bench() as other:
        stored = await asyncio.gather(
            *(submit(process, a_request(f"key {number}")) for number in range(25) for process in (bench, other))
        )

    assert len({one.task.id for one in stored}) == 25
    assert [one.replayed for one in stored].count(False) == 25
    assert await count(bench) == 25


async def test_keys_crossing_in_two_bulks_neither_deadlock_nor_double(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    async with another_bench() as other:
        ways = [a_request(f"key {number}") for number in range(50)]
        here, there = await asyncio.gather(
            bench.runtime.submission.submit_many(LOCAL, ways), other.runtime.submission.submit_many(LOCAL, ways[::-1])
        )

    assert [one.task.id for one in here] == [one.task.id for one in there[::-1]]
    assert await count(bench) == 50


async def test_bodies_that_differ_under_one_key_at_once_leave_one_task(bench: Workbench) -> None:
    outcomes = await asyncio.gather(
        *(submit(bench, a_request(title=title)) for title in ("a", "b")),
        submit(bench, a_request(None, title="neighbour")),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [Submitted, IdempotencyMismatchError, Submitted]
    assert await count(bench) == 2


async def test_a_key_that_another_is_still_storing_is_in_progress_and_its_neighbours_pass(bench: Workbench) -> None:
    async with bench.runtime.ledger.transaction() as connection:
        await bench.runtime.submission.submit_within(LOCAL, connection, a_request())

        outcomes = await asyncio.gather(
            submit(bench, a_request()), submit(bench, a_request(None, title="neighbour")), return_exceptions=True
        )

    assert [type(outcome) for outcome in outcomes] == [IdempotencyInProgressError, Submitted]


async def test_a_repeat_waits_for_the_first_and_is_its_replay(bench: Workbench) -> None:
    async with bench.runtime.ledger.transaction() as connection:
        first = await bench.runtime.submission.submit_within(LOCAL, connection, a_request())
        repeat = asyncio.create_task(submit(bench, a_request()))
        await bench.somebody_waits_for_a_lock()

    assert (await repeat).task.id == first.task.id
    assert (await repeat).replayed


async def test_a_repeat_takes_the_place_of_a_first_that_was_rolled_back(bench: Workbench) -> None:
    async with bench.runtime.ledger.transaction() as connection:
        savepoint = connection.transaction()
        await savepoint.start()
        await bench.runtime.submission.submit_within(LOCAL, connection, a_request())
        repeat = asyncio.create_task(submit(bench, a_request()))
        await bench.somebody_waits_for_a_lock()
        await savepoint.rollback()

    assert not (await repeat).replayed
    assert await count(bench) == 1


async def test_a_key_that_expires_while_it_is_looked_up_is_to_be_tried_again(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    """The key is still there when it is to be kept, and gone when it is asked what it was used for."""
    await submit(bench, a_request("the-key"))
    async with another_bench(database_url=postgres_proxy.url(database_url)) as slow:
        # What is sent next is known to the connection, so that an answer means that it was done.
        await submit(slow, a_request("another"))
        await submit(slow, a_request("another"))
        postgres_proxy.forget()
        repeat = asyncio.create_task(submit(slow, a_request("the-key")))
        await postgres_proxy.passed(b"the-key")
        postgres_proxy.hold()
        await postgres_proxy.passed(b"INSERT 0 0", Direction.REPLIES)
        await bench.execute("DELETE FROM idempotency_keys WHERE key = 'the-key'")
        await postgres_proxy.heal()

        with pytest.raises(IdempotencyInProgressError):
            await repeat

        assert not (await submit(slow, a_request("the-key"))).replayed


async def test_the_key_of_a_batch_covers_its_children(bench: Workbench) -> None:
    batch = a_request(task_type=None, children=[{"task_type": "noop"}, {"task_type": "noop"}])

    first, again = await submit(bench, batch), await submit(bench, batch)

    assert again.task.id == first.task.id
    assert await count(bench) == 3


async def test_in_a_bulk_a_key_counts_per_body(bench: Workbench) -> None:
    await submit(bench, a_request("old"))

    stored = await bench.runtime.submission.submit_many(
        LOCAL, [a_request("new"), a_request("old"), a_request(None), a_request("new")]
    )

    assert [one.replayed for one in stored] == [False, True, False, True]
    assert stored[0].task.id == stored[3].task.id
    assert await count(bench) == 3


async def test_one_mismatch_refuses_a_whole_bulk(bench: Workbench) -> None:
    await submit(bench, a_request("old"))

    with pytest.raises(IdempotencyMismatchError):
        await bench.runtime.submission.submit_many(LOCAL, [a_request("new"), a_request("old", title="other")])

    assert await count(bench) == 1
    assert not (await submit(bench, a_request("new"))).replayed


async def test_a_refused_task_does_not_use_up_its_key(bench: Workbench) -> None:
    unstorable = a_request(task_type="test.note", payload={"text": "\x00"})
    outcomes = await asyncio.gather(submit(bench, unstorable), return_exceptions=True)
    assert isinstance(outcomes[0], Exception)

    assert not (await submit(bench, a_request())).replayed


async def test_a_key_lives_a_day_beyond_the_end_of_its_task(bench: Workbench) -> None:
    ended, running, fresh = [await submit(bench, a_request(key)) for key in ("ended", "running", "fresh")]
    await bench.complete(await bench.claim_next(ended.task))
    await bench.complete(await bench.claim_next(fresh.task))
    await bench.claim_next(running.task)
    await bench.let_days_pass(1.01, ended.task, running.task)
    await bench.let_days_pass(0.99, fresh.task)

    await bench.worker.retention.prune()

    replayed = {key: (await submit(bench, a_request(key))).replayed for key in ("ended", "running", "fresh")}
    assert replayed == {"ended": False, "running": True, "fresh": True}
