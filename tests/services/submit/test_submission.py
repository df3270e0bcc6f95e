"""Submission: stored in one transaction, rung afterwards, refused alone."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import asyncpg
import pytest

from officeplane.dispatch import bells
from officeplane.domain.errors import DatabaseUnavailableError, InvalidRequestError, UnknownTaskTypeError
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import TaskRequest
from officeplane.failpoints import arm
from tests.fault_proxy import Direction, FaultProxy
from tests.services.conftest import AnotherBench
from tests.support import stopwatch
from tests.workbench import Workbench

UNSTORABLE: Mapping[str, Any] = {"task_type": "test.note", "payload": {"text": "a\x00b"}}


def a_request(**options: Any) -> TaskRequest:
    return TaskRequest.from_python({"task_type": "noop", **options})


async def titles(bench: Workbench) -> list[str]:
    rows = await bench.execute("SELECT coalesce(title, '') AS title FROM tasks ORDER BY seq")
    return [row["title"] for row in rows]


async def test_a_task_is_queued_and_rung(bench: Workbench) -> None:
    task = await bench.a_task(document_id="d", title="one")

    assert (await bench.details(task.id)).task == task
    assert await bench.rung() == [task.id]
    assert await bench.events(task) == ["task.queued"]


@pytest.mark.parametrize(
    ("priority", "name"), [(0, "critical"), (9, "critical"), (10, "high"), (30, "tasks"), (59, "tasks"), (60, "low")]
)
async def test_a_task_is_rung_on_the_list_of_its_tier(bench: Workbench, priority: int, name: str) -> None:
    task = await bench.a_task(priority=priority)

    assert await bench.redis("LRANGE", f"officeplane:{name}", "0", "-1") == [task.id]


async def test_a_batch_is_rung_by_its_first_leaf(bench: Workbench) -> None:
    noop = {"task_type": "noop"}

    tasks = await bench.a_batch({"children": [noop, noop]}, noop)

    assert await bench.rung() == [tasks[2].id]
    assert await bench.states(*tasks) == ["QUEUED", "QUEUED", "QUEUED", "PENDING", "PENDING"]


async def test_a_lane_is_rung_once_on_its_most_urgent_list_however_many_are_submitted(bench: Workbench) -> None:
    crowd = await bench.submit_many(
        [
            *[{"task_type": "noop", "document_id": "crowded"}] * 3,
            {"task_type": "noop", "document_id": "crowded", "priority": "HIGH"},
            {"task_type": "noop", "document_id": "another"},
            {"task_type": "noop"},
            {"task_type": "noop"},
        ]
    )

    assert await bench.rung() == [task.id for task in crowd[3:]]


async def test_a_bulk_is_stored_answered_and_rung_in_the_order_given(bench: Workbench) -> None:
    stored = await bench.runtime.submission.submit_many(LOCAL, [a_request(title=str(number)) for number in range(300)])

    assert await titles(bench) == [str(number) for number in range(300)]
    assert [one.task.title for one in stored] == await titles(bench)
    assert await bench.rung() == [one.task.id for one in stored]


async def test_a_bulk_is_stored_whole_or_not_at_all(bench: Workbench) -> None:
    with pytest.raises(InvalidRequestError):
        await bench.runtime.submission.submit_many(LOCAL, [a_request(), a_request(**UNSTORABLE), a_request()])

    assert await titles(bench) == []
    assert await bench.rung() == []


async def test_what_the_driver_says_of_a_value_is_not_told(bench: Workbench) -> None:
    with pytest.raises(InvalidRequestError) as refusal:
        await bench.submit(dict(UNSTORABLE))

    assert str(refusal.value) == "The task could not be stored: Postgres refuses one of its values."


@pytest.mark.parametrize("wrong", [UNSTORABLE, {"task_type": "nope"}])
async def test_what_was_written_before_a_refusal_far_behind_is_taken_back(
    bench: Workbench, wrong: Mapping[str, Any]
) -> None:
    with pytest.raises(InvalidRequestError):
        await bench.runtime.submission.submit_many(
            LOCAL, [*[a_request()] * 400, a_request(**wrong), *[a_request()] * 400]
        )

    assert await titles(bench) == []
    assert await bench.rung() == []
    assert await bench.execute("SELECT FROM events") == []


async def test_a_key_far_behind_in_a_bulk_is_remembered(bench: Workbench) -> None:
    requests = [*(a_request(title=str(number)) for number in range(400)), a_request(title="400", idempotency_key="k")]

    stored = await bench.runtime.submission.submit_many(LOCAL, requests)
    again = await bench.runtime.submission.submit_many(LOCAL, requests)

    assert await titles(bench) == [str(number) for number in (*range(401), *range(400))]
    assert [one.replayed for one in again] == [False] * 400 + [True]
    assert again[-1].task.id == stored[-1].task.id


async def test_a_refusal_in_a_bulk_names_the_body(bench: Workbench) -> None:
    with pytest.raises(UnknownTaskTypeError) as refused:
        await bench.runtime.submission.submit_many(LOCAL, [a_request(), a_request(task_type="nope")])

    assert [wrong.field for wrong in refused.value.errors] == ["1.taskType"]


async def test_an_empty_bulk_is_nothing(bench: Workbench) -> None:
    assert await bench.runtime.submission.submit_many(LOCAL, []) == []


async def test_the_three_hundredth_child_is_wrong_and_nothing_is_stored(bench: Workbench) -> None:
    children = [{"task_type": "noop"}] * 299 + [UNSTORABLE] + [{"task_type": "noop"}] * 50

    with pytest.raises(InvalidRequestError):
        await bench.a_batch(*children)

    assert await titles(bench) == []


async def test_of_a_group_only_the_task_that_cannot_be_stored_is_refused(bench: Workbench) -> None:
    bad = 13
    given: list[dict[str, Any]] = [{"task_type": "noop", "title": str(number)} for number in range(40)]
    given[bad] = dict(UNSTORABLE)

    outcomes = await asyncio.gather(*map(bench.submit, given), return_exceptions=True)

    assert [at for at, outcome in enumerate(outcomes) if isinstance(outcome, BaseException)] == [bad]
    assert isinstance(outcomes[bad], InvalidRequestError)
    assert sorted(await titles(bench), key=int) == [str(number) for number in range(40) if number != bad]


async def test_of_a_group_in_parts_only_those_after_the_loss_of_the_database_are_in_doubt(bench: Workbench) -> None:
    # The dice of this seed spare the first part that is stored and strike the second.
    arm("after_insert=raise@0.5", 10)
    try:
        outcomes = await asyncio.gather(
            bench.submit({"task_type": "noop", "title": "first"}),
            bench.submit(dict(UNSTORABLE)),
            bench.submit({"task_type": "noop", "title": "last"}),
            return_exceptions=True,
        )
    finally:
        arm("", 0)

    first, refused, doubtful = outcomes
    assert not isinstance(first, BaseException)
    assert isinstance(refused, InvalidRequestError)
    assert isinstance(doubtful, DatabaseUnavailableError)


async def test_a_group_shares_one_transaction(bench: Workbench) -> None:
    await asyncio.gather(*(bench.a_task() for _ in range(50)))

    rows = await bench.execute("SELECT DISTINCT xmin::text FROM tasks")
    assert len(rows) == 1


async def test_a_caller_that_went_away_before_the_commit_leaves_nothing(bench: Workbench) -> None:
    gone = asyncio.create_task(bench.a_task(title="gone"))
    kept = asyncio.create_task(bench.a_task(title="kept"))
    # Both have handed over their item; neither has been sent.
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([gone, kept])

    assert await titles(bench) == ["kept"]


async def test_a_submission_never_waits_for_a_redis_that_is_silent(
    another_bench: AnotherBench, redis_proxy: FaultProxy, redis_url: str
) -> None:
    async def seconds_taken() -> float:
        async with another_bench(redis_url=redis_proxy.url(redis_url)) as silenced:
            with stopwatch() as seconds:
                task = await silenced.a_task()
            assert await silenced.states(task) == ["QUEUED"]
        return seconds()

    redis_proxy.hold()

    # A wait for Redis is as long every time; what else holds a machine up is not.
    assert min([await seconds_taken() for _ in range(3)]) < 0.5


async def test_a_submission_does_not_mind_that_redis_is_gone(
    another_bench: AnotherBench, redis_proxy: FaultProxy, redis_url: str
) -> None:
    async with another_bench(redis_url=redis_proxy.url(redis_url)) as cut_off:
        await redis_proxy.refuse()

        task = await cut_off.a_task()

        assert await cut_off.states(task) == ["QUEUED"]


async def test_a_submission_does_not_mind_that_no_redis_is_configured(polling: Workbench) -> None:
    assert await polling.states(await polling.a_task()) == ["QUEUED"]


async def test_a_ring_whose_answer_was_lost_does_not_fail_the_submission(
    bench: Workbench,
    another_bench: AnotherBench,
    redis_proxy: FaultProxy,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The first is to be answered also if the machine stands still meanwhile.
    monkeypatch.setattr(bells, "RING_SECONDS", 2.0)
    async with another_bench(redis_url=redis_proxy.url(redis_url)) as deaf:
        first = await deaf.a_task()
        redis_proxy.drop(Direction.REPLIES)

        second = await deaf.a_task()

    assert await bench.rung() == [first.id, second.id]


async def test_a_task_submitted_in_a_transaction_that_is_rolled_back_never_was(bench: Workbench) -> None:
    async with bench.runtime.ledger.transaction() as connection:
        savepoint = connection.transaction()
        await savepoint.start()
        await bench.runtime.submission.submit_within(LOCAL, connection, a_request())
        await savepoint.rollback()

    assert await titles(bench) == []
    assert await bench.rung() == []


async def test_a_task_submitted_in_the_callers_transaction_is_found_by_the_sweeper(bench: Workbench) -> None:
    async with bench.runtime.ledger.transaction() as connection:
        stored = await bench.runtime.submission.submit_within(LOCAL, connection, a_request())
    assert await bench.rung() == []
    await bench.let_rings_age()

    await bench.worker.redelivery.sweep()

    assert await bench.rung() == [stored.task.id]


async def test_whoever_commits_may_ring_at_once(bench: Workbench) -> None:
    async with bench.runtime.ledger.transaction() as connection:
        stored = await bench.runtime.submission.submit_within(
            LOCAL, connection, a_request(task_type=None, children=[{"task_type": "noop"}])
        )

    await bench.runtime.submission.ring(stored.tasks)

    assert await bench.rung() == [stored.tasks[1].id]


async def test_a_refusal_within_the_callers_transaction_says_why(bench: Workbench) -> None:
    with pytest.raises(InvalidRequestError):
        async with bench.runtime.ledger.transaction() as connection:
            await bench.runtime.submission.submit_within(LOCAL, connection, a_request(**UNSTORABLE))

    assert await titles(bench) == []


@pytest.mark.parametrize("options", [{}, {"idempotency_key": "k"}], ids=["without a key", "with a key"])
async def test_the_callers_transaction_keeps_its_own_patience_for_locks(
    bench: Workbench, options: dict[str, str]
) -> None:
    async with bench.runtime.ledger.transaction() as connection:
        await connection.execute("SET LOCAL lock_timeout = '17s'")

        await bench.runtime.submission.submit_within(LOCAL, connection, a_request(**options))

        assert await connection.fetchval("SHOW lock_timeout") == "17s"


async def test_a_callers_connection_may_have_json_codecs_of_its_own(bench: Workbench, database_url: str) -> None:
    note = a_request(
        task_type="test.note", payload={"text": "hello"}, tags=["a"], retry={"strategy": "fixed"}, idempotency_key="k"
    )
    connection = await asyncpg.connect(database_url)
    try:
        await connection.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")

        stored = await bench.runtime.submission.submit_within(LOCAL, connection, note)
        again = await bench.runtime.submission.submit_within(LOCAL, connection, note)
    finally:
        await connection.close()

    task = (await bench.details(stored.task.id)).task
    assert (task.payload, task.tags) == ({"text": "hello"}, ("a",))
    assert again.task == task
