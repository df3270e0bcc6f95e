"""Intake: what a request becomes, and every reason to refuse it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

import pytest

from officeplane.domain.batch import BATCH_TYPE
from officeplane.domain.errors import (
    InvalidPayloadError,
    InvalidReferenceError,
    InvalidRequestError,
    OutsideError,
    UnknownTaskTypeError,
)
from officeplane.domain.principal import LOCAL, Principal
from officeplane.domain.request import TaskRequest
from officeplane.domain.task import NewTask
from officeplane.handlers.catalogue import load_catalogue
from officeplane.services.submit.intake import take_in
from tests.callers import a_caller

CATALOGUE = load_catalogue(["tests.services.handlers"])
NOOP: Mapping[str, Any] = {"task_type": "noop"}


def rows_of(**options: Any) -> tuple[NewTask, ...]:
    return take_in(LOCAL, TaskRequest.from_python(options), CATALOGUE).rows


def refusal_of(**options: Any) -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as refused:
        rows_of(**options)
    return refused.value


def fields_of(error: InvalidRequestError) -> list[str]:
    return [wrong.field for wrong in error.errors]


def nested(depth: int, innermost: Mapping[str, Any] = NOOP) -> dict[str, Any]:
    """A task under that many batches."""
    return reduce(lambda inner, _: {"children": [inner]}, range(depth), dict(innermost))


def a_note(**more: object) -> dict[str, Any]:
    return {"task_type": "test.note", "payload": {"text": "hello", **more}}


def test_a_task_has_the_defaults_of_the_contract() -> None:
    (row,) = rows_of(task_type="noop")

    assert (row.priority, row.max_retries, row.timeout_seconds) == (50, 3, 600)
    assert (row.runnable, row.yields, row.blockers, row.run_at, row.retry_json) == (True, False, 0, None, None)


def test_a_task_type_may_have_defaults_of_its_own() -> None:
    (row,) = rows_of(task_type="test.patient")

    assert (row.max_retries, row.timeout_seconds) == (7, 12)
    assert '"initialSeconds":9' in str(row.retry_json)


def test_what_a_task_is_given_goes_before_what_its_type_says() -> None:
    (row,) = rows_of(task_type="test.patient", max_retries=0, timeout_seconds=1.5, retry={"strategy": "immediate"})

    assert (row.max_retries, row.timeout_seconds) == (0, 1.5)
    assert '"immediate"' in str(row.retry_json)


def test_children_inherit_what_they_are_not_given() -> None:
    parent, child, grandchild = rows_of(document_id="d", priority="HIGH", tags=["a"], on_behalf_of="ann", **nested(2))

    for row in (parent, child, grandchild):
        assert (row.document_id, row.priority, row.tags, row.on_behalf_of) == ("d", 20, ("a",), "ann")


def test_children_keep_what_they_are_given() -> None:
    own: Mapping[str, Any] = {**NOOP, "document_id": "e", "priority": 3, "tags": [], "on_behalf_of": "bob"}

    _, child = rows_of(document_id="d", priority="HIGH", tags=["a"], on_behalf_of="ann", children=[own])

    assert (child.document_id, child.priority, child.tags, child.on_behalf_of) == ("e", 3, (), "bob")


def test_only_the_first_leaf_is_free_to_run() -> None:
    rows = rows_of(children=[{"children": [NOOP, NOOP]}, {"children": [NOOP]}])

    assert [row.blockers for row in rows] == [0, 0, 0, 1, 1, 1]
    assert [row.runnable for row in rows] == [False, False, True, True, False, True]


def test_the_time_of_a_batch_is_that_of_its_first_leaf() -> None:
    later = datetime.now(UTC) + timedelta(hours=1)

    rows = rows_of(run_at=later, children=[{"children": [NOOP, NOOP]}, NOOP])

    assert [row.run_at for row in rows] == [later, later, later, None, None]


def test_of_the_batchs_time_and_the_leafs_own_the_later_counts() -> None:
    soon, later = datetime.now(UTC), datetime.now(UTC) + timedelta(hours=1)

    rows = rows_of(run_at=soon, children=[{**NOOP, "run_at": later}])
    reverse = rows_of(run_at=later, children=[{**NOOP, "run_at": soon}])

    assert [row.run_at for row in rows] == [soon, later]
    assert [row.run_at for row in reverse] == [later, later]


def test_a_tree_is_stored_parents_before_children_in_their_order() -> None:
    root, first, inner, leaf = rows_of(children=[{**NOOP, "key": "a"}, {"children": [NOOP], "key": "b"}])

    assert [row.parent_id for row in (root, first, inner, leaf)] == [None, root.id, root.id, inner.id]
    assert leaf.ancestors == (root.id, inner.id)
    assert [(row.position, row.key) for row in (first, inner, leaf)] == [(0, "a"), (1, "b"), (0, None)]


def test_a_body_with_children_is_a_batch() -> None:
    parent, _ = rows_of(children=[NOOP])

    assert (parent.task_type, parent.on_child_failure) == ("batch_edit", "abort")


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    refused = refusal_of(task_type="nope")

    assert isinstance(refused, UnknownTaskTypeError)
    for known in ("batch_edit", "noop", "sleep", "test.note"):
        assert known in refused.detail


def test_a_task_without_a_type_is_refused() -> None:
    assert fields_of(refusal_of()) == ["taskType"]


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"seconds": "1"}, "payload.seconds"),
        ({"seconds": -1}, "payload.seconds"),
        ({}, "payload.seconds"),
        ({"seconds": 1, "extra": 1}, "payload.extra"),
        ({"seconds": float("nan")}, "payload"),
        ({"seconds": object()}, "payload"),
    ],
)
def test_a_payload_that_does_not_fit_is_refused_by_field(payload: dict[str, object], field: str) -> None:
    refused = refusal_of(task_type="sleep", payload=payload)

    assert isinstance(refused, InvalidPayloadError)
    assert fields_of(refused) == [field]


def test_a_payload_nested_beyond_reason_is_refused_and_not_a_crash() -> None:
    deep: object = 0
    for _ in range(5_000):
        deep = [deep]

    refused = refusal_of(**a_note(more=deep))

    assert isinstance(refused, InvalidPayloadError)


def test_a_payload_that_contains_itself_is_refused_and_not_a_crash() -> None:
    endless: list[object] = []
    endless.append(endless)

    refused = refusal_of(**a_note(more=endless))

    assert isinstance(refused, InvalidPayloadError)


MISPLACED: list[tuple[dict[str, Any], str]] = [
    ({"task_type": "noop", "children": [NOOP]}, "children"),
    ({"task_type": "batch_edit"}, "children"),
    ({"task_type": "noop", "on_child_failure": "abort"}, "onChildFailure"),
    ({"task_type": "noop", "key": "a"}, "key"),
    ({"children": [NOOP], "max_retries": 1}, "maxRetries"),
    ({"children": [NOOP], "timeout_seconds": 1.0}, "timeoutSeconds"),
    ({"children": [NOOP], "retry": {}}, "retry"),
    ({"children": [{**NOOP, "idempotency_key": "k"}]}, "children.0.idempotencyKey"),
    ({"children": [NOOP, {**NOOP, "on_child_failure": "abort"}]}, "children.1.onChildFailure"),
    ({"children": [{**NOOP, "key": "a"}, {**NOOP, "key": "a"}]}, "children.1.key"),
    ({"children": [NOOP, {"children": [{"task_type": "nope"}]}]}, "children.1.children.0.taskType"),
    ({"children": [{"task_type": "sleep", "payload": {}}]}, "children.0.payload.seconds"),
]


@pytest.mark.parametrize(("misplaced", "field"), MISPLACED)
def test_a_field_in_the_wrong_place_is_refused_where_it_stands(misplaced: dict[str, Any], field: str) -> None:
    assert fields_of(refusal_of(**misplaced)) == [field]


EDIT = {"task_type": "add_chapter", "payload": {"title": "One"}}


@pytest.mark.parametrize(
    ("children", "field"),
    [
        ([NOOP], "children.0.taskType"),
        ([EDIT, {"children": [EDIT]}], "children.1.children"),
        ([{**EDIT, "priority": 3}], "children.0.priority"),
        ([{**EDIT, "max_retries": 0}], "children.0.maxRetries"),
        ([{**EDIT, "run_at": datetime(2030, 1, 1, tzinfo=UTC)}], "children.0.runAt"),
        ([{**EDIT, "on_retry": "yield"}], "children.0.onRetry"),
        ([{**EDIT, "document_id": "other"}], "children.0.documentId"),
    ],
)
def test_an_atomic_batch_takes_edits_and_nothing_of_their_own(children: list[dict[str, Any]], field: str) -> None:
    assert fields_of(refusal_of(atomic=True, document_id="plan", children=children)) == [field]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"task_type": "noop", "atomic": True}, "atomic"),
        ({"children": [EDIT], "atomic": True, "document_id": "plan", "on_child_failure": "continue"}, "onChildFailure"),
        ({"children": [EDIT], "atomic": True}, "children.0.documentId"),
    ],
)
def test_only_a_batch_of_one_document_is_atomic_and_knows_no_half(options: dict[str, Any], field: str) -> None:
    assert fields_of(refusal_of(**options)) == [field]


def test_batches_nest_five_deep_and_no_deeper() -> None:
    assert len(rows_of(**nested(5))) == 6

    assert fields_of(refusal_of(**nested(6))) == [".".join(["children.0"] * 5) + ".children"]


def test_a_batch_holds_five_hundred_children_in_all_and_no_more() -> None:
    assert len(rows_of(children=[NOOP] * 500)) == 501

    assert fields_of(refusal_of(children=[NOOP] * 300 + [{"children": [NOOP] * 200}])) == ["children"]


def test_a_reference_to_an_earlier_sibling_is_taken_as_it_is() -> None:
    reference = {"$ref": "first.text"}
    later = {"task_type": "test.note", "payload": {"text": reference, "more": [reference, "$5 million"]}}

    rows = rows_of(children=[{**a_note(), "key": "first"}, later])

    assert '{"text":{"$ref":"first.text"}' in rows[2].payload_json


def test_what_merely_looks_like_a_reference_is_what_it_is() -> None:
    (row,) = rows_of(**a_note(more={"$ref": "a.b", "and": "more"}))

    assert '"and":"more"' in row.payload_json


@pytest.mark.parametrize(
    ("children", "field"),
    [
        ([a_note(more={"$ref": "first.text"})], "children.0.payload.more"),
        ([{**a_note(more={"$ref": "self.text"}), "key": "self"}], "children.0.payload.more"),
        ([a_note(more={"$ref": "next.text"}), {**a_note(), "key": "next"}], "children.0.payload.more"),
        ([{**a_note(), "key": "a"}, a_note(more=[1, {"$ref": "a"}])], "children.1.payload.more.1"),
        (
            [{**a_note(), "key": "a"}, {"children": [a_note(more={"$ref": "a.text"})]}],
            "children.1.children.0.payload.more",
        ),
    ],
    ids=["nobody", "itself", "a later sibling", "no field", "an aunt"],
)
def test_a_reference_that_leads_to_no_earlier_sibling_is_refused(children: list[dict[str, Any]], field: str) -> None:
    refused = refusal_of(children=children)

    assert isinstance(refused, InvalidReferenceError)
    assert fields_of(refused) == [field]


def test_a_payload_holds_a_thousand_references_and_no_more() -> None:
    def of(count: int) -> list[dict[str, Any]]:
        return [{**a_note(), "key": "a"}, a_note(more=[{"$ref": "a.text"}] * count)]

    assert len(rows_of(children=of(1_000))) == 3
    refused = refusal_of(children=of(1_001))
    assert isinstance(refused, InvalidReferenceError)
    assert fields_of(refused) == ["children.1.payload"]


def test_what_is_wrong_beside_many_references_is_told_and_the_references_are_not() -> None:
    rows = [[{"$ref": "a.text"}, None, "x"]] * 120
    table = {"task_type": "insert_table", "document_id": "d", "payload": {"rows": rows}}

    refused = refusal_of(children=[{**a_note(), "key": "a"}, table])

    assert fields_of(refused) == [f"children.1.payload.rows.{row}.1" for row in range(100)]


def test_a_payload_has_a_mebibyte_as_whoever_sends_it_writes_it() -> None:
    most = 1024 * 1024 - len('{"text":"hello","more":""}')

    assert rows_of(**a_note(more="ä" * (most // 2)))
    refused = refusal_of(**a_note(more="a" * (most + 1)))
    assert isinstance(refused, InvalidPayloadError)
    assert fields_of(refused) == ["payload"]


def test_a_reference_outside_a_batch_is_refused() -> None:
    assert isinstance(refusal_of(**a_note(more={"$ref": "a.b"})), InvalidReferenceError)


def test_beside_a_reference_the_payload_is_still_checked() -> None:
    wrong = {"task_type": "test.note", "payload": {"text": {"$ref": "a.text"}, "wrong": 1}}

    refused = refusal_of(children=[{**a_note(), "key": "a"}, wrong])

    assert fields_of(refused) == ["children.1.payload.wrong"]


def test_the_same_body_has_the_same_hash_and_another_body_another() -> None:
    def hash_of(**options: Any) -> bytes:
        request = TaskRequest.from_python({"idempotency_key": "k", **options})
        return take_in(LOCAL, request, CATALOGUE).request_hash

    assert hash_of(**a_note(more={"b": 1, "a": 2})) == hash_of(**a_note(more={"a": 2, "b": 1}))
    assert hash_of(**a_note()) != hash_of(**a_note(more=1))
    assert hash_of(task_type="noop") != hash_of(task_type="noop", priority="HIGH")


NARROWED = a_caller(space="legal", documents=("plan*",), task_types=("noop", BATCH_TYPE), most_urgent=60)


def outside_of(caller: Principal, **options: Any) -> object:
    with pytest.raises(OutsideError) as refused:
        take_in(caller, TaskRequest.from_python(options), CATALOGUE)
    return refused.value.facts["outside"]


@pytest.mark.parametrize(
    ("options", "outside"),
    [
        ({"task_type": "sleep", "document_id": "plan"}, "task type"),
        ({"task_type": "no.such", "document_id": "plan"}, "task type"),
        ({"task_type": "noop", "document_id": "report"}, "document"),
        ({"task_type": "noop"}, "document"),
        ({"task_type": "noop", "document_id": "plan", "priority": 59}, "priority"),
        ({"task_type": "noop", "document_id": "plan", "boost_per_minute": 1.0}, "priority"),
        ({"task_type": "noop", "document_id": "plan", "deadline": datetime(2040, 1, 1, tzinfo=UTC)}, "priority"),
        ({"children": [{"task_type": "noop", "document_id": "plan"}]}, "document"),
        ({"document_id": "plan", "children": [{"task_type": "sleep"}]}, "task type"),
        ({"document_id": "plan", "children": [{"task_type": "noop", "document_id": "report"}]}, "document"),
    ],
)
def test_what_a_caller_is_narrowed_from_is_refused_whatever_else_is_wrong_with_it(
    options: Mapping[str, Any], outside: str
) -> None:
    assert outside_of(NARROWED, **options) == outside


def test_what_a_caller_does_not_ask_for_is_no_more_urgent_than_what_it_may_ask_for() -> None:
    options = {"document_id": "plan-1", "children": [{"task_type": "noop"}, {"task_type": "noop", "priority": 70}]}

    intake = take_in(NARROWED, TaskRequest.from_python(options), CATALOGUE)

    assert [row.priority for row in intake.rows] == [60, 60, 70]
    assert {(row.space, row.document_id) for row in intake.rows} == {("legal", "legal/plan-1")}


@pytest.mark.parametrize("type_name", [BATCH_TYPE, None])
def test_a_batch_is_a_type_too(type_name: str | None) -> None:
    assert outside_of(a_caller(task_types=("noop",)), children=[NOOP], task_type=type_name) == "task type"
