"""Bodies that come with tasks and with what is done to them."""

from typing import Annotated, Final, Self

from fastapi import Body
from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator
from pydantic.alias_generators import to_camel

from officeplane.api import examples
from officeplane.api.parameters import STATES_MAX, TaskSelection
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.patch import TaskPatch
from officeplane.domain.request import DagRequest, DagTasksRequest, TaskRequest, Text
from officeplane.store.tasks import TaskFilter

BULK_MAX: Final = 1_000


class CancelRequest(BaseModel):
    """What may be said when a task is cancelled."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    reason: Annotated[Text, Field(max_length=500)] | None = Field(
        default=None, description="Why, for whoever looks at it later."
    )


class RetryManyRequest(TaskSelection):
    """Which tasks are to be retried, and where it goes on."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    state: (
        Annotated[list[Annotated[TaskState, Strict(strict=False)]], Field(min_length=1, max_length=STATES_MAX)] | None
    ) = Field(default=None, description="In one of these states; by default in any in which it can be done.")
    cursor: str | None = Field(default=None, description="The `next` of the answer before.")

    @model_validator(mode="after")
    def _is_a_selection(self) -> Self:
        if self.filter == TaskFilter():
            message = (
                "Name at least one filter, such as state, taskType or documentId: without one it would be all tasks."
            )
            raise ValueError(message)
        return self


class CancelManyRequest(RetryManyRequest):
    """Which tasks are to be cancelled, why, and where it goes on."""

    reason: Annotated[Text, Field(max_length=500)] | None = Field(
        default=None, description="Why, for whoever looks at them later."
    )


class Nothing(BaseModel):
    """An object without fields."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


TaskBody = Annotated[TaskRequest, Body(openapi_examples=examples.TASK)]
PreviewBody = Annotated[TaskRequest, Body(openapi_examples=examples.PREVIEW)]
BulkBody = Annotated[
    list[TaskRequest],
    Field(min_length=1, max_length=BULK_MAX),
    Body(openapi_examples=examples.BULK),
]
PatchBody = Annotated[TaskPatch, Body(openapi_examples=examples.PATCH)]
DagBody = Annotated[DagRequest, Body(openapi_examples=examples.DAG)]
DagTasksBody = Annotated[DagTasksRequest, Body(openapi_examples=examples.DAG_TASKS)]
CancelManyBody = Annotated[CancelManyRequest, Body(openapi_examples=examples.CANCEL_MANY)]
RetryManyBody = Annotated[RetryManyRequest, Body(openapi_examples=examples.RETRY_MANY)]
CancelBody = Annotated[CancelRequest | None, Body(openapi_examples=examples.CANCEL)]
NoBody = Annotated[Nothing | None, Body(openapi_examples=examples.NOTHING)]
