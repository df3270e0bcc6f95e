"""`/api/claims`: what agents do with the claims that they hold; every verb may be repeated."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from officeplane.api.bodies import NoBody
from officeplane.api.callers import needs, principal_of
from officeplane.api.claim_bodies import CheckpointBody, CompleteBody, FailBody, ReleaseBody
from officeplane.api.claim_views import ClaimAnswerView, ClaimEndView, answer_view, end_view
from officeplane.api.openapi import refusals
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer
from officeplane.domain.encoding import json_of
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import ClaimId
from officeplane.domain.principal import Scope
from officeplane.domain.request import Text
from officeplane.services.agents.agent_claims import Release
from officeplane.services.agents.completion import Completion

router = APIRouter(prefix="/api/claims", tags=["agents"], route_class=StrictRoute)

ClaimIdInPath = Annotated[
    Text, Path(max_length=100, description="The id of a claim.", examples=["01890a5d-ac96-774b-bcce-b302099a8057"])
]
_ENDED = ("claim_not_found", "claim_settled", "claim_lost")


@router.post(
    "/{claim_id}/start",
    operation_id="startClaim",
    summary="Begin what was claimed",
    response_model=ClaimAnswerView,
    responses=refusals(*_ENDED, body=True),
)
@needs(Scope.AGENT)
async def start(request: Request, claim_id: ClaimIdInPath, _body: NoBody = None) -> Response:
    """Make the task RUNNING; every other verb does that too, and a claim that has not begun in time lapses."""
    answer = await runtime_of(request).claim_verbs.start(principal_of(request), ClaimId(claim_id))
    return json_answer(answer_view(answer))


@router.post(
    "/{claim_id}/checkpoint",
    operation_id="saveCheckpoint",
    summary="Keep what was reached",
    response_model=ClaimAnswerView,
    responses=refusals(*_ENDED, body=True),
)
@needs(Scope.AGENT)
async def checkpoint(request: Request, claim_id: ClaimIdInPath, body: CheckpointBody) -> Response:
    """Store a checkpoint of at most 256 KiB in place of the last one; it is durable when this is answered."""
    answer = await runtime_of(request).claim_verbs.checkpoint(
        principal_of(request), ClaimId(claim_id), json_of(body.value), body.spent
    )
    return json_answer(answer_view(answer))


@router.post(
    "/{claim_id}/complete",
    operation_id="completeClaim",
    summary="Hand in what a task came to",
    response_model=ClaimEndView,
    responses=refusals(
        *_ENDED, "invalid_result", "decision_report_required", "invalid_edit", "not_supported_yet", body=True
    ),
)
@needs(Scope.AGENT)
async def complete(request: Request, claim_id: ClaimIdInPath, body: CompleteBody) -> Response:
    """End the attempt well. It counts also if the lease has run out, as long as nothing has begun anew since."""
    done = Completion(
        None if body.result is None else json_of(body.result),
        tuple((edit.task_type, json_of(edit.payload)) for edit in body.edits or ()),
        None if body.decision_report is None else json_of(body.decision_report.as_json),
    )
    answer = await runtime_of(request).claim_verbs.complete(principal_of(request), ClaimId(claim_id), done, body.spent)
    return json_answer(end_view(answer))


@router.post(
    "/{claim_id}/fail",
    operation_id="failClaim",
    summary="Say that it went wrong",
    response_model=ClaimEndView,
    responses=refusals(*_ENDED, body=True),
)
@needs(Scope.AGENT)
async def fail(request: Request, claim_id: ClaimIdInPath, body: FailBody) -> Response:
    """End the attempt badly; whether another follows, and when, is for the task's retries to say."""
    failure = Failure(
        FailureKind(body.kind),
        body.message,
        retry_after=body.retry_after_seconds,
        may_be_retried=body.retryable,
    )
    answer = await runtime_of(request).claim_verbs.fail(principal_of(request), ClaimId(claim_id), failure, body.spent)
    return json_answer(end_view(answer))


@router.post(
    "/{claim_id}/release",
    operation_id="releaseClaim",
    summary="Give a task back",
    response_model=ClaimEndView,
    responses=refusals(*_ENDED, body=True),
)
@needs(Scope.AGENT)
async def release(request: Request, claim_id: ClaimIdInPath, body: ReleaseBody) -> Response:
    """Put the task back in the queue, uncharged."""
    later = 0.0 if body.not_before is None else (body.not_before - datetime.now(UTC)).total_seconds()
    given_up = Release(body.reason, later, None if body.checkpoint is None else json_of(body.checkpoint))
    answer = await runtime_of(request).claim_verbs.release(
        principal_of(request), ClaimId(claim_id), given_up, body.spent
    )
    return json_answer(end_view(answer))
