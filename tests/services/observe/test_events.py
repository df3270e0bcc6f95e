"""The feed: every event once and in order, whenever somebody begins to follow."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import pytest

from officeplane.domain.event import Event, EventPosition, Reset, parse_position
from officeplane.domain.principal import LOCAL
from officeplane.grouping import background
from officeplane.services.observe import events as feed
from officeplane.services.observe.events import Events, Followed
from officeplane.store import events
from officeplane.store.connection import Executor
from tests.services.conftest import AnotherBench
from tests.support import eventually
from tests.workbench import Workbench


async def told(stream: AsyncIterator[Sequence[Followed]], count: int) -> list[Event]:
    """Return the next events, without what came in one group with the last of them."""
    heard: list[Followed] = []
    async with asyncio.timeout(20):
        while len(heard) < count:
            heard += await anext(stream)
    return [event for event in heard[:count] if isinstance(event, Event)]


def facts(found: list[Event]) -> list[tuple[str, str | None]]:
    return [(event.kind, event.task_id) for event in found]


async def all_so_far(bench: Workbench) -> list[Event]:
    """Return the events that the ledger has, as soon as nothing that anybody writes on this server can precede them."""

    async def nothing_precedes() -> bool:
        kept_back = "SELECT FROM events WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()) LIMIT 1"
        return not await bench.execute(kept_back)

    await eventually(nothing_precedes)
    found, _ = await events.after(bench.runtime.ledger, EventPosition(0, 0), rows=1_000)
    return found


async def test_what_happens_to_a_task_is_told_in_order(bench: Workbench) -> None:
    beginning = await a_beginning(bench)
    task = await bench.a_task(document_id="d")
    await bench.fail(await bench.claim_next(task))
    await bench.make_due()
    await bench.complete(await bench.claim_next(task))

    async with aclosing(bench.runtime.events.follow(LOCAL, beginning)) as following:
        found = await told(following, 5)

    assert facts(found) == [
        (f"task.{kind}", task.id) for kind in ("queued", "running", "retrying", "running", "completed")
    ]
    assert {event.document_id for event in found} == {"d"}
    assert [event.position for event in found] == sorted({event.position for event in found})


async def a_beginning(bench: Workbench) -> EventPosition:
    """Return a position to follow from."""
    await bench.a_task()
    return (await all_so_far(bench))[-1].position


async def test_who_begins_now_is_told_what_comes_and_not_what_was(
    bench: Workbench, another_bench: AnotherBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[EventPosition] = []
    horizon = events.horizon

    async def noted(executor: Executor) -> EventPosition:
        begun.append(await horizon(executor))
        return begun[-1]

    monkeypatch.setattr(events, "horizon", noted)
    await a_beginning(bench)
    async with another_bench() as observer, aclosing(bench.runtime.events.follow(LOCAL, None)) as stream:
        following = asyncio.ensure_future(told(stream, 1))
        # The follower and the reader begin each by themselves, and either may be first.
        await eventually(lambda: len(begun) == 2)

        task = await observer.a_task()

        assert facts(await following) == [("task.queued", task.id)]


async def test_an_event_between_a_followers_look_and_the_readers_first_is_not_held_back(
    bench: Workbench, another_bench: AnotherBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The follower found nothing; the reader begins after what happened then, and nothing more happens."""
    look, has_looked = events.after, asyncio.Event()

    async def noted(executor: Executor, position: EventPosition, *, rows: int) -> tuple[list[Event], EventPosition]:
        found = await look(executor, position, rows=rows)
        has_looked.set()
        return found

    monkeypatch.setattr(events, "after", noted)
    feed_read_late = Events(bench.runtime.ledger)
    async with another_bench() as observer, aclosing(feed_read_late.follow(LOCAL, None)) as stream:
        following = asyncio.ensure_future(told(stream, 1))
        await has_looked.wait()
        task = await observer.a_task()

        async with background(feed_read_late.read):
            assert facts(await following) == [("task.queued", task.id)]


async def test_who_resumes_is_told_what_came_after(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.complete(await bench.claim_next(task))
    queued, *rest = await all_so_far(bench)

    async with aclosing(bench.runtime.events.follow(LOCAL, queued.position)) as following:
        assert await told(following, 2) == rest


async def test_who_resumes_in_the_middle_of_a_row_is_told_the_rest_of_it(bench: Workbench) -> None:
    tasks = await bench.submit_many([{"task_type": "noop"}] * 5)
    found = await all_so_far(bench)
    assert len({(event.position.xid, event.position.row) for event in found}) == 1

    async with aclosing(bench.runtime.events.follow(LOCAL, found[1].position)) as following:
        assert [event.task_id for event in await told(following, 3)] == [task.id for task in tasks[2:]]


async def test_a_position_survives_its_journey_as_text(bench: Workbench) -> None:
    await bench.submit_many([{"task_type": "noop"}] * 3)

    for event in await all_so_far(bench):
        assert parse_position(str(event.position)) == event.position


async def test_a_late_commit_is_not_skipped(bench: Workbench) -> None:
    """One transaction writes its event first and commits last."""
    beginning = await a_beginning(bench)
    async with aclosing(bench.runtime.events.follow(LOCAL, beginning)) as stream:
        following = asyncio.ensure_future(told(stream, 2))
        async with bench.runtime.ledger.transaction() as connection:
            early = "01890000-0000-7000-8000-00000000000e"
            await connection.execute(
                "INSERT INTO events (kind, task_ids, document_ids) VALUES ('task.early', ARRAY[$1::uuid], ARRAY[NULL])",
                early,
            )
            late = await bench.a_task()
            # Long enough for a reader that does not wait for the open transaction.
            done, _ = await asyncio.wait([following], timeout=2 * feed.READ_SECONDS)
            assert not done

        assert facts(await following) == [("task.early", early), ("task.queued", late.id)]


async def test_events_of_a_transaction_that_was_rolled_back_are_never_told(bench: Workbench) -> None:
    beginning = await a_beginning(bench)
    async with bench.runtime.ledger.transaction() as connection:
        savepoint = connection.transaction()
        await savepoint.start()
        await connection.execute(
            "INSERT INTO events (kind, task_ids, document_ids) VALUES ('task.x', ARRAY[gen_random_uuid()], ARRAY[NULL])"
        )
        await savepoint.rollback()
    task = await bench.a_task()

    async with aclosing(bench.runtime.events.follow(LOCAL, beginning)) as stream:
        assert facts(await told(stream, 1)) == [("task.queued", task.id)]


@pytest.mark.parametrize("position", [EventPosition(1, 1, 0), EventPosition(2**40, 1, 0)], ids=["gone", "elsewhere"])
async def test_who_resumes_where_nothing_is_held_is_told_so_and_goes_on_from_now(
    bench: Workbench, position: EventPosition
) -> None:
    await bench.a_task()
    async with aclosing(bench.runtime.events.follow(LOCAL, position)) as stream:
        assert await asyncio.wait_for(anext(stream), 20) == [Reset()]
        following = asyncio.ensure_future(told(stream, 1))

        async def heard() -> bool:
            await bench.a_task()
            await asyncio.wait([following], timeout=0.05)
            return following.done()

        await eventually(heard)
        assert [event.kind for event in await following] == ["task.queued"]


async def test_who_begins_before_anything_has_happened_misses_nothing(bench: Workbench) -> None:
    """The position was read before the first event ever, and is followed from after it."""
    now = await events.horizon(bench.runtime.ledger)
    task = await bench.a_task()
    await bench.execute("TRUNCATE events")
    async with aclosing(bench.runtime.events.follow(LOCAL, now)) as stream:
        following = asyncio.ensure_future(anext(stream))
        await bench.complete(await bench.claim_next(task))

        first, *_ = await asyncio.wait_for(following, 20)

    assert isinstance(first, Event)
    assert first.kind == "task.running"


async def test_who_resumes_after_the_events_were_pruned_is_told_so(bench: Workbench) -> None:
    await bench.a_task()
    (old,) = await all_so_far(bench)
    await bench.let_days_pass(2)
    await bench.worker.retention.prune()
    await bench.a_task()

    async with aclosing(bench.runtime.events.follow(LOCAL, old.position)) as stream:
        assert await asyncio.wait_for(anext(stream), 20) == [Reset()]


async def test_who_resumes_within_a_transaction_of_which_some_was_pruned_is_told_so(bench: Workbench) -> None:
    """A nested batch ends with its child: three rows of one transaction, and the second is gone."""
    tree = await bench.a_batch({"children": [{"task_type": "noop"}]})
    await bench.complete(await bench.claim_next(tree[-1]))
    child, inner, root = (await all_so_far(bench))[-3:]
    assert child.position.xid == inner.position.xid == root.position.xid
    await bench.execute(
        "DELETE FROM events WHERE (xid, id) <= ($1::text::xid8, $2::bigint)",
        str(inner.position.xid),
        inner.position.row,
    )

    async with aclosing(bench.runtime.events.follow(LOCAL, child.position)) as stream:
        assert await asyncio.wait_for(anext(stream), 20) == [Reset()]


async def test_all_followers_are_told_the_same_at_their_own_pace(bench: Workbench) -> None:
    beginning = await a_beginning(bench)
    count = 3 * feed.ROWS_PER_READ
    for start in range(0, count, 20):
        await asyncio.gather(*(bench.runtime.ledger.fetch(_ONE_EVENT) for _ in range(start, start + 20)))

    async def seen() -> list[Event]:
        async with aclosing(bench.runtime.events.follow(LOCAL, beginning)) as stream:
            return await told(stream, count)

    first, second = await asyncio.gather(seen(), seen())

    assert first == second
    assert len({event.task_id for event in first}) == count


async def test_a_follower_is_told_of_what_the_reader_has_at_hand(bench: Workbench) -> None:
    """One keeps the reader busy; the other joins at a position that it has in memory."""
    task = await bench.a_task()
    (queued,) = await all_so_far(bench)
    async with aclosing(bench.runtime.events.follow(LOCAL, queued.position)) as early:
        waiting = asyncio.ensure_future(told(early, 2))
        await bench.complete(await bench.claim_next(task))
        running, completed = await waiting

        async with aclosing(bench.runtime.events.follow(LOCAL, running.position)) as late:
            assert await told(late, 1) == [completed]


async def test_the_feed_sleeps_while_nobody_follows_and_wakes_for_the_next(bench: Workbench) -> None:
    for _ in range(2):
        beginning = await a_beginning(bench)
        async with aclosing(bench.runtime.events.follow(LOCAL, beginning)) as following:
            waiting = asyncio.ensure_future(told(following, 1))
            task = await bench.a_task()
            assert facts(await waiting) == [("task.queued", task.id)]


_ONE_EVENT = (
    "INSERT INTO events (kind, task_ids, document_ids) VALUES ('task.x', ARRAY[gen_random_uuid()], ARRAY[NULL])"
)
