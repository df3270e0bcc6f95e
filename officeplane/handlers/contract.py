"""The contract of a handler: `@handler` turns a function into a task type."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from officeplane.domain.declared_type import DeclaredType, TypeDefaults
from officeplane.domain.demand import AgentOptions
from officeplane.domain.document import Format
from officeplane.domain.failure import Failure, FailureKind, describe
from officeplane.domain.json_schema import JsonSchema
from officeplane.domain.rate_limit import bounded, rate_limit_of
from officeplane.domain.reference import PAYLOAD_BYTES_MAX
from officeplane.domain.request import DEFAULT_TIMEOUT_SECONDS
from officeplane.domain.retry import RetryPolicy
from officeplane.domain.validation import errors_in
from officeplane.domain.validation_errors import Found

MARK: Final = "__officeplane_task_type__"

# What a handler takes and returns is its author's business until it runs: the
# payload is checked against its model, the result when it is stored.
HandlerFunction = Callable[[Any, Any], Any]
Function = TypeVar("Function", bound=HandlerFunction)


class NoPayload(BaseModel):
    """The payload of a task type that needs none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AnyPayload(BaseModel):
    """The payload of a task type that no handler here does."""

    model_config = ConfigDict(extra="allow", frozen=True)


@dataclass(frozen=True, slots=True)
class TaskType:
    """What is known of a task type: its name, its payload, and how to run it."""

    name: str
    title: str
    payload: type[BaseModel]
    run: HandlerFunction | None
    is_async: bool
    timeout_seconds: float | None = None
    max_retries: int | None = None
    retry: RetryPolicy | None = None
    formats: tuple[Format, ...] = ()
    edits_document: bool = False
    """Whether it ends with a new revision, for which the document must exist."""

    payload_bytes_max: int = PAYLOAD_BYTES_MAX
    """How large its payloads may be; of edits that bring pictures more than of others."""

    schema: JsonSchema | None = None
    """What payloads must look like of a type that the ledger declares, in place of a model."""

    asks: AgentOptions | None = None
    """What its tasks ask of agents when they do not say otherwise; None: workers do them."""

    result_schema: Mapping[str, Any] | None = None
    """What results are to look like of a type that the ledger declares."""

    @property
    def executor(self) -> Literal["agent", "worker"]:
        """Who does its tasks."""
        return "worker" if self.asks is None else "agent"

    @property
    def defaults(self) -> TypeDefaults:
        """What its tasks have when they do not say otherwise, and others have otherwise."""
        own = {"timeout_seconds": self.timeout_seconds, "max_retries": self.max_retries, "retry": self.retry}
        return TypeDefaults.model_validate({**dict(self.asks or AgentOptions()), **own}, by_name=True)

    @property
    def payload_schema(self) -> dict[str, Any]:
        """The JSON Schema of its payload."""
        return self.payload.model_json_schema() if self.schema is None else dict(self.schema.told)

    def errors_in(self, payload_json: str) -> list[Found]:
        """Return why a payload does not fit; raise `TooMuchIsWrongError` when that is more than anybody would read."""
        if self.schema is not None:
            return self.schema.errors_in(payload_json)
        # In Python an edit's fields have Python's names; in a payload they have the API's.
        return errors_in(self.payload, payload_json, by_name=False if self.edits_document else None)

    @property
    def own_seconds(self) -> float:
        """How long an attempt may take if its task does not say otherwise."""
        return DEFAULT_TIMEOUT_SECONDS if self.timeout_seconds is None else self.timeout_seconds

    @property
    def has_breaker(self) -> bool:
        """Whether its failures hold it back: an edit fails by its document, and agents fail each in their own way."""
        return self.run is not None

    @property
    def origin(self) -> str:
        """The module that a child process imports to find the function."""
        return "" if self.run is None else self.run.__module__


def declared_type(declared: DeclaredType) -> TaskType:
    """Return a type that the ledger declares; raise `NoSchemaError` when its schema is not understood."""
    return TaskType(
        name=declared.name,
        title=declared.title,
        payload=AnyPayload,
        run=None,
        is_async=False,
        timeout_seconds=declared.defaults.timeout_seconds,
        max_retries=declared.defaults.max_retries,
        retry=declared.defaults.retry,
        schema=JsonSchema({} if declared.payload_schema is None else declared.payload_schema),
        asks=declared.defaults,
        result_schema=declared.result_schema,
    )


def handler(
    name: str,
    *,
    payload: type[BaseModel] = NoPayload,
    title: str | None = None,
    timeout_seconds: float | None = None,
    max_retries: int | None = None,
    retry: RetryPolicy | None = None,
) -> Callable[[Function], Function]:
    """Declare the decorated function the handler of a task type.

    An `async def` runs in the worker's loop and is cancelled when it must stop;
    a plain `def` runs in a child process, which is killed.
    """

    def declare(function: Function) -> Function:
        declared = TaskType(
            name=name,
            title=title or (inspect.getdoc(function) or name).splitlines()[0],
            payload=payload,
            run=function,
            is_async=inspect.iscoroutinefunction(function),
            timeout_seconds=timeout_seconds,
            max_retries=max_retries,
            retry=retry,
        )
        setattr(function, MARK, declared)
        return function

    return declare


class PermanentFailure(Exception):  # noqa: N818 - the public name says what it is for
    """Raised by a handler when no retry can help."""


class RateLimited(Exception):  # noqa: N818 - likewise
    """Raised by a handler that was told to slow down: the task waits, and uses no attempt.

    Other tasks of its type wait for half of that time. Without a number of
    seconds the wait grows from one time to the next.
    """

    def __init__(self, retry_after: float | None = None, message: str = "") -> None:
        self.retry_after = None if retry_after is None else float(retry_after)
        super().__init__(message or ("" if self.retry_after is None else f"retry after {self.retry_after:g} s"))


def failure_of(error: BaseException, now: datetime) -> Failure:
    """Return the failure that an error of a handler stands for."""
    if isinstance(error, PermanentFailure):
        return Failure(FailureKind.PERMANENT, describe(error))
    if isinstance(error, RateLimited):
        wait = None if error.retry_after is None else bounded(error.retry_after)
        return Failure(FailureKind.RATE_LIMITED, describe(error), retry_after=wait)
    limit = rate_limit_of(error, now)
    if limit is not None:
        return Failure(FailureKind.RATE_LIMITED, describe(error), retry_after=limit.retry_after)
    return Failure(FailureKind.ERROR, describe(error))
