"""`/metrics`: the same numbers for Prometheus."""

from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from officeplane.api.callers import needs, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of, state_of
from officeplane.domain.principal import Scope
from officeplane.services.observe.metrics import Refusals, exposed

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

router = APIRouter(tags=["operation"], route_class=StrictRoute)


class PrometheusText(Response):
    """Text in the format that Prometheus scrapes."""

    media_type = MEDIA_TYPE


@router.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Metrics for Prometheus",
    response_class=PrometheusText,
    responses={200: {"description": "Metrics.", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}, **refusals()},
)
@needs(Scope.READ)
async def metrics(request: Request) -> PrometheusText:
    """Return queue depths and counters of what has ended; and workers, to those who control the default space."""
    state = state_of(request)
    caller = principal_of(request)
    told = await runtime_of(request).statistics.metrics(caller)
    if caller.sees_the_whole:
        told += exposed(Refusals(state.wrong_keys.total, state.refused))
    return PrometheusText(told)
