"""`/api/audit`: who has changed what, from where."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import JsonValue
from starlette.responses import Response

from officeplane.api.callers import needs, principal_of
from officeplane.api.cursors import cursor_after, link_to_next
from officeplane.api.openapi import headers, refusals
from officeplane.api.parameters import AuditQuery
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import Time, View, many_views
from officeplane.domain.audit import Audited
from officeplane.domain.principal import Scope
from officeplane.domain.space import Space

router = APIRouter(prefix="/api/audit", tags=["audit"], route_class=StrictRoute)


class DeedView(View):
    """What somebody has changed; of its tasks, the first hundred, and how many there were."""

    id: int
    at: Time
    space: str
    by: str
    kind: str
    on_behalf_of: str | None
    key_id: str | None
    address: str | None
    action: str
    target: str | None
    task_ids: tuple[str, ...]
    tasks: int
    before: dict[str, JsonValue] | None
    after: dict[str, JsonValue] | None


@router.get(
    "",
    operation_id="listAudit",
    summary="List what was changed, the latest first",
    response_model=list[DeedView],
    responses={200: {"description": "One page.", "headers": headers("Link")}, **refusals("invalid_cursor")},
)
@needs(Scope.ADMIN)
async def list_audit(request: Request, query: Annotated[AuditQuery, Query()]) -> Response:
    """Return the latest deeds that fit every filter given; the next page is in the `Link` header."""
    space = None if query.space is None else Space(query.space)
    page = await runtime_of(request).audit.page(principal_of(request), space, query.filter, query.before, query.limit)
    following = {}
    if len(page) == query.limit:
        following = link_to_next(request.url.path, request.query_params, cursor_after(page[-1].seq))
    return many_views([_view(deed) for deed in page], following)


def _view(deed: Audited) -> DeedView:
    facts = deed._asdict()
    return DeedView.model_validate({**facts, "id": facts.pop("seq"), "by": facts.pop("caller")})
