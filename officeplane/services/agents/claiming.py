"""Claiming: one request of an agent is one transaction, which locks the agent and decides everything.

What is offered is a guess, made without locks. The statement that claims judges it
once more, by the predicate that workers' claims have. Nothing is kept from one
request to the next but where the last look at an agent's lanes ended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import structlog

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.agent import Agent, AgentClaim, Directive, PreviousAttempt, Skipped, worker_of
from officeplane.domain.audit import Action, Deed
from officeplane.domain.errors import AgentNotFoundError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import AgentId, DocumentId, TaskId
from officeplane.domain.narrowing import ALL_AFTER, WITHOUT_DOCUMENT, fits
from officeplane.domain.outcome import Failed
from officeplane.domain.principal import Principal
from officeplane.domain.reference import REF_TEXT, MissingResultError, PayloadTooLargeError
from officeplane.domain.space import bare, qualified
from officeplane.domain.valve import Contender
from officeplane.services.agents.registry import agent_of
from officeplane.services.claims.admission import admissible
from officeplane.services.claims.leases import Leases
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Settlements
from officeplane.store import agents, audit, claims, valves
from officeplane.store.agents import Offer, Seeker
from officeplane.store.claims import Claimant, LaneRaceError, new_claim_id
from officeplane.store.connection import Connection, Ledger

DECLINED_SECONDS: Final = 60.0
"""For how long an agent is not offered what it has declined."""
RACES: Final = 3
"""How often a lane in which somebody else was quicker has the whole done again."""
LOOKS: Final = 4
"""How often is looked for more when others took what was offered."""
OFFERS: Final = 64
LANES: Final = 64
"""How many lanes one look goes through, of all demands together."""
LOOKED_AT: Final = 16
"""How many tasks of each demand are looked at to tell why nothing was found."""
PLACES_MAX: Final = 10_000
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

    def __init__(
        self,
        ledger: Ledger,
        doorbell: Doorbell,
        leases: Leases,
        settlements: Settlements,
        lease_seconds: float,
        *,
        counted_by: str,
    ) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._leases = leases
        self._settlements = settlements
        self._lease_seconds = lease_seconds
        self._counted_by = counted_by
        self._next_lanes: dict[AgentId, str] = {}

    async def take(self, caller: Principal, name: str, ask: Ask) -> Taken:
        """Claim what there is for an agent at this moment; who is cancelled before the commit has claimed nothing."""
        agent_id = agent_of(caller, name)
        for tries in range(RACES + 1):
            one = _Claim(self, caller, agent_id, ask, without_lanes=tries == RACES)
            try:
                taken = await self._ledger.in_transaction(one.take)
            except LaneRaceError:
                _log.debug("lane.raced", agent_id=agent_id)
                continue
            return taken._replace(claims=await self._with_payloads(taken.claims))
        message = "without lanes nobody can be quicker in one"
        raise AssertionError(message)

    async def held(self, caller: Principal, name: str) -> list[AgentClaim]:
        """Return what an agent holds."""
        agent_id = agent_of(caller, name)
        if await agents.lock(self._ledger, agent_id) is None:
            raise AgentNotFoundError(name)
        return await self._with_payloads(await agents.held(self._ledger, agent_id))

    async def previous_attempts(self, claims: Sequence[AgentClaim]) -> Mapping[TaskId, tuple[PreviousAttempt, ...]]:
        """Return the last failed attempts of what was claimed, by task."""
        tried = [claim.task.id for claim in claims if claim.task.attempt > 1]
        return await agents.previous_attempts(self._ledger, tried) if tried else {}

    async def skipped(self, caller: Principal, agent: Agent) -> tuple[Skipped, float | None]:
        """Return why an agent was given nothing of what waits, and in how many seconds it is worth asking again."""
        seeker = _seeker(caller, agent)
        if agent.directive is not Directive.CONTINUE or not seeker.task_types:
            return Skipped(), None
        return await agents.skipped(self._ledger, seeker, each=LOOKED_AT)

    def next_lane(self, agent_id: AgentId) -> str:
        """Return after which lane the next look of an agent goes on."""
        return self._next_lanes.get(agent_id, "")

    def looked(self, agent_id: AgentId, next_lane: str) -> None:
        """Note how far a look at the lanes has come."""
        if len(self._next_lanes) > PLACES_MAX:
            self._next_lanes.clear()
        self._next_lanes[agent_id] = next_lane

    def claimant(self, agent: Agent, demand_ids: Sequence[int], task_types: Sequence[str], *, starts: bool) -> Claimant:
        """Return how an agent claims."""
        return Claimant(
            worker_of(agent.id),
            self._lease_seconds if starts else agent.start_seconds,
            task_types,
            # What agents do is never a suspect: a laptop that was closed has killed nobody.
            may_take_suspect=True,
            reserves=not starts,
            demand_ids=demand_ids,
        )

    async def _with_payloads(self, found: Sequence[AgentClaim]) -> list[AgentClaim]:
        """Return claims with results put into their payloads; one whose references lead nowhere ends as a failure."""
        ready: list[AgentClaim] = []
        for claim in found:
            task = claim.task
            if REF_TEXT not in task.payload_json:
                ready.append(claim)
                continue
            try:
                payload_json = await self._leases.resolve_payload(task)
            except MissingResultError as error:
                await self._fail(claim, f"a reference leads nowhere: {error}")
            except PayloadTooLargeError as error:
                await self._fail(claim, str(error))
            else:
                ready.append(claim._replace(task=task._replace(payload_json=payload_json)))
        return ready

    async def _fail(self, claim: AgentClaim, message: str) -> None:
        task = claim.task
        await claims.start(self._ledger, task.id, task.claim_id)
        failed = EndedAttempt(task, Failed(Failure(FailureKind.PERMANENT, message)))
        await self._settlements.settle([failed], counted_by=self._counted_by)
        if task.document_id is not None:
            await self._doorbell.bells.ring(await claims.lane_heads(self._ledger, [task.document_id]))


class _Claim:
    """One transaction that claims."""

    def __init__(
        self, service: Claiming, caller: Principal, agent_id: AgentId, ask: Ask, *, without_lanes: bool
    ) -> None:
        self._service = service
        self._caller = caller
        self._agent_id = agent_id
        self._ask = ask
        self._without_lanes = without_lanes

    async def take(self, connection: Connection) -> Taken:
        agent = await agents.greet(connection, self._agent_id)
        if agent is None:
            raise AgentNotFoundError(bare(self._agent_id))
        key = self._ask.key
        if key is not None:
            known = await agents.claimed_under(connection, agent.id, key)
            if known is not None:
                return Taken(agent, await agents.held(connection, agent.id, known), 0, is_replay=True)
        room = agent.max_concurrent_tasks - await agents.count_held(connection, agent.id)
        wanted = max(0, min(self._ask.tasks, room))
        if wanted == 0 or agent.directive is not Directive.CONTINUE:
            return Taken(agent, [], wanted)
        found = await self._find(connection, _seeker(self._caller, agent), wanted)
        if found:
            await self._keep(connection, found)
        return Taken(agent, found, wanted)

    async def _keep(self, connection: Connection, found: Sequence[AgentClaim]) -> None:
        if self._ask.key is not None:
            await agents.keep_key(connection, self._agent_id, self._ask.key, [claim.id for claim in found])
        deed = Deed(self._caller, Action.CLAIM_TASKS, bare(self._agent_id), [claim.task.id for claim in found])
        await audit.write(connection, deed)

    async def _find(self, connection: Connection, seeker: Seeker, wanted: int) -> list[AgentClaim]:
        found: list[AgentClaim] = []
        if not seeker.task_types:
            return found
        for _ in range(LOOKS):
            demand_ids = await agents.demands_met(connection, seeker)
            if not demand_ids:
                break
            missing = wanted - len(found)
            offers = await self._offers(connection, seeker, demand_ids, missing)
            if not offers:
                break
            admitted = await _admitted(connection, offers)
            open_to_it = [offer for offer in offers if offer.limited_type is None or offer.task_id in admitted]
            who = self._service.claimant(seeker.agent, demand_ids, seeker.task_types, starts=self._ask.starts)
            found += await _claim(connection, who, seeker, open_to_it, admitted, missing)
            if len(found) == wanted or not open_to_it:
                break
        return found

    async def _offers(
        self, connection: Connection, seeker: Seeker, demand_ids: Sequence[int], missing: int
    ) -> list[Offer]:
        each = min(OFFERS, 2 * missing + 6)
        found = await agents.offers(
            connection,
            seeker,
            demand_ids,
            after_lane=self._service.next_lane(self._agent_id),
            each=each,
            lanes=max(2, LANES // len(demand_ids)),
            limit=each,
        )
        self._service.looked(self._agent_id, found.next_lane)
        return [offer for offer in found.offers if offer.document_id is None or not self._without_lanes]


async def _admitted(connection: Connection, offers: Sequence[Offer]) -> set[TaskId]:
    contenders = [
        Contender(it.task_id, it.document_id, it.limited_type) for it in offers if it.limited_type is not None
    ]
    return {one.task_id for one in await admissible(connection, contenders)} if contenders else set()


async def _claim(
    connection: Connection,
    who: Claimant,
    seeker: Seeker,
    offers: Sequence[Offer],
    admitted: set[TaskId],
    wanted: int,
) -> list[AgentClaim]:
    """Claim so many of what was offered, in portions: what others have in hand is passed over."""
    found: list[AgentClaim] = []
    left = list(offers)
    while left and len(found) < wanted:
        count = wanted - len(found)
        portion, left = left[:count], left[count:]
        in_order = sorted(portion, key=lambda offer: offer.document_id or "")
        tasks = [(offer.task_id, new_claim_id()) for offer in in_order]
        found += await claims.claim_offered(connection, who, seeker.agent.id, seeker.agent.models, tasks, admitted)
    limited = {offer.task_id: offer.limited_type for offer in offers if offer.limited_type is not None}
    if taken := [limited[claim.task.id] for claim in found if claim.task.id in limited]:
        await valves.take_tokens(connection, taken)
    return found


def _seeker(caller: Principal, agent: Agent) -> Seeker:
    names = [name for name in caller.documents or () if name != WITHOUT_DOCUMENT and not name.endswith(ALL_AFTER)]
    return Seeker(
        agent,
        [name for name in agent.task_types if fits(name, caller.task_types)],
        caller.sight.documents,
        [DocumentId(qualified(caller.space, name)) for name in names],
        DECLINED_SECONDS,
    )
