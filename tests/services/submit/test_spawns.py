"""Spawning: once for each key, only while the attempt stands, and what a spawned task takes over."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from officeplane.domain.document import Format
from officeplane.domain.failure import FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import LOCAL
from officeplane.domain.quota import UNLIMITED
from officeplane.domain.space import DEFAULT
from officeplane.domain.task import ClaimedTask, Task
from officeplane.handlers.contract import PermanentFailure, RateLimited
from officeplane.handlers.spawning import Spawned, spawn_request
from officeplane.services.claims.leases import ClaimLostError
from officeplane.services.submit import spawns
from tests.workbench import Workbench


async def spawn(
    bench: Workbench, spawner: ClaimedTask, key: str = "it", task_type: str = "noop", **options: Any
) -> Spawned:
    """Spawn a task as the handler of an attempt does."""
    payload = options.pop("payload", None)
    return await bench.worker.spawner.spawn(spawner, spawn_request(task_type, payload, options), key)


async def task_of(bench: Workbench, spawned: Spawned) -> Task:
    return (await bench.details(spawned.task_id)).task


async def spawned_by(bench: Workbench, spawner: ClaimedTask) -> list[str]:
    """Return the ids of all that a task has spawned."""
    rows = await bench.execute("SELECT id FROM tasks WHERE spawned_by = $1::uuid ORDER BY seq", spawner.id)
    return [str(row["id"]) for row in rows]


async def prune(bench: Workbench) -> None:
    """Prune until there is no more to look at."""
    while await bench.worker.retention.prune():
        pass


async def test_a_spawned_task_is_stored_at_once_and_rung(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    await bench.hush()

    spawned = await spawn(bench, spawner, task_type="sleep", payload={"seconds": 1}, title="Later")

    task = await task_of(bench, spawned)
    assert (task.state, task.task_type, task.payload, task.title) == ("QUEUED", "sleep", {"seconds": 1}, "Later")
    assert task.spawned_by == spawner.id
    assert await bench.rung() == [task.id]
    assert await bench.state(spawner) is TaskState.RUNNING


async def test_a_spawned_task_takes_over_priority_tags_and_author_unless_it_has_its_own(bench: Workbench) -> None:
    spawner = await bench.a_running_task(priority=7, tags=["a", "b"], created_by="Ann", document_id="plan")

    plain = await task_of(bench, await spawn(bench, spawner, "plain"))
    own = await task_of(
        bench, await spawn(bench, spawner, "own", priority="LOW", tags=[], created_by="Bob", document_id="plan")
    )

    assert (plain.priority, plain.tags, plain.on_behalf_of, plain.document_id) == (7, ("a", "b"), "Ann", None)
    assert (own.priority, own.tags, own.on_behalf_of, own.document_id) == (70, (), "Bob", "plan")


async def test_a_spawned_task_takes_over_what_makes_the_other_urgent(bench: Workbench) -> None:
    spawner = await bench.a_running_task(deadline="2999-01-01T00:00:00Z", boost_per_minute=3.0)
    deadline = (await bench.details(spawner.id)).task.deadline

    plain = await task_of(bench, await spawn(bench, spawner, "plain"))
    own = await task_of(
        bench, await spawn(bench, spawner, "own", deadline="2998-01-01T00:00:00Z", boost_per_minute=0.0)
    )

    assert (plain.deadline, plain.boost_per_minute) == (deadline, 3.0)
    assert (own.deadline, own.boost_per_minute) != (deadline, 3.0)


async def test_a_key_spawns_once_and_leads_to_the_result_when_there_is_one(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    first = await spawn(bench, spawner)

    assert await spawn(bench, spawner) == first == Spawned(first.task_id, is_completed=False, result=None)
    await bench.complete(await bench.claim_next(await task_of(bench, first)), '{"chapters": 3}')

    assert await spawn(bench, spawner) == Spawned(first.task_id, is_completed=True, result={"chapters": 3})
    assert await spawned_by(bench, spawner) == [first.task_id]


async def test_two_that_spawn_under_one_key_at_once_spawn_one_task(bench: Workbench) -> None:
    spawner = await bench.a_running_task()

    answers = await asyncio.gather(*(spawn(bench, spawner) for _ in range(8)))

    assert len(set(answers)) == 1
    assert await spawned_by(bench, spawner) == [answers[0].task_id]


async def test_the_next_attempt_finds_what_the_last_one_spawned(bench: Workbench) -> None:
    spawner = await bench.a_running_task(retry={"strategy": "immediate"})
    first = await spawn(bench, spawner)
    await bench.fail(spawner)
    (again,) = await bench.worker.desk.claim([spawner.id])

    assert await spawn(bench, again) == first
    assert await spawned_by(bench, spawner) == [first.task_id]


@pytest.mark.parametrize(
    "other", [{"payload": {"seconds": 2}}, {"task_type": "noop", "payload": {}}, {"document_id": "other"}]
)
async def test_a_key_that_was_used_for_something_else_is_a_permanent_failure(
    bench: Workbench, other: dict[str, Any]
) -> None:
    spawner = await bench.a_running_task()
    asked: dict[str, Any] = {"task_type": "sleep", "payload": {"seconds": 1}}
    spawned = await spawn(bench, spawner, **asked)

    with pytest.raises(PermanentFailure, match="under this key it has spawned a task of another type"):
        await spawn(bench, spawner, **asked | other)

    assert await spawned_by(bench, spawner) == [spawned.task_id]


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"task_type": "no.such"}, "There is no task type 'no.such'"),
        ({"task_type": "sleep"}, "payload.seconds"),
        ({"task_type": "sleep", "payload": {"seconds": object()}}, "The payload is not JSON"),
        ({"priority": 101}, "priority"),
        ({"unheard_of": 1}, "unheard_of"),
        ({"idempotency_key": "k"}, "its spawn key instead of idempotency_key"),
        ({"dedupe": "content"}, "its spawn key instead of dedupe"),
        ({"task_type": "add_chapter", "payload": {"title": "One"}}, "say which in documentId"),
        ({"task_type": "add_chapter", "payload": {"title": "One"}, "document_id": "nowhere"}, "no document 'nowhere'"),
    ],
)
async def test_what_cannot_be_spawned_is_a_permanent_failure_and_stores_nothing(
    bench: Workbench, asked: dict[str, Any], complaint: str
) -> None:
    spawner = await bench.a_running_task()

    with pytest.raises(PermanentFailure, match=complaint):
        await spawn(bench, spawner, **asked)

    assert await spawned_by(bench, spawner) == []


async def test_an_attempt_that_lost_its_claim_spawns_nothing(bench: Workbench) -> None:
    stale = await bench.a_running_task()
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    (current,) = await bench.worker.desk.claim([stale.id])

    with pytest.raises(ClaimLostError):
        await spawn(bench, stale)

    assert await spawned_by(bench, stale) == []
    assert (await spawn(bench, current)).task_id


async def test_of_two_attempts_that_race_only_the_one_that_stands_spawns(bench: Workbench) -> None:
    """The reaper holds the row when the stale worker asks; it is answered with what stands afterwards."""
    stale = await bench.a_running_task()
    async with bench.runtime.ledger.transaction() as reaping:
        await reaping.execute("SELECT FROM tasks WHERE id = $1::uuid FOR NO KEY UPDATE", stale.id)
        asking = asyncio.ensure_future(spawn(bench, stale))
        await bench.somebody_waits_for_a_lock()
        await reaping.execute(
            "UPDATE tasks SET state = 'RETRYING', claim_id = NULL, lease_until = NULL WHERE id = $1::uuid", stale.id
        )

    with pytest.raises(ClaimLostError):
        await asking

    assert await spawned_by(bench, stale) == []


async def test_an_attempt_that_was_asked_to_stop_spawns_nothing(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, spawner.id, None)

    with pytest.raises(ClaimLostError):
        await spawn(bench, spawner)

    assert await spawned_by(bench, spawner) == []


async def test_an_attempt_that_has_ended_spawns_nothing(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    await bench.complete(spawner)

    with pytest.raises(ClaimLostError):
        await spawn(bench, spawner)


async def test_a_manual_retry_finds_what_was_spawned_and_finished(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    first = await spawn(bench, spawner)
    await bench.complete(await bench.claim_next(await task_of(bench, first)), '{"kept": true}')
    await bench.fail(spawner, kind=FailureKind.PERMANENT)
    await bench.runtime.reopening.retry(LOCAL, spawner.id)
    (again,) = await bench.worker.desk.claim([spawner.id])

    assert await spawn(bench, again) == Spawned(first.task_id, is_completed=True, result={"kept": True})


async def test_a_manual_retry_spawns_anew_what_was_cancelled(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    first = await spawn(bench, spawner)
    await bench.runtime.cancellation.cancel(LOCAL, first.task_id, None)
    assert (await spawn(bench, spawner)).task_id == first.task_id, "the same generation lives with it"
    await bench.fail(spawner, kind=FailureKind.PERMANENT)
    await bench.runtime.reopening.retry(LOCAL, spawner.id)
    (again,) = await bench.worker.desk.claim([spawner.id])

    second = await spawn(bench, again, task_type="sleep", payload={"seconds": 1})

    assert await spawned_by(bench, spawner) == [first.task_id, second.task_id]
    assert (await spawn(bench, again, task_type="sleep", payload={"seconds": 1})).task_id == second.task_id


async def test_a_batch_can_be_spawned(bench: Workbench) -> None:
    spawner = await bench.a_running_task(priority=7)
    await bench.hush()

    spawned = await spawn(bench, spawner, task_type="batch_edit", children=[{"task_type": "noop"}])

    details = await bench.details(spawned.task_id)
    assert details.children is not None
    (child,) = [(await bench.details(child.id)).task for child in details.children]
    assert (details.task.spawned_by, child.spawned_by, child.priority) == (spawner.id, None, 7)
    assert await bench.rung() == [child.id]


async def test_an_edit_can_be_spawned(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    spawner = await bench.a_running_task()

    spawned = await spawn(bench, spawner, task_type="add_chapter", payload={"title": "One"}, document_id="plan")

    assert (await task_of(bench, spawned)).document_id == "plan"


async def test_a_task_may_be_spawned_for_later(bench: Workbench) -> None:
    spawner = await bench.a_running_task()

    spawned = await spawn(bench, spawner, run_at=datetime(2100, 1, 1, tzinfo=UTC))

    assert (await task_of(bench, spawned)).state is TaskState.PENDING


async def test_a_task_spawns_no_more_than_its_share(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawns, "SPAWNED_MAX", 2)
    spawner = await bench.a_running_task()
    first, second = [await spawn(bench, spawner, key) for key in ("one", "two")]

    with pytest.raises(PermanentFailure, match="a task spawns at most 2 others"):
        await spawn(bench, spawner, "three")

    assert await spawn(bench, spawner, "two") == second
    assert await spawned_by(bench, spawner) == [first.task_id, second.task_id]


async def test_tasks_that_spawn_one_another_come_to_an_end(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawns, "DEPTH_MAX", 2)
    spawner = await bench.a_running_task()
    for _ in range(2):
        spawner = await bench.claim_next(await task_of(bench, await spawn(bench, spawner)))

    with pytest.raises(PermanentFailure, match="2 tasks above it have each spawned the next"):
        await spawn(bench, spawner)


async def test_what_a_task_has_spawned_is_kept_until_that_task_has_ended(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    spawned = await task_of(bench, await spawn(bench, spawner))
    await bench.complete(await bench.claim_next(spawned))
    await bench.let_days_pass(30, spawned)

    await prune(bench)
    assert await spawned_by(bench, spawner) == [spawned.id]
    await bench.complete(spawner)
    await bench.let_days_pass(30, (await bench.details(spawner.id)).task)
    await prune(bench)

    assert await bench.execute("SELECT FROM tasks UNION ALL SELECT FROM spawns") == []


async def test_a_space_that_is_full_has_those_wait_that_would_spawn(bench: Workbench) -> None:
    spawner = await bench.a_running_task()
    await bench.runtime.spaces.set(LOCAL, DEFAULT, replace(UNLIMITED, max_waiting_tasks=1))
    first = await spawn(bench, spawner, "first")

    with pytest.raises(RateLimited, match="cannot be spawned yet") as caught:
        await spawn(bench, spawner, "second")

    assert caught.value.retry_after is not None
    assert (await spawn(bench, spawner, "first")).task_id == first.task_id
    assert await spawned_by(bench, spawner) == [first.task_id]
