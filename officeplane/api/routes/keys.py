"""`/api/keys`: who may call from elsewhere, and what each may do."""

from typing import Annotated, Final

from fastapi import APIRouter, Body, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from officeplane.api import examples
from officeplane.api.callers import needs, principal_of
from officeplane.api.cursors import link_to_next
from officeplane.api.key_views import KeyView, MadeKeyView, key_view, made_key_view
from officeplane.api.openapi import headers, refusals
from officeplane.api.parameters import KeyIdInPath, KeysQuery
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer, many_views
from officeplane.domain.api_key import NAME_PATTERN, KeyId
from officeplane.domain.principal import Scope
from officeplane.services.access.api_keys import OVERLAP_SECONDS

OVERLAP_SECONDS_MAX: Final = 30 * 86_400.0

router = APIRouter(prefix="/api/keys", tags=["keys"], route_class=StrictRoute)


class _Asked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class CreateKeyRequest(_Asked):
    """A key that is to be made."""

    name: Annotated[str, Field(pattern=NAME_PATTERN)] = Field(
        description="What it is called: by whom, or for what, it is used. Two that work may not share a name."
    )
    scopes: Annotated[list[Annotated[Scope, Field(strict=False)]], Field(min_length=1, max_length=len(Scope))] = Field(
        description="What it may do: `read`, `edit`, `control`, `admin`; `admin` has all others."
    )
    expires_at: Annotated[AwareDatetime, Field(strict=False)] | None = Field(
        default=None, description="When it ends to work; left out, it works until it is revoked."
    )


class RotateKeyRequest(_Asked):
    """How a key is to be replaced."""

    overlap_seconds: Annotated[float, Field(ge=0, le=OVERLAP_SECONDS_MAX, allow_inf_nan=False)] = Field(
        default=OVERLAP_SECONDS, description="For how long the old key works beside the new one."
    )


@router.post(
    "",
    operation_id="createKey",
    summary="Make a key",
    status_code=201,
    response_model=MadeKeyView,
    responses={201: {"description": "Made; the key is shown this once."}, **refusals("key_exists", body=True)},
)
@needs(Scope.ADMIN)
async def create(request: Request, body: Annotated[CreateKeyRequest, Body(openapi_examples=examples.KEY)]) -> Response:
    """Make a key, which may do no more than whoever makes it."""
    made = await runtime_of(request).api_keys.create(principal_of(request), body.name, body.scopes, body.expires_at)
    return json_answer(made_key_view(made), 201)


@router.get(
    "",
    operation_id="listKeys",
    summary="List keys",
    response_model=list[KeyView],
    responses={200: {"description": "One page.", "headers": headers("Link")}, **refusals("invalid_cursor")},
)
@needs(Scope.ADMIN)
async def list_keys(request: Request, query: Annotated[KeysQuery, Query()]) -> Response:
    """Return keys in the order in which they were made, those that do not work any more too."""
    page = await runtime_of(request).api_keys.page(query.after, query.limit)
    following = {}
    if len(page) == query.limit:
        following = link_to_next(request.url.path, request.query_params, page[-1].id)
    return many_views([key_view(key) for key in page], following)


@router.post(
    "/{key_id}/rotate",
    operation_id="rotateKey",
    summary="Replace a key",
    status_code=201,
    response_model=MadeKeyView,
    responses={201: {"description": "Made; the key is shown this once."}, **refusals("key_not_found", body=True)},
)
@needs(Scope.ADMIN)
async def rotate(
    request: Request,
    key_id: KeyIdInPath,
    body: Annotated[RotateKeyRequest | None, Body(openapi_examples=examples.ROTATE)] = None,
) -> Response:
    """Make a key of the same name and scopes; the old one works on for a while, so that nobody is cut off."""
    overlap = OVERLAP_SECONDS if body is None else body.overlap_seconds
    return json_answer(
        made_key_view(await runtime_of(request).api_keys.rotate(principal_of(request), KeyId(key_id), overlap)), 201
    )


@router.delete(
    "/{key_id}",
    operation_id="revokeKey",
    summary="Revoke a key",
    response_model=KeyView,
    responses=refusals("key_not_found"),
)
@needs(Scope.ADMIN)
async def revoke(request: Request, key_id: KeyIdInPath) -> Response:
    """Have a key work no more, in any process, a second from now at the latest."""
    return json_answer(key_view(await runtime_of(request).api_keys.revoke(KeyId(key_id))))
