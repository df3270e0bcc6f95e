"""`/api/dead-letters`: what gave up, and what people decide about it."""

from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Body, Query, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from officeplane.api import examples
from officeplane.api.callers import needs, principal_of
from officeplane.api.cursors import cursor_after, link_to_next, seq_of
from officeplane.api.letter_views import LetterView, PartView, SkippedView, letter_view
from officeplane.api.openapi import headers, refusals
from officeplane.api.parameters import LetterQuery, TaskIdOfLetter
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer, many_views
from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.ids import TaskId
from officeplane.domain.principal import Scope
from officeplane.domain.request import Text
from officeplane.services.operate.dead_letters import Part

router = APIRouter(prefix="/api/dead-letters", tags=["dead letters"], route_class=StrictRoute)

_RESOLVING = ("dead_letter_not_found", "invalid_payload", "invalid_reference", "unknown_task_type")


class ResolveRequest(BaseModel):
    """What was decided about a letter, or a note alone."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    resolution: Literal["retry", "modify_and_retry", "cancel", "escalate", "delete"] | None = Field(
        default=None, description="What becomes of the task; left out, only the note is kept."
    )
    payload: dict[str, Any] | None = Field(
        default=None, description="What the task is tried again with; only with `modify_and_retry`."
    )
    note: Annotated[Text, Field(min_length=1, max_length=2_000)] | None = Field(
        default=None, description="What people should know of the decision."
    )
    resolved_by: Annotated[Text, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="Who decided, in words of the caller; left out, whoever calls."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.resolution is None and self.note is None:
            message = "Say a resolution, or at least a note."
            raise ValueError(message)
        if (self.resolution == "modify_and_retry") != (self.payload is not None):
            message = "A payload comes with modify_and_retry, and with nothing else."
            raise ValueError(message)
        return self

    def ruling(self, caller: str) -> Ruling:
        """Return the decision, made by the caller unless it says by whom."""
        return Ruling(Decision(self.resolution or "note"), self.resolved_by or caller, self.note)


class ResolveAlikeRequest(ResolveRequest):
    """The same for all unresolved letters of a fingerprint, a part at a time."""

    fingerprint: Annotated[Text, Field(min_length=1, max_length=100)] = Field(
        description="What failures of one cause have in common, as letters show it."
    )
    cursor: Annotated[str | None, Field(description="From the answer about the part before.")] = None


@router.get(
    "",
    operation_id="listDeadLetters",
    summary="List dead letters, newest first",
    response_model=list[LetterView],
    responses={200: {"description": "One page.", "headers": headers("Link")}, **refusals("invalid_cursor")},
)
@needs(Scope.READ)
async def list_letters(request: Request, query: Annotated[LetterQuery, Query()]) -> Response:
    """Return the newest letters that fit every filter given; the next page is in the `Link` header."""
    page = await runtime_of(request).dead_letters.page(principal_of(request), query.filter, query.before, query.limit)
    following = {}
    if len(page) == query.limit:
        following = link_to_next(request.url.path, request.query_params, cursor_after(page[-1].letter.seq))
    return many_views([letter_view(letter) for letter in page], following)


@router.post(
    "/resolve",
    operation_id="resolveDeadLetters",
    summary="Decide about all letters of a fingerprint",
    response_model=PartView,
    responses=refusals(*_RESOLVING, "invalid_cursor", body=True),
)
@needs(Scope.CONTROL)
async def resolve_alike(
    request: Request, body: Annotated[ResolveAlikeRequest, Body(openapi_examples=examples.RESOLVE_ALIKE)]
) -> Response:
    """Carry out a decision for the oldest unresolved letters of a fingerprint; with a `cursor` there may be more."""
    ruling = body.ruling(principal_of(request).id)
    after = 0 if body.cursor is None else seq_of(body.cursor)
    part = await runtime_of(request).dead_letters.resolve_alike(
        principal_of(request), body.fingerprint, ruling, body.payload, after=after
    )
    return json_answer(_part_view(body.fingerprint, ruling.decision, part))


@router.get(
    "/{task_id}",
    operation_id="getDeadLetter",
    summary="Show a dead letter",
    response_model=LetterView,
    responses=refusals("dead_letter_not_found"),
)
@needs(Scope.READ)
async def show(request: Request, task_id: TaskIdOfLetter) -> Response:
    """Return the latest letter of a task, also when the task itself was removed since."""
    return json_answer(
        letter_view(await runtime_of(request).dead_letters.letter(principal_of(request), TaskId(task_id)))
    )


@router.post(
    "/{task_id}/resolve",
    operation_id="resolveDeadLetter",
    summary="Decide about a dead letter",
    response_model=LetterView,
    responses=refusals(*_RESOLVING, "illegal_state", body=True),
)
@needs(Scope.CONTROL)
async def resolve(
    request: Request, task_id: TaskIdOfLetter, body: Annotated[ResolveRequest, Body(openapi_examples=examples.RESOLVE)]
) -> Response:
    """Carry out a decision and return the letter; one that was resolved before is refused."""
    ruling = body.ruling(principal_of(request).id)
    return json_answer(
        letter_view(
            await runtime_of(request).dead_letters.resolve(principal_of(request), TaskId(task_id), ruling, body.payload)
        )
    )


def _part_view(fingerprint: str, decision: Decision, part: Part) -> PartView:
    return PartView(
        fingerprint=fingerprint,
        decision=decision,
        count=part.count,
        skipped=tuple(
            SkippedView(task_id=one.task_id, code=one.reason.code, detail=str(one.reason)) for one in part.skipped
        ),
        cursor=None if part.last is None else cursor_after(part.last),
    )
