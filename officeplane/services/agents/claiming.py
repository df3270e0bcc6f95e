"""Claiming: one request of an agent is one transaction, which locks the agent and decides everything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import structlog

from officeplane.domain.agent import Agent, AgentClaim, Directive, PreviousAttempt, Skipped
from officeplane.domain.audit import Action, Deed
from officeplane.domain.errors import AgentNotFoundError
from officeplane.domain.ids import AgentId, TaskId
from officeplane.domain.principal import Principal
from officeplane.domain.space import bare
from officeplane.services.agents.offering import Offering, seeker_of
from officeplane.services.agents.payloads import Payloads
from officeplane.services.agents.registry import agent_of
from officeplane.store import agents, audit, offers
from officeplane.store.claims import LaneRaceError
from officeplane.store.connection import Connection, Ledger

RACES: Final = 3
"""How often a lane in which somebody else was quicker has the whole done again."""
LOOKED_AT: Final = 16
"""How many tasks of each demand are looked at to tell why nothing was found."""
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What an agent asks for."""

    tasks: int = 1
    """How many it wants at most."""
    starts: bool = False
    """Whether they run at once."""
    key: str | None = None
    """The name of the request: it is answered once, however often it is sent."""


class Taken(NamedTuple):
    """What one look has come to."""

    agent: Agent
    claims: list[AgentClaim]
    wanted: int
    """How many there was room for."""
    is_replay: bool = False

    @property
    def is_enough(self) -> bool:
        """Whether another look would be in vain, or would find no more."""
        return bool(self.claims) or self.is_replay or self.agent.directive is not Directive.CONTINUE


class Claiming:
    """Claims for agents."""

    def __init__(self, ledger: Ledger, offering: Offering, payloads: Payloads) -> None:
        self._ledger = ledger
        self._offering = offering
        self._payloads = payloads

    async def take(self, caller: Principal, name: str, ask: Ask) -> Taken:
        """Claim what there is for an agent at this moment; who is cancelled before the commit has claimed nothing."""
        agent_id = agent_of(caller, name)
        for tries in range(RACES + 1):
            take = partial(self._take, caller, agent_id, ask, without_lanes=tries == RACES)
            try:
                taken = await self._ledger.in_transaction(take)
            except LaneRaceError:
                # The next look sees who was quicker, and leaves that lane out.
                _log.debug("lane.raced", agent_id=agent_id)
                continue
            return taken._replace(claims=await self._payloads.put_into(taken.claims))
        message = "without lanes nobody can be quicker in one"
        raise AssertionError(message)

    async def held(self, caller: Principal, name: str) -> list[AgentClaim]:
        """Return what an agent holds."""
        agent_id = agent_of(caller, name)
        if await agents.lock(self._ledger, agent_id) is None:
            raise AgentNotFoundError(name)
        return await self._payloads.put_into(await agents.held(self._ledger, agent_id))

    async def previous_attempts(self, claims: Sequence[AgentClaim]) -> Mapping[TaskId, tuple[PreviousAttempt, ...]]:
        """Return the last failed attempts of what was claimed, by task."""
        tried = [claim.task.id for claim in claims if claim.task.attempt > 1]
        return await offers.previous_attempts(self._ledger, tried) if tried else {}

    async def skipped(self, caller: Principal, agent: Agent) -> tuple[Skipped, float | None]:
        """Return why an agent was given nothing of what waits, and in how many seconds it is worth asking again."""
        seeker = seeker_of(caller, agent)
        if agent.directive is not Directive.CONTINUE or not seeker.task_types:
            return Skipped(), None
        return await offers.skipped(self._ledger, seeker, each=LOOKED_AT)

    async def _take(
        self, caller: Principal, agent_id: AgentId, ask: Ask, connection: Connection, *, without_lanes: bool
    ) -> Taken:
        agent = await agents.greet(connection, agent_id)
        if agent is None:
            raise AgentNotFoundError(bare(agent_id))
        if ask.key is not None:
            known = await agents.claimed_under(connection, agent_id, ask.key)
            if known is not None:
                return Taken(agent, await agents.held(connection, agent_id, known), 0, is_replay=True)
        room = agent.max_concurrent_tasks - await agents.count_held(connection, agent_id)
        wanted = max(0, min(ask.tasks, room))
        if wanted == 0 or agent.directive is not Directive.CONTINUE:
            return Taken(agent, [], wanted)
        seeker = seeker_of(caller, agent)
        found = await self._offering.claim(connection, seeker, wanted, starts=ask.starts, without_lanes=without_lanes)
        if found:
            if ask.key is not None:
                await agents.keep_key(connection, agent_id, ask.key, [claim.id for claim in found])
            task_ids = [claim.task.id for claim in found]
            await audit.write(connection, Deed(caller, Action.CLAIM_TASKS, bare(agent_id), task_ids))
        return Taken(agent, found, wanted)
