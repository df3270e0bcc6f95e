"""Settlement: an attempt ends in exactly one transaction, or was lost before.

Task, new revision, failure row, events, counters, and the batch around the
task: all or none, guarded by the attempt's claim. What fails the guard is
*fenced*: somebody else has ended the attempt, and nothing of it is written.
That is no error. An edit whose document is no longer at the revision it
started from is handed back, to start from the one that is.

It keeps nothing from one call to the next, so any process can settle with it.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import structlog

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import TaskId
from officeplane.domain.outcome import RetryRules, unstorable
from officeplane.domain.space import QualifiedType
from officeplane.domain.task import ClaimedTask
from officeplane.failpoints import reach
from officeplane.services.claims.continuation import Continuation
from officeplane.services.settle.aftermath import ENDED, Aftermath
from officeplane.services.settle.judgement import EndedAttempt, Judged, handed_back, judged, revisions_of
from officeplane.services.settle.plain import end_plainly
from officeplane.services.settle.suspension import suspend
from officeplane.services.settle.together import Beside, Terms, end_together
from officeplane.store import pieces, settlements, valves
from officeplane.store.connection import UNSTORABLE, Ledger
from officeplane.store.settlements import Settled

# A task that was rung a moment ago for a place that became free is not rung for the next place.
RUNG_SECONDS: Final = 0.1
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Fenced:
    """The claim was lost; nothing was written."""

    task_id: TaskId


Settlement: TypeAlias = Settled | Fenced


class Group(NamedTuple):
    """What was written of attempts: in their order where each of them stands, and what is to be told."""

    settlements: list[Settlement]
    aftermath: list[Aftermath]


class Settlements:
    """Ends attempts, and tells of it."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, rules: RetryRules, own_seconds: Mapping[str, float]) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._rules = rules
        self._own_seconds = own_seconds

    def on(self, ledger: Ledger) -> "Settlements":
        """Return the same on another ledger, for an event loop of its own: it can write, and not tell."""
        return Settlements(ledger, self._doorbell, self._rules, self._own_seconds)

    async def settle(
        self,
        attempts: Sequence[EndedAttempt],
        *,
        counted_by: str,
        only_lapsed: bool = False,
        beside: Beside | None = None,
    ) -> list[Settlement]:
        """End attempts together, tell of it, and return, in their order, where each of them stands.

        `only_lapsed` is the reaper's: it ends an attempt only if its lease has
        run out by the ledger's own clock, whatever was read before.
        """
        group = await self.write(attempts, counted_by=counted_by, only_lapsed=only_lapsed, beside=beside)
        await self.tell(group.aftermath)
        return group.settlements

    async def write(
        self,
        attempts: Sequence[EndedAttempt],
        continuation: Continuation | None = None,
        *,
        counted_by: str,
        succeeded: Collection[QualifiedType] = (),
        only_lapsed: bool = False,
        beside: Beside | None = None,
    ) -> Group:
        """Do what `settle` does and leave the telling to the caller, who may have something to do that is more urgent.

        What is never told is found by the sweeper, and by those who wait when they look again.
        `continuation` goes on in the lanes of these attempts, if that can be done at once;
        `succeeded` are types, each of its space, of which others have just ended well.
        `beside` is what else belongs into the same transaction.
        """
        if not attempts:
            return Group([], [])
        await reach("before_settle")
        terms = Terms(self._rules, counted_by, only_lapsed, succeeded, beside)
        told: list[Aftermath] = []
        settled, left = await self._suspend(await judged(self._ledger, attempts, self._rules, self._own_seconds), terms)
        if left:
            settled |= await self._storable(left, continuation, terms, told)
        # A reaper that comes too late has lost nothing: the attempt has ended, or was found alive.
        if not only_lapsed:
            await self._note_fenced([one.task for one in attempts if one.task.id not in settled], counted_by)
        return Group([settled.get(one.task.id) or Fenced(one.task.id) for one in attempts], told)

    async def tell(self, told: Sequence[Aftermath]) -> None:
        """Announce what has ended, ring for what became ready."""
        if told:
            await reach("after_settle")
            await self._doorbell.announcements.announce(ENDED, [task_id for one in told for task_id in one.ended])
            await self._doorbell.bells.ring([hint for one in told for hint in one.ready])
            freed = Counter(task_type for one in told for task_type in one.freed)
            if freed:
                await self._doorbell.bells.ring(await valves.ring(self._ledger, freed, rung_ago=RUNG_SECONDS))
            await reach("after_ready_rung")

    async def _suspend(self, judged: Sequence[Judged], terms: Terms) -> tuple[dict[TaskId, Settled], Sequence[Judged]]:
        """Let those wait that wait for what they spawned; return them, and what is left to be ended."""
        suspended: dict[TaskId, Settled] = {}
        left: list[Judged] = []
        for one in judged:
            if one.awaits is None:
                left.append(one)
                continue
            how = await suspend(self._ledger, one.task, one.awaits, terms.letters)
            if how is None:
                left.append(Judged(one.task, handed_back(one.verdict), awaits=one.awaits))
            else:
                suspended[one.task.id] = how
        return suspended, left

    async def _storable(
        self, judged: Sequence[Judged], continuation: Continuation | None, terms: Terms, told: list[Aftermath]
    ) -> dict[TaskId, Settled]:
        try:
            return await self._written(judged, continuation, terms, told)
        except UNSTORABLE:
            # One value in the group is at fault; halving finds it and spares its neighbours.
            if continuation is not None:
                return await self._storable(judged, None, terms, told)
            if len(judged) > 1:
                half = len(judged) // 2
                first = await self._storable(judged[:half], None, terms, told)
                return first | await self._storable(judged[half:], None, terms, told)
        task = judged[0].task
        _log.warning("task.unstorable", task_id=task.id)
        return await self._written([Judged(task, unstorable(task, self._rules))], None, terms, told)

    async def _written(
        self, judged: Sequence[Judged], continuation: Continuation | None, terms: Terms, told: list[Aftermath]
    ) -> dict[TaskId, Settled]:
        revisions = revisions_of(judged)
        is_plain = not (terms.only_lapsed or terms.beside or any(one.leads_to_more for one in judged))
        if not is_plain or (revisions and not pieces.go_along(revisions.values())):
            settled, after = await end_together(self._ledger, judged, terms)
            told.append(after)
            return settled
        settled, after = await end_plainly(self._ledger, judged, revisions, continuation, counted_by=terms.counted_by)
        told.append(after)
        if len(settled) < len(judged):
            # The claims of these were lost, or other tasks have come to wait for them.
            missing = [one for one in judged if one.task.id not in settled]
            rest, after = await end_together(self._ledger, missing, terms)
            told.append(after)
            settled |= rest
        return settled

    async def _note_fenced(self, tasks: Sequence[ClaimedTask], counted_by: str) -> None:
        if not tasks:
            return
        for task in tasks:
            _log.info("attempt.fenced", task_id=task.id, attempt=task.attempt)
        # The settlement is committed; a count that fails must not have it tried again.
        with suppress(DatabaseUnavailableError):
            await settlements.count_fenced(self._ledger, [task.qualified_type for task in tasks], counted_by=counted_by)
