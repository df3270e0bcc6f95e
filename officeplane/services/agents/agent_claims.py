"""What a holder does with its claim: start, keep a checkpoint, complete, fail, release.

Every verb may come twice, for its answer may be lost. What ends a claim keeps its
answer in the transaction that does so; who repeats it is given that answer. What
was spent is booked before anything is decided, so that no refusal loses it.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import structlog

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.agent_claim import Answer, ClaimNotFoundError, KnownClaim, Verb
from officeplane.domain.audit import Action, Deed
from officeplane.domain.failure import Failure
from officeplane.domain.ids import ClaimId, parse_task_id
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed, HandedBack, Outcome
from officeplane.domain.principal import Principal
from officeplane.domain.space import bare
from officeplane.domain.spending import Spending
from officeplane.services.agents.completion import Completion, Completions
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Settlements
from officeplane.store import agent_claims, audit, claims
from officeplane.store.agent_claims import TooLateError
from officeplane.store.connection import Executor, Ledger
from officeplane.store.settlements import Settled

DECLINED: Final = "declined"
"""The reason of a release that keeps the task from its agent for a while."""
ACTIONS: Final = {
    Verb.COMPLETE: Action.COMPLETE_CLAIM,
    Verb.FAIL: Action.FAIL_CLAIM,
    Verb.RELEASE: Action.RELEASE_CLAIM,
}
"""Whose deed an end is is kept with it; what goes on before is the work itself."""
_log = structlog.stdlib.get_logger(__name__)


class Release(NamedTuple):
    """Why a task is given back, when it may be had again, and what was reached."""

    reason: str
    after_seconds: float = 0.0
    checkpoint_json: str | None = None


class ClaimVerbs:
    """Carries out what holders of claims ask for; any process can."""

    def __init__(
        self,
        ledger: Ledger,
        doorbell: Doorbell,
        settlements: Settlements,
        completions: Completions,
        *,
        counted_by: str,
        lease_seconds: float,
    ) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._settlements = settlements
        self._completions = completions
        self._counted_by = counted_by
        self._lease_seconds = lease_seconds

    async def start(self, caller: Principal, claim_id: ClaimId) -> Answer:
        """Let a task run that was reserved; one that runs already goes on."""
        return await self._go_on(caller, claim_id, Verb.START, Spending())

    async def checkpoint(self, caller: Principal, claim_id: ClaimId, value_json: str, spent: Spending) -> Answer:
        """Keep what was reached; it is durable once it is answered."""
        return await self._go_on(caller, claim_id, Verb.CHECKPOINT, spent, value_json)

    async def complete(self, caller: Principal, claim_id: ClaimId, done: Completion, spent: Spending) -> Answer:
        """End an attempt well, also if its lease has run out and nothing has begun anew since."""
        claim = await self._found(caller, claim_id, spent)
        if claim.is_open:
            claim = await self._going_on(claim)
        if claim.is_open:
            outcome = await self._completions.outcome(claim, done)
            claim = await self._settle(outcome, _Ending(caller, claim, Verb.COMPLETE, done.report_json))
        if not claim.is_open and claim.verb is None:
            claim = await self._complete_late(caller, claim, done)
        return claim.answer_to(Verb.COMPLETE)

    async def fail(self, caller: Principal, claim_id: ClaimId, failure: Failure, spent: Spending) -> Answer:
        """End an attempt badly; whether another follows, the task's policy says."""
        claim = await self._found(caller, claim_id, spent)
        if claim.is_open:
            claim = await self._going_on(claim)
        if claim.is_open:
            claim = await self._settle(Failed(failure), _Ending(caller, claim, Verb.FAIL))
        return claim.answer_to(Verb.FAIL)

    async def release(self, caller: Principal, claim_id: ClaimId, release: Release, spent: Spending) -> Answer:
        """Give a task back, uncharged."""
        claim = await self._found(caller, claim_id, spent)
        if claim.is_open and (release.checkpoint_json is not None or release.after_seconds > 0):
            # Only what runs may wait for its time, or has anything to keep.
            claim = await self._going_on(claim, release.checkpoint_json)
        if claim.is_open:
            outcome = HandedBack(max(release.after_seconds, 0.0))
            ending = _Ending(caller, claim, Verb.RELEASE, declines=release.reason == DECLINED)
            claim = await self._settle(outcome, ending)
            _log.info("claim.released", claim_id=claim_id, task_id=claim.task_id, reason=release.reason)
        return claim.answer_to(Verb.RELEASE)

    async def _go_on(
        self, caller: Principal, claim_id: ClaimId, verb: Verb, spent: Spending, checkpoint_json: str | None = None
    ) -> Answer:
        claim = await self._found(caller, claim_id, spent)
        if claim.is_open:
            claim = await self._going_on(claim, checkpoint_json)
            await agent_claims.seen(self._ledger, claim.agent_id)
        return claim.as_it_goes_on if claim.is_open else claim.answer_to(verb)

    async def _found(self, caller: Principal, claim_id: ClaimId, spent: Spending) -> KnownClaim:
        """Return a claim that an agent of this caller holds or held, and book what it has cost."""
        if parse_task_id(claim_id) is None:
            raise ClaimNotFoundError(claim_id)
        found = (await agent_claims.look(self._ledger, [claim_id])).get(claim_id)
        if found is None or found.space != caller.space or not caller.sees_agent(bare(found.agent_id)):
            raise ClaimNotFoundError(claim_id)
        await agent_claims.book(self._ledger, {claim_id: spent})
        return found

    async def _looked_at_again(self, claim: KnownClaim) -> KnownClaim:
        found = (await agent_claims.look(self._ledger, [claim.id])).get(claim.id)
        if found is None:
            raise ClaimNotFoundError(claim.id)
        return found

    async def _going_on(self, claim: KnownClaim, checkpoint_json: str | None = None) -> KnownClaim:
        await agent_claims.go_on(self._ledger, claim, self._lease_seconds, checkpoint_json)
        return await self._looked_at_again(claim)

    async def _complete_late(self, caller: Principal, claim: KnownClaim, done: Completion) -> KnownClaim:
        """Complete an attempt whose claim was lost, if that is no loss to anybody; else keep what it came to."""
        if claim.may_be_taken_up:
            outcome = await self._completions.outcome(claim, done)
            try:
                ending = _LateEnding(caller, claim, done.report_json, self._lease_seconds)
                return await self._settle(outcome, ending)
            except TooLateError:
                claim = await self._looked_at_again(claim)
        if claim.verb is None and done.told_json is not None:
            await agent_claims.keep_late(self._ledger, claim.id, done.told_json)
        return claim

    async def _settle(self, outcome: Outcome, ending: "_Ending") -> KnownClaim:
        """End an attempt if its claim stands, and return how the claim stands then."""
        claim = ending.claim
        attempt = EndedAttempt(claim.task, outcome, agent_id=claim.agent_id)
        await self._settlements.settle([attempt], counted_by=self._counted_by, beside=ending)
        await agent_claims.seen(self._ledger, claim.agent_id, ended=True)
        if claim.task.document_id is not None:
            # An agent holds no lock that would be rung for when it is given back.
            await self._doorbell.bells.ring(await claims.lane_heads(self._ledger, [claim.task.document_id]))
        return await self._looked_at_again(claim)


class _Ending:
    """What is written of a claim in the transaction that ends its attempt."""

    is_late = False

    def __init__(
        self,
        caller: Principal,
        claim: KnownClaim,
        verb: Verb,
        report_json: str | None = None,
        *,
        declines: bool = False,
    ) -> None:
        self.claim = claim
        self._caller = caller
        self._verb = verb
        self._report_json = report_json
        self._declines = declines

    async def before(self, executor: Executor) -> None:
        """Write nothing: the claim stands."""

    async def after(self, executor: Executor, settled: Sequence[Settled]) -> None:
        """Keep the answer, for the case that it gets lost."""
        for row in settled:
            answer = Answer(self.claim.directive, self.claim.heartbeat_seconds, state=row.state, late=self.is_late)
            await agent_claims.answered(executor, self.claim, self._verb, answer, self._report_json)
            deed = Deed(self._caller, ACTIONS[self._verb], self.claim.id, [row.task_id], after={"state": row.state})
            await audit.write(executor, deed)
        if settled and self._declines:
            await agent_claims.decline(executor, self.claim.task_id, self.claim.agent_id)


class _LateEnding(_Ending):
    """The same for an attempt whose lease had run out, which is taken up again first."""

    is_late = True

    def __init__(self, caller: Principal, claim: KnownClaim, report_json: str | None, lease_seconds: float) -> None:
        super().__init__(caller, claim, Verb.COMPLETE, report_json)
        self._lease_seconds = lease_seconds

    async def before(self, executor: Executor) -> None:
        """Take the attempt up; raise `TooLateError` when another has begun."""
        await agent_claims.take_up(executor, self.claim, self._lease_seconds)

    async def after(self, executor: Executor, settled: Sequence[Settled]) -> None:
        """Keep the answer, unless the document has moved on: then nothing of it has happened."""
        if not any(row.state is TaskState.COMPLETED for row in settled):
            raise TooLateError
        await super().after(executor, settled)
