"""`/api/keys`: who may call from elsewhere, and what each may do."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Request
from starlette.responses import Response

from officeplane.api import examples
from officeplane.api.callers import needs, principal_of
from officeplane.api.cursors import link_to_next
from officeplane.api.key_bodies import ChangeKeyRequest, CreateKeyRequest, RotateKeyRequest
from officeplane.api.key_views import KeyView, MadeKeyView, key_view, made_key_view
from officeplane.api.openapi import headers, refusals
from officeplane.api.parameters import KeyIdInPath, KeysQuery
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer, many_views
from officeplane.domain.ids import KeyId
from officeplane.domain.principal import Scope
from officeplane.services.access.api_keys import OVERLAP_SECONDS

router = APIRouter(prefix="/api/keys", tags=["keys"], route_class=StrictRoute)


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
    """Make a key, which may do no more than whoever makes it; one of the default space may make keys of any."""
    made = await runtime_of(request).api_keys.create(
        principal_of(request),
        body.name,
        body.scopes,
        body.expires_at,
        space=body.space,
        narrowing=body.narrowing,
        quotas=body.limits,
    )
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
    """Return keys that the caller could make, in the order in which they were made, those that work no more too."""
    page = await runtime_of(request).api_keys.page(principal_of(request), query.after, query.limit, space=query.space)
    following = {}
    if len(page) == query.limit:
        following = link_to_next(request.url.path, request.query_params, page[-1].id)
    return many_views([key_view(key) for key in page], following)


@router.patch(
    "/{key_id}",
    operation_id="changeKey",
    summary="Change a key",
    response_model=KeyView,
    responses=refusals("key_not_found", "key_exists", body=True),
)
@needs(Scope.ADMIN)
async def change(
    request: Request, key_id: KeyIdInPath, body: Annotated[ChangeKeyRequest, Body(openapi_examples=examples.KEY_CHANGE)]
) -> Response:
    """Have a key be called, or do, something else, in any process, a second from now at the latest."""
    changed = await runtime_of(request).api_keys.change(principal_of(request), KeyId(key_id), body.changes)
    return json_answer(key_view(changed))


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
    """Make a key that may do the same and has the same name; the old one works on for a while."""
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
    return json_answer(key_view(await runtime_of(request).api_keys.revoke(principal_of(request), KeyId(key_id))))
