"""`/api/events`: what happens to tasks, as it happens."""

from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request

from officeplane.api.callers import may_have_to_leave, needs, principal_of, stay_admitted
from officeplane.api.event_stream import EventStream
from officeplane.api.openapi import refusals
from officeplane.api.parameters import EventsQuery, LastEventId
from officeplane.api.problems import RefusedError
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of, state_of
from officeplane.domain.event import Event, EventPosition, parse_position
from officeplane.domain.principal import Scope
from officeplane.domain.space import qualified
from officeplane.store.events import horizon

STREAMS_MAX: Final = 1_000
"""How many readers one process serves at a time."""

_BEFORE_EVERYTHING: Final = EventPosition(0, 0)
_EXAMPLE: Final = (
    "event: task.queued\n"
    'data: {"type": "task.queued", "taskId": "01890a5d-ac96-774b-bcce-b302099a8057", "documentId": "contract-42", '
    '"state": "QUEUED", "at": "2030-01-31T12:00:00.000Z"}\n'
    "id: 733-12-0\n\n"
)
_STREAM: Final[dict[str, Any]] = {
    "description": "Events; each has an opaque `id`. A comment comes after 15 s of silence.",
    "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EXAMPLE}},
}

router = APIRouter(prefix="/api/events", tags=["events"], route_class=StrictRoute)


@router.get(
    "",
    operation_id="followEvents",
    summary="Follow what happens to tasks",
    status_code=200,
    response_class=EventStream,
    responses={200: _STREAM, **refusals()},
)
@needs(Scope.READ)
async def follow(
    request: Request, query: Annotated[EventsQuery, Query()], last_event_id: LastEventId = None
) -> EventStream:
    """Stream events from now on, or after `Last-Event-ID` without a gap.

    An id that is no longer held yields `stream.reset`: what happened since then has to be read from the tasks.
    """
    state = state_of(request)
    if state.streams >= STREAMS_MAX:
        raise RefusedError("overloaded", f"This server has {STREAMS_MAX} readers of events already.")

    caller = principal_of(request)
    document_id = None if query.document_id is None else qualified(caller.space, query.document_id)

    def is_wanted(event: Event) -> bool:
        return query.task_id in (None, event.task_id) and document_id in (None, event.document_id)

    runtime = runtime_of(request)
    if last_event_id:
        # An id that we never gave out is like one that has expired.
        position = parse_position(last_event_id) or _BEFORE_EVERYTHING
    else:
        # Read before the answer begins: what its reader does next must already be told.
        position = await horizon(runtime.ledger)
    stay = partial(stay_admitted, request) if may_have_to_leave(request) else None
    held = await runtime.spaces.stream(caller)
    return EventStream(runtime.events.follow(caller, position), is_wanted, state, stay, held)
