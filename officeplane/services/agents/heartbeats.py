"""Heartbeats of agents: one beat for all the claims that it names, and the way in which it hears of their ends.

Who waits with a beat is woken when a claim of it has ended, or somebody has changed
what the agent may do. One look a second, for all who wait in this process, finds out.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import structlog

from officeplane.domain.agent import DIRECTIVES, AgentStatus, Directive
from officeplane.domain.agent_claim import KnownClaim
from officeplane.domain.errors import AgentNotFoundError, DatabaseUnavailableError
from officeplane.domain.ids import AgentId, ClaimId, parse_task_id
from officeplane.domain.principal import Principal
from officeplane.domain.spending import Spending
from officeplane.services.agents.registry import agent_of
from officeplane.store import agent_claims
from officeplane.store.connection import Ledger

LOOK_SECONDS: Final = 1.0
_log = structlog.stdlib.get_logger(__name__)


class Beat(NamedTuple):
    """What is told of one claim."""

    claim_id: ClaimId
    progress_json: str | None = None
    spent: Spending = Spending()


class Heard(NamedTuple):
    """What an agent is told: for itself, and of each claim that it named; None: there is no such claim of it."""

    agent_id: AgentId
    status: AgentStatus | None
    heartbeat_seconds: float
    claims: Sequence[tuple[ClaimId, KnownClaim | None]]

    @property
    def directive(self) -> Directive:
        """What its own status means."""
        return Directive.CONTINUE if self.status is None else DIRECTIVES[self.status]

    @property
    def is_all_well(self) -> bool:
        """Whether every claim goes on."""
        return all(claim is not None and claim.is_open for _, claim in self.claims)


@dataclass(slots=True, eq=False)
class _Waiter:
    agent_id: AgentId
    status: AgentStatus | None
    claim_ids: frozenset[ClaimId]
    news: asyncio.Event = field(default_factory=asyncio.Event)


class Heartbeats:
    """Keeps claims alive, and tells their holders when they have ended."""

    def __init__(self, ledger: Ledger, *, lease_seconds: float) -> None:
        self._ledger = ledger
        self._lease_seconds = lease_seconds
        self._waiters: set[_Waiter] = set()
        self._wanted = asyncio.Event()

    async def beat(self, caller: Principal, name: str, beats: Sequence[Beat]) -> Heard:
        """Renew the leases of the claims that are named, and return how they stand."""
        agent_id = agent_of(caller, name)
        if agent_id not in await self._status([agent_id]):
            raise AgentNotFoundError(name)
        # What is no id of any claim is told like one that is nobody's.
        told = [one for one in beats if _is_an_id(one.claim_id)]
        own = await self._own(agent_id, [one.claim_id for one in told])
        told = [one for one in told if one.claim_id in own]
        await agent_claims.book(self._ledger, {one.claim_id: one.spent for one in told})
        if told:
            heard = {one.claim_id: one.progress_json for one in told}
            await agent_claims.beat(self._ledger, heard, self._lease_seconds)
        await agent_claims.seen(self._ledger, agent_id)
        return await self._heard(agent_id, [one.claim_id for one in beats])

    async def hear(self, before: Heard) -> Heard:
        """Return how the claims of a beat stand by now."""
        return await self._heard(before.agent_id, [claim_id for claim_id, _ in before.claims])

    async def news(self, heard: Heard, seconds: float) -> None:
        """Return once one of these claims has ended, what the agent may do has changed, or the time is over."""
        waiter = _Waiter(heard.agent_id, heard.status, frozenset(claim_id for claim_id, _ in heard.claims))
        self._waiters.add(waiter)
        self._wanted.set()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await waiter.news.wait()
        finally:
            self._waiters.discard(waiter)

    async def watch(self) -> None:
        """Look once a second for all who wait, until cancelled."""
        while True:
            await self._wanted.wait()
            await asyncio.sleep(LOOK_SECONDS)
            if not self._waiters:
                self._wanted.clear()
                continue
            try:
                await self._look()
            except DatabaseUnavailableError as error:
                _log.debug("heartbeats.look_failed", error=str(error))

    async def _look(self) -> None:
        waiters = list(self._waiters)
        ended = await agent_claims.ended_among(self._ledger, {one for it in waiters for one in it.claim_ids})
        known = await self._status({it.agent_id for it in waiters})
        for waiter in waiters:
            agent = known.get(waiter.agent_id)
            status = None if agent is None else agent.status
            if status != waiter.status or not ended.isdisjoint(waiter.claim_ids):
                waiter.news.set()

    async def _status(self, agent_ids: Collection[AgentId]) -> Mapping[AgentId, agent_claims.Standing]:
        return await agent_claims.status(self._ledger, agent_ids)

    async def _own(self, agent_id: AgentId, claim_ids: Sequence[ClaimId]) -> dict[ClaimId, KnownClaim]:
        found = await agent_claims.look(self._ledger, claim_ids) if claim_ids else {}
        return {claim_id: claim for claim_id, claim in found.items() if claim.agent_id == agent_id}

    async def _heard(self, agent_id: AgentId, claim_ids: Sequence[ClaimId]) -> Heard:
        agent = (await self._status([agent_id])).get(agent_id)
        own = await self._own(agent_id, [one for one in claim_ids if _is_an_id(one)])
        status, seconds = (None, 30.0) if agent is None else agent
        return Heard(agent_id, status, seconds, [(claim_id, own.get(claim_id)) for claim_id in claim_ids])


def _is_an_id(text: str) -> bool:
    return parse_task_id(text) == text
