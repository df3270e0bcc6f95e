"""`/api/dags`: tasks that wait for each other, in, out, and cancelled as one."""

import asyncio
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from officeplane.api.bodies import CancelBody, DagBody, DagTasksBody
from officeplane.api.callers import needs, principal_of
from officeplane.api.cursors import cursor_after, link_to_next
from officeplane.api.dag_views import DagSummaryView, DagView, dag_view, summary_view
from officeplane.api.openapi import headers, refusals
from officeplane.api.parameters import DagIdInPath, DagQuery, IdempotencyKey
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer, many_views
from officeplane.domain.dag import DagStatus
from officeplane.domain.ids import DagId
from officeplane.domain.principal import Scope
from officeplane.services.dags.dags import DagDetails

router = APIRouter(prefix="/api/dags", tags=["dags"], route_class=StrictRoute)

_SUBMITTING = (
    "unknown_task_type", "invalid_payload", "invalid_reference", "cycle", "not_supported_yet", "document_not_found",
)  # fmt: skip


@router.post(
    "",
    operation_id="submitDag",
    summary="Submit tasks that depend on each other",
    status_code=201,
    response_model=DagView,
    responses={
        200: {
            "model": DagView,
            "description": "The idempotency key was used before: the DAG as it is now.",
            "headers": headers("Location", "Idempotency-Replayed"),
        },
        201: {"description": "Stored, all of it.", "headers": headers("Location")},
        **refusals(*_SUBMITTING, "idempotency_in_progress", "idempotency_mismatch", body=True),
    },
)
@needs(Scope.EDIT)
async def submit(request: Request, body: DagBody, idempotency_key: IdempotencyKey = None) -> Response:
    """Store up to 10,000 tasks that name each other by their keys; one that is refused refuses them all."""
    runtime = runtime_of(request)
    dag_id, replayed = await runtime.dags.submit(principal_of(request), body, idempotency_key)
    location = {"Location": f"/api/dags/{dag_id}"}
    details = await runtime.dags.details(principal_of(request), dag_id)
    if replayed:
        return await _shown(details, 200, {**location, "Idempotency-Replayed": "true"})
    return await _shown(details, 201, location)


@router.get(
    "",
    operation_id="listDags",
    summary="List DAGs, newest first",
    response_model=list[DagSummaryView],
    responses={200: {"description": "One page.", "headers": headers("Link")}, **refusals("invalid_cursor")},
)
@needs(Scope.READ)
async def list_dags(request: Request, query: Annotated[DagQuery, Query()]) -> Response:
    """Return the newest DAGs, of one status if asked; the next page is in the `Link` header."""
    page = await runtime_of(request).dags.page(principal_of(request), query.status, query.before, query.limit)
    following = {}
    if len(page) == query.limit:
        following = link_to_next(request.url.path, request.query_params, cursor_after(page[-1].seq))
    return many_views([summary_view(dag) for dag in page], following)


@router.get(
    "/{dag_id}",
    operation_id="getDag",
    summary="Show a DAG",
    response_model=DagView,
    responses=refusals("dag_not_found"),
)
@needs(Scope.READ)
async def show(request: Request, dag_id: DagIdInPath) -> Response:
    """Return a DAG with its tasks, where it begins and ends, and the longest way through it."""
    return await _shown(await runtime_of(request).dags.details(principal_of(request), DagId(dag_id)))


@router.post(
    "/{dag_id}/cancel",
    operation_id="cancelDag",
    summary="Cancel what is unfinished of a DAG",
    response_model=DagView,
    responses={
        200: {"description": "Nothing of it runs any more."},
        202: {"model": DagView, "description": "Some of it runs and was asked to stop; the DAG ends with that."},
        **refusals("dag_not_found", "illegal_state", body=True),
    },
)
@needs(Scope.EDIT)
async def cancel(request: Request, dag_id: DagIdInPath, body: CancelBody = None) -> Response:
    """End what waits at once, and ask what runs to stop; a DAG of which everything has ended is refused."""
    runtime = runtime_of(request)
    await runtime.dags.cancel(principal_of(request), DagId(dag_id), None if body is None else body.reason)
    details = await runtime.dags.details(principal_of(request), DagId(dag_id))
    return await _shown(details, 202 if details.dag.status is DagStatus.RUNNING else 200)


@router.post(
    "/{dag_id}/tasks",
    operation_id="addTasksToDag",
    summary="Add tasks to a DAG that runs",
    status_code=201,
    response_model=DagView,
    responses={
        201: {"description": "Stored, all of them."},
        **refusals(*_SUBMITTING, "dag_not_found", "illegal_state", body=True),
    },
)
@needs(Scope.EDIT)
async def add(request: Request, dag_id: DagIdInPath, body: DagTasksBody) -> Response:
    """Add tasks, which may depend on those that are there; a DAG that has ended is refused."""
    runtime = runtime_of(request)
    await runtime.dags.add(principal_of(request), DagId(dag_id), body)
    return await _shown(await runtime.dags.details(principal_of(request), DagId(dag_id)), 201)


async def _shown(details: DagDetails, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    # A DAG may have a hundred thousand edges, and the longest way through them is looked for.
    return json_answer(await asyncio.to_thread(dag_view, details), status, headers)
