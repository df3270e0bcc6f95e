"""Claims of agents: how each stands, what its holder is told, and when it is too late.

A claim outlives its attempt. Who repeats a verb is answered as the first time;
who comes after somebody else has ended it is told why.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from officeplane.domain.agent import AgentStatus, Directive
from officeplane.domain.errors import InvalidRequestError, OfficePlaneError
from officeplane.domain.failure import FailureKind
from officeplane.domain.ids import AgentId, ClaimId, TaskId
from officeplane.domain.lifecycle import CLAIMABLE, TaskState
from officeplane.domain.space import Space
from officeplane.domain.task import ClaimedTask


class Verb(StrEnum):
    """What a holder does with a claim."""

    START = "start"
    CHECKPOINT = "checkpoint"
    COMPLETE = "complete"
    FAIL = "fail"
    RELEASE = "release"


class Loss(StrEnum):
    """Why a claim was ended by somebody else than its holder."""

    CANCELLED = "cancelled"
    DELETED = "deleted"
    TIMEOUT = "timeout"
    REAPED = "reaped"


class ClaimNotFoundError(OfficePlaneError):
    """The caller holds, and held, no claim of this id."""

    code = "claim_not_found"

    def __init__(self, claim_id: str) -> None:
        super().__init__(f"There is no claim {claim_id!r} of an agent that this key is for.")


class ClaimSettledError(OfficePlaneError):
    """The holder has ended the claim before, with another verb."""

    code = "claim_settled"

    def __init__(self, claim_id: ClaimId, verb: Verb, state: TaskState) -> None:
        super().__init__(f"Claim {claim_id} was ended with {str(verb)!r} before; nothing more can be done with it.")
        self.facts = {"verb": verb, "state": state}


class ClaimEndedError(OfficePlaneError):
    """Somebody else has ended the claim."""

    code = "claim_lost"

    def __init__(self, claim_id: ClaimId, reason: Loss, state: TaskState) -> None:
        super().__init__(f"Claim {claim_id} has ended ({reason}); its task is {state}. What was spent is booked.")
        self.facts = {"reason": reason, "state": state}


class InvalidResultError(InvalidRequestError):
    """The result does not fit the schema of its type; the claim stands."""

    code = "invalid_result"


class ReportRequiredError(InvalidRequestError):
    """The task asks for a decision report, and none came; the claim stands."""

    code = "decision_report_required"


class RefusedEditError(OfficePlaneError):
    """The edits cannot work on this document; the claim stands."""

    code = "invalid_edit"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the holder of a claim is told."""

    directive: Directive
    heartbeat_seconds: float
    lease_until: datetime | None = None
    reason: str | None = None
    state: TaskState | None = None
    """Of the task, if the verb has ended the claim."""
    late: bool = False

    def as_json(self) -> dict[str, object]:
        """Return what is kept of the answer to a verb that has ended its claim."""
        return {
            "directive": self.directive,
            "heartbeatSeconds": self.heartbeat_seconds,
            "state": self.state,
            "late": self.late,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Answer":
        """Return an answer that was given before."""
        return cls(
            Directive(kept["directive"]),
            kept["heartbeatSeconds"],
            state=TaskState(kept["state"]),
            late=kept["late"],
        )


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """A claim as it stands, with the attempt that it is for."""

    id: ClaimId
    agent_id: AgentId
    space: Space
    task: ClaimedTask
    generation: int
    is_open: bool
    has_started: bool
    lease_until: datetime | None
    verb: Verb | None
    """With which its holder has ended it."""
    answer: Mapping[str, Any] | None
    task_state: TaskState
    is_latest: bool
    """Whether no attempt has followed."""
    failed_with: FailureKind | None
    was_cancelled: bool
    document_is_deleted: bool
    directive: Directive
    heartbeat_seconds: float
    requires_report: bool
    result_schema_json: str | None
    """What a result must look like, if its type says so."""

    @property
    def task_id(self) -> TaskId:
        """The task that it is on."""
        return self.task.id

    @property
    def loss(self) -> Loss:
        """Why it ended, if its holder did not end it."""
        if self.was_cancelled:
            return Loss.DELETED if self.document_is_deleted else Loss.CANCELLED
        return Loss.TIMEOUT if self.failed_with is FailureKind.TIMEOUT else Loss.REAPED

    @property
    def may_be_taken_up(self) -> bool:
        """Whether a result may count although the lease ran out: nobody has begun anew since."""
        return not self.is_open and self.verb is None and self.is_latest and self.task_state in CLAIMABLE

    @property
    def as_it_goes_on(self) -> Answer:
        """What the holder of an open claim is told."""
        return Answer(self.directive, self.heartbeat_seconds, self.lease_until)

    def answer_to(self, verb: Verb) -> Answer:
        """Return what a verb was answered that has ended the claim; raise if it ended otherwise."""
        if self.verb is None or self.answer is None:
            raise ClaimEndedError(self.id, self.loss, self.task_state)
        if self.verb is not verb:
            raise ClaimSettledError(self.id, self.verb, self.task_state)
        return Answer.from_json(self.answer)


def directive_on_claims(status: str | None) -> Directive:
    """Return what the status of an agent means for a claim that stands: one that is paused ends what it has."""
    return Directive.DRAIN if status == AgentStatus.DRAINING else Directive.CONTINUE
