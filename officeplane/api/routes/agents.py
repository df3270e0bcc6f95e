"""`/api/agents`: which agents there are, and what they claim."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from officeplane.api.agent_bodies import ChangeAgentBody, ClaimBody, RegisterAgentBody
from officeplane.api.agent_views import AgentView, ClaimsView, ClaimView, agent_view, claim_view, claims_view
from officeplane.api.callers import needs, open_to_callers, principal_of, stay_admitted
from officeplane.api.cursors import cursor_after_name, link_to_next
from officeplane.api.openapi import headers, refusals
from officeplane.api.parameters import AgentIdInPath, AgentsQuery, IdempotencyKey
from officeplane.api.requests import StrictRoute
from officeplane.api.state import runtime_of, state_of
from officeplane.api.views import json_answer, many_views
from officeplane.api.waits import while_there
from officeplane.domain.agent import AgentClaim, Skipped
from officeplane.domain.principal import Scope
from officeplane.domain.space import bare
from officeplane.services.agents.claiming import Ask, Taken

router = APIRouter(prefix="/api/agents", tags=["agents"], route_class=StrictRoute)


@router.get(
    "",
    operation_id="listAgents",
    summary="List agents",
    response_model=list[AgentView],
    responses={200: {"description": "One page.", "headers": headers("Link")}, **refusals("invalid_cursor")},
)
@needs(Scope.READ)
async def list_agents(request: Request, query: Annotated[AgentsQuery, Query()]) -> Response:
    """Return the agents of the caller's space, by their ids."""
    page = await runtime_of(request).agents.page(principal_of(request), query.after, query.limit)
    following = {}
    if len(page) == query.limit:
        following = link_to_next(request.url.path, request.query_params, cursor_after_name(bare(page[-1].agent.id)))
    return many_views([agent_view(day) for day in page], following)


@router.get(
    "/{agent_id}",
    operation_id="getAgent",
    summary="Show an agent",
    response_model=AgentView,
    responses=refusals("agent_not_found"),
)
@needs(Scope.READ)
async def show(request: Request, agent_id: AgentIdInPath) -> Response:
    """Return an agent as it stands, with what has become of its claims of today."""
    return json_answer(agent_view(await runtime_of(request).agents.show(principal_of(request), agent_id)))


@router.put(
    "/{agent_id}",
    operation_id="putAgent",
    summary="Register an agent",
    response_model=AgentView,
    responses={
        201: {"description": "Registered.", "model": AgentView},
        **refusals("agent_not_found", "unknown_task_type", "overloaded", body=True),
    },
)
@needs(Scope.AGENT)
async def register(request: Request, agent_id: AgentIdInPath, body: RegisterAgentBody) -> Response:
    """Add an agent, or put it in the place of what it was. It is active again unless a person has paused it."""
    day, is_new = await runtime_of(request).agents.register(principal_of(request), agent_id, body.registration)
    return json_answer(agent_view(day), 201 if is_new else 200)


@router.patch(
    "/{agent_id}",
    operation_id="patchAgent",
    summary="Have an agent claim, or claim no more",
    response_model=AgentView,
    responses=refusals("agent_not_found", "forbidden", body=True),
)
@open_to_callers
async def change(request: Request, agent_id: AgentIdInPath, body: ChangeAgentBody) -> Response:
    """Pause an agent, let it finish, or go on; that needs the scope `agent`, or `control`, whose word counts."""
    changed = await runtime_of(request).agents.set_status(principal_of(request), agent_id, body.status)
    return json_answer(agent_view(changed))


@router.delete(
    "/{agent_id}",
    operation_id="deleteAgent",
    summary="Remove an agent",
    status_code=204,
    responses=refusals("agent_not_found", "agent_busy", "forbidden"),
)
@open_to_callers
async def remove(request: Request, agent_id: AgentIdInPath) -> Response:
    """Remove an agent that holds no claims; that needs the scope `agent`, or `control`."""
    await runtime_of(request).agents.remove(principal_of(request), agent_id)
    return Response(status_code=204)


@router.post(
    "/{agent_id}/claim",
    operation_id="claimTasks",
    summary="Claim tasks for an agent",
    response_model=ClaimsView,
    responses=refusals("agent_not_found", "overloaded", body=True),
)
@needs(Scope.AGENT)
async def claim(
    request: Request, agent_id: AgentIdInPath, body: ClaimBody, idempotency_key: IdempotencyKey = None
) -> Response:
    """Return what the agent may do now, the most urgent first, as soon as there is something to do.

    Sent again under the same key, it is answered with those of its claims that are still open.
    """
    caller = principal_of(request)
    ask = Ask(tasks=body.max, starts=body.start, key=idempotency_key)
    if not body.wait_seconds:
        return await _claimed(request, await runtime_of(request).claiming.take(caller, agent_id, ask), ask)
    runtime = runtime_of(request)
    with await runtime.spaces.wait(caller):
        waited = runtime.waiting.claim(
            caller,
            agent_id,
            ask,
            body.wait_seconds,
            may_stay=partial(stay_admitted, request),
            stopping=state_of(request).stopping,
        )
        taken = await while_there(request, waited)
    return await _claimed(request, taken, ask)


@router.get(
    "/{agent_id}/claims",
    operation_id="listAgentClaims",
    summary="List what an agent holds",
    response_model=list[ClaimView],
    responses=refusals("agent_not_found"),
)
@needs(Scope.AGENT)
async def list_claims(request: Request, agent_id: AgentIdInPath) -> Response:
    """Return all claims that an agent holds, in the order in which they were made: for one that was restarted."""
    held = await runtime_of(request).claiming.held(principal_of(request), agent_id)
    day = await runtime_of(request).agents.show(principal_of(request), agent_id)
    return many_views(await _views(request, held, day.agent.heartbeat_seconds))


async def _claimed(request: Request, taken: Taken, ask: Ask) -> Response:
    skipped, seconds = Skipped(), None
    if not taken.is_replay and len(taken.claims) < min(ask.tasks, taken.wanted):
        skipped, seconds = await runtime_of(request).claiming.skipped(principal_of(request), taken.agent)
    views = await _views(request, taken.claims, taken.agent.heartbeat_seconds)
    return json_answer(claims_view(tuple(views), taken.agent.directive, skipped, seconds))


async def _views(request: Request, claims: Sequence[AgentClaim], heartbeat_seconds: float) -> list[ClaimView]:
    runtime = runtime_of(request)
    tasks = await runtime.tasks.those(principal_of(request), [claim.task.id for claim in claims])
    attempts = await runtime.claiming.previous_attempts(claims)
    # Whoever has deleted a task meanwhile has ended its claim as well.
    return [
        claim_view(claim, tasks[claim.task.id], attempts.get(claim.task.id, ()), heartbeat_seconds)
        for claim in claims
        if claim.task.id in tasks
    ]
