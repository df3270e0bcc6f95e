"""Claims as their holders are told of them."""

from collections.abc import Sequence

from pydantic import Field

from officeplane.api.views import Time, View
from officeplane.domain.agent import Directive
from officeplane.domain.agent_claim import Answer, KnownClaim
from officeplane.domain.ids import ClaimId
from officeplane.domain.lifecycle import TaskState
from officeplane.services.agents.heartbeats import Heard

UNKNOWN = "claim_not_found"
SETTLED = "claim_settled"


class ClaimAnswerView(View):
    """What the holder of a claim is told: whether to go on, and until when it is good without being heard of."""

    directive: Directive
    reason: str | None
    lease_until: Time | None
    heartbeat_seconds: float
    reserved_usd: float | None = Field(description="Always null: this version has no budgets yet.")


class ClaimEndView(ClaimAnswerView):
    """What a verb is answered that has ended a claim, however often it comes."""

    state: TaskState
    late: bool = Field(description="Whether the lease had run out, and the result counts all the same.")


class BeatenClaimView(View):
    """How one claim stands."""

    claim_id: str
    directive: Directive
    reason: str | None = Field(
        description="With `cancel`: `cancelled`, `timeout`, `reaped`, `deleted`, or a code of a refusal."
    )
    lease_until: Time | None
    reserved_usd: float | None


class HeartbeatView(View):
    """What an agent is told."""

    directive: Directive
    heartbeat_seconds: float
    claims: tuple[BeatenClaimView, ...]


def answer_view(answer: Answer) -> ClaimAnswerView:
    """Return what the holder of a claim that stands is told."""
    return ClaimAnswerView(
        directive=answer.directive,
        reason=answer.reason,
        lease_until=answer.lease_until,
        heartbeat_seconds=answer.heartbeat_seconds,
        reserved_usd=None,
    )


def end_view(answer: Answer) -> ClaimEndView:
    """Return what its end is answered."""
    assert answer.state is not None  # noqa: S101 - it has ended
    return ClaimEndView(
        directive=answer.directive,
        reason=answer.reason,
        lease_until=None,
        heartbeat_seconds=answer.heartbeat_seconds,
        reserved_usd=None,
        state=answer.state,
        late=answer.late,
    )


def heartbeat_view(heard: Heard) -> HeartbeatView:
    """Return what a beat is answered."""
    return HeartbeatView(
        directive=heard.directive, heartbeat_seconds=heard.heartbeat_seconds, claims=tuple(_beaten(heard.claims))
    )


def _beaten(claims: Sequence[tuple[ClaimId, KnownClaim | None]]) -> list[BeatenClaimView]:
    return [
        BeatenClaimView(
            claim_id=claim_id,
            directive=claim.directive if claim is not None and claim.is_open else Directive.CANCEL,
            reason=_reason(claim),
            lease_until=None if claim is None else claim.lease_until,
            reserved_usd=None,
        )
        for claim_id, claim in claims
    ]


def _reason(claim: KnownClaim | None) -> str | None:
    if claim is None:
        return UNKNOWN
    if claim.is_open:
        return None
    return claim.loss if claim.verb is None else SETTLED
