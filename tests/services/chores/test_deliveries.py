"""Deliveries: whoever gives up is told of, at least once, whatever happens to either side."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.ids import TaskId
from officeplane.domain.principal import LOCAL
from officeplane.services.chores import deliveries
from officeplane.services.settle.judgement import EndedAttempt
from tests.receiver import Receiver, receiving
from tests.services.conftest import AnotherBench
from tests.services.settle.test_dead_letters import GONE_WRONG
from tests.support import eventually
from tests.workbench import Workbench

NOOP: Final = {"task_type": "noop", "max_retries": 0}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as started:
        yield started


@pytest.fixture
async def alerting_bench(another_bench: AnotherBench, receiver: Receiver) -> AsyncIterator[Workbench]:
    """A worker that knows whom to tell."""
    async with another_bench(alert_url=receiver.url) as bench:
        yield bench


async def give_up(bench: Workbench, count: int = 1) -> list[TaskId]:
    tasks = await bench.submit_many([NOOP] * count)
    claimed = await bench.claim(*tasks)
    await bench.settle_together([EndedAttempt(task, GONE_WRONG) for task in claimed])
    return [task.id for task in tasks]


async def waiting(bench: Workbench) -> int:
    """Return how many alerts are in the outbox."""
    return len(await bench.execute("SELECT FROM deliveries"))


async def make_due(bench: Workbench) -> None:
    await bench.execute("UPDATE deliveries SET due_at = now()")


def told_of_alerts(logs: list[EventDict]) -> list[tuple[str, str]]:
    """Return what was logged of alerts, whatever else this process may log, with its error or task."""
    return [
        (log["event"], log.get("error") or log["task_id"]) for log in logs if str(log["event"]).startswith("alert.")
    ]


async def due_in_seconds(bench: Workbench) -> float:
    (row,) = await bench.execute(
        "SELECT extract(epoch FROM max(due_at) - clock_timestamp())::float8 AS s FROM deliveries"
    )
    return float(row["s"])


async def test_what_gave_up_is_told_and_forgotten(alerting_bench: Workbench, receiver: Receiver) -> None:
    (task_id,) = await give_up(alerting_bench)

    assert not await alerting_bench.worker.deliveries.send()

    (body,) = receiver.told
    (alert,) = body["alerts"]
    assert body["text"].startswith("1 task gave up:\n1 × noop, error: it went wrong")
    assert alert.keys() == {
        "id", "reason", "taskId", "generation", "taskType", "documentId", "dagId", "error", "fingerprint", "poisonPill",
        "recurring", "totalCostUsd", "deadLetteredAt", "note",
    }  # fmt: skip
    assert (alert["taskId"], alert["reason"], alert["taskType"]) == (task_id, "dead_lettered", "noop")
    assert alert["error"] == {"kind": "error", "message": "it went wrong"}
    assert await waiting(alerting_bench) == 0


async def test_what_arrived_together_goes_in_one_post_up_to_a_limit(
    alerting_bench: Workbench, receiver: Receiver
) -> None:
    task_ids = await give_up(alerting_bench, deliveries.ALERTS_AT_ONCE + 3)

    assert await alerting_bench.worker.deliveries.send()
    assert not await alerting_bench.worker.deliveries.send()

    assert [len(body["alerts"]) for body in receiver.told] == [deliveries.ALERTS_AT_ONCE, 3]
    assert sorted(receiver.task_ids) == sorted(task_ids)


async def test_an_escalation_is_told_too(alerting_bench: Workbench, receiver: Receiver) -> None:
    (task_id,) = await give_up(alerting_bench)
    await alerting_bench.worker.deliveries.send()

    await alerting_bench.runtime.dead_letters.resolve(
        LOCAL, task_id, Ruling(Decision.ESCALATE, "alice", "Whose template is it?")
    )
    await alerting_bench.worker.deliveries.send()

    assert [(one["reason"], one["note"]) for body in receiver.told for one in body["alerts"]] == [
        ("dead_lettered", None),
        ("escalated", "Whose template is it?"),
    ]


@pytest.mark.parametrize("status", [301, 400, 500])
async def test_a_receiver_that_refuses_is_told_again_after_a_while(
    alerting_bench: Workbench, receiver: Receiver, status: int
) -> None:
    (task_id,) = await give_up(alerting_bench)
    receiver.status = status

    await alerting_bench.worker.deliveries.send()
    assert 0 < await due_in_seconds(alerting_bench) <= 5
    await make_due(alerting_bench)
    await alerting_bench.worker.deliveries.send()
    assert 5 < await due_in_seconds(alerting_bench) <= 10

    receiver.status = 204
    await alerting_bench.worker.deliveries.send()
    assert len(receiver.told) == 2, "it is not due yet"
    await make_due(alerting_bench)
    await alerting_bench.worker.deliveries.send()

    assert receiver.task_ids == [task_id] * 3
    assert len({one["id"] for body in receiver.told for one in body["alerts"]}) == 1
    assert await waiting(alerting_bench) == 0


async def test_a_receiver_that_dies_and_comes_back_is_told(alerting_bench: Workbench, receiver: Receiver) -> None:
    (task_id,) = await give_up(alerting_bench)
    receiver.status = 0
    sending = asyncio.create_task(alerting_bench.worker.deliveries.send())
    await eventually(lambda: receiver.told)
    await receiver.die()
    await sending
    assert await waiting(alerting_bench) == 1

    await make_due(alerting_bench)
    await alerting_bench.worker.deliveries.send()
    assert await waiting(alerting_bench) == 1, "nobody listens"

    await receiver.start()
    receiver.status = 200
    await make_due(alerting_bench)
    await alerting_bench.worker.deliveries.send()

    assert receiver.task_ids == [task_id] * 2
    assert await waiting(alerting_bench) == 0


async def test_a_silent_receiver_is_waited_for_with_no_transaction_open(
    alerting_bench: Workbench, receiver: Receiver
) -> None:
    await give_up(alerting_bench)
    receiver.status = 0

    sending = asyncio.create_task(alerting_bench.worker.deliveries.send())
    await eventually(lambda: receiver.told)
    open_ones = await alerting_bench.execute(
        "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
    )

    assert not sending.done()
    assert open_ones == []
    await receiver.die()
    await sending


async def test_a_silent_receiver_is_not_waited_for_for_ever(
    alerting_bench: Workbench, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "ANSWER_SECONDS", 0.5)
    await give_up(alerting_bench)
    receiver.status = 0

    with capture_logs() as logs:
        await alerting_bench.worker.deliveries.send()

    assert told_of_alerts(logs) == [("alert.not_sent", "no answer within 0.5 s")]
    assert await waiting(alerting_bench) == 1


async def test_of_two_who_send_at_once_each_alert_is_sent_by_one(
    alerting_bench: Workbench, another_bench: AnotherBench, receiver: Receiver
) -> None:
    task_ids = await give_up(alerting_bench, 20)
    async with another_bench(alert_url=receiver.url) as other:
        await asyncio.gather(alerting_bench.worker.deliveries.send(), other.worker.deliveries.send())

    assert sorted(receiver.task_ids) == sorted(task_ids)


async def test_a_sender_that_is_gone_before_the_answer_has_lost_nothing(
    alerting_bench: Workbench, another_bench: AnotherBench, receiver: Receiver
) -> None:
    (task_id,) = await give_up(alerting_bench)
    receiver.status = 0
    sending = asyncio.create_task(alerting_bench.worker.deliveries.send())
    await eventually(lambda: receiver.told)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    receiver.status = 200

    async with another_bench(alert_url=receiver.url) as other:
        await other.worker.deliveries.send()
        assert len(receiver.told) == 1, "it might still be on its way"
        assert await due_in_seconds(other) <= deliveries.TAKEN_SECONDS
        await make_due(other)
        await other.worker.deliveries.send()

    assert receiver.task_ids == [task_id] * 2
    assert await waiting(alerting_bench) == 0


async def test_what_could_not_be_told_for_a_day_is_given_up_and_said_so(
    alerting_bench: Workbench, receiver: Receiver
) -> None:
    (task_id,) = await give_up(alerting_bench)
    await receiver.die()
    await alerting_bench.worker.deliveries.send()
    await alerting_bench.execute("UPDATE deliveries SET due_at = now(), created_at = now() - interval '25 hours'")

    with capture_logs() as logs:
        await alerting_bench.worker.deliveries.send()

    assert told_of_alerts(logs) == [("alert.given_up", task_id)]
    assert [log["log_level"] for log in logs if log["event"] == "alert.given_up"] == ["error"]
    assert await waiting(alerting_bench) == 0


async def test_what_nobody_has_tried_to_tell_is_tried_however_old(
    alerting_bench: Workbench, receiver: Receiver
) -> None:
    (task_id,) = await give_up(alerting_bench)
    await alerting_bench.execute("UPDATE deliveries SET created_at = now() - interval '25 hours'")

    await alerting_bench.worker.deliveries.send()

    assert receiver.task_ids == [task_id]


async def test_without_an_address_what_is_left_of_one_is_given_up_after_a_day(
    bench: Workbench, alerting_bench: Workbench
) -> None:
    await give_up(alerting_bench)

    await bench.worker.deliveries.send()
    assert await waiting(bench) == 1

    await bench.execute("UPDATE deliveries SET created_at = now() - interval '25 hours'")
    await bench.worker.deliveries.send()
    assert await waiting(bench) == 0
