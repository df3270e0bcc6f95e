"""Offering: what an agent may have is looked for, admitted by limits, and claimed, inside the transaction of its claim.

What is offered is a guess, made without locks. The statement that claims judges it
once more, by the predicate that workers' claims have; what others have in hand by
then is passed over.
"""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.agent import Agent, AgentClaim, worker_of
from officeplane.domain.ids import AgentId, DocumentId, TaskId
from officeplane.domain.narrowing import ALL_AFTER, WITHOUT_DOCUMENT, fits
from officeplane.domain.principal import Principal
from officeplane.domain.space import qualified
from officeplane.domain.valve import Contender
from officeplane.services.claims.admission import admissible
from officeplane.store import claims, offers, valves
from officeplane.store.claims import Claimant, new_claim_id
from officeplane.store.connection import Connection
from officeplane.store.offers import Offer, Seeker

DECLINED_SECONDS: Final = 60.0
"""For how long an agent is not offered what it has declined."""
LOOKS: Final = 4
"""How often is looked for more when others took what was offered."""
OFFERS: Final = 64
LANES: Final = 64
"""How many lanes one look goes through, of all demands together."""
PLACES_MAX: Final = 10_000


class Offering:
    """Finds what agents may have, and remembers where the last look at the lanes of each has ended."""

    def __init__(self, lease_seconds: float) -> None:
        self._lease_seconds = lease_seconds
        self._next_lanes: dict[AgentId, str] = {}

    async def claim(
        self, connection: Connection, seeker: Seeker, wanted: int, *, starts: bool, without_lanes: bool
    ) -> list[AgentClaim]:
        """Claim what there is, so many at most; without lanes, nothing that has a document."""
        found: list[AgentClaim] = []
        if not seeker.task_types:
            return found
        for _ in range(LOOKS):
            demand_ids = await offers.demands_met(connection, seeker)
            if not demand_ids:
                break
            missing = wanted - len(found)
            offered = await self._look(connection, seeker, demand_ids, missing)
            if without_lanes:
                offered = [offer for offer in offered if offer.document_id is None]
            admitted = await _admitted(connection, offered)
            offered = [offer for offer in offered if offer.limited_type is None or offer.task_id in admitted]
            who = self._claimant(seeker, demand_ids, starts=starts)
            found += await _claim(connection, who, seeker, offered, admitted, missing)
            if len(found) == wanted or not offered:
                break
        return found

    async def _look(
        self, connection: Connection, seeker: Seeker, demand_ids: Sequence[int], missing: int
    ) -> list[Offer]:
        each = min(OFFERS, 2 * missing + 6)
        found = await offers.look(
            connection,
            seeker,
            demand_ids,
            after_lane=self._next_lanes.get(seeker.agent.id, ""),
            each=each,
            lanes=max(2, LANES // len(demand_ids)),
            limit=each,
        )
        if len(self._next_lanes) > PLACES_MAX:
            self._next_lanes.clear()
        self._next_lanes[seeker.agent.id] = found.next_lane
        return found.offers

    def _claimant(self, seeker: Seeker, demand_ids: Sequence[int], *, starts: bool) -> Claimant:
        agent = seeker.agent
        return Claimant(
            worker_of(agent.id),
            self._lease_seconds if starts else agent.start_seconds,
            seeker.task_types,
            # What agents do is never a suspect: a laptop that was closed has killed nobody.
            may_take_suspect=True,
            reserves=not starts,
            demand_ids=demand_ids,
        )


def seeker_of(caller: Principal, agent: Agent) -> Seeker:
    """Return an agent that looks for something to do on behalf of a caller, which may be narrowed."""
    names = [name for name in caller.documents or () if name != WITHOUT_DOCUMENT and not name.endswith(ALL_AFTER)]
    return Seeker(
        agent,
        [name for name in agent.task_types if fits(name, caller.task_types)],
        caller.sight.documents,
        [DocumentId(qualified(caller.space, name)) for name in names],
        DECLINED_SECONDS,
    )


async def _admitted(connection: Connection, offered: Sequence[Offer]) -> set[TaskId]:
    contenders = [
        Contender(it.task_id, it.document_id, it.limited_type) for it in offered if it.limited_type is not None
    ]
    return {one.task_id for one in await admissible(connection, contenders)} if contenders else set()


async def _claim(
    connection: Connection,
    who: Claimant,
    seeker: Seeker,
    offered: Sequence[Offer],
    admitted: set[TaskId],
    wanted: int,
) -> list[AgentClaim]:
    """Claim so many of what was offered, in portions: what others have in hand is passed over."""
    found: list[AgentClaim] = []
    left = list(offered)
    while left and len(found) < wanted:
        count = wanted - len(found)
        portion, left = left[:count], left[count:]
        in_order = sorted(portion, key=lambda offer: offer.document_id or "")
        tasks = [(offer.task_id, new_claim_id()) for offer in in_order]
        found += await claims.claim_offered(connection, who, seeker.agent.id, seeker.agent.models, tasks, admitted)
    limited = {offer.task_id: offer.limited_type for offer in offered if offer.limited_type is not None}
    if taken := [limited[claim.task.id] for claim in found if claim.task.id in limited]:
        await valves.take_tokens(connection, taken)
    return found
