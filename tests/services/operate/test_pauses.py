"""Pause and resume: what is held keeps its place, is not rung, and does not stand in the way of others."""

import asyncio

import pytest

from officeplane.domain.document import Format
from officeplane.domain.errors import DocumentNotFoundError, UnknownTaskTypeError
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import DocumentId
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import Task
from officeplane.store import documents
from tests.workbench import Workbench

D = DocumentId("d")


async def codes(bench: Workbench, task: Task) -> list[str]:
    """Return why a task waits, as codes."""
    return [reason.code for reason in (await bench.runtime.explanations.explain(LOCAL, task.id)).reasons]


async def test_a_task_of_a_paused_type_is_not_claimed_until_the_type_is_resumed(bench: Workbench) -> None:
    free, in_lane, other = (
        await bench.a_task(),
        await bench.a_task(document_id="d"),
        await bench.a_task("sleep", payload={"seconds": 0}),
    )
    await bench.runtime.valves.pause_type(LOCAL, "noop")

    assert [task.id for task in await bench.claim(free, in_lane, other)] == [other.id]
    assert await bench.states(free, in_lane) == ["QUEUED", "QUEUED"]

    await bench.runtime.valves.resume_type(LOCAL, "noop")
    assert {task.id for task in await bench.claim(free, in_lane)} == {free.id, in_lane.id}


async def test_pausing_and_resuming_twice_is_the_same_as_once(bench: Workbench) -> None:
    task = await bench.a_task(document_id="d")
    valves = bench.runtime.valves
    for _ in range(2):
        await valves.pause_type(LOCAL, "noop")
        await valves.pause_document(LOCAL, D)
    for _ in range(2):
        await valves.resume_type(LOCAL, "noop")
        await valves.resume_document(LOCAL, D)

    assert (await bench.claim_next(task)).id == task.id


async def test_a_type_that_nobody_knows_is_refused(bench: Workbench) -> None:
    for action in (bench.runtime.valves.pause_type, bench.runtime.valves.resume_type):
        with pytest.raises(UnknownTaskTypeError):
            await action(LOCAL, "nobody.knows")

    assert await bench.execute("SELECT FROM valves") == []


async def test_a_paused_document_is_left_alone_whatever_waits_in_its_lane(bench: Workbench) -> None:
    held, other = await bench.a_task(document_id="d", priority="CRITICAL"), await bench.a_task(document_id="other")
    await bench.runtime.valves.pause_document(LOCAL, D)

    assert [task.id for task in await bench.claim(held, other)] == [other.id]

    await bench.runtime.valves.resume_document(LOCAL, D)
    assert (await bench.claim_next(held)).id == held.id


async def test_only_what_is_there_can_be_paused(bench: Workbench) -> None:
    await bench.complete(await bench.a_running_task(document_id="over"))

    for name in ("over", "nobody.knows"):
        for action in (bench.runtime.valves.pause_document, bench.runtime.valves.resume_document):
            with pytest.raises(DocumentNotFoundError, match=name):
                await action(LOCAL, name)

    assert await bench.execute("SELECT FROM paused_documents") == []


async def test_a_document_can_be_paused_that_nobody_works_on(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "d", Format.DOCX, None, None)
    await bench.runtime.valves.pause_document(LOCAL, D)

    task = await bench.a_task(document_id="d")

    assert await bench.claim(task) == []


async def test_a_lane_can_be_resumed_when_what_was_in_it_has_ended(bench: Workbench) -> None:
    task = await bench.a_task(document_id="d")
    await bench.runtime.valves.pause_document(LOCAL, D)
    await bench.end(task, "CANCELLED")

    await bench.runtime.valves.pause_document(LOCAL, D)
    await bench.runtime.valves.resume_document(LOCAL, D)

    assert await bench.runtime.documents.paused(LOCAL, None, 10) == []


async def test_a_pause_says_since_when_however_often_it_is_asked_for(bench: Workbench) -> None:
    await bench.a_task(document_id="d")
    await bench.runtime.valves.pause_document(LOCAL, D)
    (first,) = await bench.runtime.documents.paused(LOCAL, None, 10)

    await bench.runtime.valves.pause_document(LOCAL, D)

    assert await bench.runtime.documents.paused(LOCAL, None, 10) == [first]


async def test_the_pause_of_a_document_ends_with_it(bench: Workbench) -> None:
    documents = bench.runtime.documents
    await documents.create(LOCAL, "d", Format.DOCX, None, None)
    await bench.runtime.valves.pause_document(LOCAL, D)

    await documents.delete(LOCAL, "d")

    assert await documents.paused(LOCAL, None, 10) == []
    await documents.create(LOCAL, "d", Format.DOCX, None, None)
    assert (await documents.show(LOCAL, "d")).paused_at is None


async def test_a_document_that_is_being_deleted_is_not_paused(bench: Workbench) -> None:
    await bench.runtime.documents.create(LOCAL, "d", Format.DOCX, None, None)
    async with asyncio.TaskGroup() as group, bench.runtime.ledger.transaction() as deleting:
        await documents.lock(deleting, ["d"])
        await documents.delete(deleting, "d")
        pausing = group.create_task(refused(bench, D))
        await bench.somebody_waits_for_a_lock()

    assert pausing.result()
    assert await bench.execute("SELECT FROM paused_documents") == []


async def refused(bench: Workbench, document_id: DocumentId) -> bool:
    """Try to pause a document; tell whether that was refused."""
    try:
        await bench.runtime.valves.pause_document(LOCAL, document_id)
    except DocumentNotFoundError:
        return True
    return False


async def test_what_runs_in_a_lane_that_is_paused_ends_and_nothing_follows(bench: Workbench) -> None:
    running = await bench.a_running_task(document_id="d")
    behind = await bench.a_task(document_id="d")
    await bench.runtime.valves.pause_document(LOCAL, D)

    await bench.complete(running)

    assert await bench.states(running, behind) == ["COMPLETED", "QUEUED"]
    assert await bench.worker.desk.continue_lanes([D]) == []
    assert await bench.claim(behind) == []


async def test_a_held_head_blocks_its_lane(bench: Workbench) -> None:
    await bench.a_task(document_id="d")
    behind = await bench.a_task("sleep", document_id="d", payload={"seconds": 0})
    await bench.runtime.valves.pause_type(LOCAL, "noop")

    assert await bench.claim(behind) == []


async def test_a_held_head_that_yields_lets_others_pass(bench: Workbench) -> None:
    head = await bench.a_task(document_id="d", on_retry="yield")
    behind = await bench.a_task("sleep", document_id="d", payload={"seconds": 0})
    await bench.runtime.valves.pause_type(LOCAL, "noop")

    assert (await bench.claim_next(head)).id == behind.id


async def test_more_urgent_work_overtakes_a_held_head(bench: Workbench) -> None:
    await bench.a_task(document_id="d")
    await bench.runtime.valves.pause_type(LOCAL, "noop")
    urgent = await bench.a_task("sleep", document_id="d", payload={"seconds": 0}, priority="CRITICAL")

    assert (await bench.claim_next(urgent)).id == urgent.id


async def test_a_paused_retry_that_is_due_waits_on(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.fail(await bench.claim_next(task))
    await bench.make_due()
    await bench.runtime.valves.pause_type(LOCAL, "noop")

    assert await bench.claim(task) == []


async def test_the_sweeper_does_not_ring_for_what_is_held(bench: Workbench) -> None:
    free, in_lane = await bench.a_task(), await bench.a_task(document_id="d")
    in_paused = await bench.a_task("sleep", document_id="e", payload={"seconds": 0})
    other = await bench.a_task("sleep", payload={"seconds": 0})
    await bench.runtime.valves.pause_type(LOCAL, "noop")
    await bench.runtime.valves.pause_document(LOCAL, DocumentId("e"))
    await bench.hush()
    await bench.let_rings_age()

    await bench.worker.redelivery.sweep()

    assert await bench.rung() == [other.id]
    await bench.runtime.valves.resume_type(LOCAL, "noop")
    await bench.runtime.valves.resume_document(LOCAL, DocumentId("e"))
    assert set(await bench.rung()) == {other.id, free.id, in_lane.id, in_paused.id}


async def test_what_is_resumed_is_rung_at_once_and_the_sweeper_finds_the_rest(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [await bench.a_task() for _ in range(5)]
    await bench.runtime.valves.pause_type(LOCAL, "noop")
    await bench.hush()
    await bench.let_rings_age()
    monkeypatch.setattr("officeplane.services.operate.valves.RINGS_AT_ONCE", 2)

    await bench.runtime.valves.resume_type(LOCAL, "noop")

    assert await bench.rung() == [task.id for task in tasks[:2]]
    await bench.hush()
    await bench.let_rings_age()
    await bench.worker.redelivery.sweep()
    assert set(await bench.rung()) == {task.id for task in tasks}


async def test_resuming_a_type_rings_for_heads_of_free_lanes_only(bench: Workbench) -> None:
    head = await bench.a_task(document_id="d")
    await bench.a_task(document_id="d")
    await bench.a_running_task("sleep", document_id="busy", payload={"seconds": 0})
    await bench.a_task(document_id="busy")
    paused = await bench.a_task(document_id="paused")
    await bench.runtime.valves.pause_type(LOCAL, "noop")
    await bench.runtime.valves.pause_document(LOCAL, DocumentId("paused"))
    await bench.hush()

    await bench.runtime.valves.resume_type(LOCAL, "noop")

    assert await bench.rung() == [head.id]
    assert await bench.claim(paused) == []


async def test_held_work_does_not_hide_other_work_from_a_worker_without_redis(polling: Workbench) -> None:
    held = [await polling.a_task(priority="CRITICAL") for _ in range(5)]
    held += [await polling.a_task(document_id=f"d{n}", priority="CRITICAL") for n in range(5)]
    in_paused = await polling.a_task("sleep", document_id="paused", payload={"seconds": 0}, priority="CRITICAL")
    other = await polling.a_task("sleep", payload={"seconds": 0}, priority="BACKGROUND")
    await polling.runtime.valves.pause_type(LOCAL, "noop")
    await polling.runtime.valves.pause_document(LOCAL, DocumentId("paused"))

    assert [task.id for task in await polling.worker.desk.claim_from_ledger(1)] == [other.id]

    await polling.runtime.valves.resume_type(LOCAL, "noop")
    await polling.runtime.valves.resume_document(LOCAL, DocumentId("paused"))
    claimed = await polling.worker.desk.claim_from_ledger(20)
    assert {task.id for task in claimed} == {in_paused.id, *(task.id for task in held)}


async def test_a_lane_is_not_continued_into_what_is_held(bench: Workbench) -> None:
    running = await bench.a_running_task("sleep", document_id="d", payload={"seconds": 0})
    behind = await bench.a_task(document_id="d")
    await bench.runtime.valves.pause_type(LOCAL, "noop")
    await bench.hush()

    await bench.complete(running)

    assert await bench.state(behind) == "QUEUED"
    assert await bench.rung() == [], "nobody is called for a held head"


async def test_a_task_says_that_its_type_or_its_document_is_paused(bench: Workbench) -> None:
    task = await bench.a_task(document_id="d")
    await bench.runtime.valves.pause_type(LOCAL, "noop")
    await bench.runtime.valves.pause_document(LOCAL, D)

    explained = await bench.runtime.explanations.explain(LOCAL, task.id)

    assert not explained.runnable
    assert [r.facts for r in explained.reasons if r.code == "paused"] == [{"documentId": "d"}, {"taskType": "noop"}]


async def test_the_position_in_a_lane_does_not_count_a_held_task_that_yields(bench: Workbench) -> None:
    await bench.a_task(document_id="d", on_retry="yield")
    behind = await bench.a_task("sleep", document_id="d", payload={"seconds": 0})
    assert "lane_position" in await codes(bench, behind)

    await bench.runtime.valves.pause_type(LOCAL, "noop")

    assert "lane_position" not in await codes(bench, behind)


async def test_a_paused_task_can_be_cancelled_and_retried(bench: Workbench) -> None:
    task = await bench.a_task()
    await bench.runtime.valves.pause_type(LOCAL, "noop")

    await bench.end(task, "CANCELLED")
    assert await bench.state(task) == "CANCELLED"
    await bench.runtime.reopening.retry(LOCAL, task.id)
    assert await bench.claim(task) == []


async def test_a_running_task_of_a_type_that_is_paused_is_retried_when_it_is_resumed(bench: Workbench) -> None:
    task = await bench.a_task()
    running = await bench.claim_next(task)
    await bench.runtime.valves.pause_type(LOCAL, "noop")

    await bench.fail(running, FailureKind.ERROR)
    await bench.make_due()

    assert await bench.claim(task) == []
    await bench.runtime.valves.resume_type(LOCAL, "noop")
    assert (await bench.claim_next(task)).attempt == 2
