"""Intake: from a request to the rows it becomes, or to the reason why it is refused."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar, cast

from pydantic import JsonValue
from uuid_utils import uuid7

from officeplane.domain.audit import Action, Deed
from officeplane.domain.batch import ALL_OR_NOTHING, BATCH_TYPE, CHILDREN_MAX
from officeplane.domain.demand import Demand, demand_of, terms_of
from officeplane.domain.document import Format
from officeplane.domain.errors import (
    FieldError,
    InvalidReferenceError,
    InvalidRequestError,
    OutsideError,
)
from officeplane.domain.ids import TaskId, parse_task_id
from officeplane.domain.narrowing import WITHOUT_DOCUMENT
from officeplane.domain.principal import Principal
from officeplane.domain.priority import Urgency
from officeplane.domain.reference import find_references
from officeplane.domain.request import DEFAULT_MAX_RETRIES, TaskRequest
from officeplane.domain.revision import EditCondition
from officeplane.domain.space import DEFAULT, bare, qualified_key
from officeplane.domain.task import NewTask, Task
from officeplane.handlers.catalogue import Catalogue
from officeplane.handlers.contract import TaskType
from officeplane.services.submit.position_rules import ROOT, DagPlace, Place, checked, checked_payload

Value = TypeVar("Value")


class EditedDocument(NamedTuple):
    """A document that an edit needs, the formats that the edit knows, and where the edit stands in the request."""

    document_id: str
    task_type: str
    formats: tuple[Format, ...]
    field: str
    takes_from: str | None = None
    """The field of its payload that names another document, of which it takes something."""
    row: int = 0
    """Which of the request's rows it is."""


class Dependency(NamedTuple):
    """What a task of a request waits for, and where the request says so."""

    task_id: TaskId
    depends_on: TaskId
    field: str


class Intake(NamedTuple):
    """The rows of one request, its root first, and the key it may be repeated under."""

    caller: Principal
    rows: tuple[NewTask, ...]
    payloads: tuple[Mapping[str, object], ...]
    key: str | None
    request_hash: bytes
    edited: tuple["EditedDocument", ...] = ()
    conditions: tuple[EditCondition, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    deed: Deed | None = None
    """What the caller does with it, if that is more than to submit tasks."""
    demands: tuple[Demand, ...] = ()
    """What its tasks ask of agents."""

    @property
    def root_id(self) -> TaskId:
        """The id of the task that was asked for."""
        return self.rows[0].id

    @property
    def content_hash(self) -> bytes | None:
        """What stands for all that it does, if it must not wait twice."""
        return self.rows[0].content_hash

    @property
    def depends_on(self) -> Mapping[TaskId, tuple[TaskId, ...]]:
        """What those of its tasks depend on that depend on anything."""
        found: dict[TaskId, list[TaskId]] = {}
        for task_id, depends_on, _ in self.dependencies:
            found.setdefault(task_id, []).append(depends_on)
        return {task_id: tuple(needed) for task_id, needed in found.items()}


def deeds_of(intakes: Iterable[Intake]) -> list[Deed]:
    """Return what callers do who have these stored: submissions of one caller are one deed."""
    deeds: list[Deed] = []
    together: dict[tuple[object, ...], list[TaskId]] = {}
    caller, on_behalf_of, task_ids = None, None, list[TaskId]()
    for intake in intakes:
        if intake.deed is not None:
            deeds.append(intake.deed._replace(task_ids=[row.id for row in intake.rows]))
            continue
        root = intake.rows[0]
        # Nearly always it is the caller of the one before.
        if caller is not intake.caller or on_behalf_of != root.on_behalf_of:
            caller, on_behalf_of = intake.caller, root.on_behalf_of
            who = (caller.id, caller.kind, caller.key_id, caller.address, caller.space, on_behalf_of)
            if who not in together:
                together[who] = []
                deed = Deed(caller, Action.SUBMIT_TASK, task_ids=together[who], on_behalf_of=on_behalf_of)
                deeds.append(deed)
            task_ids = together[who]
        task_ids += [row.id for row in intake.rows]
    return deeds


def take_in(caller: Principal, request: TaskRequest, catalogue: Catalogue, dag: DagPlace | None = None) -> Intake:
    """Return the rows of a request; raise the refusal that fits when it breaks a rule.

    In a DAG dependencies are names, which only all requests together explain: they are left out.
    """
    key = None if request.idempotency_key is None else qualified_key(caller.space, request.idempotency_key)
    place = ROOT if dag is None else Place(dag=dag)
    if request.children is None:
        # Nearly every request: no tree has to be walked for it.
        document_id = _document_of(caller, request, place)
        task_type, payload_json = checked(request, place, catalogue)
        row = _row(caller, request, place, document_id, task_type, payload_json)
        edits = _edits(request, (row,), catalogue) if task_type.edits_document else ((), ())
        if request.dedupe is not None:
            row = row._replace(content_hash=_content_hash(request, (row,), edits[1]))
        dependencies = () if request.depends_on is None or dag is not None else tuple(_dependencies(request, (row,)))
        request_hash = b"" if key is None else _hash(request)
        demands = () if row.demand is None else (row.demand,)
        return Intake(caller, (row,), (request.payload,), key, request_hash, *edits, dependencies, None, demands)
    found = list(_rows(caller, request, place, catalogue))
    if len(found) > CHILDREN_MAX + 1:
        message = f"A batch holds at most {CHILDREN_MAX} children in all; this one has {len(found) - 1}."
        raise InvalidRequestError(message, [FieldError("children", message)])
    rows, payloads = zip(*found, strict=True)
    rows = tuple(_lifting(rows))
    request_hash = b"" if key is None else _hash(request)
    edits = ((), ())
    if any(catalogue.find(row.task_type).edits_document for row in rows):
        edits = _edits(request, rows, catalogue)
    if request.dedupe is not None:
        rows = (rows[0]._replace(content_hash=_content_hash(request, rows, edits[1])), *rows[1:])
    dependencies = () if dag is not None else tuple(_dependencies(request, rows))
    demands = tuple({row.demand for row in rows if row.demand is not None})
    return Intake(caller, rows, payloads, key, request_hash, *edits, dependencies, None, demands)


def other_payload(task: Task, payload: Mapping[str, object], catalogue: Catalogue) -> str:
    """Return another payload for a task as JSON; it may refer to what the task's own does."""
    # A stored payload was read from JSON.
    replaced = cast("JsonValue", task.payload)
    known = frozenset(found.key for found in find_references(replaced))
    task_type = catalogue.find(task.task_type)
    place = Place(earlier_keys=known, replaces=True)
    source = task_type.takes_from
    before = replaced.get(source or "") if isinstance(replaced, dict) else None
    if source is not None and payload.get(source) != before:
        # Who asked for the task was let see that document; nobody was asked about another.
        message = f"{source!r} says what the task takes from where, and stays: submit another task for other sources."
        raise InvalidRequestError(message, [FieldError(f"payload.{source}", message)])
    return checked_payload(TaskRequest(payload=dict(payload)), place, task_type)


def _edits(
    request: TaskRequest, rows: Sequence[NewTask], catalogue: Catalogue
) -> tuple[tuple[EditedDocument, ...], tuple[EditCondition, ...]]:
    """Return which documents a request edits, and on which revisions it is based."""
    edited: list[EditedDocument] = []
    conditions: list[EditCondition] = []
    for index, (row, (asked, field)) in enumerate(zip(rows, _walk(request, ""), strict=True)):
        task_type = catalogue.find(row.task_type)
        if asked.base_revision is not None:
            conditions.append(EditCondition(row.id, asked.base_revision, asked.on_conflict or "reject"))
        if not task_type.edits_document:
            continue
        if row.document_id is None:
            message = f"{row.task_type} edits a document: say which in documentId."
            raise InvalidRequestError(message, [FieldError(f"{field}documentId", message)])
        edited.append(
            EditedDocument(
                row.document_id, row.task_type, task_type.formats, f"{field}taskType", task_type.takes_from, index
            )
        )
    return tuple(edited), tuple(conditions)


def named_dependencies(request: TaskRequest, rows: Sequence[NewTask]) -> Iterator[tuple[NewTask, str, str]]:
    """Yield what the tasks of a request wait for, by name, and where the request says so."""
    for row, (asked, field) in zip(rows, _walk(request, ""), strict=True):
        for index, name in enumerate(asked.depends_on or ()):
            yield row, name, f"{field}dependsOn.{index}"


def _dependencies(request: TaskRequest, rows: Sequence[NewTask]) -> Iterator[Dependency]:
    seen: set[tuple[TaskId, TaskId]] = set()
    for row, name, field in named_dependencies(request, rows):
        depends_on = parse_task_id(name)
        if depends_on is None:
            message = f"{name!r} is no id of a task."
            raise InvalidReferenceError(message, [FieldError(field, message)])
        if (row.id, depends_on) not in seen:
            seen.add((row.id, depends_on))
            yield Dependency(row.id, depends_on, field)


def _walk(request: TaskRequest, field: str) -> Iterator[tuple[TaskRequest, str]]:
    yield request, field
    for index, child in enumerate(request.children or ()):
        yield from _walk(child, f"{field}children.{index}.")


def _hash(request: TaskRequest) -> bytes:
    body = request.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"idempotency_key"})
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("utf-8", "surrogatepass")).digest()


def _lifting(rows: Sequence[NewTask]) -> Iterator[NewTask]:
    """Yield the rows of a batch; what is more urgent than something that runs before it lifts that."""
    before: Urgency | None = None
    for row in rows:
        if not row.runnable:
            yield row
            continue
        yield row._replace(lifts=True) if before is not None and row.urgency.may_exceed(before) else row
        before = row.urgency if before is None else before.at_least(row.urgency)


def _content_hash(request: TaskRequest, rows: Sequence[NewTask], conditions: Sequence[EditCondition]) -> bytes:
    """Return what stands for all that tasks do: two requests that have it in common do the same."""
    bases = {condition.task_id: (condition.base_revision, condition.on_conflict) for condition in conditions}
    content: list[object] = [
        (
            len(row.ancestors), row.task_type, row.document_id, json.loads(row.payload_json), row.key,
            row.on_child_failure, bases.get(row.id), sorted({name.lower() for name in asked.depends_on or ()}),
            # Only what agents do has something here: what stands for all others is what it always was.
            *(() if row.demand is None else (row.demand, row.agent_terms)),
        )
        for row, (asked, _) in zip(rows, _walk(request, ""), strict=True)
    ]  # fmt: skip
    if rows[0].space != DEFAULT:
        content = [rows[0].space, content]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()


def _rows(
    caller: Principal, request: TaskRequest, place: Place, catalogue: Catalogue
) -> Iterator[tuple[NewTask, Mapping[str, object]]]:
    document_id = _document_of(caller, request, place)
    try:
        task_type, payload_json = checked(request, place, catalogue)
    except InvalidRequestError as error:
        raise error.within(place.field) from None
    row = _row(caller, request, place, document_id, task_type, payload_json)
    yield row, request.payload
    if request.children is None:
        return
    keys: set[str] = set()
    for index, child in enumerate(request.children):
        field = f"{place.field}.children.{index}" if place.field else f"children.{index}"
        if child.key is not None and child.key in keys:
            message = f"The key {child.key!r} is used twice in this batch."
            raise InvalidRequestError(message, [FieldError(f"{field}.key", message)])
        yield from _rows(
            caller,
            child,
            Place(
                field=field,
                parent_id=row.id,
                ancestors=(*place.ancestors, row.id),
                position=index,
                is_first=place.is_first and index == 0,
                run_at=row.run_at if index == 0 else None,
                document_id=row.document_id,
                priority=row.priority,
                tags=place.tags if request.tags is None else tuple(request.tags),
                on_behalf_of=row.on_behalf_of,
                deadline=row.deadline,
                boost_per_minute=row.boost_per_minute,
                earlier_keys=frozenset(keys),
                # The edits of an atomic batch are put together without a look at other tasks.
                waits_for=() if request.atomic else (*place.waits_for, *(request.depends_on or ())),
                is_atomic=request.atomic,
                dag=place.dag,
            ),
            catalogue,
        )
        if child.key is not None:
            keys.add(child.key)


def _document_of(caller: Principal, request: TaskRequest, place: Place) -> str | None:
    """Return what the document of a task is called inside; raise when the task is none for the caller.

    That comes before all else, so that nobody learns what there is besides.
    """
    # What is inherited is qualified already.
    document_id = place.document_id if request.document_id is None else caller.new_document(request.document_id)
    if caller.is_narrowed:
        _check_narrowed(caller, request, document_id)
    return document_id


def _row(
    caller: Principal,
    request: TaskRequest,
    place: Place,
    document_id: str | None,
    task_type: TaskType,
    payload_json: str,
) -> NewTask:
    is_batch = request.children is not None
    retry = request.retry or task_type.retry
    tags = place.tags if request.tags is None else tuple(request.tags)
    given = request.priority_value
    # In the order of its fields: by name it takes twice as long.
    row = NewTask(
        TaskId(str(uuid7())),
        task_type.name,
        document_id,
        payload_json,
        # What it gets without asking for it is no more urgent than it may ask for.
        max(place.priority, caller.most_urgent) if given is None else given,
        request.atomic or not (is_batch or place.is_atomic),  # runnable
        request.on_retry == "yield",
        0 if place.is_first and not place.is_atomic else 1,  # blockers
        _later(request.run_at, place.run_at),
        _given(request.max_retries, task_type.max_retries, DEFAULT_MAX_RETRIES),
        task_type.own_seconds if request.timeout_seconds is None else request.timeout_seconds,
        None if retry is None else retry.model_dump_json(by_alias=True),
        place.parent_id,
        place.ancestors,
        place.position,
        (ALL_OR_NOTHING if request.atomic else request.on_child_failure or "abort") if is_batch else None,
        tags,
        caller.id,
        request.asked_for or place.on_behalf_of,
        caller.space,
        *request.as_asked(),
        None if place.dag is None else place.dag.dag_id,
        None,  # spawned_by
        None,  # spawn_key
        request.deadline or place.deadline,
        place.boost_per_minute if request.boost_per_minute is None else request.boost_per_minute,
        0.0 if place.dag is None else place.dag.path_boost,
    )
    if task_type.asks is None:
        return row
    demand = demand_of(caller.space, task_type.name, request, task_type.asks)
    return row._replace(demand=demand, agent_terms=terms_of(request, task_type.asks))


def _check_narrowed(caller: Principal, request: TaskRequest, document_id: str | None) -> None:
    """Raise when a caller may not submit a task of this type and document, or one as urgent."""
    caller.check_type(request.task_type or BATCH_TYPE)
    if not caller.sees(document_id):
        raise OutsideError(caller.id, "document", WITHOUT_DOCUMENT if document_id is None else bare(document_id))
    caller.check_urgency(request.priority_value, rises=bool(request.deadline or request.boost_per_minute))


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one is not None and other is not None else one or other


def _given(asked: Value | None, of_type: Value | None, default: Value) -> Value:
    if asked is not None:
        return asked
    return default if of_type is None else of_type
