"""Task requests: what a caller may ask for, checked field by field.

The same model serves HTTP bodies (camelCase names) and the Python API
(snake_case names); whoever validates says which of the two it accepts.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Self, TypedDict, cast

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)
from pydantic.alias_generators import to_camel

from officeplane.domain.batch import CHILDREN_MAX, OnChildFailure
from officeplane.domain.dag import TASKS_MAX as DAG_TASKS_MAX
from officeplane.domain.demand import AgentOptions
from officeplane.domain.errors import InvalidRequestError
from officeplane.domain.ids import DOCUMENT_ID_PATTERN
from officeplane.domain.priority import PRIORITY_NAMES, SCALE_OF_TEN
from officeplane.domain.retry import RetryPolicy
from officeplane.domain.validation_errors import dotted, field_errors, message_of, relevant

_IN_PYTHON: Final = "python"
DEFAULT_MAX_RETRIES: Final = 3
DEFAULT_TIMEOUT_SECONDS: Final = 600.0
DEPENDENCIES_MAX: Final = 1_000


class ScaledPriority(BaseModel):
    """A priority on the scale where 10 is most urgent."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    scale: Literal[10] = Field(description="Which scale is meant.")
    value: Annotated[int, Field(ge=1, le=10)] = Field(description="From 1, least urgent, to 10, most urgent.")


PriorityField = (
    Literal["CRITICAL", "HIGH", "NORMAL", "LOW", "BACKGROUND"] | Annotated[int, Field(ge=0, le=100)] | ScaledPriority
)


def priority_value(given: PriorityField) -> int:
    """Return the 0-100 value of a priority in any of its three notations."""
    if isinstance(given, ScaledPriority):
        return SCALE_OF_TEN[given.value]
    return PRIORITY_NAMES[given] if isinstance(given, str) else given


_RFC_3339: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
_EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(9998, 12, 31, tzinfo=UTC)


def _time_text(value: object) -> object:
    if not isinstance(value, str):
        return value
    message = "not an RFC 3339 time, such as 2030-01-31T12:00:00Z"
    if _RFC_3339.fullmatch(value) is None:
        raise ValueError(message)
    try:
        return datetime.fromisoformat(value.upper())
    except ValueError:
        raise ValueError(message) from None


def _within_reach(value: datetime) -> datetime:
    if not _EARLIEST <= value <= _LATEST:
        message = "not between 1970 and 9998"
        raise ValueError(message)
    return value


Time = Annotated[AwareDatetime, BeforeValidator(_time_text), AfterValidator(_within_reach)]


def _one_name_each(value: object, info: ValidationInfo) -> object:
    # A policy can be built by its Python names, so in a body these have to be refused by hand.
    for name in _names(value):
        if "_" in name and info.context is not _IN_PYTHON:
            message = f"{name!r} is not a field of a retry policy"
            raise ValueError(message)
    return value


def _names(value: object) -> list[str]:
    return list(cast("dict[str, object]", value)) if isinstance(value, dict) else []


OwnRetryPolicy = Annotated[RetryPolicy | None, BeforeValidator(_one_name_each)]
"""A policy in a body."""


_KEPT_NOWHERE: Final = re.compile("[\x00\ud800-\udfff]")


def _storable(value: str) -> str:
    # JSON may spell both; Postgres and UTF-8 can keep neither.
    if _KEPT_NOWHERE.search(value):
        message = "NUL characters and lone surrogates cannot be stored"
        raise ValueError(message)
    return value


Text = Annotated[str, AfterValidator(_storable)]
Tag = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_storable)]
DependencyName = Annotated[Text, Field(min_length=1, max_length=200)]
PrintableKey = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[\x21-\x7e][\x20-\x7e]*$")]


OnConflict = Literal["reject", "rebase", "force"]
"""What becomes of an edit when its document is no longer at the revision it was based on."""


class OnBehalf(BaseModel):
    """What a caller may say of whom it asks for; who calls is known anyway."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    on_behalf_of: Annotated[Text, Field(max_length=200)] | None = Field(
        default=None,
        description="For whom the caller asks for it, in the caller's own words; the author of the revision it makes.",
    )
    created_by: Annotated[Text, Field(max_length=200)] | None = Field(
        default=None, description="An older name of `onBehalfOf`, which goes before it."
    )

    @property
    def asked_for(self) -> str | None:
        """For whom the caller says that it asks."""
        return self.on_behalf_of or self.created_by


class TaskRequest(AgentOptions, OnBehalf):
    """One task as asked for, its children included."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    task_type: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="What is to be done; `GET /api/task-types` lists what there is. A batch needs none."
    )
    document_id: Annotated[str, Field(pattern=DOCUMENT_ID_PATTERN)] | None = Field(
        default=None,
        description=(
            "The document that an edit changes. Tasks of one document run one at a time and in order; types that edit "
            "nothing may use any name."
        ),
    )
    title: Annotated[Text, Field(max_length=200)] | None = Field(
        default=None, description="What people see of it in lists."
    )
    payload: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        description=(
            'What the task type takes, by its schema in `GET /api/task-types`. In place of a value, `{"$ref": '
            '"key.field"}` is a result of an earlier child or of a dependency.'
        ),
    )
    priority: PriorityField | None = Field(
        default=None,
        description=(
            'CRITICAL, HIGH, NORMAL, LOW or BACKGROUND; or a number from 0, most urgent, to 100; or `{"scale": 10, '
            '"value": 8}`, where 10 is most urgent.'
        ),
    )
    max_retries: Annotated[int, Field(ge=0, le=20)] | None = Field(
        default=None, description="How often it is tried again after a failure."
    )
    timeout_seconds: Annotated[float, Field(ge=0.1, le=86_400, allow_inf_nan=False)] | None = Field(
        default=None, description="How long one attempt may take."
    )
    run_at: Time | None = Field(default=None, description="When it may run at the earliest.")
    deadline: Time | None = Field(
        default=None,
        description="When it should be done: as the time draws near it becomes more urgent. Nothing ends by it.",
    )
    boost_per_minute: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = Field(
        default=None,
        description="How much more urgent it becomes with each minute that it waits, in steps of the priority.",
    )
    retry: OwnRetryPolicy = Field(
        default=None, description="How long to wait before each retry, and after which failures there is none."
    )
    on_retry: Literal["block", "yield"] = Field(
        default="block",
        description=(
            "Whether the tasks of its document wait for its next attempt (`block`) or go on without it (`yield`)."
        ),
    )
    idempotency_key: PrintableKey | None = Field(
        default=None,
        description=(
            "A name for this request: sent again with the same body, it is answered with the task that it became."
        ),
    )
    dedupe: Literal["content"] | None = Field(
        default=None,
        description=(
            "With `content`, no second task that does the same waits beside an unfinished one: that one is the answer."
        ),
    )
    children: Annotated[list["TaskRequest"], Field(min_length=1, max_length=CHILDREN_MAX)] | None = Field(
        default=None,
        description=(
            "What makes it a batch: tasks that run one after the other, in this order. They may be batches themselves."
        ),
    )
    key: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Its name among its siblings or in its DAG, for `$ref` and `dependsOn`."
    )
    base_revision: Annotated[int, Field(ge=1, le=2**53)] | None = Field(
        default=None, description="The revision of the document that whoever asks for the edit has seen."
    )
    on_conflict: OnConflict | None = Field(
        default=None,
        description=(
            "What becomes of the edit when the document is no longer at `baseRevision`: `reject` fails, `rebase` "
            "applies it if the nodes that it aims at are unchanged, `force` applies it."
        ),
    )
    on_child_failure: OnChildFailure | None = Field(
        default=None,
        description="Whether a batch ends with its first child that fails for good (`abort`) or goes on (`continue`).",
    )
    atomic: bool = Field(
        default=False,
        description="Whether the children of a batch, all of them edits of its document, become one revision or none.",
    )
    depends_on: Annotated[list[DependencyName], Field(max_length=DEPENDENCIES_MAX)] | None = Field(
        default=None, description="What has to complete before it begins: ids of tasks; in a DAG also keys."
    )
    tags: Annotated[list[Tag], Field(max_length=50)] | None = Field(
        default=None, description="Words to find it by; children have those of their batch unless they have their own."
    )

    @classmethod
    def from_python(cls, options: Mapping[str, Any]) -> Self:
        """Return the request that options with Python's names make."""
        # What `model_validate` does, without its own questions first.
        validator = cls.__pydantic_validator__
        request: Self = validator.validate_python(options, by_alias=False, by_name=True, context=_IN_PYTHON)
        return request

    @property
    def priority_value(self) -> int | None:
        """The 0-100 value of the priority, where one was given."""
        return None if self.priority is None else priority_value(self.priority)

    def as_asked(self) -> tuple[str | None, str | None]:
        """Return what its task has from it as it is, whatever batch or DAG the task is in: its title and its key.

        They stand in the order that they have in `NewTask`.
        """
        return self.title, self.key


class SpawnOptions(TypedDict, total=False):
    """What a task may be given besides its type and payload; the names of the HTTP API in snake_case."""

    document_id: str
    title: str
    priority: str | int
    max_retries: int
    timeout_seconds: float
    run_at: object
    deadline: object
    boost_per_minute: float
    retry: object
    on_retry: str
    children: list[Mapping[str, Any]]
    on_child_failure: str
    depends_on: list[str]
    tags: list[str]
    on_behalf_of: str
    created_by: str
    required_capabilities: list[str]
    models: list[str]
    fallback_models: list[str]
    require_decision_report: bool
    output: Mapping[str, str]


class TaskOptions(SpawnOptions, total=False):
    """What a task may be given besides its type when it is submitted."""

    payload: Mapping[str, Any]
    idempotency_key: str
    dedupe: str


def request_of(options: Mapping[str, Any]) -> TaskRequest:
    """Return the request that options with Python's names make; raise the refusal when they make none."""
    try:
        return TaskRequest.from_python(options)
    except ValidationError as error:
        found = relevant(dict(options), error.errors(include_url=False))
        wrong = field_errors((dotted(path), message_of(one)) for path, one in found)
        message = f"{wrong[0].field}: {wrong[0].message}"
        raise InvalidRequestError(message, wrong) from None


class DagTasksRequest(BaseModel):
    """Tasks of one DAG, which call each other by their keys."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    tasks: Annotated[list[TaskRequest], Field(min_length=1, max_length=DAG_TASKS_MAX)] = Field(
        description="The tasks, each with a `key` by which others name it in `dependsOn` and `$ref`."
    )


class DagRequest(DagTasksRequest, OnBehalf):
    """A DAG as asked for."""

    title: Annotated[Text, Field(max_length=200)] | None = Field(
        default=None, description="What people see of it in lists."
    )


NOT_SUPPORTED_YET: Final = frozenset(
    {
        "maxCostUsd",
        "validation",
        "hold",
        "approval",
        "budgetUsd",
        "artifacts",
    }
)
"""Fields of the contract whose machinery is not built yet."""
