"""Pauses: documents and task types that people hold back. What runs goes on, what waits keeps its place."""

from fastapi import APIRouter, Request

from officeplane.api.bodies import NoBody
from officeplane.api.callers import needs, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.parameters import DocumentIdInPath, TaskTypeInPath
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import View
from officeplane.domain.principal import Scope

router = APIRouter(prefix="/api", route_class=StrictRoute)


class PausedView(View):
    """Whether it is held back now."""

    paused: bool


@router.post(
    "/documents/{document_id}/pause",
    operation_id="pauseDocument",
    summary="Hold a document's tasks back",
    tags=["documents"],
    responses=refusals("document_not_found", body=True),
)
@needs(Scope.CONTROL)
async def pause_document(request: Request, document_id: DocumentIdInPath, _body: NoBody = None) -> PausedView:
    """Keep tasks of a document from being started, or of a name of which there are unfinished tasks."""
    await runtime_of(request).valves.pause_document(principal_of(request), document_id)
    return PausedView(paused=True)


@router.post(
    "/documents/{document_id}/resume",
    operation_id="resumeDocument",
    summary="Let a document's tasks go on",
    tags=["documents"],
    responses=refusals("document_not_found", body=True),
)
@needs(Scope.CONTROL)
async def resume_document(request: Request, document_id: DocumentIdInPath, _body: NoBody = None) -> PausedView:
    """Let tasks of a document be started again, in their order."""
    await runtime_of(request).valves.resume_document(principal_of(request), document_id)
    return PausedView(paused=False)


@router.post(
    "/task-types/{task_type}/pause",
    operation_id="pauseTaskType",
    summary="Hold a type's tasks back",
    tags=["task types"],
    responses=refusals("unknown_task_type", body=True),
)
@needs(Scope.CONTROL)
async def pause_task_type(request: Request, task_type: TaskTypeInPath, _body: NoBody = None) -> PausedView:
    """Keep tasks of a type from being started."""
    await runtime_of(request).valves.pause_type(principal_of(request), task_type)
    return PausedView(paused=True)


@router.post(
    "/task-types/{task_type}/resume",
    operation_id="resumeTaskType",
    summary="Let a type's tasks go on",
    tags=["task types"],
    responses=refusals("unknown_task_type", body=True),
)
@needs(Scope.CONTROL)
async def resume_task_type(request: Request, task_type: TaskTypeInPath, _body: NoBody = None) -> PausedView:
    """Let tasks of a type be started again."""
    await runtime_of(request).valves.resume_type(principal_of(request), task_type)
    return PausedView(paused=False)
