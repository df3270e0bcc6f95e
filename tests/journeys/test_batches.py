"""Batches: children in order, their parent's end in theirs."""

from typing import Any

from tests.journeys.conftest import Working
from tests.workers.marks import Marks


def a_child(marks: Marks, name: str, **fields: Any) -> dict[str, Any]:
    """Return a child that leaves marks under its name."""
    return {"taskType": "test.mark", "payload": {"folder": str(marks.folder), "name": name}, **fields}


async def test_children_run_one_after_the_other_and_then_the_parent_is_complete(plane: Working, marks: Marks) -> None:
    batch = await plane.api.submit_batch(*(a_child(marks, name) for name in "abc"), documentId="batch")

    ended = await plane.api.final(batch)

    assert ended["state"] == "COMPLETED"
    assert ended["childCounts"] == {"COMPLETED": 3}
    assert [(mark.what, mark.name) for mark in marks.all()] == [
        (what, name) for name in "abc" for what in ("begin", "end")
    ]


async def test_a_batch_within_a_batch_takes_its_turn(plane: Working, marks: Marks) -> None:
    inner = {"children": [a_child(marks, "b"), a_child(marks, "c")]}
    batch = await plane.api.submit_batch(a_child(marks, "a"), inner, a_child(marks, "d"), documentId="nested")

    ended = await plane.api.final(batch)

    assert ended["state"] == "COMPLETED"
    assert [mark.name for mark in marks.all() if mark.what == "begin"] == ["a", "b", "c", "d"]
    assert [child["state"] for child in ended["children"]] == ["COMPLETED"] * 3


async def test_a_child_that_gives_up_fails_its_parent_and_ends_those_after_it(plane: Working, marks: Marks) -> None:
    fails = {"taskType": "test.fail", "payload": {"times": 99}, "maxRetries": 0}
    batch = await plane.api.submit_batch(a_child(marks, "a"), fails, a_child(marks, "c"))

    ended = await plane.api.final(batch)

    assert ended["state"] == "FAILED"
    assert [child["state"] for child in ended["children"]] == ["COMPLETED", "FAILED", "CANCELLED"]
    assert marks.of("c") == []


async def test_a_batch_that_failed_goes_on_where_it_stopped_when_it_is_retried(plane: Working, marks: Marks) -> None:
    fails = {"taskType": "test.fail", "payload": {"times": 1}, "maxRetries": 0}
    batch = await plane.api.submit_batch(a_child(marks, "a"), fails, a_child(marks, "c"))
    await plane.api.final(batch)

    answer = await plane.api.retry(batch)

    assert answer.status_code == 200
    assert (await plane.api.final(batch))["state"] == "COMPLETED"
    assert marks.of("a") == marks.of("c") == ["begin", "end"]


async def test_a_child_can_use_what_an_earlier_one_returned(plane: Working) -> None:
    first = {"taskType": "test.say", "key": "chapter", "payload": {"said": {"id": "c7"}}}
    second = {"taskType": "test.say", "payload": {"said": {"$ref": "chapter.said.id"}}}
    batch = await plane.api.submit_batch(first, second)

    children = (await plane.api.final(batch))["children"]

    assert (await plane.api.task(children[1]))["result"] == {"said": "c7"}
