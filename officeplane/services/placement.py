"""Placement: whether a request may be what it asks to be where it stands: alone, in a batch or in a DAG."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from pydantic import ValidationError

from officeplane.domain.batch import BATCH_TYPE, DEPTH_MAX
from officeplane.domain.encoding import json_of
from officeplane.domain.errors import FieldError, InvalidPayloadError, InvalidReferenceError, InvalidRequestError
from officeplane.domain.ids import DagId, TaskId
from officeplane.domain.misfit import dotted, field_errors, meant, message_of
from officeplane.domain.priority import DEFAULT_PRIORITY
from officeplane.domain.reference import REF_TEXT, Reference, find_references, lies_within
from officeplane.domain.request import TaskRequest
from officeplane.handlers.catalogue import Catalogue
from officeplane.handlers.contract import TaskType


class DagPlace(NamedTuple):
    """The DAG that a request belongs to; `knows` tells whether one of its tasks comes before any of some others."""

    dag_id: DagId
    path_boost: float
    knows: Callable[[str, Collection[str]], bool]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a batch a request stands, and what it inherits."""

    field: str = ""
    parent_id: TaskId | None = None
    ancestors: tuple[TaskId, ...] = ()
    position: int | None = None
    is_first: bool = True
    run_at: datetime | None = None
    document_id: str | None = None
    priority: int = DEFAULT_PRIORITY
    tags: tuple[str, ...] = ()
    created_by: str | None = None
    deadline: datetime | None = None
    boost_per_minute: float | None = None
    earlier_keys: frozenset[str] | None = None
    waits_for: tuple[str, ...] = ()
    is_atomic: bool = False
    dag: DagPlace | None = None
    replaces: bool = False
    """Whether its payload is put in place of another, whose references are the `earlier_keys`."""


ROOT: Final = Place()


def checked(request: TaskRequest, place: Place, catalogue: Catalogue) -> tuple[TaskType, str]:
    """Return the type of a request and its payload as JSON; raise the refusal that fits when it breaks a rule."""
    task_type = _type_of(request, place, catalogue)
    return task_type, checked_payload(request, place, task_type)


def _type_of(request: TaskRequest, place: Place, catalogue: Catalogue) -> TaskType:
    misplaced = _misplaced(request, place)
    if misplaced is not None:
        field, message = misplaced
        raise InvalidRequestError(message, [FieldError(field, message)])
    task_type = catalogue.find(request.task_type or BATCH_TYPE)
    if place.is_atomic and not task_type.edits_document:
        message = f"The children of an atomic batch are edits; {task_type.name!r} is none."
        raise InvalidRequestError(message, [FieldError("taskType", message)])
    if request.base_revision is not None and not task_type.edits_document and not request.atomic:
        message = "Only an edit of a document is based on a revision."
        raise InvalidRequestError(message, [FieldError("baseRevision", message)])
    if request.on_conflict is not None and request.base_revision is None:
        message = "It says what to do when the document is not at baseRevision: give that too."
        raise InvalidRequestError(message, [FieldError("onConflict", message)])
    return task_type


def _misplaced(request: TaskRequest, place: Place) -> tuple[str, str] | None:
    """Return a field that is missing or belongs to another kind of task, and what to say of it."""
    if place.parent_id is None:
        if place.dag is not None:
            if request.key is None:
                return "key", "A task of a DAG needs one."
            if request.idempotency_key is not None or request.dedupe is not None:
                return "idempotencyKey" if request.dedupe is None else "dedupe", "A task of a DAG comes with the DAG."
        elif request.key is not None:
            return "key", "Only a child of a batch or a task of a DAG may have it."
    elif request.idempotency_key is not None:
        return "idempotencyKey", "A child shares the key of its batch."
    elif request.dedupe is not None:
        return "dedupe", "Only a batch as a whole may have it."
    if place.is_atomic:
        for field, name in _OF_THE_WHOLE.items():
            if getattr(request, field) not in (None, "block"):
                return name, "The children of an atomic batch have none of their own: give it to the batch."
    if request.children is not None:
        return _misplaced_in_batch(request, place)
    if request.atomic:
        return "atomic", f"Only a {BATCH_TYPE} may be atomic."
    if request.task_type is None:
        return "taskType", "A task needs a taskType."
    if request.task_type == BATCH_TYPE:
        return "children", f"A {BATCH_TYPE} needs at least one child."
    if request.on_child_failure is not None:
        return "onChildFailure", f"Only a {BATCH_TYPE} may have it."
    return None


def _misplaced_in_batch(request: TaskRequest, place: Place) -> tuple[str, str] | None:
    if request.task_type not in (None, BATCH_TYPE):
        return "children", f"Only a {BATCH_TYPE} may have it."
    if len(place.ancestors) == DEPTH_MAX:
        return "children", f"Batches nest at most {DEPTH_MAX} deep."
    if request.atomic:
        if request.on_child_failure is not None:
            return "onChildFailure", "An atomic batch is all or nothing."
        return None
    for field, value in (
        ("maxRetries", request.max_retries),
        ("timeoutSeconds", request.timeout_seconds),
        ("retry", request.retry),
    ):
        if value is not None:
            return field, "A batch has none of its own: give it to the children."
    return None


_OF_THE_WHOLE: Final = {
    "children": "children",
    "document_id": "documentId",
    "priority": "priority",
    "deadline": "deadline",
    "boost_per_minute": "boostPerMinute",
    "max_retries": "maxRetries",
    "timeout_seconds": "timeoutSeconds",
    "run_at": "runAt",
    "retry": "retry",
    "on_retry": "onRetry",
    "base_revision": "baseRevision",
    "on_conflict": "onConflict",
    "depends_on": "dependsOn",
}


def checked_payload(request: TaskRequest, place: Place, task_type: TaskType) -> str:
    """Return the payload as JSON, checked as far as it can be before what it refers to is known."""
    references: tuple[Reference, ...] = ()
    try:
        payload_json = json_of(request.payload)
        # Few payloads hold a reference, and the text tells.
        if REF_TEXT in payload_json:
            references = tuple(find_references(request.payload))
            for reference in references:
                _check_reference(reference, place, request.depends_on or ())
        # In Python an edit's fields have Python's names; in a payload they have the API's.
        by_name = False if task_type.edits_document else None
        # What `model_validate_json` does, without its own questions first.
        validator = task_type.payload.__pydantic_validator__
        validator.validate_json(payload_json, strict=True, extra="forbid", by_name=by_name)
    except ValidationError as error:
        found = error.errors(include_url=False)
        wrong = field_errors(
            (dotted(("payload", *path)), message_of(one))
            for path, one in meant(request.payload, found)
            # What a reference stands for is not known yet; it is checked when the task runs.
            if not lies_within(path, references)
        )
        if wrong:
            first = f"{wrong[0].field}: {wrong[0].message.removesuffix('.')}."
            message = f"The payload does not fit task type {task_type.name!r}: {first}"
            raise InvalidPayloadError(message, wrong) from None
        return json_of(request.payload)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"The payload is not JSON: {error}."
        raise InvalidPayloadError(message, [FieldError("payload", message)]) from None
    return payload_json


def _check_reference(reference: Reference, place: Place, depends_on: Sequence[str]) -> None:
    field = ".".join(("payload", *map(str, reference.path)))
    waits_for = (*place.waits_for, *depends_on)
    if place.replaces and reference.fields and reference.key not in (known := place.earlier_keys or frozenset()):
        others = ", ".join(map(repr, sorted(known)))
        message = "The payload refers to nothing, and so may no other."
        if known:
            message = f"The payload refers to {others}, and so another may refer to that and nothing else."
    elif place.earlier_keys is None and not waits_for:
        message = "Only a child of a batch, or a task that depends on others, may refer to a result."
    elif not reference.fields:
        message = "A reference is written key.field."
    elif (
        (place.earlier_keys is not None and reference.key in place.earlier_keys)
        or reference.key in waits_for
        or (place.dag is not None and place.dag.knows(reference.key, waits_for))
    ):
        return
    elif waits_for:
        message = f"It does not wait for anything that is called {reference.key!r}."
    else:
        message = f"No earlier child of this batch has the key {reference.key!r}."
    raise InvalidReferenceError(message, [FieldError(field, message)])
