"""`/api/task-types`: what can be submitted, and what its payload looks like."""

from typing import Any

from fastapi import APIRouter, Request

from officeplane.api.callers import needs
from officeplane.api.openapi import refusals
from officeplane.api.requests import StrictRoute
from officeplane.api.schemas import untitled
from officeplane.api.state import runtime_of
from officeplane.api.views import View
from officeplane.domain.principal import Scope

router = APIRouter(prefix="/api/task-types", tags=["task types"], route_class=StrictRoute)


class TaskTypeView(View):
    """One task type that this installation knows."""

    name: str
    title: str
    formats: tuple[str, ...]
    payload_schema: dict[str, Any]


@router.get("", operation_id="listTaskTypes", summary="List task types", responses=refusals())
@needs(Scope.READ)
async def list_task_types(request: Request) -> list[TaskTypeView]:
    """Return every task type, the built-in ones too, with the JSON Schema of its payload."""
    runtime = runtime_of(request)
    await runtime.task_types.look()
    types = runtime.catalogue.types
    return [
        TaskTypeView(
            name=found.name,
            title=found.title,
            formats=found.formats,
            payload_schema=untitled(found.payload_schema),
        )
        for _, found in sorted(types.items())
    ]
