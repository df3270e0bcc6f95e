"""Every way of `TRANSITIONS` is taken for real, and no other way is open."""

from typing import Any

import pytest

from officeplane.domain.errors import IllegalStateError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import (
    FINAL,
    GAVE_UP,
    TRANSITIONS,
    WAITING,
    TaskState,
    sources_of,
)
from officeplane.domain.patch import TaskPatch
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Fenced
from officeplane.services.settle.suspension import suspend
from officeplane.store.connection import Connection
from tests.architecture.ways import A_CHILD, WAYS, S, a_leaf_in, outcome_of
from tests.workbench import Workbench


def _listed() -> list[Any]:
    ways = [(signal.signal, source, signal.target) for signal in TRANSITIONS for source in signal.sources]
    return [pytest.param(*one, id=f"{one[0]} {one[1]}-{one[2]}") for one in ways]


def test_every_way_of_the_table_has_somebody_who_takes_it() -> None:
    assert set(WAYS) == {(way.signal, source) for way in TRANSITIONS for source in way.sources}


@pytest.mark.parametrize(("signal", "source", "target"), _listed())
async def test_a_way_of_the_table_leads_where_it_says(
    bench: Workbench, signal: str, source: TaskState, target: TaskState
) -> None:
    task_id, act = await WAYS[signal, source](bench)
    assert await _state(bench, task_id) is source
    told = len(await _told(bench, task_id))

    await act()

    assert await _state(bench, task_id) is target
    gave_up = target in GAVE_UP and (await bench.details(task_id)).task.on_child_failure is None
    expected = [f"task.{target.lower()}", *(["task.dead_lettered"] if gave_up else [])]
    assert (await _told(bench, task_id))[told:] == expected


async def _state(bench: Workbench, task_id: TaskId) -> TaskState:
    return (await bench.details(task_id)).task.state


async def _told(bench: Workbench, task_id: TaskId) -> list[str]:
    rows = await bench.execute("SELECT kind FROM events WHERE $1::uuid = ANY(task_ids) ORDER BY xid, id", task_id)
    return [row["kind"] for row in rows]


async def _everything(bench: Workbench) -> list[dict[str, Any]]:
    return await bench.execute(
        "SELECT to_jsonb(t) AS row FROM tasks t UNION ALL SELECT to_jsonb(f) FROM task_failures f"
        " UNION ALL SELECT to_jsonb(e) FROM events e"
        # That something was fenced is counted, and that is all of it.
        " UNION ALL SELECT to_jsonb(c) FROM task_counters c WHERE c.outcome <> 'fenced' ORDER BY 1"
    )


def _deaf(*signals: str) -> list[tuple[str, TaskState]]:
    return [(signal, state) for signal in signals for state in TaskState if state not in sources_of(signal)]


@pytest.mark.parametrize(("signal", "state"), _deaf("claim"))
async def test_a_claim_is_refused_in_any_other_state(bench: Workbench, signal: str, state: TaskState) -> None:
    task = await a_leaf_in(bench, state)
    before = await _everything(bench)

    assert await bench.worker.desk.claim([task.id]) == []

    assert await _everything(bench) == before


@pytest.mark.parametrize(("signal", "state"), _deaf("start", "validate"))
async def test_nobody_starts_or_delivers_what_is_in_any_other_state(
    bench: Workbench, signal: str, state: TaskState
) -> None:
    task = await a_leaf_in(bench, state)
    before = await _everything(bench)
    claims = bench.runtime.claims

    assert not await (claims.start(task) if signal == "start" else claims.validate(task))

    assert await _everything(bench) == before


@pytest.mark.parametrize(("signal", "state"), _deaf("complete", "retry_later", "fail", "time_out", "hand_back"))
async def test_the_end_of_an_attempt_is_refused_in_any_other_state(
    bench: Workbench, signal: str, state: TaskState
) -> None:
    task = await a_leaf_in(bench, state)
    before = await _everything(bench)

    await bench.settle_together([EndedAttempt(task, outcome_of(signal))])

    assert await _everything(bench) == before


@pytest.mark.parametrize(("signal", "state"), _deaf("wait"))
async def test_a_wait_is_refused_in_any_other_state(bench: Workbench, signal: str, state: TaskState) -> None:
    task = await a_leaf_in(bench, state)
    other = await bench.a_task()
    before = await _everything(bench)

    assert await suspend(bench.runtime.ledger, task, other.id, DeadLetterWriter("nobody", alerts=False)) is None

    # What somebody thought to wait for is marked, and that is all of it.
    await bench.execute("UPDATE tasks SET has_dependents = false WHERE id = $1::uuid", other.id)
    assert await _everything(bench) == before


@pytest.mark.parametrize("state", FINAL)
async def test_what_is_final_cannot_be_cancelled(bench: Workbench, state: TaskState) -> None:
    task = await a_leaf_in(bench, state)
    before = await _everything(bench)

    with pytest.raises(IllegalStateError, match=f"is {state}; it cannot be cancelled"):
        await bench.runtime.cancellation.cancel(LOCAL, task.id, None)

    assert await _everything(bench) == before


@pytest.mark.parametrize("state", sorted(set(TaskState) - set(WAITING)))
async def test_what_does_not_wait_cannot_be_changed(bench: Workbench, state: TaskState) -> None:
    task = await a_leaf_in(bench, state)
    before = await _everything(bench)

    with pytest.raises(IllegalStateError, match=f"is {state}; it cannot be changed"):
        await bench.runtime.patches.patch(LOCAL, task.id, TaskPatch.model_validate({"priority": "HIGH"}))

    assert await _everything(bench) == before


@pytest.mark.parametrize(("signal", "state"), _deaf("reopen"))
async def test_what_did_not_give_up_cannot_be_retried(bench: Workbench, signal: str, state: TaskState) -> None:
    task = await a_leaf_in(bench, state)
    before = await _everything(bench)

    with pytest.raises(IllegalStateError, match=f"is {state}; it cannot be retried"):
        await bench.runtime.reopening.retry(LOCAL, task.id)

    assert await _everything(bench) == before


@pytest.mark.parametrize("state", sorted(set(TaskState) - {S.PENDING, S.RETRYING}))
async def test_the_promoter_leaves_every_other_state_alone(bench: Workbench, state: TaskState) -> None:
    await a_leaf_in(bench, state)
    before = await _everything(bench)

    await bench.worker.redelivery.promote()

    assert await _everything(bench) == before


async def test_the_promoter_queues_nothing_before_its_time(bench: Workbench) -> None:
    await a_leaf_in(bench, S.PENDING)
    before = await _everything(bench)

    await bench.worker.redelivery.promote()

    assert await _everything(bench) == before


async def test_the_promoter_queues_nothing_that_waits_for_a_sibling(bench: Workbench) -> None:
    _, _, second = await bench.a_batch(A_CHILD, A_CHILD)

    await bench.worker.redelivery.promote()

    assert await bench.state(second) is S.PENDING


@pytest.mark.parametrize("state", sorted(set(TaskState) - {S.RUNNING, S.VALIDATING, S.CLAIMED}))
async def test_the_reaper_leaves_alone_what_nobody_holds(bench: Workbench, state: TaskState) -> None:
    await a_leaf_in(bench, state)
    await bench.let_leases_lapse()
    before = await _everything(bench)

    assert await bench.worker.redelivery.reap() == 0

    assert await _everything(bench) == before


async def test_what_was_reserved_and_never_started_is_queued_again_uncharged_when_its_lease_is_over(
    bench: Workbench,
) -> None:
    task = await a_leaf_in(bench, S.CLAIMED)
    await bench.let_leases_lapse()

    assert await bench.worker.redelivery.reap() == 1

    details = await bench.details(task.id)
    assert (details.task.state, details.failures) == (S.QUEUED, ())
    (row,) = await bench.execute("SELECT attempts_charged, crashes, suspect FROM tasks WHERE id = $1::uuid", task.id)
    assert list(row.values()) == [0, 0, False]


@pytest.mark.parametrize("signal", ["complete", "retry_later", "fail", "time_out"])
async def test_who_has_not_started_cannot_have_ended(bench: Workbench, signal: str) -> None:
    task = await a_leaf_in(bench, S.CLAIMED)

    assert await bench.settle(task, outcome_of(signal)) == Fenced(task.id)

    assert await bench.state(task) is S.CLAIMED


async def test_a_batch_that_was_locked_while_its_child_was_claimed_has_begun_when_it_completes(
    bench: Workbench,
) -> None:
    parent, child = await bench.a_batch(A_CHILD)
    claimed: list[ClaimedTask] = []

    async def while_locked(connection: Connection) -> None:
        await connection.fetch("SELECT FROM tasks WHERE id = $1::uuid FOR NO KEY UPDATE", parent.id)
        claimed.extend(await bench.claim(child))

    await bench.runtime.ledger.in_transaction(while_locked)
    await bench.complete(claimed[0])

    assert await _told(bench, parent.id) == ["task.queued", "task.running", "task.completed"]
