"""`/api/spaces`: which spaces there are, and what each may use."""

from dataclasses import replace
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Body, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from officeplane.api import examples
from officeplane.api.callers import needs, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.requests import StrictRoute
from officeplane.api.space_views import SpaceInUseView, SpaceView, space_in_use_view, space_view
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer, many_views
from officeplane.domain.principal import Scope
from officeplane.domain.quota import Quotas, usual
from officeplane.domain.space import SPACE_PATTERN, Space

router = APIRouter(prefix="/api/spaces", tags=["spaces"], route_class=StrictRoute)

SpaceInPath = Annotated[str, Path(pattern=SPACE_PATTERN, description="The name of a space.", examples=["acme"])]
Limit: TypeAlias = Annotated[int, Field(ge=0, le=2**53)] | None


class QuotasRequest(BaseModel):
    """What a space may use: null lifts a limit, what is left out is as it would be had nobody said anything."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    max_waiting_tasks: Limit = Field(default=None, description="Tasks that wait, children of batches too.")
    max_documents: Limit = Field(default=None, description="Documents.")
    max_bytes: Limit = Field(default=None, description="Bytes that documents take as they are kept.")
    max_revisions_per_document: Limit = Field(default=None, description="Revisions of any one document.")
    submissions_per_minute: Limit = Field(default=None, description="Tasks submitted, to each server.")
    uploads_per_minute: Limit = Field(default=None, description="Files uploaded, to each server.")
    max_streams: Limit = Field(default=None, description="Event streams at once, of each server.")
    max_waits: Limit = Field(default=None, description="Requests that wait for a task at once, of each server.")

    def of(self, space: Space) -> Quotas:
        """Return the quotas that are asked for."""
        return replace(usual(space), **self.model_dump(include=self.model_fields_set))


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
    await spaces.set(caller, name, body.of(Space(name)))
    return json_answer(space_in_use_view(Space(name), *await spaces.show(caller, name)))
