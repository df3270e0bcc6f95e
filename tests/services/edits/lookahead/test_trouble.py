"""Edits done ahead that fail, die, take too long or are not heard of: nobody else pays for it."""

import asyncio
import hashlib
import os
import signal
from inspect import CORO_SUSPENDED, getcoroutinestate

import pytest

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed
from officeplane.domain.principal import LOCAL
from officeplane.services.edits import lane_ahead
from tests.fault_proxy import Direction, FaultProxy
from tests.sandbox.processes import asleep, gone
from tests.services.conftest import AnotherBench
from tests.services.editing import (
    an_edit,
    at_rest,
    carried_out,
    done_ahead,
    edited,
    lookahead_tasks,
    stayed,
    text,
)
from tests.services.edits.lookahead.leaders import (
    PLAN,
    chapters,
    drive,
    followed,
    idle_child,
    ids,
    in_the_hands_of_a_child_that_sleeps,
    is_completed,
    led,
    titles,
)
from tests.support import eventually
from tests.workbench import Workbench


async def test_what_follows_edits_done_ahead_is_right_although_their_child_is_gone(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    tasks += await chapters(bench, 4)
    (follower,) = (await stayed(bench, *leader)).followers
    child = idle_child(bench)
    os.kill(child, signal.SIGKILL)
    await gone(child)

    await drive(bench, [follower])

    assert await titles(bench) == ["0", "1", "2", "3", "4"]


async def test_edits_done_ahead_whose_settlement_was_not_heard_of_end_once(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    tasks = await chapters(bench, *range(4))
    async with another_bench(database_url=postgres_proxy.url(database_url)) as deaf:
        leader = await led(deaf, tasks)
        tasks += await chapters(bench, 4)
        async with bench.runtime.ledger.transaction() as somebody:
            # The settlement has reached the server, and waits there, before its answer is lost.
            await somebody.execute("SELECT FROM tasks WHERE id = $1::uuid FOR NO KEY UPDATE", leader.task.id)
            settling = asyncio.create_task(stayed(deaf, *leader))
            await bench.somebody_waits_for_a_lock()
            postgres_proxy.drop(Direction.REPLIES)
        await eventually(lambda: is_completed(bench, tasks[1]), what="the commit")
        await postgres_proxy.refuse()
        await postgres_proxy.heal()

        stay = await settling

        assert (stay.ended_ahead, stay.followers) == (ids(*tasks[2:4]), [])
        await drive(deaf, await deaf.worker.desk.claim([]))
    assert await bench.states(*tasks) == ["COMPLETED"] * 5
    assert await titles(bench) == ["0", "1", "2", "3", "4"]
    assert await bench.counters() == {("add_chapter", "completed", ""): 5}


async def test_an_edit_that_cannot_work_is_judged_once_in_its_own_turn(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(3))
    bad = await an_edit(bench, "replace_text", payload={"find": "nowhere", "replace": "x"})
    tasks += [bad, *await chapters(bench, 4, 5)]
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(tasks[2])

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == ids(tasks[2])
    (follower,) = stay.followers
    assert follower.id == bad.id
    await drive(bench, stay.followers)
    details = await bench.details(bad.id)
    assert (details.task.state, details.task.attempt) == (TaskState.FAILED, 1)
    assert [failure.kind for failure in details.failures] == [FailureKind.INVALID_EDIT]
    assert await bench.states(*tasks[:3], *tasks[4:]) == ["COMPLETED"] * 5
    assert await titles(bench) == ["0", "1", "2", "4", "5"]


async def test_an_edit_that_failed_ahead_is_judged_anew_when_it_is_retried(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(2))
    late = await an_edit(bench, "replace_text", payload={"find": "Three", "replace": "Four"})
    await drive(bench, (await stayed(bench, *await led(bench, [*tasks, late]))).followers)
    assert await bench.state(late) is TaskState.FAILED
    await edited(bench, payload={"title": "Three"})
    await bench.runtime.reopening.retry(LOCAL, late.id)

    await drive(bench, await bench.claim(late))

    assert await bench.state(late) is TaskState.COMPLETED
    assert await titles(bench) == ["0", "1", "Four"]


async def test_a_child_that_dies_of_an_edit_done_ahead_charges_nothing_to_its_leader(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(5))
    follower = await followed(bench, tasks[0])
    outcome = await carried_out(bench, follower)
    # What comes next is being looked up, and nobody has asked for anything yet.
    child = idle_child(bench)
    os.kill(child, signal.SIGSTOP)
    await in_the_hands_of_a_child_that_sleeps(bench)
    os.kill(child, signal.SIGKILL)
    await at_rest()

    stay = await stayed(bench, follower, outcome)

    assert stay.ended_ahead == []
    await drive(bench, stay.followers)
    assert await bench.state(tasks[1]) is TaskState.COMPLETED
    rows = await bench.execute("SELECT id::text, attempts_charged, crashes FROM tasks WHERE crashes > 0")
    assert [row["id"] for row in rows] == ids(tasks[2]), "only who had it in hand"
    assert [failure.kind for failure in (await bench.details(tasks[2].id)).failures] == [FailureKind.CRASH]
    await bench.make_due()
    await drive(bench, await bench.claim(tasks[2]))
    assert await bench.states(*tasks) == ["COMPLETED"] * 5
    assert sorted(await titles(bench)) == ["0", "1", "2", "3", "4"]


async def test_a_child_that_dies_behind_a_claimed_edit_that_it_has_done_charges_nothing_to_that(
    bench: Workbench,
) -> None:
    tasks = await chapters(bench, *range(2 + lane_ahead.AHEAD_MAX))
    (next_leader,) = await chapters(bench, "next")
    # What it makes is more than a socket holds: until it is read here, its child is at it.
    large = "\n\n".join(hashlib.sha512(bytes([number % 256, number // 256])).hexdigest() for number in range(7_000))
    slow = await an_edit(bench, "write_page", payload={"content": large})
    (last,) = await chapters(bench, "last")
    stay = await stayed(bench, *await led(bench, tasks))
    assert len(stay.ended_ahead) == lane_ahead.AHEAD_MAX
    (follower,) = stay.followers
    assert follower.id == next_leader.id

    child = idle_child(bench)
    outcome = await carried_out(bench, follower)
    assert not bench.runtime.sandbox._idle, "it is at the next"  # pyright: ignore[reportPrivateUsage]
    os.kill(child, signal.SIGKILL)
    await at_rest()

    stay = await stayed(bench, follower, outcome)
    assert await bench.state(next_leader) is TaskState.COMPLETED
    assert (await bench.details(next_leader.id)).failures == ()
    await drive(bench, stay.followers)
    await bench.make_due()
    await drive(bench, await bench.claim(slow))
    assert await bench.states(slow, last) == ["COMPLETED"] * 2
    assert [failure.kind for failure in (await bench.details(slow.id)).failures] == [FailureKind.CRASH]


async def test_an_edit_done_ahead_that_cannot_be_stored_does_not_end_its_leader(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(3))
    odd = (await chapters(bench, 3, created_by="odd"))[0]
    tasks += [odd, *await chapters(bench, 4)]
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.execute("ALTER TABLE revisions ADD CONSTRAINT not_odd CHECK (author IS DISTINCT FROM 'odd')")
    try:
        stay = await stayed(bench, *leader)
        await drive(bench, stay.followers)
    finally:
        await bench.execute("ALTER TABLE revisions DROP CONSTRAINT not_odd")

    details = await bench.details(odd.id)
    assert details.task.state is TaskState.FAILED
    assert len(details.failures) == 1
    assert "could not be stored" in details.failures[0].message
    assert await bench.states(*tasks[:3], tasks[4]) == ["COMPLETED"] * 4
    assert await titles(bench) == ["0", "1", "2", "4"]


async def test_a_worker_that_closes_leaves_no_lookahead_behind(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    await carried_out(bench, await followed(bench, tasks[0]))
    child = idle_child(bench)
    os.kill(child, signal.SIGSTOP)
    await in_the_hands_of_a_child_that_sleeps(bench)

    await bench.worker.editing.lookahead.close()

    assert lookahead_tasks() == []
    await gone(child)


async def test_a_worker_that_closes_leaves_nothing_of_a_lookahead_that_was_replaced(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    follower = await followed(bench, tasks[0])
    outcome = await carried_out(bench, follower)
    child = idle_child(bench)
    os.kill(child, signal.SIGSTOP)
    await in_the_hands_of_a_child_that_sleeps(bench)
    (urgent,) = await chapters(bench, "urgent", priority="CRITICAL")
    (overtaking,) = (await stayed(bench, follower, outcome)).followers
    assert overtaking.id == urgent.id
    await carried_out(bench, overtaking)

    await bench.worker.editing.lookahead.close()

    assert lookahead_tasks() == []
    await gone(child)


@pytest.mark.parametrize("begun", ["in its turn", "ahead"])
async def test_a_claimed_edit_that_is_stopped_takes_its_child_along_and_nobody_else(
    bench: Workbench, begun: str
) -> None:
    tasks = await chapters(bench, *range(2), max_retries=0)
    tasks += await chapters(bench, *range(2, 5), max_retries=0)
    claimed = await followed(bench, tasks[0])
    child = idle_child(bench)
    if begun == "ahead":
        outcome = await carried_out(bench, claimed)
        os.kill(child, signal.SIGSTOP)
        await in_the_hands_of_a_child_that_sleeps(bench)
        (claimed,) = (await stayed(bench, claimed, outcome)).followers
    else:
        os.kill(child, signal.SIGSTOP)
        await asleep(child)
    carrying_out = carried_out(bench, claimed)
    running = asyncio.create_task(carrying_out)
    await in_the_hands_of_a_child_that_sleeps(bench)
    await eventually(lambda: getcoroutinestate(carrying_out) == CORO_SUSPENDED, what="the wait for its end")

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await gone(child)
    assert lookahead_tasks() == []
    timed_out = Failed(Failure(FailureKind.TIMEOUT, "it took too long"))
    stay = await stayed(bench, claimed, timed_out)
    await drive(bench, stay.followers)
    stopped = tasks.index(next(task for task in tasks if task.id == claimed.id))
    states = ["COMPLETED"] * 5
    states[stopped] = "TIMEOUT"
    assert await bench.states(*tasks) == states
    assert await titles(bench) == [str(number) for number in range(5) if number != stopped]
    assert await bench.execute("SELECT FROM tasks WHERE crashes > 0") == []


async def test_an_edit_done_ahead_that_takes_too_long_is_left_to_its_own_turn(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = await chapters(bench, *range(2))
    slow = await an_edit(bench, "write_page", payload={"content": "Line.\n\n" * 20_000})
    tasks += [slow, *await chapters(bench, 3)]
    follower = await followed(bench, tasks[0])
    monkeypatch.setattr(lane_ahead, "SECONDS_MAX", 0.1)
    outcome = await carried_out(bench, follower)

    await at_rest()

    stay = await stayed(bench, follower, outcome)
    assert slow.id not in stay.ended_ahead
    await drive(bench, stay.followers)
    assert (await bench.details(slow.id)).failures == ()
    assert await bench.states(*tasks) == ["COMPLETED"] * 4
    assert [row["attempt"] for row in await bench.execute("SELECT attempt FROM tasks")] == [1] * 4
    assert "Line." in await text(bench)


async def test_an_edit_done_ahead_that_takes_too_long_is_not_tried_again_and_again(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = await chapters(bench, *range(2))
    slow = await an_edit(bench, "write_page", payload={"content": "Line.\n\n" * 20_000})
    follower = await followed(bench, tasks[0])
    monkeypatch.setattr(lane_ahead, "SECONDS_MAX", 0.1)
    outcome = await carried_out(bench, follower)
    await bench.runtime.valves.pause_document(LOCAL, PLAN)

    await stayed(bench, follower, outcome)

    await at_rest()
    assert await bench.state(slow) is TaskState.QUEUED


async def test_a_document_that_is_gone_when_an_edit_that_followed_opens_it_is_a_permanent_failure(
    bench: Workbench,
) -> None:
    tasks = await chapters(bench, *range(2))
    follower = await followed(bench, tasks[0])
    child = idle_child(bench)
    os.kill(child, signal.SIGKILL)
    await gone(child)
    await bench.runtime.documents.delete(LOCAL, "plan")

    outcome = await carried_out(bench, follower)

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.PERMANENT
