"""Payloads of claims: what they refer to is put in before an agent sees them."""

from collections.abc import Sequence

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.agent import AgentClaim
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed
from officeplane.domain.reference import REF_TEXT, MissingResultError, PayloadTooLargeError
from officeplane.services.claims.kernel import Claims
from officeplane.services.claims.leases import Leases
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Settlements
from officeplane.store import claims
from officeplane.store.connection import Ledger


class Payloads:
    """Puts results into the payloads of what agents have claimed."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, settlements: Settlements, *, counted_by: str) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._claims = Claims(ledger)
        self._leases = Leases(ledger)
        self._settlements = settlements
        self._counted_by = counted_by

    async def put_into(self, found: Sequence[AgentClaim]) -> list[AgentClaim]:
        """Return the claims ready to be shown; one whose references lead nowhere ends as a failure."""
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
        await self._claims.start(task)
        failed = EndedAttempt(task, Failed(Failure(FailureKind.PERMANENT, message)))
        await self._settlements.settle([failed], counted_by=self._counted_by)
        if task.document_id is not None:
            await self._doorbell.bells.ring(await claims.lane_heads(self._ledger, [task.document_id]))
