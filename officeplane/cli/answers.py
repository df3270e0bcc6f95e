"""What the API answers, as far as the command line shows it.

Read leniently on purpose: an older `officeplane` must be able to talk to a
newer installation, so unknown fields pass and most known ones may be missing.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter
from pydantic.alias_generators import to_camel

from officeplane.domain.lifecycle import FINAL, TaskState
from officeplane.domain.revision import MADE_EMPTY


class Reading(BaseModel):
    """A JSON object in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class Revision(Reading):
    """One state of a document."""

    revision: int
    task_id: str | None = None
    task_type: str | None = None
    author: str | None = None
    note: str | None = None
    size: int = 0
    created_at: datetime | None = None

    @property
    def what(self) -> str:
        """What made it: a type of task, or how a document began."""
        return self.task_type or ("new" if self.note == MADE_EMPTY else "upload")


class TaskError(Reading):
    """Why the last attempt of a task failed."""

    kind: str
    message: str = ""
    changed: tuple[str, ...] = ()
    """What an edit aims at, if somebody else was quicker."""
    revisions: tuple[Revision, ...] = ()
    """What was made of its document since the revision that an edit was based on."""


class Changed(Reading):
    """What a request for many tasks has changed, and where it goes on."""

    changed: int
    next: str | None = None


class Failure(Reading):
    """One failed attempt."""

    attempt: int
    kind: str
    message: str = ""
    worker_id: str | None = None
    started_at: datetime | None = None
    duration_seconds: float | None = None


class Child(Reading):
    """A task of a batch, as its parent lists it."""

    id: str
    task_type: str
    state: str
    key: str | None = None


class Task(Reading):
    """A task."""

    id: str
    task_type: str
    state: str
    title: str | None = None
    priority: str = ""
    priority_value: int | None = None
    effective_priority: float | None = None
    deadline: datetime | None = None
    document_id: str | None = None
    payload: JsonValue = None
    result: JsonValue = None
    error: TaskError | None = None
    progress: JsonValue = None
    attempt: int = 0
    attempts_charged: int | None = None
    max_retries: int | None = None
    timeout_seconds: float | None = None
    parent_id: str | None = None
    spawned_by: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    worker_id: str | None = None
    created_by: str | None = None
    on_behalf_of: str | None = None
    created_at: datetime | None = None
    run_at: datetime | None = None
    queued_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    cancel_requested_at: datetime | None = None
    cancel_reason: str | None = None
    failures: tuple[Failure, ...] = ()
    children: tuple[Child, ...] | None = None
    child_counts: dict[str, int] | None = None

    @property
    def is_final(self) -> bool:
        """Whether nothing but an explicit retry will change it."""
        return self.state in FINAL

    @property
    def is_completed(self) -> bool:
        """Whether it ended as it was meant to."""
        return self.state == TaskState.COMPLETED


class Reason(Reading):
    """One cause of a task's waiting."""

    code: str
    detail: str = ""
    silent_seconds: float | None = None


class Explanation(Reading):
    """Why a task waits, or that it does not."""

    runnable: bool
    reasons: tuple[Reason, ...] = ()


class Event(Reading):
    """Something that happened to a task or a document."""

    type: str
    task_id: str | None = None
    document_id: str | None = None
    state: str | None = None
    at: datetime | None = None


class Deed(Reading):
    """What somebody has changed."""

    id: int
    at: datetime | None = None
    by: str = ""
    on_behalf_of: str | None = None
    address: str | None = None
    action: str = ""
    target: str | None = None
    task_ids: tuple[str, ...] = ()
    tasks: int = 0
    before: dict[str, JsonValue] | None = None
    after: dict[str, JsonValue] | None = None


class DagTask(Reading):
    """A task of a DAG."""

    id: str
    key: str | None = None
    task_type: str = ""
    state: str
    depends_on: tuple[str, ...] = ()


class Dag(Reading):
    """A DAG; lists have it without its tasks."""

    id: str
    title: str | None = None
    status: str
    created_at: datetime | None = None
    finished_at: datetime | None = None
    task_counts: dict[str, int] = {}
    critical_path: tuple[str, ...] = ()
    tasks: tuple[DagTask, ...] = ()


class Readiness(Reading):
    """What the API says about its own servers."""

    status: str
    postgres: JsonValue = None
    redis: JsonValue = None
    dispatch: str | None = None
    workers: int | None = None


class MergedNodes(Reading):
    """The nodes that came into a document from an upload that followed an earlier revision."""

    base: int
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


class Warned(Reading):
    """What of an upload was not merged, or otherwise than one would think."""

    code: str
    detail: str = ""
    node_id: str | None = None


class Document(Reading):
    """A document."""

    id: str
    format: str = ""
    title: str | None = None
    revision: int
    sha256: str = ""
    size: int = 0
    updated_at: datetime | None = None
    queued: int = 0
    running: int = 0
    merged: MergedNodes | None = None
    warnings: tuple[Warned, ...] = ()


class Node(Reading):
    """A part of a document."""

    id: str
    kind: str = ""
    text: str = ""


class Difference(Reading):
    """What changed between two revisions."""

    text: tuple[str, ...] = ()
    nodes: dict[str, tuple[Node, ...]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed that can be read."""
        return not self.text and not any(self.nodes.values())


class Preview(Reading):
    """What an edit would do."""

    result: dict[str, JsonValue] = {}
    diff: Difference = Difference()


class TaskType(Reading):
    """A type of task, and what its payload looks like."""

    name: str
    title: str = ""
    formats: tuple[str, ...] = ()
    payload_schema: dict[str, Any] = {}


DAGS: TypeAdapter[list[Dag]] = TypeAdapter(list[Dag])
DEEDS: TypeAdapter[list[Deed]] = TypeAdapter(list[Deed])
DOCUMENTS: TypeAdapter[list[Document]] = TypeAdapter(list[Document])
REVISIONS: TypeAdapter[list[Revision]] = TypeAdapter(list[Revision])
TASKS: TypeAdapter[list[Task]] = TypeAdapter(list[Task])
TASK_TYPES: TypeAdapter[list[TaskType]] = TypeAdapter(list[TaskType])
ITEMS: TypeAdapter[list[JsonValue]] = TypeAdapter(list[JsonValue])
