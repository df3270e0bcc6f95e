import json
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from officeplane.domain.request import NOT_SUPPORTED_YET, TaskRequest

Read = Callable[[dict[str, Any]], TaskRequest]


def from_text(body: dict[str, Any]) -> TaskRequest:
    return TaskRequest.model_validate_json(json.dumps(body))


def from_values(body: dict[str, Any]) -> TaskRequest:
    return TaskRequest.model_validate(body)


WAYS: list[Read] = [from_text, from_values]

NOON = "2030-01-31T12:00:00Z"
ACCEPTED: dict[str, list[Any]] = {
    "taskType": ["noop", "x" * 200, None],
    "documentId": ["a", "Report-2030_v1.2:final", "x" * 128, None],
    "title": ["", "Änderung 変更", "x" * 200, None],
    "payload": [{}, {"deep": [{"er": None}]}],
    "priority": ["CRITICAL", "HIGH", "NORMAL", "LOW", "BACKGROUND", 0, 100, {"scale": 10, "value": 1}, None],
    "maxRetries": [0, 20, None],
    "timeoutSeconds": [0.1, 1, 86_400, None],
    "runAt": [NOON, "2030-01-31T12:00:00.123456+05:45", "1970-01-01T00:00:00Z", None],
    "deadline": [NOON, "1970-01-01T00:00:00Z", None],
    "boostPerMinute": [0, 0.5, 100, None],
    "retry": [{}, {"strategy": "fixed", "initialSeconds": 1, "retryOn": ["timeout"]}, {"jitter": 0.5}, None],
    "onRetry": ["block", "yield"],
    "idempotencyKey": ["k", "with space", "x" * 255, None],
    "dedupe": ["content", None],
    "children": [[{}], [{"taskType": "noop"}, {"children": [{"taskType": "noop"}]}], None],
    "key": ["k", "x" * 200, None],
    "onChildFailure": ["abort", "continue", None],
    "atomic": [True, False],
    "tags": [[], ["a", "b"], ["x" * 100] * 50, None],
    "onBehalfOf": ["", "agent:7", "x" * 200, None],
    "createdBy": ["", "agent:7", "x" * 200, None],
    "baseRevision": [1, 2**53, None],
    "onConflict": ["reject", "rebase", "force", None],
    "dependsOn": [[], ["research"], ["x" * 200] * 1_000, None],
    "requiredCapabilities": [[], ["git", "c++", "lang:python-3.11", "x" * 64], ["a"] * 32, None],
    "models": [[], ["gpt-4o", "vendor/Model_3.5:beta@2030-01-31", "x" * 100], ["a"] * 16, None],
    "fallbackModels": [[], ["small"], ["a"] * 16, None],
    "requireDecisionReport": [True, False, None],
    "output": [{"type": "code"}, {"type": "markdown"}, {"type": "json"}, {"type": "artifact"}, None],
}
REFUSED: dict[str, list[Any]] = {
    "taskType": ["", "x" * 201, 1, ["noop"]],
    "documentId": ["", "-a", "a/b", "a b", "ä", "a\n", "x" * 129, 1],
    "title": ["x" * 201, "a\x00b", 1],
    "payload": [None, [], "{}", 1],
    "priority": ["normal", "URGENT", "5", -1, 101, 50.0, True, {"scale": 5, "value": 1}, {"scale": 10, "value": 0},
                 {"scale": 10, "value": 11}, {"scale": 10, "value": "5"}, {"scale": 10},
                 {"scale": 10, "value": 1, "x": 1}],
    "maxRetries": [-1, 21, 1.5, 3.0, "3", True],
    "timeoutSeconds": [0, 0.09, -1, 86_401, "600", True, float("nan"), float("inf")],
    "runAt": [0, 1_900_000_000, "tomorrow", "2030-01-31", "2030-01-31T12:00:00", "", True, {}],
    "deadline": [0, 1_900_000_000, "soon", "2030-01-31", "", True, {}],
    "boostPerMinute": [-0.1, 100.1, "1", True, float("nan"), float("inf")],
    "retry": ["fixed", {"strategy": "linear"}, {"unheardOf": 1}, {"initialSeconds": -1}, []],
    "onRetry": ["BLOCK", "", None, True],
    "idempotencyKey": ["", " leading", "x" * 256, "täg", "tab\there", "line\n", 1],
    "dedupe": ["key", "", True],
    "children": [[], {}, "x", [1], [None], [{"unheardOf": 1}], [{"maxRetries": -1}]],
    "key": ["", "x" * 201, "a\x00b", 1],
    "onChildFailure": ["ABORT", "", True],
    "atomic": ["true", 1, None],
    "tags": ["a", [""], ["x" * 101], ["a"] * 51, [1], [None], ["a\x00b"], {"a": 1}],
    "onBehalfOf": ["x" * 201, "a\x00b", 1],
    "createdBy": ["x" * 201, "a\x00b", 1],
    "baseRevision": [0, -1, 2**53 + 1, 1.5, "1", True],
    "onConflict": ["ignore", "", 1, True],
    "dependsOn": ["research", [""], ["x" * 201], ["a"] * 1_001, [1], [None], {}],
    "requiredCapabilities": ["git", [""], ["Git"], ["-git"], ["a b"], ["git\n"], ["ä"], ["x" * 65], ["a"] * 33, [1]],
    "models": ["gpt-4o", [""], ["-a"], ["a b"], ["a\n"], ["x" * 101], ["a"] * 17, [1], {}],
    "fallbackModels": ["small", [""], ["a b"], ["a"] * 17, [None], {}],
    "requireDecisionReport": ["true", 1, "yes"],
    "output": ["code", {}, {"type": "text"}, {"type": "code", "x": 1}, {"type": ["code"]}, []],
}  # fmt: skip


def test_every_field_has_values_that_are_taken_and_values_that_are_refused() -> None:
    fields = {field.alias for field in TaskRequest.model_fields.values()}

    assert fields == ACCEPTED.keys() == REFUSED.keys()


@pytest.mark.parametrize("field", ACCEPTED)
def test_a_field_takes(field: str) -> None:
    for value, read in product(ACCEPTED[field], WAYS):
        read({field: value})


@pytest.mark.parametrize("field", REFUSED)
def test_a_field_refuses(field: str) -> None:
    for value, read in product(REFUSED[field], WAYS):
        refused = _refused(read, {field: value})

        assert refused, f"{value!r} is taken"
        assert all(error["loc"][0] == field for error in refused), value


def _refused(read: Read, given: dict[str, Any]) -> list[ErrorDetails]:
    """Return what is wrong with a request, nothing if it is taken."""
    try:
        read(given)
    except ValidationError as refusal:
        return refusal.errors()
    return []


@pytest.mark.parametrize("field", ["unheardOf", "task_type", "TaskType", "id", "state", ""])
def test_a_field_that_is_not_known_is_refused(field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        from_text({"taskType": "noop", field: "x"})

    assert [(error["type"], error["loc"]) for error in refused.value.errors()] == [("extra_forbidden", (field,))]


def test_a_field_within_the_retry_policy_has_one_name_in_a_body() -> None:
    with pytest.raises(ValidationError):
        from_text({"taskType": "noop", "retry": {"retry_on": ["timeout"]}})


def test_fields_that_are_not_built_yet_are_no_fields() -> None:
    assert not {field.alias for field in TaskRequest.model_fields.values()} & NOT_SUPPORTED_YET


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
@pytest.mark.parametrize("field", ["title", "key", "createdBy"])
def test_text_that_utf_8_cannot_spell_is_refused(field: str, text: str) -> None:
    with pytest.raises(ValidationError):
        from_values({field: text})


def test_what_is_not_given_has_the_documented_value() -> None:
    request = from_text({})

    assert (request.payload, request.on_retry, request.atomic) == ({}, "block", False)
    others = set(TaskRequest.model_fields) - {"payload", "on_retry", "atomic"}
    assert all(getattr(request, field) is None for field in others)


@pytest.mark.parametrize(("given", "value"), [(None, None), ("HIGH", 20), (7, 7), ({"scale": 10, "value": 8}, 20)])
def test_a_priority_is_one_number_in_all_three_notations(given: object, value: int | None) -> None:
    assert from_text({"priority": given}).priority_value == value


@given(st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1), timezones=st.timezones()))  # noqa: DTZ001 - they get one
def test_a_time_is_the_same_moment_in_any_time_zone(moment: datetime) -> None:
    request = from_text({"runAt": moment.isoformat()})

    assert request.run_at is not None
    assert request.run_at.astimezone(UTC) == moment.astimezone(UTC)


def test_python_names_are_taken_where_they_are_asked_for() -> None:
    request = TaskRequest.from_python(
        {"task_type": "noop", "run_at": datetime(2030, 1, 31, tzinfo=UTC), "retry": {"initial_seconds": 1}}
    )

    assert request.task_type == "noop"
    assert request.retry is not None
    assert request.retry.initial_seconds == 1


def test_a_request_cannot_be_changed() -> None:
    request = from_text({"taskType": "noop"})

    with pytest.raises(ValidationError):
        request.task_type = "other"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]  # that is the point
