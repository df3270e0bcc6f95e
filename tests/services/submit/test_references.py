"""References: a child's payload may hold what an earlier sibling gave."""

import json
import tracemalloc
from collections.abc import Mapping
from typing import Any, Final

import pytest

from officeplane.domain.reference import MissingResultError, PayloadTooLargeError
from officeplane.domain.task import ClaimedTask
from tests.workbench import Workbench

FIRST: Final[Mapping[str, Any]] = {"task_type": "noop", "key": "first", "max_retries": 0}


def a_note(more: object) -> dict[str, Any]:
    return {"task_type": "test.note", "payload": {"text": "hello", "more": more}}


async def second_of(bench: Workbench, first_result: str | None, more: object) -> ClaimedTask:
    """Run a first child that gives this result, and claim the second, which refers to it."""
    _, first, second = await bench.a_batch(FIRST, a_note(more))
    await bench.complete(await bench.claim_next(first), first_result)
    return await bench.claim_next(second)


async def resolved(bench: Workbench, task: ClaimedTask) -> object:
    return json.loads(await bench.worker.leases.resolve_payload(task))["more"]


@pytest.mark.parametrize(
    ("path", "value"),
    [("first.id", "n1"), ("first.list.1", 20), ("first.deep.er", {"x": None}), ("first.null", None)],
)
async def test_a_reference_is_replaced_by_what_it_names(bench: Workbench, path: str, value: object) -> None:
    result = '{"id": "n1", "list": [10, 20], "deep": {"er": {"x": null}}, "null": null}'

    task = await second_of(bench, result, {"$ref": path})

    assert await resolved(bench, task) == value


async def test_references_anywhere_in_a_payload_are_replaced_and_text_is_not(bench: Workbench) -> None:
    more = ["$5 million", {"$ref": "first.id"}, {"a": [{"$ref": "first.id"}], "$ref": "first.id"}]

    task = await second_of(bench, '{"id": 7}', more)

    assert await resolved(bench, task) == ["$5 million", 7, {"a": [7], "$ref": "first.id"}]


@pytest.mark.parametrize("result", [None, "null", "[]", '"text"', '{"other": 1}', '{"id": [1]}'])
async def test_a_reference_that_leads_nowhere_is_missing(bench: Workbench, result: str | None) -> None:
    task = await second_of(bench, result, {"$ref": "first.id.5"})

    with pytest.raises(MissingResultError, match=r"the result of 'first' has no 'id\.5'"):
        await bench.worker.leases.resolve_payload(task)


async def test_a_sibling_that_gave_up_has_no_result(bench: Workbench) -> None:
    _, first, second = await bench.a_batch(FIRST, a_note({"$ref": "first.id"}), on_child_failure="continue")
    await bench.exhaust(first)
    task = await bench.claim_next(second)

    with pytest.raises(MissingResultError):
        await bench.worker.leases.resolve_payload(task)


async def test_results_are_put_in_as_long_as_the_payload_is_no_larger_than_any_may_be(bench: Workbench) -> None:
    result = json.dumps({"text": "a" * 10_000})

    task = await second_of(bench, result, [{"$ref": "first.text"}] * 100)

    assert await resolved(bench, task) == ["a" * 10_000] * 100


async def test_results_that_would_make_a_payload_too_large_are_counted_and_not_put_in(bench: Workbench) -> None:
    result = json.dumps({"text": "a" * 1_000_000})
    task = await second_of(bench, result, [{"$ref": "first.text"}] * 1_000)

    tracemalloc.start()
    try:
        with pytest.raises(PayloadTooLargeError, match="has more than 1048576 bytes"):
            await bench.worker.leases.resolve_payload(task)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


async def test_results_of_many_are_looked_up_a_few_at_a_time(bench: Workbench) -> None:
    keys = [f"k{number}" for number in range(40)]
    _, *first, last = await bench.a_batch(
        *({"task_type": "noop", "key": key} for key in keys), a_note([{"$ref": f"{key}.number"} for key in keys])
    )
    for number, task in enumerate(first):
        await bench.complete(await bench.claim_next(task), f'{{"number": {number}}}')

    assert await resolved(bench, await bench.claim_next(last)) == list(range(40))


async def test_a_payload_without_references_costs_no_look(bench: Workbench) -> None:
    task = await second_of(bench, None, "first.id")

    assert await bench.worker.leases.resolve_payload(task) == task.payload_json


async def test_a_lone_task_has_nothing_to_refer_to(bench: Workbench) -> None:
    looks_like_one = {"text": "hello", "more": {"$ref": "first.id", "and": 1}}

    task = await bench.a_running_task("test.note", payload=looks_like_one)

    assert json.loads(await bench.worker.leases.resolve_payload(task)) == looks_like_one
