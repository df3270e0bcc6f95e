"""Bodies that come with tasks and with what is done to them."""

from typing import Annotated, Final

from fastapi import Body
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from officeplane.api import examples
from officeplane.domain.errors import FieldError, InvalidParameterError
from officeplane.domain.patch import TaskPatch
from officeplane.domain.request import DagRequest, DagTasksRequest, TaskRequest, Text

BULK_MAX: Final = 1_000
TASKS_MAX: Final = 10_000


def _not_too_many(value: JsonValue) -> JsonValue:
    # Looked at before each of them is: checking a million empty children would stop everybody else.
    level = value if isinstance(value, list) else [value]
    count = 0
    while level:
        count += len(level)
        if count > TASKS_MAX:
            message = f"It holds more than {TASKS_MAX:,} tasks."
            raise ValueError(message)
        families = [body["children"] for body in level if isinstance(body, dict) and "children" in body]
        level = [child for family in families if isinstance(family, list) for child in family]
    return value


def _not_too_many_in_all(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        _not_too_many(value.get("tasks"))
    return value


class CancelRequest(BaseModel):
    """What may be said when a task is cancelled."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    reason: Annotated[Text, Field(max_length=500)] | None = Field(
        default=None, description="Why, for whoever looks at it later."
    )


class Nothing(BaseModel):
    """An object without fields."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


TaskBody = Annotated[TaskRequest, BeforeValidator(_not_too_many), Body(openapi_examples=examples.TASK)]
BulkBody = Annotated[
    list[TaskRequest],
    Field(min_length=1, max_length=BULK_MAX),
    BeforeValidator(_not_too_many),
    Body(openapi_examples=examples.BULK),
]
PatchBody = Annotated[TaskPatch, Body(openapi_examples=examples.PATCH)]
DagBody = Annotated[DagRequest, BeforeValidator(_not_too_many_in_all), Body(openapi_examples=examples.DAG)]
DagTasksBody = Annotated[
    DagTasksRequest, BeforeValidator(_not_too_many_in_all), Body(openapi_examples=examples.DAG_TASKS)
]
CancelBody = Annotated[CancelRequest | None, Body(openapi_examples=examples.CANCEL)]
NoBody = Annotated[Nothing | None, Body(openapi_examples=examples.NOTHING)]


def with_key(request: TaskRequest, key: str | None) -> TaskRequest:
    """Return the request with the idempotency key of the header, which may say nothing else than the body."""
    if key is None:
        return request
    if request.idempotency_key not in (None, key):
        message = "It differs from the idempotencyKey of the body."
        raise InvalidParameterError(f"Idempotency-Key: {message}", [FieldError("Idempotency-Key", message)])
    return request.model_copy(update={"idempotency_key": key})


def without_key(key: str | None) -> None:
    """Refuse a header that would say the same of every task of a bulk."""
    if key is not None:
        message = "In a bulk each body has its own idempotencyKey."
        raise InvalidParameterError(f"Idempotency-Key: {message}", [FieldError("Idempotency-Key", message)])
