"""Lanes: tasks of one document one at a time and in order, those of different documents side by side."""

from tests.journeys.conftest import Installation
from tests.journeys.lanes import (
    assert_in_order,
    assert_one_at_a_time,
    of_documents,
    open_gates_of,
    tasks_on_documents,
)
from tests.workers.marks import Marks


async def test_three_workers_do_300_tasks_of_20_documents_in_order_and_none_at_once(
    deserted: Installation, marks: Marks
) -> None:
    await deserted.processes.workers(3, concurrency=4)
    bodies = tasks_on_documents(marks, 300, 20, seconds=0.002, gated=9)
    tasks = await deserted.api.submit_many(bodies)
    await open_gates_of(marks, bodies)
    ended = await deserted.api.all_final(tasks)

    assert {task["state"] for task in ended} == {"COMPLETED"}
    assert {task["attempt"] for task in ended} == {1}
    assert_one_at_a_time(marks)
    assert_in_order(marks)
    assert len(marks.all()) == 600
    assert len({mark.pid for mark in marks.all()}) == 3, "all three took part"
    assert len(of_documents(marks)) == 20


async def test_documents_do_not_wait_for_one_another(deserted: Installation, marks: Marks) -> None:
    await deserted.processes.worker(concurrency=2)
    held = await deserted.api.submit(
        "test.mark", documentId="held", payload={"folder": str(marks.folder), "name": "held", "gated": True}
    )
    await marks.seen("begin", "held")

    behind = await deserted.api.submit("noop", documentId="held")
    beside = await deserted.api.submit("noop", documentId="free")

    assert (await deserted.api.final(beside))["state"] == "COMPLETED"
    explained = await deserted.api.explain(behind)
    assert [reason["code"] for reason in explained["reasons"]] == ["lane_occupied"]
    assert explained["reasons"][0]["taskId"] == held["id"]
    marks.open_gate("held")
    assert (await deserted.api.final(behind))["state"] == "COMPLETED"


async def test_a_task_between_two_attempts_holds_its_document_unless_it_yields(
    deserted: Installation, marks: Marks
) -> None:
    await deserted.processes.worker()
    soon, later = [
        {"payload": {"times": 1}, "retry": {"initialSeconds": seconds, "jitter": False}} for seconds in (1.5, 5)
    ]
    blocking = await deserted.api.submit("test.fail", documentId="blocked", **soon)
    yielding = await deserted.api.submit("test.fail", documentId="yielded", onRetry="yield", **later)
    behind_blocking = await deserted.api.submit("noop", documentId="blocked")
    behind_yielding = await deserted.api.submit("noop", documentId="yielded")

    ended = await deserted.api.all_final([blocking, yielding, behind_blocking, behind_yielding])

    first, second, third, fourth = (task["finishedAt"] for task in ended)
    assert first < third
    assert fourth < second
