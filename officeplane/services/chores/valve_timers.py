"""Valve timers: what the leader does for valves whose time has come.

Slowdowns end, breakers become half-open and let one task through. That one is
a lease: it runs under its task's, or it may be claimed until a time, and only
after that another is chosen. So a probe whose worker dies holds nobody up.
Every statement is guarded; two leaders at once do no harm.
"""

from collections.abc import Iterable
from typing import Final

import structlog

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.hint import Hint
from officeplane.domain.space import QualifiedType, bare, space_of
from officeplane.services.chores.redelivery import Redelivery
from officeplane.services.operate.valves import RINGS_AT_ONCE
from officeplane.store import valves
from officeplane.store.connection import Executor, Ledger

LONGEST_PAUSE_SECONDS: Final = 1.0
LIMITED_PAUSE_SECONDS: Final = 0.2
SHORTEST_PAUSE_SECONDS: Final = 0.05
_log = structlog.stdlib.get_logger(__name__)


class ValveTimers:
    """Ends slowdowns, half-opens breakers and chooses probes when their time has come."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, redelivery: Redelivery, probe_seconds: float) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._redelivery = redelivery
        self._probe_seconds = probe_seconds

    async def tend(self) -> float | None:
        """Open and close what is to be opened and closed; return the seconds until it is worth another look.

        None when every valve is open: that nothing is to be done can be seen less often.
        """
        survey = await valves.survey(self._ledger)
        due = survey.next_seconds
        if due is not None and due <= 0:
            half_open = await valves.half_open(self._ledger)
            for task_type in half_open:
                _log.info("breaker.half_open", task_type=bare(task_type), space=space_of(task_type))
            await self._ring(await valves.end_slowdowns(self._ledger))
            due = SHORTEST_PAUSE_SECONDS
        if survey.is_probing:
            await self._probe()
        if survey.is_limited and await self._let_in():
            due = LIMITED_PAUSE_SECONDS if due is None else min(due, LIMITED_PAUSE_SECONDS)
        if due is None:
            return LONGEST_PAUSE_SECONDS if survey.is_probing or survey.is_limited else None
        return min(max(due, SHORTEST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)

    async def _probe(self) -> None:
        """Close the breakers whose probe did well, and choose another where the last one came to nothing."""
        known_types = await self._redelivery.known_types()

        async def decide(executor: Executor) -> tuple[list[QualifiedType], list[Hint]]:
            probes = await valves.probes(executor)
            well = [probe.task_id for probe in probes if probe.succeeded and probe.task_id is not None]
            closed = await valves.close_after(executor, well) if well else []
            over = [
                probe
                for probe in probes
                if not probe.succeeded and not probe.is_under_way and bare(probe.task_type) in known_types
            ]
            return closed, await valves.choose_probes(executor, over, self._probe_seconds) if over else []

        closed, chosen = await self._ledger.in_transaction(decide)
        for task_type in closed:
            _log.info("breaker.closed", task_type=bare(task_type), space=space_of(task_type))
        for hint in chosen:
            _log.info("breaker.probed", task_id=hint.task_id)
        await self._doorbell.bells.ring(chosen)
        await self._ring(closed)

    async def _let_in(self) -> bool:
        """Ring for tasks that limits have room for and Redis does not know; tell whether to look again soon.

        Workers ring for the place that they leave; this is for tokens, and for what gets lost.
        """
        known_types = await self._redelivery.known_types()
        rooms = {name: room for name, room in (await valves.rooms(self._ledger)).items() if bare(name) in known_types}
        wanted = {task_type: min(room.tasks, RINGS_AT_ONCE) for task_type, room in rooms.items() if room.tasks}
        if not wanted:
            return bool(rooms)
        try:
            cutoffs = await self._redelivery.cutoffs()
        except RedisUnavailable:
            return False
        rung = await valves.ring(self._ledger, wanted, cutoffs=cutoffs)
        await self._doorbell.bells.ring(rung)
        return bool(rung) or len(wanted) < len(rooms)

    async def _ring(self, task_types: Iterable[QualifiedType]) -> None:
        wanted = dict.fromkeys(task_types, RINGS_AT_ONCE)
        if wanted:
            await self._doorbell.bells.ring(await valves.ring(self._ledger, wanted))
