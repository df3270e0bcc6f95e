"""Bodies that come with tasks and with what is done to them."""

from typing import Annotated, Final

from fastapi import Body
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from officeplane.api import examples
from officeplane.api.crowds import refuse_many_tasks
from officeplane.domain.errors import FieldError, InvalidParameterError
from officeplane.domain.patch import TaskPatch
from officeplane.domain.request import DagRequest, DagTasksRequest, TaskRequest, Text

BULK_MAX: Final = 1_000


class CancelRequest(BaseModel):
    """What may be said when a task is cancelled."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    reason: Annotated[Text, Field(max_length=500)] | None = Field(
        default=None, description="Why, for whoever looks at it later."
    )


class Nothing(BaseModel):
    """An object without fields."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


TaskBody = Annotated[TaskRequest, BeforeValidator(refuse_many_tasks), Body(openapi_examples=examples.TASK)]
BulkBody = Annotated[
    list[TaskRequest],
    Field(min_length=1, max_length=BULK_MAX),
    BeforeValidator(refuse_many_tasks),
    Body(openapi_examples=examples.BULK),
]
PatchBody = Annotated[TaskPatch, Body(openapi_examples=examples.PATCH)]
DagBody = Annotated[DagRequest, BeforeValidator(refuse_many_tasks), Body(openapi_examples=examples.DAG)]
DagTasksBody = Annotated[DagTasksRequest, BeforeValidator(refuse_many_tasks), Body(openapi_examples=examples.DAG_TASKS)]
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
