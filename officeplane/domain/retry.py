"""Retries: when the next attempt runs, or that none does."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from officeplane.domain.failure import HOPELESS, Failure, FailureKind
from officeplane.domain.rate_limit import wait_seconds

DEFAULT_JITTER: Final = 0.05
HOUR_SECONDS: Final = 3600.0
POISON_ATTEMPTS: Final = 3
POISON_AGENTS: Final = 2
"""A task at which so many attempts of so many agents have failed is a poison pill, whatever retries are left."""


KINDS_MAX: Final = 100
"""How many kinds of failure may be named, over and over perhaps."""

# JSON has lists and names where Python has tuples and members.
KindNames = Annotated[
    tuple[Annotated[FailureKind, Field(strict=False)], ...], Field(strict=False, max_length=KINDS_MAX)
]


class RetryPolicy(BaseModel):
    """How long to wait before each retry, and after which failures."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=True)

    strategy: Literal["exponential", "fixed", "immediate"] = Field(
        default="exponential",
        description="Whether waits grow (`exponential`), stay the same (`fixed`) or are none (`immediate`).",
    )
    initial_seconds: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=5, description="The wait before the first retry."
    )
    multiplier: Annotated[float, Field(ge=1, le=100)] = Field(
        default=5, description="By how much each wait is longer than the last."
    )
    max_seconds: Annotated[float, Field(ge=0, le=604_800)] = Field(
        default=HOUR_SECONDS, description="The longest wait."
    )
    jitter: bool | Annotated[float, Field(ge=0, le=1)] = Field(
        default=True, description="By which part of it a wait is lengthened at random, at most; true is 0.05."
    )
    retry_on: KindNames | None = Field(
        default=None, description="The only kinds of failure that are tried again; left out, all that may be."
    )
    no_retry_on: KindNames = Field(default=(), description="Kinds of failure that are not tried again.")

    def delay_seconds(self, retry: int, chance: float) -> float:
        """Return the wait before the nth retry; `chance` in [0, 1) spreads it upward."""
        match self.strategy:
            case "immediate":
                return 0.0
            case "fixed":
                delay = self.initial_seconds
            case "exponential":
                # The exponent is bounded so that a patient task cannot overflow a float.
                delay = self.initial_seconds * self.multiplier ** min(retry - 1, 64)
        spread = DEFAULT_JITTER if self.jitter is True else float(self.jitter)
        return min(delay, self.max_seconds) * (1 + spread * chance)

    def allows(self, kind: FailureKind) -> bool:
        """Tell whether a failure of this kind may be followed by a retry."""
        if kind in HOPELESS or kind in self.no_retry_on:
            return False
        # A rate limit is no verdict on the task; `retryOn` names the failures that are.
        return self.retry_on is None or kind in self.retry_on or kind is FailureKind.RATE_LIMITED


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after a while."""

    after_seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """No further attempt; the task ends here."""


@dataclass(frozen=True, slots=True)
class RetryState:
    """What an attempt has used up once its own failure is counted."""

    attempts_charged: int
    retries_max: int
    crashes: int
    crashes_max: int
    has_crashed_before: bool
    rate_limits: int = 0
    """How many rate limits in a row it has met before this attempt."""
    agents_failed: int = 0
    """How many agents have failed at it, of those that do."""

    @property
    def is_poisoned(self) -> bool:
        """Whether the task has taken its process down too often, or agents have failed at it."""
        return self.crashes >= self.crashes_max or self.is_beyond_agents

    @property
    def is_beyond_agents(self) -> bool:
        """Whether so many attempts of agents have failed that it cannot be one agent's fault."""
        return self.attempts_charged >= POISON_ATTEMPTS and self.agents_failed >= POISON_AGENTS


def next_step(failure: Failure, used: RetryState, policy: RetryPolicy, chance: float) -> Retry | GiveUp:
    """Return what follows a failed attempt."""
    if used.is_poisoned or not policy.allows(failure.kind) or used.attempts_charged > used.retries_max:
        return GiveUp()
    if not failure.may_be_retried:
        return GiveUp()
    if failure.kind is FailureKind.RATE_LIMITED:
        return Retry(wait_seconds(failure.retry_after, used.rate_limits + 1, chance))
    if failure.kind is FailureKind.CRASH and not used.has_crashed_before:
        return Retry(0.0)
    return Retry(max(policy.delay_seconds(max(used.attempts_charged, 1), chance), failure.retry_after or 0.0))
