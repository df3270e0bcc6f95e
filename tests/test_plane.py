"""The Python API: the contract's section of that name, method by method."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import asyncpg
import pytest

from officeplane import Plane, open_plane
from officeplane.dispatch import announcements, bells
from officeplane.domain.errors import (
    DatabaseUnavailableError,
    IdempotencyMismatchError,
    IllegalStateError,
    InvalidRequestError,
    TaskNotFoundError,
    UnknownTaskTypeError,
)
from tests.kept import empty
from tests.services import handlers
from tests.workbench import Workbench, open_workbench

STRANGER = "01890000-0000-7000-8000-000000000000"
Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def rings_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a Valkey that stands still for a moment be waited for: nobody here rings again."""
    monkeypatch.setattr(bells, "RING_SECONDS", 20.0)
    monkeypatch.setattr(announcements, "ANNOUNCE_SECONDS", 20.0)


@pytest.fixture
async def bench(database_url: str, redis_url: str) -> AsyncIterator[Workbench]:
    """A worker of the installation."""
    await empty(database_url, redis_url)
    async with open_workbench(database_url, redis_url, [handlers]) as workbench:
        yield workbench


@pytest.fixture
async def plane(bench: Workbench, database_url: str, redis_url: str) -> AsyncIterator[Plane]:
    """An application's way in."""
    async with open_plane(database_url, redis_url, handlers=[handlers]) as opened:
        yield opened


async def test_a_task_is_submitted_waited_for_and_read(plane: Plane, bench: Workbench) -> None:
    task = await plane.submit("test.note", document_id="abc", payload={"text": "hello"})
    assert (task.state, task.document_id, task.payload) == ("QUEUED", "abc", {"text": "hello"})
    waiting = asyncio.create_task(plane.wait(task.id, timeout=30))

    await bench.complete(await bench.claim_next(task), '{"answer": 42}')

    done = await waiting
    assert (done.state, done.result) == ("COMPLETED", {"answer": 42})
    assert await plane.task(task.id) == done


async def test_a_plane_of_a_space_sees_its_own_tasks_and_documents_by_their_own_names(
    plane: Plane, bench: Workbench, database_url: str, redis_url: str
) -> None:
    async with open_plane(database_url, redis_url, handlers=[handlers], space="acme", acting_as="key:acme") as acme:
        theirs = await acme.submit("test.note", document_id="abc", payload={"text": "theirs"})
        ours = await plane.submit("test.note", document_id="abc", payload={"text": "ours"})

        assert (theirs.document_id, theirs.space, theirs.created_by) == ("abc", "acme", "key:acme")
        assert {task.id for task in await bench.claim(theirs, ours)} == {theirs.id, ours.id}
        assert (await acme.task(theirs.id)).document_id == "abc"
        for one, task in ((acme, ours), (plane, theirs)):
            with pytest.raises(TaskNotFoundError):
                await one.task(task.id)
            with pytest.raises(TaskNotFoundError):
                await one.cancel(task.id)


async def test_a_space_has_a_name_that_can_be_one(database_url: str, redis_url: str) -> None:
    for name in ("", "Acme", "a/b", "-a", "a" * 64):
        with pytest.raises(InvalidRequestError, match="no name of a space"):
            async with open_plane(database_url, redis_url, space=name):
                pass


async def test_every_option_of_a_task_is_named_in_snake_case(plane: Plane) -> None:
    task = await plane.submit(
        "test.note",
        document_id="abc",
        title="A note",
        payload={"text": "hello"},
        priority="HIGH",
        max_retries=5,
        timeout_seconds=12.5,
        run_at="2999-01-01T00:00:00Z",
        retry={"strategy": "fixed", "initial_seconds": 9},
        on_retry="yield",
        idempotency_key="once",
        tags=["a", "b"],
        created_by="ann",
    )

    now = await plane.task(task.id)
    assert (now.title, now.priority, now.max_retries, now.timeout_seconds) == ("A note", 20, 5, 12.5)
    assert (now.state, now.run_at.year, now.yields, now.tags, now.on_behalf_of) == (
        "PENDING", 2999, True, ("a", "b"), "ann",
    )  # fmt: skip


async def test_a_batch_is_a_task_with_children(plane: Plane, bench: Workbench) -> None:
    children: list[Mapping[str, Any]] = [
        {"task_type": "noop", "key": "first", "max_retries": 0},
        {"task_type": "test.note", "payload": {"text": {"$ref": "first.text"}}},
    ]

    batch = await plane.submit("batch_edit", children=children, on_child_failure="continue", document_id="abc")

    assert batch.is_batch
    details = await bench.details(batch.id)
    assert details.children is not None
    assert [(child.task_type, child.key) for child in details.children] == [("noop", "first"), ("test.note", None)]


async def test_a_task_submitted_again_under_its_key_is_the_same_task(plane: Plane) -> None:
    first = await plane.submit("noop", idempotency_key="k")

    assert await plane.submit("noop", idempotency_key="k") == first
    with pytest.raises(IdempotencyMismatchError):
        await plane.submit("noop", idempotency_key="k", title="other")


async def test_many_tasks_are_stored_in_the_order_given(plane: Plane, bench: Workbench) -> None:
    given: list[dict[str, Any]] = [{"task_type": "noop", "payload": {}, "title": str(number)} for number in range(20)]

    tasks = await plane.submit_many(given)

    assert [task.title for task in tasks] == [str(number) for number in range(20)]
    assert [task.seq for task in tasks] == sorted(task.seq for task in tasks)
    assert await bench.rung() == [task.id for task in tasks]


async def test_many_tasks_are_stored_whole_or_not_at_all(plane: Plane, bench: Workbench) -> None:
    for wrong in ({"task_type": "nope"}, {"task_type": "test.note", "payload": {"text": "\x00"}}, {"taskType": "noop"}):
        with pytest.raises(InvalidRequestError):
            await plane.submit_many([{"task_type": "noop"}, wrong])

    assert await bench.execute("SELECT FROM tasks") == []


async def test_a_refusal_among_many_names_its_body(plane: Plane) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        await plane.submit_many([{"task_type": "noop"}, {"task_type": "noop", "max_retries": 21}])

    assert [wrong.field for wrong in refused.value.errors] == ["1.max_retries"]


async def test_a_task_in_a_transaction_of_ones_own_exists_with_the_commit(
    plane: Plane, bench: Workbench, database_url: str
) -> None:
    connection = await asyncpg.connect(database_url)
    try:
        async with connection.transaction():
            task = await plane.submit("noop", connection=connection)
            with pytest.raises(TaskNotFoundError):
                await plane.task(task.id)
            assert await bench.rung() == []

        await plane.ring(task)
    finally:
        await connection.close()

    assert await plane.task(task.id) == task
    assert await bench.rung() == [task.id]


async def test_a_batch_in_a_transaction_of_ones_own_is_rung_by_its_first_leaf(
    plane: Plane, bench: Workbench, database_url: str
) -> None:
    connection = await asyncpg.connect(database_url)
    try:
        async with connection.transaction():
            batch = await plane.submit("batch_edit", children=[{"task_type": "noop"}], connection=connection)
    finally:
        await connection.close()

    await plane.ring(batch)

    details = await bench.details(batch.id)
    assert details.children is not None
    assert await bench.rung() == [details.children[0].id]


async def test_a_task_in_a_transaction_that_is_rolled_back_never_was(
    plane: Plane, bench: Workbench, database_url: str
) -> None:
    connection = await asyncpg.connect(database_url)
    try:
        transaction = connection.transaction()
        await transaction.start()
        task = await plane.submit("noop", connection=connection, idempotency_key="k")
        await transaction.rollback()
    finally:
        await connection.close()

    with pytest.raises(TaskNotFoundError):
        await plane.task(task.id)
    assert (await plane.submit("noop", idempotency_key="k")).id != task.id


async def test_ringing_for_what_needs_no_ring_is_nothing(plane: Plane, bench: Workbench) -> None:
    later = await plane.submit("noop", run_at="2999-01-01T00:00:00Z")

    await plane.ring(later)

    assert await bench.rung() == []


async def test_a_wait_that_is_over_answers_with_the_task_as_it_is(plane: Plane) -> None:
    task = await plane.submit("noop")

    assert (await plane.wait(task.id, timeout=0.01)).state == "QUEUED"


async def test_a_waiting_task_is_cancelled_at_once(plane: Plane) -> None:
    task = await plane.submit("noop")

    cancelled = await plane.cancel(task.id, reason="enough")

    assert (cancelled.state, cancelled.cancel_reason) == ("CANCELLED", "enough")
    with pytest.raises(IllegalStateError):
        await plane.cancel(task.id)


async def test_a_running_task_is_asked_to_stop(plane: Plane, bench: Workbench) -> None:
    task = await plane.submit("noop")
    await bench.claim(task)

    asked = await plane.cancel(task.id)

    assert asked.state == "RUNNING"
    assert asked.cancel_requested_at is not None


async def test_a_task_that_gave_up_is_tried_again(plane: Plane, bench: Workbench) -> None:
    task = await plane.submit("noop")
    await bench.exhaust(task)

    again = await plane.retry(task.id)

    assert (again.state, again.generation) == ("QUEUED", 2)
    with pytest.raises(IllegalStateError):
        await plane.retry(task.id)


@pytest.mark.parametrize("task_id", [STRANGER, "not an id", "", STRANGER.replace("-", "")])
async def test_a_task_that_is_not_there_is_not_found(plane: Plane, task_id: str) -> None:
    calls: list[Call] = [plane.task, partial(plane.wait, timeout=0), plane.cancel, plane.retry]
    for call in calls:
        with pytest.raises(TaskNotFoundError):
            await call(task_id)


async def test_a_task_is_submitted_with_a_deadline_and_not_twice_at_a_time(plane: Plane) -> None:
    deadline = datetime(2100, 1, 31, tzinfo=UTC)

    task = await plane.submit("noop", deadline=deadline, boost_per_minute=0.5, dedupe="content", document_id="once")
    (again, other) = await plane.submit_many([
        {"task_type": "noop", "dedupe": "content", "document_id": "once"},
        {"task_type": "noop", "dedupe": "content", "document_id": "other"},
    ])  # fmt: skip

    assert (task.deadline, task.boost_per_minute) == (deadline, 0.5)
    assert again == task
    assert other.id != task.id


async def test_an_id_in_capitals_is_the_same_id(plane: Plane) -> None:
    task = await plane.submit("noop")

    assert await plane.task(task.id.upper()) == task


async def test_an_unknown_type_is_refused_with_the_known_ones(plane: Plane) -> None:
    with pytest.raises(UnknownTaskTypeError, match=r"add_chapter, .*batch_edit, .*noop, .*sleep, .*test\.note"):
        await plane.submit("nope")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"maxRetries": 1}, "maxRetries"),
        ({"max_retries": 21}, "max_retries"),
        ({"max_retries": "3"}, "max_retries"),
        ({"document_id": "../x"}, "document_id"),
        ({"run_at": "tomorrow"}, "run_at"),
        ({"title": "a\x00b"}, "title"),
        ({"children": []}, "children"),
        ({"children": [{"task_type": "noop"}] * 501}, "children"),
        ({"priority": "SOON"}, "priority"),
    ],
)
async def test_an_option_that_is_none_or_does_not_fit_is_refused_by_name(
    plane: Plane, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        await plane.submit("noop", **options)

    assert refused.value.errors[0].field == field


async def test_handlers_may_be_modules_or_their_names(database_url: str, redis_url: str, bench: Workbench) -> None:
    given: list[list[Any]] = [[handlers], ["tests.services.handlers"], [handlers, "tests.services.handlers"]]
    for modules in given:
        async with open_plane(database_url, redis_url, handlers=modules) as plane:
            assert (await plane.submit("test.note", payload={"text": "hello"})).state == "QUEUED"


async def test_without_their_handlers_types_are_not_known(database_url: str, redis_url: str, bench: Workbench) -> None:
    async with open_plane(database_url, redis_url) as plane:
        with pytest.raises(UnknownTaskTypeError):
            await plane.submit("test.note", payload={"text": "hello"})


async def test_a_plane_works_without_redis(database_url: str, bench: Workbench) -> None:
    async with open_plane(database_url) as plane:
        task = await plane.submit("noop")
        waiting = asyncio.create_task(plane.wait(task.id, timeout=30))

        await bench.complete(await bench.claim_next(task))

        assert (await waiting).state == "COMPLETED"


async def test_a_plane_without_a_database_says_so_at_once() -> None:
    for url in ("", "postgresql://nobody@127.0.0.1:1/nothing"):
        with pytest.raises(DatabaseUnavailableError):
            async with _opened(url):
                pass


async def test_what_the_callers_block_raises_reaches_it_as_it_is(
    database_url: str, redis_url: str, bench: Workbench
) -> None:
    with pytest.raises(LookupError, match="of the caller"):
        async with open_plane(database_url, redis_url):
            raise LookupError("of the caller")


def _opened(url: str) -> AbstractAsyncContextManager[Plane]:
    return open_plane(url)
