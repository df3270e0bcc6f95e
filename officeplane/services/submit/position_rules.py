"""Position rules: whether a request may be what it asks to be where it stands: alone, in a batch or in a DAG."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple

from officeplane.domain.batch import BATCH_TYPE, DEPTH_MAX
from officeplane.domain.demand import AgentOptions
from officeplane.domain.encoding import json_of, size_of
from officeplane.domain.errors import (
    ERRORS_SHOWN,
    FieldError,
    InvalidPayloadError,
    InvalidReferenceError,
    InvalidRequestError,
)
from officeplane.domain.ids import DagId, TaskId
from officeplane.domain.priority import DEFAULT_PRIORITY
from officeplane.domain.reference import (
    REF_TEXT,
    REFERENCES_MAX,
    Path,
    Reference,
    find_references,
    lies_within,
)
from officeplane.domain.request import TaskRequest
from officeplane.domain.spelling import with_suggestions
from officeplane.domain.validation import TooMuchIsWrongError
from officeplane.domain.validation_errors import Found, dotted, field_errors, message_of, relevant
from officeplane.handlers.catalogue import Catalogue
from officeplane.handlers.contract import TaskType


class DagPlace(NamedTuple):
    """The DAG that a request belongs to; `before` tells which of its tasks come before some of them, or are these."""

    dag_id: DagId
    path_boost: float
    before: Callable[[Collection[str]], Callable[[str], bool]]


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
    on_behalf_of: str | None = None
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
    if task_type.asks is None and not request.model_fields_set.isdisjoint(_OF_AGENTS):
        _refuse_agent_options(request, task_type)
    if request.base_revision is not None and not task_type.edits_document and not request.atomic:
        message = "Only an edit of a document is based on a revision."
        raise InvalidRequestError(message, [FieldError("baseRevision", message)])
    if request.on_conflict is not None and request.base_revision is None:
        message = "It says what to do when the document is not at baseRevision: give that too."
        raise InvalidRequestError(message, [FieldError("onConflict", message)])
    return task_type


_OF_AGENTS: Final = AgentOptions.model_fields


def _refuse_agent_options(request: TaskRequest, task_type: TaskType) -> None:
    who = f"Only a task that an agent does may have it; {task_type.name!r} is done by workers."
    if task_type.name == BATCH_TYPE:
        who = "A batch has none of its own: give it to the children that agents do."
    wrong = [
        FieldError(field.alias or name, who) for name, field in _OF_AGENTS.items() if getattr(request, name) is not None
    ]
    if wrong:
        raise InvalidRequestError(f"{wrong[0].field}: {who}", wrong)


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
    try:
        payload_json = json_of(request.payload)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"The payload is not JSON: {error}."
        raise InvalidPayloadError(message, [FieldError("payload", message)]) from None
    # The text is seldom so long, and may be so only because of how it is escaped here: then it is measured.
    bytes_max = task_type.payload_bytes_max
    if len(payload_json) > bytes_max and size_of(request.payload) > bytes_max:
        message = f"The payload is larger than {bytes_max} bytes."
        raise InvalidPayloadError(message, [FieldError("payload", message)])
    # Few payloads hold a reference, and the text tells.
    places = _checked_references(request, place) if REF_TEXT in payload_json else frozenset[Path]()
    try:
        found = task_type.errors_in(payload_json)
    except TooMuchIsWrongError as error:
        wrong = [FieldError("payload", f"{str(error).capitalize()}.")]
    else:
        wrong = _told(found, request.payload, task_type, places) if found else []
    if wrong:
        first = f"{wrong[0].field}: {wrong[0].message.removesuffix('.')}."
        message = f"The payload does not fit task type {task_type.name!r}: {first}"
        raise InvalidPayloadError(message, wrong[:ERRORS_SHOWN])
    return payload_json


def _told(
    found: Sequence[Found], payload: Mapping[str, Any], task_type: TaskType, references: Collection[Path]
) -> list[FieldError]:
    wrong = field_errors(
        (dotted(("payload", *path)), message_of(one))
        for path, one in relevant(dict(payload), found)
        # What a reference stands for is not known yet; it is checked when the task runs, as is
        # what follows it in a payload of which each collection is looked at up to its first error.
        if not lies_within(path, references)
    )
    return with_suggestions(wrong, task_type.payload)


def _checked_references(request: TaskRequest, place: Place) -> frozenset[Path]:
    """Return where a payload holds references; raise when one of them may not be there."""
    references = list(islice(find_references(request.payload), REFERENCES_MAX + 1))
    if len(references) > REFERENCES_MAX:
        message = f"A payload holds at most {REFERENCES_MAX:,} references."
        raise InvalidReferenceError(message, [FieldError("payload", message)])
    known = _known(request, place)
    for reference in references:
        wrong = _misplaced_reference(reference, place, known, waits=bool(place.waits_for or request.depends_on))
        if wrong is not None:
            raise InvalidReferenceError(wrong, [FieldError(dotted(("payload", *reference.path)), wrong)])
    return frozenset(reference.path for reference in references)


def _known(request: TaskRequest, place: Place) -> Callable[[str], bool]:
    """Return what tells whether a reference may name a task: an earlier sibling, or one that is waited for."""
    waits_for = frozenset((*place.waits_for, *(request.depends_on or ())))
    named = waits_for | (place.earlier_keys or frozenset())
    if place.dag is None or not waits_for:
        return named.__contains__
    is_before = place.dag.before(waits_for)
    return lambda key: key in named or is_before(key)


def _misplaced_reference(
    reference: Reference, place: Place, known: Callable[[str], bool], *, waits: bool
) -> str | None:
    earlier = place.earlier_keys
    if place.replaces and reference.fields and reference.key not in (earlier or ()):
        if not earlier:
            return "The payload refers to nothing, and so may no other."
        others = ", ".join(map(repr, sorted(earlier)))
        return f"The payload refers to {others}, and so another may refer to that and nothing else."
    if earlier is None and not waits:
        return "Only a child of a batch, or a task that depends on others, may refer to a result."
    if not reference.fields:
        return "A reference is written key.field."
    if known(reference.key):
        return None
    if waits:
        return f"It does not wait for anything that is called {reference.key!r}."
    return f"No earlier child of this batch has the key {reference.key!r}."
