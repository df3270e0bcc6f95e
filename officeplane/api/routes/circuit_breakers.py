"""`/api/circuit-breakers`: which types are held back because they failed, and what people do about it."""

from typing import Annotated

from fastapi import APIRouter, Body, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from officeplane.api import examples
from officeplane.api.bodies import NoBody
from officeplane.api.callers import needs, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.parameters import TaskTypeInPath
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import Time, View
from officeplane.config import Settings
from officeplane.domain.principal import Scope
from officeplane.domain.valve import BreakerState, Valve

router = APIRouter(prefix="/api/circuit-breakers", tags=["flow control"], route_class=StrictRoute)


class BreakerRequest(BaseModel):
    """What is special about one type's breaker; what is left out is the installation's."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    failure_threshold: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="How many failures in a row open it."
    )
    half_open_after_seconds: Annotated[float, Field(gt=0, le=604_800, allow_inf_nan=False)] | None = Field(
        default=None, description="How long after that one task is let through to see."
    )


class BreakerView(View):
    """The breaker of one task type."""

    task_type: str
    state: BreakerState
    failures: int
    opened_at: Time | None
    retry_at: Time | None
    failure_threshold: int
    half_open_after_seconds: float


@router.get("", operation_id="listCircuitBreakers", summary="List circuit breakers", responses=refusals())
@needs(Scope.READ)
async def list_breakers(request: Request) -> list[BreakerView]:
    """Return the breaker of every type that can be run, by name; edits have none: they talk to nothing outside."""
    runtime = runtime_of(request)
    return [_view(valve, runtime.settings) for valve in await runtime.valves.breakers(principal_of(request))]


@router.put(
    "/{task_type}",
    operation_id="putCircuitBreaker",
    summary="Set a type's circuit breaker",
    responses=refusals("unknown_task_type", "no_circuit_breaker", body=True),
)
@needs(Scope.CONTROL)
async def put_breaker(
    request: Request,
    task_type: TaskTypeInPath,
    body: Annotated[BreakerRequest, Body(openapi_examples=examples.BREAKER)],
) -> BreakerView:
    """Say after how many failures in a row it opens and for how long; what is left out is the installation's."""
    runtime = runtime_of(request)
    valve = await runtime.valves.set_breaker(
        principal_of(request), task_type, body.failure_threshold, body.half_open_after_seconds
    )
    return _view(valve, runtime.settings)


@router.post(
    "/{task_type}/reset",
    operation_id="resetCircuitBreaker",
    summary="Close a circuit breaker",
    responses=refusals("unknown_task_type", body=True),
)
@needs(Scope.CONTROL)
async def reset_breaker(request: Request, task_type: TaskTypeInPath, _body: NoBody = None) -> BreakerView:
    """Close it, forget the failures, and let the type go on."""
    runtime = runtime_of(request)
    return _view(await runtime.valves.reset_breaker(principal_of(request), task_type), runtime.settings)


@router.post(
    "/{task_type}/open",
    operation_id="openCircuitBreaker",
    summary="Open a circuit breaker",
    responses=refusals("unknown_task_type", "no_circuit_breaker", body=True),
)
@needs(Scope.CONTROL)
async def open_breaker(request: Request, task_type: TaskTypeInPath, _body: NoBody = None) -> BreakerView:
    """Hold the type back as its failures would; after its time one task finds out whether it works."""
    runtime = runtime_of(request)
    return _view(await runtime.valves.open_breaker(principal_of(request), task_type), runtime.settings)


def _view(valve: Valve, settings: Settings) -> BreakerView:
    breaker = valve.breaker
    threshold, seconds = breaker.failure_threshold, breaker.half_open_after_seconds
    return BreakerView(
        task_type=valve.task_type,
        state=breaker.state,
        failures=breaker.failures,
        opened_at=breaker.opened_at,
        retry_at=breaker.retry_at,
        failure_threshold=settings.breaker_failure_threshold if threshold is None else threshold,
        half_open_after_seconds=settings.breaker_half_open_after if seconds is None else seconds,
    )
