"""`/api/session`: who one is."""

from datetime import datetime

from fastapi import APIRouter, Request
from starlette.responses import Response

from officeplane.api.callers import open_to_callers, person_in, principal_of
from officeplane.api.openapi import refusals
from officeplane.api.requests import StrictRoute
from officeplane.api.views import Time, View, json_answer
from officeplane.domain.principal import Kind, Scope
from officeplane.domain.session import Login

router = APIRouter(prefix="/api/session", tags=["keys"], route_class=StrictRoute)


class SessionView(View):
    """Who one is, and what one may do; of people also how they have logged in and when that ends."""

    id: str
    kind: Kind
    scopes: tuple[Scope, ...]
    login: Login | None
    ends_at: Time | None


@router.get("", operation_id="getSession", summary="See who one is", response_model=SessionView, responses=refusals())
@open_to_callers
async def session(request: Request) -> Response:
    """Return as whom this server knows the caller. A session that is not used ends at `endsAt`."""
    caller = principal_of(request)
    login: Login | None = None
    ends_at: datetime | None = None
    if caller.kind is Kind.PERSON and (person := await person_in(request)) is not None:
        login, ends_at = person.session.login, person.ends_at
    return json_answer(
        SessionView(id=caller.id, kind=caller.kind, scopes=tuple(sorted(caller.scopes)), login=login, ends_at=ends_at)
    )
