"""`/api/limits`: how much of a type may be done at once, and how fast."""

from typing import Annotated

from fastapi import APIRouter, Body, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from officeplane.api import examples
from officeplane.api.callers import needs, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.parameters import TaskTypeInPath
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import View
from officeplane.domain.principal import Scope
from officeplane.domain.valve import Limits

router = APIRouter(prefix="/api/limits", tags=["flow control"], route_class=StrictRoute)


class LimitsRequest(BaseModel):
    """The limits of one task type; what is left out is not limited."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    rate_per_second: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] | None = Field(
        default=None, description="How many tasks of the type begin in a second, at most."
    )
    concurrency: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="How many tasks of the type run at once, at most."
    )


class LimitsView(View):
    """The limits of one task type; null is no limit."""

    task_type: str
    rate_per_second: float | None
    concurrency: int | None


@router.get(
    "/{task_type}", operation_id="getLimits", summary="Show a type's limits", responses=refusals("unknown_task_type")
)
@needs(Scope.READ)
async def get_limits(request: Request, task_type: TaskTypeInPath) -> LimitsView:
    """Return the limits that were declared for a type."""
    return _view(task_type, await runtime_of(request).valves.limits(principal_of(request), task_type))


@router.put(
    "/{task_type}",
    operation_id="putLimits",
    summary="Limit a type",
    responses=refusals("unknown_task_type", body=True),
)
@needs(Scope.CONTROL)
async def put_limits(
    request: Request, task_type: TaskTypeInPath, body: Annotated[LimitsRequest, Body(openapi_examples=examples.LIMITS)]
) -> LimitsView:
    """Declare the limits of a type, over all workers; what is left out is not limited."""
    limits = Limits(body.rate_per_second, body.concurrency)
    await runtime_of(request).valves.set_limits(principal_of(request), task_type, limits)
    return _view(task_type, limits)


@router.delete(
    "/{task_type}",
    operation_id="deleteLimits",
    summary="Lift a type's limits",
    status_code=204,
    responses={204: {"description": "Lifted."}, **refusals("unknown_task_type")},
)
@needs(Scope.CONTROL)
async def delete_limits(request: Request, task_type: TaskTypeInPath) -> Response:
    """Let as many tasks of a type run as there are slots."""
    await runtime_of(request).valves.set_limits(principal_of(request), task_type, Limits())
    return Response(status_code=204)


def _view(task_type: str, limits: Limits) -> LimitsView:
    return LimitsView(task_type=task_type, rate_per_second=limits.rate_per_second, concurrency=limits.concurrency)
