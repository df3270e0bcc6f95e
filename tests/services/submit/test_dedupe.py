"""Deduplication by content: what an unfinished task does already is not queued twice."""

import asyncio
from typing import Any

import pytest

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.errors import IdempotencyInProgressError, InvalidRequestError, TwinUnfinishedError
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import TaskRequest
from officeplane.domain.task import Task
from officeplane.services.submit.intake import take_in
from officeplane.services.submit.submission import Submitted
from officeplane.store import tasks
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench

NOOP: dict[str, Any] = {"task_type": "noop"}
EDIT: dict[str, Any] = {"task_type": "replace_text", "payload": {"find": "a", "replace": "b"}}


def a_request(**options: Any) -> TaskRequest:
    kind = {} if "children" in options else {"task_type": "sleep", "payload": {"seconds": 1}}
    return TaskRequest.from_python({**kind, "document_id": "d", "dedupe": "content", **options})


async def submit(bench: Workbench, **options: Any) -> Submitted:
    return await bench.runtime.submission.submit(LOCAL, a_request(**options))


async def count(bench: Workbench) -> int:
    return len(await bench.execute("SELECT FROM tasks"))


async def test_what_waits_already_is_not_queued_twice(bench: Workbench) -> None:
    first = await submit(bench)
    await bench.hush()

    again = await submit(bench, title="another title", priority="HIGH", created_by="somebody else")

    assert (first.replayed, again.replayed) == (False, True)
    assert again.task == (await bench.details(first.task.id)).task
    assert await count(bench) == 1
    assert await bench.rung() == []


async def test_what_runs_already_is_not_queued_twice(bench: Workbench) -> None:
    first = await submit(bench)
    await bench.claim_next(first.task)

    again = await submit(bench)

    assert (again.task.id, again.task.state) == (first.task.id, "RUNNING")


@pytest.mark.parametrize("ending", ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"])
async def test_idempotency_by_content_hash_does_not_swallow_a_legitimate_second_identical_edit(
    bench: Workbench, ending: str
) -> None:
    """Trap: a hash over completed tasks too, as if nobody could want the same done twice."""
    first = await submit(bench, max_retries=0)
    await bench.end(first.task, ending)

    second = await submit(bench, max_retries=0)

    assert not second.replayed
    assert await bench.states(first.task, second.task) == [ending, "QUEUED"]


async def test_without_dedupe_identical_tasks_are_all_stored(bench: Workbench) -> None:
    stored = [await submit(bench, dedupe=dedupe) for dedupe in ("content", None, None)]

    assert [one.replayed for one in stored] == [False, False, False]
    assert (await submit(bench)).task.id == stored[0].task.id


OTHERS: list[dict[str, Any]] = [
    {"document_id": "e"},
    {"document_id": None},
    {"payload": {"seconds": 2}},
    {**NOOP, "payload": {}},
]


@pytest.mark.parametrize("other", OTHERS)
async def test_another_document_payload_or_type_is_another_content(bench: Workbench, other: dict[str, Any]) -> None:
    await submit(bench)

    assert not (await submit(bench, **other)).replayed


def content_of(bench: Workbench, **options: Any) -> bytes | None:
    return take_in(LOCAL, a_request(**options), bench.runtime.catalogue).content_hash


def test_the_order_of_the_names_in_a_payload_does_not_matter(bench: Workbench) -> None:
    turned = {**EDIT, "payload": {"replace": "b", "find": "a"}}

    assert content_of(bench, **turned) == content_of(bench, **EDIT)


def test_edits_based_on_different_revisions_are_different_contents(bench: Workbench) -> None:
    bases: list[dict[str, Any]] = [{}, {"base_revision": 1}, {"base_revision": 2}]
    bases.append({"base_revision": 2, "on_conflict": "rebase"})

    assert len({content_of(bench, **EDIT, **base) for base in bases}) == len(bases)


async def test_what_waits_for_something_else_is_another_content(bench: Workbench) -> None:
    one, other = await bench.a_task(), await bench.a_task()
    stored = [
        await submit(bench, depends_on=names)
        for names in ([one.id], [other.id], [other.id, one.id], [one.id, other.id.upper(), one.id])
    ]

    assert [each.replayed for each in stored] == [False, False, False, True]


async def test_batches_are_compared_with_all_their_children(bench: Workbench) -> None:
    inner = {"children": [NOOP, {"task_type": "sleep", "payload": {"seconds": 1}}]}
    first = await submit(bench, children=[NOOP, inner])

    same = await submit(bench, children=[NOOP, inner])
    others = [
        await submit(bench, children=children)
        for children in ([inner, NOOP], [NOOP, NOOP, inner], [NOOP, {"children": [NOOP]}, inner["children"][1]])
    ]

    assert (same.task.id, same.replayed) == (first.task.id, True)
    assert [other.replayed for other in others] == [False, False, False]


async def test_a_child_alone_cannot_ask_for_it(bench: Workbench) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        await submit(bench, children=[NOOP | {"dedupe": "content"}])

    assert [error.field for error in refused.value.errors] == ["children.0.dedupe"]


async def test_fifty_at_once_in_two_processes_are_one_task(bench: Workbench, another_bench: AnotherBench) -> None:
    async with another_bench() as other:
        stored = await asyncio.gather(*(submit(on) for on in (bench, other) * 25))

    assert len({one.task.id for one in stored}) == 1
    assert [one.replayed for one in stored].count(False) == 1
    assert await count(bench) == 1


async def test_while_tasks_of_one_content_come_and_end_two_are_never_unfinished(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    ended: set[str] = set()

    async def work() -> None:
        while len(ended) < 5:
            for row in await bench.execute("SELECT id FROM tasks WHERE state = 'QUEUED'"):
                claimed = await bench.worker.desk.claim([str(row["id"])])
                for task in claimed:
                    await bench.complete(task)
                    ended.add(task.id)
            await asyncio.sleep(0)

    async def keep_asking(on: Workbench) -> list[Submitted]:
        return [await submit(on) for _ in range(40) if len(ended) < 5]

    async with another_bench() as other:
        working = asyncio.create_task(work())
        stored = [one for many in await asyncio.gather(*map(keep_asking, (bench, other))) for one in many]
        while len(ended) < 5:
            stored.append(await submit(other))
        await working

    fresh = [one.task.id for one in stored if not one.replayed]
    assert len(fresh) == len(set(fresh)) == await count(bench)


async def test_in_one_bulk_the_second_is_answered_with_the_first(bench: Workbench) -> None:
    first, second, other = await bench.runtime.submission.submit_many(
        LOCAL, [a_request(), a_request(), a_request(document_id="e")]
    )

    assert (second.task.id, second.replayed) == (first.task.id, True)
    assert not other.replayed
    assert await count(bench) == 2


async def test_a_large_bulk_is_compared_as_well(bench: Workbench) -> None:
    twin = await submit(bench)

    stored = await bench.runtime.submission.submit_many(
        LOCAL, [*(a_request(dedupe=None) for _ in range(200)), a_request(), a_request(document_id="e")]
    )

    assert [one.replayed for one in stored] == [*[False] * 200, True, False]
    assert stored[200].task.id == twin.task.id


async def test_a_key_given_with_it_stands_for_the_task_that_was_there(bench: Workbench) -> None:
    first = await submit(bench)
    await submit(bench, idempotency_key="k")
    await bench.end(first.task, "COMPLETED")

    again = await submit(bench, idempotency_key="k")

    assert (again.task.id, again.replayed) == (first.task.id, True)


async def test_in_a_transaction_of_the_callers_others_wait_for_its_end(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "KEY_WAIT", "50ms")
    async with bench.runtime.ledger.transaction() as connection:
        theirs = await bench.runtime.submission.submit_within(LOCAL, connection, a_request())
        with pytest.raises(IdempotencyInProgressError):
            await submit(bench)

    assert (await submit(bench)).task.id == theirs.task.id


async def test_a_task_whose_twin_is_unfinished_is_not_retried(bench: Workbench) -> None:
    old = await submit(bench, max_retries=0)
    await bench.end(old.task, "FAILED")
    twin = await submit(bench)

    with pytest.raises(TwinUnfinishedError, match=twin.task.id) as refused:
        await bench.runtime.reopening.retry(LOCAL, old.task.id)

    assert refused.value.code == "illegal_state"
    assert await bench.states(old.task, twin.task) == ["FAILED", "QUEUED"]
    await bench.end(twin.task, "CANCELLED")
    await bench.runtime.reopening.retry(LOCAL, old.task.id)
    assert await bench.states(old.task, twin.task) == ["QUEUED", "CANCELLED"]
    assert (await submit(bench)).task.id == old.task.id


async def test_a_child_of_a_batch_whose_twin_is_unfinished_is_not_retried(bench: Workbench) -> None:
    batch = await submit(bench, children=[NOOP])
    await bench.end(batch.tasks[1], "FAILED")
    await submit(bench, children=[NOOP])

    with pytest.raises(TwinUnfinishedError):
        await bench.runtime.reopening.retry(LOCAL, batch.tasks[1].id)

    assert await bench.states(*batch.tasks) == ["FAILED", "FAILED"]


async def test_a_retry_and_a_submission_at_once_leave_one_unfinished(
    bench: Workbench, another_bench: AnotherBench
) -> None:
    async with another_bench() as other:
        for number in range(10):
            old = await submit(bench, document_id=f"d{number}", max_retries=0)
            await bench.end(old.task, "FAILED")

            await asyncio.gather(
                bench.runtime.reopening.retry(LOCAL, old.task.id),
                submit(other, document_id=f"d{number}"),
                return_exceptions=True,
            )

            rows = await bench.execute("SELECT FROM tasks WHERE document_id = $1 AND state = 'QUEUED'", f"d{number}")
            assert len(rows) == 1


async def modify_and_retry(bench: Workbench, task: Task) -> None:
    ruling = Ruling(Decision.MODIFY_AND_RETRY, "alice", None)
    await bench.runtime.dead_letters.resolve(LOCAL, task.id, ruling, {"seconds": 2})


async def test_another_payload_is_retried_beside_what_does_as_the_old_one_did(bench: Workbench) -> None:
    old = await submit(bench, max_retries=0)
    await bench.end(old.task, "FAILED")
    twin = await submit(bench)

    await modify_and_retry(bench, old.task)

    assert await bench.states(old.task, twin.task) == ["QUEUED", "QUEUED"]


@pytest.mark.parametrize("goes_on", [False, True])
async def test_a_batch_of_which_a_child_has_another_payload_is_another_content(
    bench: Workbench, *, goes_on: bool
) -> None:
    sleep = {"task_type": "sleep", "payload": {"seconds": 1}}
    given = {"children": [sleep, sleep], "on_child_failure": "continue" if goes_on else "abort"}
    batch = await submit(bench, **given)
    await bench.end(batch.tasks[1], "FAILED")

    await modify_and_retry(bench, batch.tasks[1])

    assert not (await submit(bench, **given)).replayed
