"""Riding: edits that are done before their turn, and settled with the one that they follow."""

import asyncio
import hashlib
import os
import signal
from collections.abc import Sequence
from inspect import CORO_SUSPENDED, getcoroutinestate
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import DocumentId, TaskId
from officeplane.domain.lifecycle import TaskState, is_legal
from officeplane.domain.outcome import Failed, Outcome
from officeplane.domain.patch import TaskPatch
from officeplane.domain.task import ClaimedTask, Task
from officeplane.domain.valve import Limits
from officeplane.services import lanes, ride, riding
from officeplane.services.lanes import HOLD_TASKS_MAX
from officeplane.services.settlement import Attempt, Fenced
from officeplane.store.settlements import Settled
from tests.fault_proxy import Direction, FaultProxy
from tests.sandbox.processes import asleep, gone
from tests.services.conftest import AnotherBench
from tests.services.papers import (
    a_document,
    an_edit,
    at_rest,
    carried_out,
    content,
    done_ahead,
    edited,
    head,
    made,
    riding_tasks,
    stayed,
    text,
)
from tests.services.test_documents import uploading
from tests.support import eventually
from tests.workbench import Workbench

PLAN = DocumentId("plan")


@pytest.fixture(autouse=True)
async def plan(bench: Workbench) -> str:
    """An empty Word document at revision 1."""
    return await a_document(bench)


class Leader(NamedTuple):
    """An edit that followed another and was carried out, behind which others were done."""

    task: ClaimedTask
    outcome: Outcome


async def chapters(bench: Workbench, *titles: object, **options: Any) -> list[Task]:
    """Submit edits that add a chapter each."""
    return [await an_edit(bench, payload={"title": str(title)}, **options) for title in titles]


async def followed(bench: Workbench, first: Task) -> ClaimedTask:
    """Carry out the first edit of a lane as a worker does that stays in it; return what is claimed behind it."""
    claimed = await bench.claim_next(first)
    (follower,) = (await stayed(bench, claimed, await carried_out(bench, claimed))).followers
    return follower


async def led(bench: Workbench, tasks: Sequence[Task]) -> Leader:
    """Have the first edit followed by the second, carry that out, and let the others be done before their turn."""
    follower = await followed(bench, tasks[0])
    assert follower.id == tasks[1].id
    outcome = await carried_out(bench, follower)
    await at_rest()
    return Leader(follower, outcome)


async def drive(bench: Workbench, claimed: Sequence[ClaimedTask]) -> None:
    """Carry out what is claimed and all that follows it, as a worker does that never leaves the lane."""
    while claimed:
        (one,) = claimed
        claimed = (await stayed(bench, one, await carried_out(bench, one))).followers
        if not claimed:
            claimed = await bench.worker.claiming.continue_lanes([PLAN])


async def titles(bench: Workbench, revision: int | None = None) -> list[str]:
    """Return the chapters of the document, in their order."""
    return [str(chapter["text"]) for chapter in await bench.runtime.documents.outline("plan", revision)]


async def is_completed(bench: Workbench, task: Task) -> bool:
    return await bench.state(task) is TaskState.COMPLETED


def ids(*tasks: Task) -> list[TaskId]:
    return [task.id for task in tasks]


def idle_child(bench: Workbench) -> int:
    """Return the one sandboxed child there is, which has nothing to do."""
    (child,) = bench.runtime.sandbox._idle  # pyright: ignore[reportPrivateUsage]
    return child.pid


def requests(bench: Workbench) -> dict[int, int]:
    """Return how many requests each idle child of the sandbox has had."""
    return {child.pid: child.requests for child in bench.runtime.sandbox._idle}  # pyright: ignore[reportPrivateUsage]


async def in_the_hands_of_a_child_that_sleeps(bench: Workbench) -> None:
    await eventually(
        lambda: not bench.runtime.sandbox._idle,  # pyright: ignore[reportPrivateUsage]
        what="the request in a child's hands",
    )


async def test_riders_end_with_the_one_that_they_follow(bench: Workbench) -> None:
    tasks = [(await chapters(bench, number, created_by=f"author {number}"))[0] for number in range(5)]
    leader = await led(bench, tasks)

    stay = await stayed(bench, *leader)

    assert isinstance(stay.settlement, Settled)
    assert stay.ridden == ids(*tasks[2:])
    assert stay.followers == []
    assert await bench.states(*tasks) == ["COMPLETED"] * 5
    history = list(reversed(await bench.runtime.documents.history("plan", None, 9)))
    assert [(one.revision, one.base) for one in history] == [(n, n - 1) for n in range(1, 7)]
    assert [(one.task_id, one.author) for one in history[1:]] == [
        (task.id, f"author {number}") for number, task in enumerate(tasks)
    ]
    for number, one in enumerate(history):
        data = await content(bench, one.revision)
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (one.sha256, one.size)
        assert await titles(bench, one.revision) == [str(n) for n in range(number)]


async def test_riders_are_in_the_ledger_as_if_they_had_run(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))

    await stayed(bench, *await led(bench, tasks))

    rows = await bench.execute("SELECT * FROM tasks ORDER BY seq")
    for number, row in enumerate(rows):
        assert (row["state"], row["attempt"], row["attempts_charged"]) == ("COMPLETED", 1, 0)
        assert row["worker_id"] == bench.worker.worker_id
        assert row["claim_id"] is not None
        assert (row["lease_until"], row["hold_id"]) == (None, None)
        assert row["created_at"] <= row["started_at"] <= row["finished_at"]
        assert f'"revision": {number + 2}' in row["result"]
    assert len({row["claim_id"] for row in rows}) == len(tasks)
    assert await bench.counters() == {("add_chapter", "completed", ""): len(tasks)}
    history = (await bench.details(tasks[3].id)).task.result
    assert history is not None


async def test_what_riders_are_told_of_is_one_commit_in_order_and_legal_for_each(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))

    await stayed(bench, *await led(bench, tasks))

    rows = await bench.execute(
        "SELECT kind, task_ids::text[] FROM events WHERE xid = (SELECT max(xid) FROM events) ORDER BY id"
    )
    assert [(row["kind"], set(row["task_ids"])) for row in rows] == [
        ("task.completed", {tasks[1].id}),
        ("task.running", set(ids(*tasks[2:]))),
        ("task.completed", set(ids(*tasks[2:]))),
        ("document.revised", set(ids(*tasks[1:]))),
    ]
    for task in tasks:
        kinds = await bench.events(task)
        steps = [TaskState(kind.removeprefix("task.").upper()) for kind in kinds if kind.startswith("task.")]
        assert steps == [TaskState.QUEUED, TaskState.RUNNING, TaskState.COMPLETED]
        assert all(is_legal(before, then) for before, then in pairwise(steps))
        assert kinds.count("document.revised") == 1


async def test_everybody_who_waits_for_a_rider_is_told_of_its_end(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    following = bench.worker.claiming.following([PLAN])

    _, news = await bench.worker.settling.write([Attempt(*leader)], following)

    assert {task_id for told in news for task_id in told.ended} == set(ids(*tasks[1:]))


async def test_what_follows_riders_starts_from_the_last_of_them(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    tasks += await chapters(bench, 4)

    stay = await stayed(bench, *leader)

    assert stay.ridden == ids(*tasks[2:4])
    (follower,) = stay.followers
    assert follower.id == tasks[4].id
    outcome = await carried_out(bench, follower)
    assert made(outcome).revision.base == 5
    await stayed(bench, follower, outcome)
    assert await titles(bench) == ["0", "1", "2", "3", "4"]


async def test_what_follows_riders_is_right_although_their_child_is_gone(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    tasks += await chapters(bench, 4)
    (follower,) = (await stayed(bench, *leader)).followers
    child = idle_child(bench)
    os.kill(child, signal.SIGKILL)
    await gone(child)

    await drive(bench, [follower])

    assert await titles(bench) == ["0", "1", "2", "3", "4"]


async def test_a_rider_that_was_cancelled_is_no_revision_and_what_was_built_on_it_is_done_anew(
    bench: Workbench,
) -> None:
    tasks = await chapters(bench, *range(6))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.runtime.cancellation.cancel(tasks[3].id, None)

    stay = await stayed(bench, *leader)

    assert stay.ridden == ids(tasks[2])
    assert [follower.id for follower in stay.followers] == ids(tasks[4])
    assert await bench.states(*tasks) == ["COMPLETED"] * 3 + ["CANCELLED", "RUNNING", "QUEUED"]
    assert await head(bench) == 4
    assert await titles(bench) == ["0", "1", "2"]
    await drive(bench, stay.followers)
    assert await bench.states(*tasks) == ["COMPLETED"] * 3 + ["CANCELLED"] + ["COMPLETED"] * 2
    assert await titles(bench) == ["0", "1", "2", "4", "5"]
    assert [one.task_id for one in await bench.runtime.documents.history("plan", None, 9)][:2] == ids(
        tasks[5], tasks[4]
    )


async def test_riders_of_one_that_was_cancelled_while_it_ran_are_done_anew(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    await bench.runtime.cancellation.cancel(leader.task.id, None)

    stay = await stayed(bench, *leader)

    assert stay.ridden == []
    assert await bench.state(tasks[1]) is TaskState.CANCELLED
    assert await head(bench) == 2
    # Nobody but the ledger knows what the document is at.
    child = idle_child(bench)
    os.kill(child, signal.SIGKILL)
    await gone(child)
    await drive(bench, stay.followers)
    assert await bench.states(*tasks) == ["COMPLETED", "CANCELLED", "COMPLETED", "COMPLETED"]
    assert await titles(bench) == ["0", "2", "3"]


async def test_what_is_more_urgent_comes_before_what_was_done_ahead(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    (urgent,) = await chapters(bench, "urgent", priority="CRITICAL")

    stay = await stayed(bench, *leader)

    assert stay.ridden == []
    assert [follower.id for follower in stay.followers] == [urgent.id]
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "1", "urgent", "2", "3"]
    assert await bench.states(*tasks, urgent) == ["COMPLETED"] * 5


async def test_a_rider_that_was_changed_has_its_own_turn(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(5))
    leader = await led(bench, tasks)
    await bench.runtime.patching.patch(tasks[3].id, TaskPatch.model_validate({"title": "Another"}))

    stay = await stayed(bench, *leader)

    assert stay.ridden == ids(tasks[2])
    assert [follower.id for follower in stay.followers] == ids(tasks[3])
    await drive(bench, stay.followers)
    assert (await bench.details(tasks[3].id)).task.title == "Another"
    assert await titles(bench) == ["0", "1", "2", "3", "4"]


async def test_a_rider_that_was_made_less_urgent_is_overtaken(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(5))
    leader = await led(bench, tasks)
    await bench.runtime.patching.patch(tasks[2].id, TaskPatch.model_validate({"priority": "LOW"}))

    stay = await stayed(bench, *leader)

    assert stay.ridden == []
    assert [follower.id for follower in stay.followers] == ids(tasks[3])
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "1", "3", "4", "2"]


async def test_a_rider_that_somebody_is_about_to_change_is_not_waited_for(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(5))
    leader = await led(bench, tasks)
    async with bench.runtime.ledger.transaction() as somebody:
        await somebody.execute("SELECT FROM tasks WHERE id = $1::uuid FOR NO KEY UPDATE", tasks[3].id)

        stay = await stayed(bench, *leader)

    assert (stay.ridden, stay.followers) == (ids(tasks[2]), [])
    await drive(bench, await bench.worker.claiming.continue_lanes([PLAN]))
    assert await titles(bench) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("what", ["paused type", "paused document", "open breaker", "limits", "slowed"])
async def test_nothing_rides_that_is_not_to_be_claimed(bench: Workbench, what: str) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    match what:
        case "paused type":
            await bench.runtime.regulation.pause_type("add_chapter")
        case "paused document":
            await bench.runtime.regulation.pause_document(PLAN)
        case "limits":
            await bench.runtime.regulation.set_limits("add_chapter", Limits(concurrency=9))
        case "open breaker":
            await bench.execute(
                "INSERT INTO valves (task_type, breaker, opened_at, retry_at) "
                "VALUES ('add_chapter', 'open', now(), now() + interval '1 hour')"
            )
        case _:
            await bench.execute(
                "INSERT INTO valves (task_type, slow_until) VALUES ('add_chapter', now() + interval '1 hour')"
            )

    stay = await stayed(bench, *leader)

    assert (stay.ridden, stay.followers) == ([], [])
    assert await bench.states(*tasks) == ["COMPLETED", "COMPLETED", "QUEUED", "QUEUED"]
    assert await head(bench) == 3
    await bench.execute("TRUNCATE valves, paused_documents")
    await drive(bench, await bench.worker.claiming.continue_lanes([PLAN]))
    assert await titles(bench) == ["0", "1", "2", "3"]


async def test_only_what_is_held_stays_behind(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(3))
    tasks.append(await an_edit(bench, "write_page", payload={"content": "A page."}))
    tasks += await chapters(bench, 4)
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.runtime.regulation.pause_type("write_page")

    stay = await stayed(bench, *leader)

    assert (stay.ridden, stay.followers) == (ids(tasks[2]), [])


@pytest.mark.parametrize(
    "what",
    ["base revision", "reference", "child", "dependents", "retried", "another type", "revert", "upload", "not due"],
)
async def test_what_is_not_an_edit_alone_with_its_document_does_not_ride(bench: Workbench, what: str) -> None:
    before = await bench.a_task()
    await bench.complete(await bench.claim_next(before), '{"n": 2}')
    tasks = await chapters(bench, 0, 1)
    match what:
        case "base revision":
            odd = await an_edit(bench, payload={"title": "2"}, base_revision=3)
        case "reference":
            odd = await an_edit(
                bench, payload={"title": "2", "position": {"$ref": f"{before.id}.n"}}, depends_on=[before.id]
            )
        case "child":
            _, odd = await bench.a_batch({"task_type": "add_chapter", "payload": {"title": "2"}}, document_id="plan")
        case "dependents":
            odd = await an_edit(bench, payload={"title": "2"})
            await bench.a_task(depends_on=[odd.id])
        case "retried":
            odd = await an_edit(bench, payload={"title": "2"})
            await bench.execute("UPDATE tasks SET attempt = 1, attempts_charged = 1 WHERE id = $1::uuid", odd.id)
        case "another type":
            odd = await bench.a_task(document_id="plan")
        case "revert":
            odd = (await bench.runtime.documents.revert("plan", 1, None)).task
        case "upload":
            odd = await an_edit(bench, "upload", payload={"uploadId": "0193b1f0-0000-7000-8000-000000000000"})
        case _:
            odd = await an_edit(bench, payload={"title": "2"})
            await bench.execute("UPDATE tasks SET run_at = now() + interval '1 hour' WHERE id = $1::uuid", odd.id)
    tasks += [odd, *await chapters(bench, 3)]

    follower = await followed(bench, tasks[0])
    leader = Leader(follower, await carried_out(bench, follower))
    asked = requests(bench)
    await at_rest()

    assert requests(bench) == asked
    assert done_ahead(bench, *leader) == []
    stay = await stayed(bench, *leader)
    assert stay.ridden == []
    await bench.make_due()
    claimed = stay.followers or await bench.worker.claiming.continue_lanes([PLAN])
    if what == "another type":
        await bench.complete(claimed[0])
        claimed = await bench.claim(tasks[3])
    await drive(bench, claimed)
    assert await bench.state(tasks[3]) is TaskState.COMPLETED
    assert (await titles(bench))[-1] == "3"


async def test_what_comes_before_such_an_edit_rides(bench: Workbench) -> None:
    tasks = await chapters(bench, 0, 1, 2)
    tasks += [await bench.a_task(document_id="plan"), *await chapters(bench, 3)]

    stay = await stayed(bench, *await led(bench, tasks))

    assert stay.ridden == ids(tasks[2])
    (noop,) = stay.followers
    assert noop.id == tasks[3].id
    await bench.complete(noop)
    await drive(bench, await bench.claim(tasks[4]))
    assert await titles(bench) == ["0", "1", "2", "3"]


async def test_a_leader_that_was_lost_takes_nobody_along(bench: Workbench, another_bench: AnotherBench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    async with another_bench() as other:
        await bench.let_leases_lapse()
        assert await other.worker.redelivery.reap() == 1

    stay = await stayed(bench, *leader)

    assert isinstance(stay.settlement, Fenced)
    assert (stay.ridden, stay.followers) == ([], [])
    assert await bench.states(*tasks) == ["COMPLETED", "RETRYING", "QUEUED", "QUEUED"]
    assert await head(bench) == 2
    assert await bench.counters() == {
        ("add_chapter", "completed", ""): 1,
        ("add_chapter", "retrying", "crash"): 1,
        ("add_chapter", "fenced", ""): 1,
    }


async def a_lost_leader(bench: Workbench, another_bench: AnotherBench) -> list[Task]:
    """Return edits of which others were done behind the second, which is lost for good and settled by nobody."""
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.runtime.cancellation.cancel(leader.task.id, None)
    async with another_bench() as other:
        await bench.let_leases_lapse()
        assert await other.worker.redelivery.reap() == 1
    await bench.worker.claiming.leave_lanes([PLAN])
    assert await bench.states(*tasks) == ["COMPLETED", "CANCELLED", "QUEUED", "QUEUED"]
    return tasks


async def test_what_was_done_behind_a_lost_edit_is_done_anew(bench: Workbench, another_bench: AnotherBench) -> None:
    tasks = await a_lost_leader(bench, another_bench)
    claimed = await bench.claim_next(tasks[2])

    outcome = await carried_out(bench, claimed)

    assert made(outcome).revision.base == 2
    await drive(bench, (await stayed(bench, claimed, outcome)).followers)
    assert await titles(bench) == ["0", "2", "3"]


async def test_what_was_done_behind_a_lost_edit_does_not_ride_with_another(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    tasks = await a_lost_leader(bench, another_bench)
    (urgent,) = await chapters(bench, "urgent", priority="CRITICAL")
    claimed = await bench.claim_next(urgent)

    # It makes a revision of the same number as the lost one's would have been.
    stay = await stayed(bench, claimed, await carried_out(bench, claimed))

    assert stay.ridden == []
    assert [follower.id for follower in stay.followers] == ids(tasks[2])
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "urgent", "2", "3"]


async def test_a_leader_whose_document_has_moved_takes_nobody_along(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    await bench.execute(
        "INSERT INTO revisions (document_id, revision, base, sha256, size, recipe) "
        "SELECT document_id, 3, 2, sha256, size, recipe FROM revisions WHERE revision = 2"
    )
    await bench.execute("UPDATE documents SET head = 3")

    stay = await stayed(bench, *leader)

    assert (stay.ridden, stay.followers) == ([], [])
    assert await bench.states(*tasks) == ["COMPLETED", "QUEUED", "QUEUED", "QUEUED"]
    await drive(bench, await bench.worker.claiming.continue_lanes([PLAN]))
    assert await titles(bench) == ["0", "1", "2", "3"]
    assert await head(bench) == 6


async def test_riders_whose_settlement_was_not_heard_of_end_once(
    bench: Workbench, another_bench: AnotherBench, postgres_proxy: FaultProxy, database_url: str
) -> None:
    tasks = await chapters(bench, *range(4))
    async with another_bench(database_url=postgres_proxy.url(database_url)) as deaf:
        leader = await led(deaf, tasks)
        tasks += await chapters(bench, 4)
        postgres_proxy.drop(Direction.REPLIES)
        settling = asyncio.create_task(stayed(deaf, *leader))
        await eventually(lambda: is_completed(bench, tasks[1]), what="the commit")
        await postgres_proxy.refuse()
        with pytest.raises(DatabaseUnavailableError):
            await settling
        await postgres_proxy.heal()

        stay = await stayed(deaf, *leader)

        assert isinstance(stay.settlement, Settled)
        assert stay.ridden == []
        await drive(deaf, await deaf.worker.claiming.claim([]))
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

    assert stay.ridden == ids(tasks[2])
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
    await bench.runtime.reopening.retry(late.id)

    await drive(bench, await bench.claim(late))

    assert await bench.state(late) is TaskState.COMPLETED
    assert await titles(bench) == ["0", "1", "Four"]


async def test_a_child_that_dies_of_a_rider_charges_nothing_to_its_leader(bench: Workbench) -> None:
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

    assert stay.ridden == []
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
    tasks = await chapters(bench, *range(2 + ride.AHEAD_MAX))
    (next_leader,) = await chapters(bench, "next")
    # What it makes is more than a socket holds: until it is read here, its child is at it.
    large = "\n\n".join(hashlib.sha512(bytes([number % 256, number // 256])).hexdigest() for number in range(7_000))
    slow = await an_edit(bench, "write_page", payload={"content": large})
    (last,) = await chapters(bench, "last")
    stay = await stayed(bench, *await led(bench, tasks))
    assert len(stay.ridden) == ride.AHEAD_MAX
    (follower,) = stay.followers
    assert follower.id == next_leader.id

    child = idle_child(bench)
    outcome = await carried_out(bench, follower)
    assert not bench.runtime.sandbox._idle, "it is at the next"  # pyright: ignore[reportPrivateUsage]
    os.kill(child, signal.SIGKILL)
    await at_rest()

    stay = await stayed(bench, follower, outcome)
    assert isinstance(stay.settlement, Settled)
    assert await bench.state(next_leader) is TaskState.COMPLETED
    assert (await bench.details(next_leader.id)).failures == ()
    await drive(bench, stay.followers)
    await bench.make_due()
    await drive(bench, await bench.claim(slow))
    assert await bench.states(slow, last) == ["COMPLETED"] * 2
    assert [failure.kind for failure in (await bench.details(slow.id)).failures] == [FailureKind.CRASH]


async def test_a_rider_that_cannot_be_stored_does_not_end_its_leader(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(3))
    odd = (await chapters(bench, 3, created_by="odd"))[0]
    tasks += [odd, *await chapters(bench, 4)]
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.execute("ALTER TABLE revisions ADD CONSTRAINT not_odd CHECK (author IS DISTINCT FROM 'odd')")
    try:
        stay = await stayed(bench, *leader)
        await drive(bench, stay.followers or await bench.worker.claiming.continue_lanes([PLAN]))
    finally:
        await bench.execute("ALTER TABLE revisions DROP CONSTRAINT not_odd")

    assert isinstance(stay.settlement, Settled)
    assert stay.settlement.state is TaskState.COMPLETED
    details = await bench.details(odd.id)
    assert details.task.state is TaskState.FAILED
    assert len(details.failures) == 1
    assert "could not be stored" in details.failures[0].message
    assert await bench.states(*tasks[:3], tasks[4]) == ["COMPLETED"] * 4
    assert await titles(bench) == ["0", "1", "2", "4"]


async def test_riders_count_for_how_long_a_worker_may_stay(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "HOLD_SECONDS_MAX", 3600.0)
    tasks = await chapters(bench, *range(HOLD_TASKS_MAX + 8))
    claimed = await bench.claim(tasks[0])
    rode = 0

    while claimed:
        outcome = await carried_out(bench, claimed[0])
        await at_rest()
        stay = await stayed(bench, claimed[0], outcome)
        rode += len(stay.ridden)
        claimed = stay.followers

    assert rode > 0
    assert await bench.states(*tasks) == ["COMPLETED"] * HOLD_TASKS_MAX + ["QUEUED"] * 8
    assert await bench.worker.claiming.continue_lanes([PLAN]) == []
    assert await head(bench) == HOLD_TASKS_MAX + 1


async def test_the_deletion_of_their_document_throws_riders_away(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.runtime.documents.delete("plan")

    stay = await stayed(bench, *leader)

    assert (stay.ridden, stay.followers) == ([], [])
    assert await bench.states(*tasks) == ["COMPLETED"] + ["CANCELLED"] * 3
    assert await bench.execute("SELECT FROM revisions") == []


async def test_riders_of_a_document_that_is_gone_before_they_were_cancelled_are_thrown_away(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    await bench.execute("UPDATE documents SET deleted_at = now()")

    stay = await stayed(bench, *leader)

    assert stay.ridden == []
    assert len(await bench.execute("SELECT FROM revisions")) == 2


async def test_a_document_that_came_back_has_nothing_of_what_was_done_before(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    await bench.runtime.documents.delete("plan")
    await stayed(bench, *leader)
    await bench.worker.claiming.leave_lanes([PLAN])
    await a_document(bench)

    new = await chapters(bench, *"abc")
    await drive(bench, await bench.claim(new[0]))

    assert await titles(bench) == ["a", "b", "c"]


async def test_a_revert_in_between_throws_riders_away(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    revert = await an_edit(bench, "revert", payload={"toRevision": 2}, priority="CRITICAL")

    stay = await stayed(bench, *leader)

    assert stay.ridden == []
    assert [follower.id for follower in stay.followers] == [revert.id]
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "2", "3"]


async def test_an_upload_in_between_throws_riders_away(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    async with uploading(bench) as (_, upload):
        await bench.runtime.patching.patch(upload.id, TaskPatch.model_validate({"priority": "CRITICAL"}))

        stay = await stayed(bench, *leader)

        assert stay.ridden == []
        assert [follower.id for follower in stay.followers] == [upload.id]
        await drive(bench, stay.followers)
    assert (await titles(bench))[-2:] == ["2", "3"]
    assert not {"0", "1"} & set(await titles(bench))


async def test_a_worker_that_closes_leaves_nothing_of_a_ride_behind(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    await carried_out(bench, await followed(bench, tasks[0]))
    child = idle_child(bench)
    os.kill(child, signal.SIGSTOP)
    await in_the_hands_of_a_child_that_sleeps(bench)

    await bench.worker.editing.riding.close()

    assert riding_tasks() == []
    await gone(child)


async def test_a_worker_that_closes_leaves_nothing_of_a_ride_that_was_replaced(bench: Workbench) -> None:
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

    await bench.worker.editing.riding.close()

    assert riding_tasks() == []
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
    assert riding_tasks() == []
    timed_out = Failed(Failure(FailureKind.TIMEOUT, "it took too long"))
    stay = await stayed(bench, claimed, timed_out)
    await drive(bench, stay.followers or await bench.worker.claiming.continue_lanes([PLAN]))
    stopped = tasks.index(next(task for task in tasks if task.id == claimed.id))
    states = ["COMPLETED"] * 5
    states[stopped] = "TIMEOUT"
    assert await bench.states(*tasks) == states
    assert await titles(bench) == [str(number) for number in range(5) if number != stopped]
    assert await bench.execute("SELECT FROM tasks WHERE crashes > 0") == []


async def test_a_rider_that_takes_too_long_is_left_to_its_own_turn(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = await chapters(bench, *range(2))
    slow = await an_edit(bench, "write_page", payload={"content": "Line.\n\n" * 20_000})
    tasks += [slow, *await chapters(bench, 3)]
    follower = await followed(bench, tasks[0])
    monkeypatch.setattr(ride, "SECONDS_MAX", 0.1)
    outcome = await carried_out(bench, follower)

    await at_rest()

    stay = await stayed(bench, follower, outcome)
    assert slow.id not in stay.ridden
    await drive(bench, stay.followers)
    assert (await bench.details(slow.id)).failures == ()
    assert await bench.states(*tasks) == ["COMPLETED"] * 4
    assert [row["attempt"] for row in await bench.execute("SELECT attempt FROM tasks")] == [1] * 4
    assert "Line." in await text(bench)


async def test_a_rider_that_takes_too_long_is_not_tried_again_and_again(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = await chapters(bench, *range(2))
    slow = await an_edit(bench, "write_page", payload={"content": "Line.\n\n" * 20_000})
    follower = await followed(bench, tasks[0])
    monkeypatch.setattr(ride, "SECONDS_MAX", 0.1)
    outcome = await carried_out(bench, follower)
    await bench.runtime.regulation.pause_document(PLAN)

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
    await bench.runtime.documents.delete("plan")

    outcome = await carried_out(bench, follower)

    assert isinstance(outcome, Failed)
    assert outcome.failure.kind is FailureKind.PERMANENT


async def test_no_more_ride_together_than_one_statement_carries_well(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = await chapters(bench, *range(6))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    # What one of them adds is a little more than what the last one added.
    monkeypatch.setattr(riding, "AHEAD_BYTES_MAX", made(leader.outcome).revision.pieces_size * 3)

    stay = await stayed(bench, *leader)

    assert stay.ridden == ids(*tasks[2:4])
    assert [follower.id for follower in stay.followers] == ids(tasks[4])
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "1", "2", "3", "4", "5"]


async def test_an_edit_in_its_turn_is_done_once_however_many_documents_are_edited(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(riding, "RIDES_MAX", 1)
    names = ["plan", "draft", "notes"]
    claimed: list[ClaimedTask] = []
    for name in names:
        if name != "plan":
            await a_document(bench, name)
        first, _ = await chapters(bench, 0, 1, document_id=name)
        claimed.append(await followed(bench, first))
    before = requests(bench)

    outcomes = await asyncio.gather(*(carried_out(bench, one) for one in claimed))

    assert [made(outcome).revision.base for outcome in outcomes] == [2, 2, 2]
    # A child that does not have a document open is asked once more, with the file.
    assert sum(requests(bench).values()) - sum(before.values()) <= 2 * len(names)
