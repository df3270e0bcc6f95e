"""Redelivery: what the leader does so that no task is left behind.

Hints are lost, workers die, times come. Every method here is bounded, guarded in
the ledger, and harmless when two leaders do it at once.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.doorbell import Doorbell
from officeplane.dispatch.locks import Hold
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import DocumentId, TaskId, parse_task_id
from officeplane.domain.outcome import Failed, HandedBack, Lapsed, Outcome
from officeplane.domain.priority import Tier
from officeplane.domain.space import DEFAULT
from officeplane.failpoints import reach
from officeplane.services.agents.lapses import count_lapses
from officeplane.services.settle.dependents import update_statuses
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Fenced, Settlements
from officeplane.store import chores, claims, dags, dependencies, trees, workers
from officeplane.store import settlements as ledger_settlements
from officeplane.store.agent_claims import agent_in
from officeplane.store.chores import Cutoffs
from officeplane.store.connection import Connection, Ledger
from officeplane.store.settlements import LapsedClaim
from officeplane.store.trees import Moved

RINGS_AT_ONCE: Final = 5_000
MOVES_AT_ONCE: Final = 1_000
# DAGs that wait for tasks outside of them are locked and looked at one by one.
UPDATED_AT_ONCE: Final = 250
# A hint this young may be on its way between the list and a claim.
GRACE_SECONDS: Final = 0.5
_log = structlog.stdlib.get_logger(__name__)


class Redelivery:
    """Sweeping, reaping, promoting, recounting and judging anew."""

    def __init__(
        self,
        ledger: Ledger,
        doorbell: Doorbell,
        settlements: Settlements,
        own_types: Collection[str],
        *,
        counted_by: str,
        heartbeat_seconds: float,
        lease_seconds: float,
        alerts: bool = False,
    ) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._settlements = settlements
        self._counted_by = counted_by
        self._own_types = own_types
        self._heartbeat_seconds = heartbeat_seconds
        self._lease_seconds = lease_seconds
        self._alerts = alerts
        self._recounted = 0
        self._updated = 0
        # Locks on lanes with nobody in them: whose they are, and the head that waits.
        self._locks_seen: dict[DocumentId, tuple[str, TaskId]] = {}

    async def sweep(self) -> int:
        """Ring runnable work that Redis does not know and somebody can take, and free locks whose holder is gone."""
        if not await chores.anything_waits(self._ledger):
            return 0
        await self._free_orphans()
        rung = await chores.unrung(self._ledger, await self.cutoffs(), await self.known_types(), limit=RINGS_AT_ONCE)
        if rung:
            await reach("sweep_marked")
            _log.info("sweep.rang", tasks=len(rung))
            await self._doorbell.bells.ring(rung)
        return len(rung)

    async def reap(self) -> int:
        """End attempts whose lease ran out as crashes, and free their documents."""
        lapsed = await ledger_settlements.lapsed(self._ledger, self._heartbeat_seconds)
        if not lapsed:
            return 0
        await reach("reap_read")
        attempts = [EndedAttempt(one.task, _end_of(one), agent_id=agent_in(one.worker_id)) for one in lapsed]
        settled = await self._settlements.settle(attempts, counted_by=self._counted_by, only_lapsed=True)
        await reach("reap_settled")
        reaped = [one for one, result in zip(lapsed, settled, strict=True) if not isinstance(result, Fenced)]
        for one in reaped:
            _log.warning("task.reaped", task_id=one.task.id, worker_id=one.worker_id, guilty=one.is_guilty)
        await self._free(reaped)
        await count_lapses(self._ledger, reaped, alerts=self._alerts)
        return len(reaped)

    async def promote(self) -> float | None:
        """Queue what has become due, and ring for it; return the seconds until more does."""
        next_due = await chores.next_due_seconds(self._ledger)
        if next_due is None or next_due > 0:
            return next_due
        _, ready = await chores.promote(self._ledger, limit=MOVES_AT_ONCE)
        ready += await chores.due_retries(self._ledger, limit=MOVES_AT_ONCE)
        await reach("promote_marked")
        await self._doorbell.bells.ring(ready)
        return 0.0

    async def recount(self) -> bool:
        """Let go on, in a window of tasks, what waits for nothing any more; return whether there is more to look at."""

        async def look(connection: Connection) -> tuple[int | None, list[Moved]]:
            until, overdue = await dependencies.overdue(connection, after_seq=self._recounted, limit=MOVES_AT_ONCE)
            if not overdue:
                return until, []
            _log.warning("dependents.overdue", tasks=len(overdue))
            await trees.lock_roots(connection, await trees.roots_of(connection, overdue))
            return until, await dependencies.recount(connection, overdue)

        until, queued = await self._ledger.in_transaction(look)
        self._recounted = until or 0
        await self._doorbell.bells.ring(trees.hints_of(queued))
        return until is not None

    async def update_dags(self) -> bool:
        """End, in a window of DAGs, those that can no longer go on; return whether there is more to look at.

        What a DAG waits for outside may fail while the DAG is stored: neither sees the other.
        """

        async def look(connection: Connection) -> int | None:
            until, stalled = await dags.stalled(connection, after_seq=self._updated, limit=UPDATED_AT_ONCE)
            if stalled:
                await dags.lock(connection, stalled)
                await update_statuses(connection, stalled)
            return until

        until = await self._ledger.in_transaction(look)
        self._updated = until or 0
        return until is not None

    async def known_types(self) -> set[str]:
        """Return the types that somebody alive can take; what is rung of others is popped in vain, again and again."""
        # The worker that asks is alive, whatever its heartbeat says.
        return {*self._own_types, *await workers.known_types(self._ledger, self._lease_seconds)}

    async def cutoffs(self) -> Cutoffs:
        """Return, per space and tier, before when a task must have been rung for its hint to be gone."""
        tails = await self._doorbell.bells.tails()
        ids = filter(None, (parse_task_id(hint) for hints in tails.values() for hint in hints))
        rung_at, now = await chores.ring_times(self._ledger, list(ids))
        latest = now - timedelta(seconds=GRACE_SECONDS)
        moments = {place: self._cutoff(tail, rung_at, latest) for place, tail in tails.items()}
        # The default space first: it is looked for most often, and an array is searched from its beginning.
        spaces = sorted({space for space, _ in tails}, key=lambda space: (space != DEFAULT, space))
        others = dict.fromkeys(Tier, latest)
        return Cutoffs(spaces, [*others.values(), *(moments[space, tier] for space in spaces for tier in Tier)])

    @staticmethod
    def _cutoff(tail: Sequence[str], rung_at: dict[TaskId, datetime], latest: datetime) -> datetime | None:
        if not tail:
            return latest
        known = [rung_at[TaskId(task_id)] for task_id in tail if TaskId(task_id) in rung_at]
        # Lists are in the order of ringing: whatever was rung before the next one out is not
        # on the list. A tail of ids that are not ours says nothing; workers will clear it.
        return min(latest, *known) if known else None

    async def _free_orphans(self) -> None:
        """Release locks seen twice on a lane that has work and nobody in it.

        A busy lane looks like that too, between two of its tasks; but then its head has changed.
        """
        heads = await chores.waiting_lanes(self._ledger, limit=RINGS_AT_ONCE)
        holders = await self._doorbell.locks.holders(list(heads)) if heads else []
        seen = {
            lane: (value, head) for (lane, head), value in zip(heads.items(), holders, strict=True) if value is not None
        }
        orphans = [(lane, held[0]) for lane, held in seen.items() if self._locks_seen.get(lane) == held]
        self._locks_seen = seen
        if orphans:
            _log.warning("locks.orphaned", documents=len(orphans))
            await self._doorbell.locks.release_by_value(orphans)
            await reach("orphan_released")
            await self._ring_lanes([DocumentId(document_id) for document_id, _ in orphans])

    async def _free(self, reaped: Sequence[LapsedClaim]) -> None:
        documents = sorted({one.task.document_id for one in reaped if one.task.document_id is not None})
        holds = [
            Hold(one.task.document_id, one.worker_id, one.task.hold_id)
            for one in reaped
            if one.task.document_id is not None and one.task.hold_id is not None
        ]
        try:
            await self._doorbell.locks.release(holds)
        except RedisUnavailable:
            _log.info("locks.not_released", documents=len(holds))
        await self._ring_lanes(documents)

    async def _ring_lanes(self, documents: Sequence[DocumentId]) -> None:
        if documents:
            await self._doorbell.bells.ring(await claims.lane_heads(self._ledger, documents))


def _end_of(lapsed: LapsedClaim) -> Outcome:
    if not lapsed.has_started:
        # A task that was reserved and never started has crashed nobody.
        return HandedBack()
    if lapsed.is_of_agent and lapsed.handler_started and lapsed.took_too_long:
        # The lease of an agent ends with the time that its attempt may take.
        message = f"the attempt ran longer than {lapsed.task.timeout_seconds:g} s"
        return Failed(Failure(FailureKind.TIMEOUT, message))
    return Lapsed(lapsed.handler_started, lapsed.is_guilty)
