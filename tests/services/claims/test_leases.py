"""Leases: leases, cancel flags, progress and checkpoints of attempts in hand."""

import pytest

from officeplane.domain.ids import ClaimId, TaskId
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from officeplane.services.claims.leases import ClaimLostError
from tests.workbench import Workbench


def claim_of(task: ClaimedTask) -> tuple[TaskId, ClaimId]:
    return task.id, task.claim_id


async def a_lost_task(bench: Workbench) -> ClaimedTask:
    lost = await bench.a_running_task()
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    return lost


async def test_a_renewal_extends_the_lease_and_notes_that_the_handler_was_seen(bench: Workbench) -> None:
    running = await bench.a_running_task()

    assert await bench.worker.leases.renew([claim_of(running)], 3_600) == set()

    (row,) = await bench.execute("SELECT handler_seen, lease_until > now() + interval '59 minutes' AS long FROM tasks")
    assert row == {"handler_seen": True, "long": True}


async def test_a_renewal_tells_which_claims_were_lost(bench: Workbench) -> None:
    lost = await a_lost_task(bench)
    ended, running = await bench.a_running_task(), await bench.a_running_task()
    await bench.complete(ended)

    claims = [claim_of(task) for task in (lost, ended, running)]

    assert await bench.worker.leases.renew(claims, 30) == {lost.id, ended.id}


async def test_a_lease_that_another_is_writing_is_not_lost(bench: Workbench) -> None:
    running = await bench.a_running_task()
    async with bench.runtime.ledger.transaction() as connection:
        await connection.fetch("SELECT FROM tasks FOR UPDATE")

        assert await bench.worker.leases.renew([claim_of(running)], 30) == set()


async def test_the_cancel_flag_is_that_of_the_attempt_in_hand(bench: Workbench) -> None:
    asked, left = await bench.a_running_task(), await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, asked.id, None)
    stale = (asked.id, left.claim_id)

    assert await bench.worker.leases.cancelled([claim_of(asked), claim_of(left), stale]) == [asked.id]


async def test_what_is_done_shows_no_progress_any_more(bench: Workbench) -> None:
    running = await bench.a_running_task()
    await bench.worker.leases.report_progress([(running.id, running.claim_id, '{"fraction": 0.5}')])

    await bench.complete(running)

    assert (await bench.details(running.id)).task.progress is None


async def test_progress_is_shown_and_that_of_a_lost_attempt_is_not(bench: Workbench) -> None:
    lost, running = await a_lost_task(bench), await bench.a_running_task()

    await bench.worker.leases.report_progress(
        [(*claim_of(lost), '{"fraction": 0.9}'), (*claim_of(running), '{"fraction": 0.5}')]
    )

    assert (await bench.details(lost.id)).task.progress is None
    assert (await bench.details(running.id)).task.progress == {"fraction": 0.5}


async def test_a_checkpoint_is_found_by_the_next_attempt(bench: Workbench) -> None:
    task = await bench.a_task()
    running = await bench.claim_next(task)
    await bench.worker.leases.save_checkpoint(running, '{"page": 7}')
    await bench.fail(running)
    await bench.make_due()

    assert (await bench.claim_next(task)).checkpoint_json == '{"page": 7}'


async def test_a_lost_attempt_cannot_save_a_checkpoint(bench: Workbench) -> None:
    lost = await a_lost_task(bench)

    with pytest.raises(ClaimLostError):
        await bench.worker.leases.save_checkpoint(lost, "1")


async def test_each_chore_has_one_leader_until_it_lapses_or_yields(bench: Workbench) -> None:
    first, second = bench.worker, bench.another_worker().worker
    leases = first.leases

    assert await leases.lead(first.worker_id, ["sweeper", "reaper"], 60) == {"sweeper", "reaper"}
    assert await leases.lead(second.worker_id, ["sweeper", "pruner"], 60) == {"pruner"}
    assert await leases.lead(first.worker_id, ["sweeper"], 60) == {"sweeper"}

    await bench.execute("UPDATE chore_leaders SET until = now() WHERE chore = 'sweeper'")
    assert await leases.lead(second.worker_id, ["sweeper", "reaper"], 60) == {"sweeper"}

    await bench.beat()
    await leases.leave(first.worker_id)
    assert await leases.lead(second.worker_id, ["reaper"], 60) == {"reaper"}
