"""Lookahead: edits that are done before their turn, and settled with the one that they follow."""

import asyncio
import hashlib
from itertools import pairwise

import pytest

from officeplane.domain.lifecycle import TaskState, is_legal
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from officeplane.domain.valve import Limits
from officeplane.services.claims import lanes
from officeplane.services.claims.lanes import HOLD_TASKS_MAX
from officeplane.services.edits import lookahead
from tests.fixtures.pictures import as_text, noise
from tests.services.editing import (
    a_document,
    an_edit,
    at_rest,
    carried_out,
    content,
    done_ahead,
    head,
    made,
    stayed,
)
from tests.services.edits.lookahead.leaders import (
    PLAN,
    Leader,
    chapters,
    drive,
    followed,
    ids,
    led,
    requests,
    titles,
)
from tests.workbench import Workbench


async def test_edits_done_ahead_end_with_the_one_that_they_follow(bench: Workbench) -> None:
    tasks = [(await chapters(bench, number, created_by=f"author {number}"))[0] for number in range(5)]
    leader = await led(bench, tasks)

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == ids(*tasks[2:])
    assert stay.followers == []
    assert await bench.states(*tasks) == ["COMPLETED"] * 5
    history = list(reversed(await bench.runtime.documents.history(LOCAL, "plan", None, 9)))
    assert [(one.revision, one.base) for one in history] == [(n, n - 1) for n in range(1, 7)]
    assert [(one.task_id, one.author) for one in history[1:]] == [
        (task.id, f"author {number}") for number, task in enumerate(tasks)
    ]
    for number, one in enumerate(history):
        data = await content(bench, one.revision)
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (one.sha256, one.size)
        assert await titles(bench, one.revision) == [str(n) for n in range(number)]


async def test_edits_done_ahead_are_in_the_ledger_as_if_they_had_run(bench: Workbench) -> None:
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


async def test_what_edits_done_ahead_are_told_of_is_one_commit_in_order_and_legal_for_each(bench: Workbench) -> None:
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


async def test_everybody_who_waits_for_an_edit_done_ahead_is_told_of_its_end(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    waiting = [asyncio.create_task(bench.runtime.long_poll.wait(LOCAL, task.id, 20)) for task in tasks[1:]]

    await stayed(bench, *leader)

    assert [(await one).task.state for one in waiting] == [TaskState.COMPLETED] * 3


async def test_what_follows_edits_done_ahead_starts_from_the_last_of_them(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    tasks += await chapters(bench, 4)

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == ids(*tasks[2:4])
    (follower,) = stay.followers
    assert follower.id == tasks[4].id
    outcome = await carried_out(bench, follower)
    assert made(outcome).revision.base == 5
    await stayed(bench, follower, outcome)
    assert await titles(bench) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("what", ["paused type", "paused document", "open breaker", "limits", "slowed"])
async def test_nothing_ends_ahead_that_is_not_to_be_claimed(bench: Workbench, what: str) -> None:
    tasks = await chapters(bench, *range(4))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    match what:
        case "paused type":
            await bench.runtime.valves.pause_type(LOCAL, "add_chapter")
        case "paused document":
            await bench.runtime.valves.pause_document(LOCAL, PLAN)
        case "limits":
            await bench.runtime.valves.set_limits(LOCAL, "add_chapter", Limits(concurrency=9))
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

    assert (stay.ended_ahead, stay.followers) == ([], [])
    assert await bench.states(*tasks) == ["COMPLETED", "COMPLETED", "QUEUED", "QUEUED"]
    assert await head(bench) == 3
    await bench.execute("TRUNCATE valves, paused_documents")
    await drive(bench, await bench.claim(tasks[2]))
    assert await titles(bench) == ["0", "1", "2", "3"]


async def test_only_what_is_held_stays_behind(bench: Workbench) -> None:
    tasks = await chapters(bench, *range(3))
    tasks.append(await an_edit(bench, "write_page", payload={"content": "A page."}))
    tasks += await chapters(bench, 4)
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    await bench.runtime.valves.pause_type(LOCAL, "write_page")

    stay = await stayed(bench, *leader)

    assert (stay.ended_ahead, stay.followers) == (ids(tasks[2]), [])


@pytest.mark.parametrize(
    "what",
    [
        "base revision",
        "reference",
        "child",
        "dependents",
        "retried",
        "another type",
        "revert",
        "upload",
        "picture",
        "not due",
    ],
)
async def test_what_is_not_an_edit_alone_with_its_document_is_not_done_ahead(bench: Workbench, what: str) -> None:
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
            odd = (await bench.runtime.documents.revert(LOCAL, "plan", 1, None)).task
        case "upload":
            odd = await an_edit(bench, "upload", payload={"uploadId": "0193b1f0-0000-7000-8000-000000000000"})
        case "picture":
            picture = as_text(noise(1_500, 1_000))
            odd = await an_edit(bench, "insert_image", payload={"after": "p-1", "base64": picture, "alt": "Large"})
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
    assert stay.ended_ahead == []
    await bench.make_due()
    claimed = stay.followers or await bench.claim(odd)
    if what == "another type":
        await bench.complete(claimed[0])
        claimed = await bench.claim(tasks[3])
    await drive(bench, claimed)
    assert await bench.state(tasks[3]) is TaskState.COMPLETED
    assert (await titles(bench))[-1] == "3"


async def test_what_comes_before_such_an_edit_ends_ahead(bench: Workbench) -> None:
    tasks = await chapters(bench, 0, 1, 2)
    tasks += [await bench.a_task(document_id="plan"), *await chapters(bench, 3)]

    stay = await stayed(bench, *await led(bench, tasks))

    assert stay.ended_ahead == ids(tasks[2])
    (noop,) = stay.followers
    assert noop.id == tasks[3].id
    await bench.complete(noop)
    await drive(bench, await bench.claim(tasks[4]))
    assert await titles(bench) == ["0", "1", "2", "3"]


async def test_edits_done_ahead_count_for_how_long_a_worker_may_stay(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "HOLD_SECONDS_MAX", 3600.0)
    tasks = await chapters(bench, *range(HOLD_TASKS_MAX + 8))
    claimed = await bench.claim(tasks[0])
    ahead = 0

    while claimed:
        outcome = await carried_out(bench, claimed[0])
        await at_rest()
        stay = await stayed(bench, claimed[0], outcome)
        ahead += len(stay.ended_ahead)
        claimed = stay.followers

    assert ahead > 0
    assert await bench.states(*tasks) == ["COMPLETED"] * HOLD_TASKS_MAX + ["QUEUED"] * 8
    assert await bench.worker.desk.continue_lanes([PLAN]) == []
    assert await head(bench) == HOLD_TASKS_MAX + 1


async def test_no_more_end_together_than_one_statement_carries_well(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = await chapters(bench, *range(6))
    leader = await led(bench, tasks)
    assert done_ahead(bench, *leader) == ids(*tasks[2:])
    # What one of them adds is a little more than what the last one added.
    monkeypatch.setattr(lookahead, "AHEAD_BYTES_MAX", made(leader.outcome).revision.pieces_size * 3)

    stay = await stayed(bench, *leader)

    assert stay.ended_ahead == ids(*tasks[2:4])
    assert [follower.id for follower in stay.followers] == ids(tasks[4])
    await drive(bench, stay.followers)
    assert await titles(bench) == ["0", "1", "2", "3", "4", "5"]


async def test_an_edit_in_its_turn_is_done_once_however_many_documents_are_edited(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookahead, "LANES_MAX", 1)
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
