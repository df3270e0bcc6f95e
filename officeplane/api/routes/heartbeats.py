"""`/api/agents/…/heartbeat`: one beat for all the claims of an agent, and how it hears of their ends."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from officeplane.api.callers import needs, principal_of
from officeplane.api.claim_bodies import HeartbeatBody
from officeplane.api.claim_views import HeartbeatView, heartbeat_view
from officeplane.api.openapi import refusals
from officeplane.api.parameters import AgentIdInPath
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of
from officeplane.api.views import json_answer
from officeplane.api.waits import wait_for_news
from officeplane.domain.encoding import json_of
from officeplane.domain.ids import ClaimId
from officeplane.domain.principal import Scope
from officeplane.services.agents.heartbeats import Beat

router = APIRouter(prefix="/api/agents", tags=["agents"], route_class=StrictRoute)


@router.post(
    "/{agent_id}/heartbeat",
    operation_id="beat",
    summary="Say that an agent is there, and goes on",
    response_model=HeartbeatView,
    responses=refusals("agent_not_found", body=True),
)
@needs(Scope.AGENT)
async def beat(
    request: Request,
    agent_id: AgentIdInPath,
    body: HeartbeatBody,
) -> Response:
    """Renew the leases of the claims that are named, and of no others; always 200, whatever has become of them."""
    caller, heartbeats = principal_of(request), runtime_of(request).heartbeats
    beats = [
        Beat(ClaimId(one.claim_id), None if one.progress is None else json_of(one.progress), one.spent)
        for one in body.claims
    ]
    heard = await heartbeats.beat(caller, agent_id, beats)
    if body.wait_seconds and heard.is_all_well:
        await wait_for_news(request, heartbeats.news(heard, body.wait_seconds))
        heard = await heartbeats.hear(heard)
    return json_answer(heartbeat_view(heard))
