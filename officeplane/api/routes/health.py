"""`/api/health`: whether this process lives, and whether it can work."""

from typing import Final, Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from officeplane.api.callers import open_to_all
from officeplane.api.openapi import headers, refusals
from officeplane.api.problems import RETRY_AFTER
from officeplane.api.requests import StrictRoute
from officeplane.api.state import state_of
from officeplane.api.views import View, json_answer
from officeplane.services.observe.health import Health

router = APIRouter(prefix="/api/health", tags=["operation"], route_class=StrictRoute)


class LiveView(View):
    """The process answers."""

    status: Literal["ok"] = "ok"


class HealthView(View):
    """How the installation is, seen from this process."""

    status: Literal["ok", "degraded", "unavailable"]
    postgres: Literal["up", "down"]
    redis: Literal["up", "down"]
    dispatch: Literal["redis", "polling"]
    workers: int


_NOTHING_REACHED: Final = Health(status="unavailable", postgres=False, redis=False, dispatch="polling", workers=0)


@router.get(
    "/live",
    operation_id="isLive",
    summary="Whether the process answers",
    response_model=LiveView,
    responses={code: told for code, told in refusals().items() if code != 503},
)
@open_to_all
async def live() -> Response:
    """Return 200 as long as the process answers at all."""
    return json_answer(LiveView())


@router.get(
    "/ready",
    operation_id="isReady",
    summary="Whether tasks can be submitted",
    response_model=HealthView,
    responses={
        **refusals(),
        503: {"model": HealthView, "description": "Postgres does not answer.", "headers": headers("Retry-After")},
    },
)
@open_to_all
async def ready(request: Request) -> Response:
    """Return 200 while Postgres answers, whatever Redis does, and how work is dispatched."""
    runtime = state_of(request).runtime
    health = _NOTHING_REACHED if runtime is None else await runtime.health.check()
    view = HealthView(
        status=health.status,
        postgres="up" if health.postgres else "down",
        redis="up" if health.redis else "down",
        dispatch=health.dispatch,
        workers=health.workers,
    )
    return json_answer(view) if health.postgres else json_answer(view, 503, RETRY_AFTER)
