"""`/api/tasks`: in, out, and what can be done to a task meanwhile."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from officeplane.api.bodies import (
    BulkBody,
    CancelBody,
    CancelManyBody,
    NoBody,
    PatchBody,
    RetryManyBody,
    TaskBody,
)
from officeplane.api.callers import needs, principal_of
from officeplane.api.cursors import cursor_after, link_to_next
from officeplane.api.openapi import headers, refusals
from officeplane.api.parameters import IdempotencyKey, ListQuery, TaskIdInPath, WaitSeconds
from officeplane.api.requests import StrictRoute, is_large
from officeplane.api.state import runtime_of
from officeplane.api.task_views import ChangedView, ExplanationView, TaskView, explanation_view, many_tasks, one_task
from officeplane.api.views import json_answer
from officeplane.api.waits import wait_for
from officeplane.domain.errors import FieldError, InvalidParameterError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import Scope
from officeplane.domain.request import TaskRequest
from officeplane.domain.task import ChildSummary, TaskDetails
from officeplane.services.operate.selection import Changed
from officeplane.services.submit.submission import Submitted

router = APIRouter(prefix="/api/tasks", tags=["tasks"], route_class=StrictRoute)

_SUBMITTING = (
    "unknown_task_type", "invalid_payload", "invalid_reference", "not_supported_yet",
    "idempotency_in_progress", "idempotency_mismatch", "document_not_found",
)  # fmt: skip


@router.post(
    "",
    operation_id="submitTask",
    summary="Submit a task or a batch",
    status_code=201,
    response_model=TaskView,
    responses={
        200: {
            "model": TaskView,
            "description": "The idempotency key was used before: the task as it is now.",
            "headers": headers("Location", "Idempotency-Replayed"),
        },
        201: {"description": "Stored.", "headers": headers("Location")},
        **refusals(*_SUBMITTING, body=True),
    },
)
@needs(Scope.EDIT)
async def submit(
    request: Request, body: TaskBody, idempotency_key: IdempotencyKey = None, wait: WaitSeconds = 0
) -> Response:
    """Store a task, or a batch with all its children, and return it; what is refused is not stored.

    With `wait` it is returned as soon as it is final, however it ended, or as it is when the time is over.
    """
    runtime = runtime_of(request)
    if idempotency_key is not None:
        body = _with_key(body, idempotency_key)
    submitted = await runtime.submission.submit(principal_of(request), body, is_large=is_large(request))
    location = {"Location": f"/api/tasks/{submitted.task.id}"}
    details = await (wait_for(request, submitted.task.id, wait) if wait else _details(request, submitted))
    if submitted.replayed:
        return one_task(details, 200, {**location, "Idempotency-Replayed": "true"})
    return one_task(details, 201, location)


@router.post(
    "/bulk",
    operation_id="submitTasks",
    summary="Submit many tasks, all or none",
    status_code=201,
    response_model=list[TaskView],
    responses={201: {"description": "Stored, all of them, in the order given."}, **refusals(*_SUBMITTING, body=True)},
)
@needs(Scope.EDIT)
async def submit_many(request: Request, body: BulkBody, idempotency_key: IdempotencyKey = None) -> Response:
    """Store up to 1,000 tasks and batches, 10,000 tasks in all; one that is refused refuses them all."""
    if idempotency_key is not None:
        raise _wrong_key("In a bulk each body has its own idempotencyKey.")
    runtime = runtime_of(request)
    submitted = await runtime.submission.submit_many(principal_of(request), body, is_large=is_large(request))
    return many_tasks([await _details(request, one) for one in submitted], 201)


@router.post(
    "/cancel",
    operation_id="cancelTasks",
    summary="Cancel all tasks that fit a filter",
    response_model=ChangedView,
    responses=refusals("invalid_cursor", body=True),
)
@needs(Scope.CONTROL)
async def cancel_many(request: Request, body: CancelManyBody) -> Response:
    """Cancel what waits and ask what runs to stop, oldest first, for 5 s at most; `next` is where to go on."""
    done = await runtime_of(request).selection.cancel(principal_of(request), body.filter, body.reason, body.place)
    return json_answer(_changed_view(done))


@router.post(
    "/retry",
    operation_id="retryTasks",
    summary="Queue all tasks again that fit a filter",
    response_model=ChangedView,
    responses=refusals("invalid_cursor", body=True),
)
@needs(Scope.CONTROL)
async def retry_many(request: Request, body: RetryManyBody) -> Response:
    """Retry what is FAILED, TIMEOUT or CANCELLED, oldest first, for 5 s at most; `next` is where to go on."""
    done = await runtime_of(request).selection.retry(principal_of(request), body.filter, body.place)
    return json_answer(_changed_view(done))


@router.get(
    "",
    operation_id="listTasks",
    summary="List tasks, newest first",
    response_model=list[TaskView],
    responses={200: {"description": "One page.", "headers": headers("Link")}, **refusals("invalid_cursor")},
)
@needs(Scope.READ)
async def list_tasks(request: Request, query: Annotated[ListQuery, Query()]) -> Response:
    """Return the newest tasks that fit every filter given; the next page is in the `Link` header.

    A page of large tasks ends early, so `limit` does not tell whether there are more.
    """
    page, goes_on = await runtime_of(request).tasks.page(principal_of(request), query.filter, query.place, query.limit)
    following = {}
    if goes_on:
        following = link_to_next(request.url.path, request.query_params, cursor_after(page[-1].task.seq))
    return many_tasks(page, 200, following)


@router.get(
    "/{task_id}",
    operation_id="getTask",
    summary="Show a task",
    response_model=TaskView,
    responses=refusals("task_not_found"),
)
@needs(Scope.READ)
async def show(request: Request, task_id: TaskIdInPath, wait: WaitSeconds = 0) -> Response:
    """Return the task as it is now, or once it is final."""
    runtime = runtime_of(request)
    if wait:
        return one_task(await wait_for(request, TaskId(task_id), wait))
    return one_task(await runtime.tasks.find(principal_of(request), TaskId(task_id)))


@router.patch(
    "/{task_id}",
    operation_id="patchTask",
    summary="Change a task while it waits",
    response_model=TaskView,
    responses=refusals("task_not_found", "illegal_state", body=True),
)
@needs(Scope.EDIT)
async def patch(request: Request, task_id: TaskIdInPath, body: PatchBody) -> Response:
    """Change what is named of a PENDING, QUEUED or RETRYING task; what its children have in common with it follows."""
    runtime = runtime_of(request)
    await runtime.patches.patch(principal_of(request), TaskId(task_id), body)
    return one_task(await runtime.tasks.find(principal_of(request), TaskId(task_id)))


@router.post(
    "/{task_id}/cancel",
    operation_id="cancelTask",
    summary="Cancel a task and everything below it",
    response_model=TaskView,
    responses={
        200: {"description": "It was waiting and is CANCELLED."},
        202: {"model": TaskView, "description": "It runs and was asked to stop; it will be CANCELLED within 2 s."},
        **refusals("task_not_found", "illegal_state", body=True),
    },
)
@needs(Scope.EDIT)
async def cancel(request: Request, task_id: TaskIdInPath, body: CancelBody = None) -> Response:
    """End a waiting task at once, or ask a running one to stop; a final one is refused."""
    runtime = runtime_of(request)
    await runtime.cancellation.cancel(principal_of(request), TaskId(task_id), None if body is None else body.reason)
    details = await runtime.tasks.find(principal_of(request), TaskId(task_id))
    return one_task(details, 200 if details.task.state is TaskState.CANCELLED else 202)


@router.post(
    "/{task_id}/retry",
    operation_id="retryTask",
    summary="Queue a final task again",
    response_model=TaskView,
    responses=refusals("task_not_found", "illegal_state", body=True),
)
@needs(Scope.EDIT)
async def retry(request: Request, task_id: TaskIdInPath, _body: NoBody = None) -> Response:
    """Give a FAILED, TIMEOUT or CANCELLED task a fresh retry budget; of a batch, its unfinished children."""
    runtime = runtime_of(request)
    await runtime.reopening.retry(principal_of(request), TaskId(task_id))
    return one_task(await runtime.tasks.find(principal_of(request), TaskId(task_id)))


@router.get(
    "/{task_id}/explain",
    operation_id="explainTask",
    summary="Say why a task waits",
    response_model=ExplanationView,
    responses=refusals("task_not_found"),
)
@needs(Scope.READ)
async def explain(request: Request, task_id: TaskIdInPath) -> Response:
    """Return whether the task could run now, and each thing it waits for."""
    return json_answer(
        explanation_view(await runtime_of(request).explanations.explain(principal_of(request), TaskId(task_id)))
    )


def _with_key(body: TaskRequest, key: str) -> TaskRequest:
    if body.idempotency_key not in (None, key):
        raise _wrong_key("It differs from the idempotencyKey of the body.")
    return body.model_copy(update={"idempotency_key": key})


def _wrong_key(message: str) -> InvalidParameterError:
    return InvalidParameterError(f"Idempotency-Key: {message}", [FieldError("Idempotency-Key", message)])


def _changed_view(done: Changed) -> ChangedView:
    return ChangedView(changed=done.tasks, next=None if done.after is None else cursor_after(done.after))


async def _details(request: Request, submitted: Submitted) -> TaskDetails:
    task = submitted.task
    if submitted.replayed or task.unmet:
        return await runtime_of(request).tasks.find(principal_of(request), task.id)
    if not task.is_batch:
        return TaskDetails(task, (), None)
    children = [one for one in submitted.tasks if one.parent_id == task.id]
    return TaskDetails(task, (), tuple(ChildSummary(one.id, one.task_type, one.state, one.key) for one in children))
