"""Valves: what keeps the tasks of a type from being claimed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class BreakerState(StrEnum):
    """Whether a type's failures keep it from being tried."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a type may be done at once and how fast; None is no limit."""

    rate_per_second: float | None = None
    concurrency: int | None = None


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """After how many failed attempts in a row a breaker opens, and for how long."""

    failure_threshold: int
    half_open_after_seconds: float


@dataclass(frozen=True, slots=True)
class Breaker:
    """The breaker of a type as it stands."""

    state: BreakerState
    failures: int
    opened_at: datetime | None
    retry_at: datetime | None
    failure_threshold: int | None
    """The type's own; None is the installation's. So is the next."""
    half_open_after_seconds: float | None


@dataclass(frozen=True, slots=True)
class Valve:
    """Everything that may keep the tasks of one type."""

    task_type: str
    is_paused: bool
    slow_until: datetime | None
    breaker: Breaker
    limits: Limits
