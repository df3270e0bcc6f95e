"""`/api/task-types`: what can be submitted, what its payload looks like, and which types agents do besides."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from officeplane.api import examples
from officeplane.api.callers import needs, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.requests import StrictRoute
from officeplane.api.schemas import untitled
from officeplane.api.state import runtime_of
from officeplane.api.views import View
from officeplane.domain.declared_type import NAME_PATTERN, DeclaredType, TypeDefaults
from officeplane.domain.principal import Scope
from officeplane.domain.request import Text
from officeplane.handlers.contract import TaskType, declared_type

router = APIRouter(prefix="/api/task-types", tags=["task types"], route_class=StrictRoute)

NameInPath = Annotated[
    str, Path(pattern=NAME_PATTERN, description="The name of a type that agents do.", examples=["translate"])
]


class TaskTypeRequest(BaseModel):
    """A task type that agents do."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    title: Annotated[Text, Field(min_length=1, max_length=200)] = Field(description="What people see of it in lists.")
    payload_schema: dict[str, Any] | None = Field(
        default=None, description="What payloads must look like, as JSON Schema; left out, anything will do."
    )
    result_schema: dict[str, Any] | None = Field(
        default=None, description="What results are to look like, as JSON Schema; it is shown to whoever does them."
    )
    defaults: TypeDefaults | None = Field(
        default=None, description="What tasks of the type have when they do not say otherwise."
    )


class TaskTypeView(View):
    """One task type that this installation knows."""

    name: str
    title: str
    executor: Literal["agent", "worker"]
    formats: tuple[str, ...]
    payload_schema: dict[str, Any]
    result_schema: dict[str, Any] | None
    defaults: TypeDefaults


@router.get("", operation_id="listTaskTypes", summary="List task types", responses=refusals())
@needs(Scope.READ)
async def list_task_types(request: Request) -> list[TaskTypeView]:
    """Return every task type, the built-in ones too, with who does it and the JSON Schema of its payload."""
    runtime = runtime_of(request)
    await runtime.task_types.look()
    return [_view(found) for _, found in sorted(runtime.catalogue.types.items())]


@router.put(
    "/{name}",
    operation_id="declareTaskType",
    summary="Declare a type that agents do",
    status_code=201,
    responses={
        201: {"description": "Declared."},
        200: {"description": "Declared anew.", "model": TaskTypeView},
        **refusals("task_type_taken", "not_supported_yet", body=True),
    },
)
@needs(Scope.ADMIN)
async def declare(
    request: Request,
    response: Response,
    name: NameInPath,
    body: Annotated[TaskTypeRequest, Body(openapi_examples=examples.TASK_TYPE)],
) -> TaskTypeView:
    """Declare a type, or declare it anew, for all spaces; every process knows it so a second later at the latest."""
    declared = DeclaredType(
        name=name,
        title=body.title,
        payload_schema=body.payload_schema,
        result_schema=body.result_schema,
        defaults=body.defaults or TypeDefaults(),
    )
    if not await runtime_of(request).task_types.declare(principal_of(request), declared):
        response.status_code = 200
    return _view(declared_type(declared))


@router.delete(
    "/{name}",
    operation_id="removeTaskType",
    summary="Remove a declared type",
    status_code=204,
    responses={204: {"description": "Removed."}, **refusals("task_type_not_found", "task_type_in_use")},
)
@needs(Scope.ADMIN)
async def remove(request: Request, name: NameInPath) -> Response:
    """Have a type be declared no longer; not while it has unfinished tasks."""
    await runtime_of(request).task_types.remove(principal_of(request), name)
    return Response(status_code=204)


def _view(found: TaskType) -> TaskTypeView:
    return TaskTypeView(
        name=found.name,
        title=found.title,
        executor=found.executor,
        formats=found.formats,
        payload_schema=untitled(found.payload_schema),
        result_schema=None if found.result_schema is None else dict(found.result_schema),
        defaults=found.defaults,
    )
