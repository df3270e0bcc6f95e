"""`/api/spaces`: which spaces there are, and what each may use."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Request
from starlette.responses import Response

from officeplane.api import examples
from officeplane.api.callers import needs, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.quota_bodies import QuotasRequest
from officeplane.api.requests import StrictRoute
from officeplane.api.space_views import SpaceInUseView, SpaceView, space_in_use_view, space_view
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer, many_views
from officeplane.domain.principal import Scope
from officeplane.domain.quota import usual
from officeplane.domain.space import SPACE_PATTERN, Space

router = APIRouter(prefix="/api/spaces", tags=["spaces"], route_class=StrictRoute)

SpaceInPath = Annotated[str, Path(pattern=SPACE_PATTERN, description="The name of a space.", examples=["acme"])]


@router.get(
    "",
    operation_id="listSpaces",
    summary="List spaces",
    response_model=list[SpaceView],
    responses=refusals(),
)
@needs(Scope.ADMIN)
async def list_spaces(request: Request) -> Response:
    """Return all spaces with what each may use; to a caller of another than the default space, its own."""
    found = await runtime_of(request).spaces.every(principal_of(request))
    return many_views([space_view(name, quotas) for name, quotas in found.items()])


@router.get(
    "/{name}",
    operation_id="showSpace",
    summary="Show a space",
    response_model=SpaceInUseView,
    responses=refusals("space_not_found"),
)
@needs(Scope.ADMIN)
async def show(request: Request, name: SpaceInPath) -> Response:
    """Return what a space may use, and what it uses now."""
    return json_answer(
        space_in_use_view(Space(name), *await runtime_of(request).spaces.show(principal_of(request), name))
    )


@router.put(
    "/{name}",
    operation_id="setQuotas",
    summary="Say what a space may use",
    response_model=SpaceInUseView,
    responses=refusals("space_not_found", body=True),
)
@needs(Scope.ADMIN)
async def set_quotas(
    request: Request, name: SpaceInPath, body: Annotated[QuotasRequest, Body(openapi_examples=examples.QUOTAS)]
) -> Response:
    """Say what a space may use; in every server it counts a second from now at the latest."""
    spaces, caller = runtime_of(request).spaces, principal_of(request)
    await spaces.set(caller, name, body.over(usual(Space(name))))
    return json_answer(space_in_use_view(Space(name), *await spaces.show(caller, name)))
