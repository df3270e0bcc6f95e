"""Parameters of paths, queries and headers; what is not known is refused, never ignored."""

import re
from typing import Annotated, Final, Literal

from fastapi import Header, Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from officeplane.api.cursors import name_of, seq_of
from officeplane.domain.audit import Action, AuditFilter
from officeplane.domain.dag import DagStatus
from officeplane.domain.errors import (
    ApiKeyNotFoundError,
    DagNotFoundError,
    DeadLetterNotFoundError,
    InvalidCursorError,
    TaskNotFoundError,
)
from officeplane.domain.ids import AGENT_ID_PATTERN, DOCUMENT_ID_PATTERN, KeyId, TaskId, parse_task_id
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.priority import NAMED_RANGES
from officeplane.domain.request import PrintableKey, Tag, Text, Time
from officeplane.domain.space import SPACE_PATTERN
from officeplane.store.dead_letters import LetterFilter
from officeplane.store.tasks import TaskFilter

PAGE_MAX: Final = 500
WAIT_SECONDS_MAX: Final = 60
STATES_MAX: Final = 100
"""How many states a filter may name, over and over perhaps."""

_UUID: Final = WithJsonSchema({"type": "string", "format": "uuid"})


def _existing_form(text: str) -> TaskId:
    # A text that cannot be an id is the id of no task: the answer is the same as for one that is gone.
    task_id = parse_task_id(text)
    if task_id is None:
        raise TaskNotFoundError(text)
    return task_id


def _form_of_a_dags(text: str) -> TaskId:
    dag_id = parse_task_id(text)
    if dag_id is None:
        raise DagNotFoundError(text)
    return dag_id


def _form_of_a_letters(text: str) -> TaskId:
    task_id = parse_task_id(text)
    if task_id is None:
        raise DeadLetterNotFoundError(text)
    return task_id


def _form_of_a_keys(text: str) -> TaskId:
    key_id = parse_task_id(text)
    if key_id is None:
        raise ApiKeyNotFoundError(text)
    return key_id


def _well_formed(text: str) -> TaskId:
    task_id = parse_task_id(text)
    if task_id is None:
        message = "not the id of a task"
        raise ValueError(message)
    return task_id


def plain_number(text: object) -> object:
    """Return a text that may be a number; others are refused."""
    # Python also reads `1_000` and ` 1`; nobody means these.
    if isinstance(text, str) and not re.fullmatch(r"[-+0-9.eE]+", text):
        message = "not a number"
        raise ValueError(message)
    return text


TaskIdInPath = Annotated[
    str,
    AfterValidator(_existing_form),
    Path(description="The id of a task.", examples=["01890a5d-ac96-774b-bcce-b302099a8057"]),
]
TaskIdOfLetter = Annotated[
    str,
    AfterValidator(_form_of_a_letters),
    Path(description="The id of the task that gave up.", examples=["01890a5d-ac96-774b-bcce-b302099a8057"]),
]
DagIdInPath = Annotated[
    str,
    AfterValidator(_form_of_a_dags),
    Path(description="The id of a DAG.", examples=["01890a5d-ac96-774b-bcce-b302099a8057"]),
]
KeyIdInPath = Annotated[
    str,
    AfterValidator(_form_of_a_keys),
    Path(description="The id of a key.", examples=["01890a5d-ac96-774b-bcce-b302099a8057"]),
]
TaskIdInQuery = Annotated[str, AfterValidator(_well_formed), _UUID]
AgentIdInPath = Annotated[
    str, Path(pattern=AGENT_ID_PATTERN, description="The id of an agent, chosen by itself.", examples=["writer-1"])
]
DocumentIdInQuery = Annotated[str, Field(pattern=DOCUMENT_ID_PATTERN)]
WaitSeconds = Annotated[
    float,
    # What checks first is named last, or the schema would not know these as a minimum and a maximum.
    Field(ge=0, le=WAIT_SECONDS_MAX, allow_inf_nan=False),
    BeforeValidator(plain_number),
    Query(
        description="Answer as soon as the task is final, or after this many seconds.",
    ),
]
DocumentIdInPath = Annotated[
    str,
    Path(
        pattern=DOCUMENT_ID_PATTERN, description="The id of a document, chosen by whoever made it.", examples=["plan"]
    ),
]
TaskTypeInPath = Annotated[
    Text, Path(min_length=1, max_length=200, description="The name of a task type.", examples=["noop"])
]
RevisionNumber = Annotated[int, Field(ge=1, le=2**53), BeforeValidator(plain_number)]
Revision = Annotated[RevisionNumber | None, Query(description="A revision's number; the head if none is given.")]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern=r'^("[1-9][0-9]{0,15}"|\*)$',
        description='The revision that was read, such as `"3"`; `*` for whatever is there.',
    ),
]
OnConflict = Annotated[
    Literal["reject", "merge"],
    Query(
        alias="onConflict",
        description="What to do if the document is no longer at the revision that `If-Match` names: refuse the file, "
        "or `merge`: do what it has changed since to what others have made.",
    ),
]
IfNoneMatch = Annotated[
    str | None,
    Header(
        alias="If-None-Match", description="The `ETag` of what was read before; if it still holds, the answer is 304."
    ),
]
Author = Annotated[
    Text | None, Query(min_length=1, max_length=200, description="Who made what is sent, for the document's history.")
]
IdempotencyKey = Annotated[
    PrintableKey | None,
    Header(
        alias="Idempotency-Key",
        description="1 to 255 printable ASCII characters; the same as `idempotencyKey` in the body.",
    ),
]
LastEventId = Annotated[
    str | None, Header(alias="Last-Event-ID", description="The id of the last event seen; the stream goes on after it.")
]
PriorityName = Literal["CRITICAL", "HIGH", "NORMAL", "LOW", "BACKGROUND"]


class _Query(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True)


class TaskSelection(_Query):
    """Which tasks are meant: those that fit every filter given."""

    state: list[TaskState] | None = Field(None, max_length=STATES_MAX, description="In one of these states.")
    document_id: DocumentIdInQuery | None = Field(None, description="Of this document.")
    task_type: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(None, description="Of this type.")
    priority: PriorityName | None = Field(None, description="Of this tier.")
    parent_id: TaskIdInQuery | None = Field(None, description="Children of this batch.")
    tag: Tag | None = Field(None, description="With this tag.")
    created_by: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        None, description="Asked for by this caller, a key or the machine itself.", examples=["key:bot"]
    )
    on_behalf_of: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        None, description="Asked for in this name.", examples=["ann"]
    )
    since: Time | None = Field(
        None, description="Created at this time or later, with its offset from UTC.", examples=["2026-01-05T00:00:00Z"]
    )
    until: Time | None = Field(
        None, description="Created before this time, with its offset from UTC.", examples=["2026-01-06T00:00:00Z"]
    )
    cursor: str | None = None

    @property
    def filter(self) -> TaskFilter:
        """What the ledger is asked for."""
        return TaskFilter(
            states=None if self.state is None else tuple(self.state),
            document_id=self.document_id,
            task_type=self.task_type,
            priorities=None if self.priority is None else NAMED_RANGES[self.priority],
            parent_id=None if self.parent_id is None else TaskId(self.parent_id),
            tag=self.tag,
            created_by=self.created_by,
            on_behalf_of=self.on_behalf_of,
            since=self.since,
            until=self.until,
        )

    @property
    def place(self) -> int | None:
        """The sequence number at which it goes on."""
        return None if self.cursor is None else seq_of(self.cursor)


class ListQuery(TaskSelection):
    """Which tasks a list shows, and where it goes on."""

    state: list[TaskState] | None = Field(None, max_length=STATES_MAX, description="May be given more than once.")
    limit: Annotated[int, Field(ge=1, le=PAGE_MAX), BeforeValidator(plain_number)] = 50
    cursor: str | None = Field(None, description="From the `Link` header of the page before.")


class DagQuery(_Query):
    """Which DAGs a list shows, and where it goes on."""

    status: DagStatus | None = None
    limit: Annotated[int, Field(ge=1, le=PAGE_MAX), BeforeValidator(plain_number)] = 50
    cursor: str | None = Field(None, description="From the `Link` header of the page before.")

    @property
    def before(self) -> int | None:
        """The sequence number that the page lies below."""
        return None if self.cursor is None else seq_of(self.cursor)


class PageQuery(_Query):
    """Where a list goes on."""

    limit: Annotated[int, Field(ge=1, le=PAGE_MAX), BeforeValidator(plain_number)] = 50
    cursor: str | None = Field(None, description="From the `Link` header of the page before.")

    @property
    def before(self) -> int | None:
        """The number that the page lies below."""
        return None if self.cursor is None else seq_of(self.cursor)


class ContentQuery(_Query):
    """Which revision, and as what."""

    revision: RevisionNumber | None = Field(
        None, description="A revision's number; the head if none is given.", examples=[3]
    )
    as_: Annotated[Text, Field(max_length=20)] | None = Field(
        None,
        alias="as",
        description="What to show it as: `pdf`, `md`, `html` or `json`; a workbook also as `csv`. The file itself if "
        "not given.",
        examples=["md"],
    )
    sheet: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        None,
        description="The name of a sheet, or its node's id, for `csv` (the first one if none is given) and `json` (all "
        "of them).",
        examples=["Plan"],
    )


class DocumentsQuery(PageQuery):
    """Which documents a list shows, and where it goes on."""

    paused: Literal["true", "false"] | None = Field(
        None,
        description="`true`: only what is paused, the latest pause first, with lanes of names that no document has. "
        "`false`: only documents that are not.",
    )


class LetterQuery(PageQuery):
    """Which dead letters a list shows, and where it goes on."""

    resolved: Literal["true", "false"] | None = None
    task_type: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    document_id: DocumentIdInQuery | None = None
    fingerprint: Annotated[Text, Field(min_length=1, max_length=100)] | None = None

    @property
    def filter(self) -> LetterFilter:
        """What the ledger is asked for."""
        return LetterFilter(
            resolved=None if self.resolved is None else self.resolved == "true",
            task_type=self.task_type,
            document_id=self.document_id,
            fingerprint=self.fingerprint,
        )


class AgentsQuery(_Query):
    """Where a list of agents goes on."""

    limit: Annotated[int, Field(ge=1, le=PAGE_MAX), BeforeValidator(plain_number)] = 50
    cursor: str | None = Field(None, description="From the `Link` header of the page before.")

    @property
    def after(self) -> str:
        """The id of the agent that the page follows."""
        name = "" if self.cursor is None else name_of(self.cursor)
        if name and re.fullmatch(AGENT_ID_PATTERN, name) is None:
            raise InvalidCursorError
        return name


class KeysQuery(_Query):
    """Which keys a list shows, and where it goes on."""

    space: Annotated[str, Field(pattern=SPACE_PATTERN)] | None = Field(None, description="Only those of this space.")
    limit: Annotated[int, Field(ge=1, le=PAGE_MAX), BeforeValidator(plain_number)] = 50
    cursor: str | None = Field(None, description="From the `Link` header of the page before.")

    @property
    def after(self) -> KeyId | None:
        """The key that the page follows."""
        if self.cursor is None:
            return None
        if parse_task_id(self.cursor) != self.cursor:
            raise InvalidCursorError
        return KeyId(self.cursor)


class AuditQuery(PageQuery):
    """Which deeds a list shows; `by` and `target` are compared exactly."""

    by: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(None, description="Of this principal.")
    action: Annotated[Action, Field(strict=False)] | None = None
    target: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        None, description="Done to this task, document, DAG, type or key."
    )
    since: Time | None = Field(None, description="Not before this time.")
    until: Time | None = Field(None, description="Before this time.")
    space: Annotated[str, Field(pattern=SPACE_PATTERN)] | None = Field(
        None, description="In this space, for whoever belongs to the default one; left out, the caller's own."
    )

    @property
    def filter(self) -> AuditFilter:
        """What the ledger is asked for."""
        target = None if self.target is None else parse_task_id(self.target) or self.target
        return AuditFilter(self.by, self.action, target, self.since, self.until)


class EventsQuery(_Query):
    """Which events a stream shows."""

    task_id: TaskIdInQuery | None = None
    document_id: DocumentIdInQuery | None = None
