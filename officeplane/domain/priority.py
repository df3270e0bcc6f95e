"""Priorities: 0 is most urgent, 100 least; names and the 1-10 scale map onto it.

A task's *rank* orders its lane. It is its priority plus a boost for the minute
it was created in, so older work rises against newer at a constant rate and the
order of two waiting tasks never changes: rank is a plain column, not a formula
of the current time. What ages at a rate of its own, or has a deadline, does
change its place; it is given a new rank again and again.
"""

from datetime import datetime
from enum import IntEnum
from typing import Final, NamedTuple

BOOST_PER_MINUTE: Final = 0.1
DEFAULT_PRIORITY: Final = 50
LEAST_URGENT: Final = 100
DEADLINE_URGENCY_MAX: Final = 100.0
DEADLINE_HALVING_SECONDS: Final = 1_800.0
DEADLINE_SIGHT_SECONDS: Final = 86_400.0


class Tier(IntEnum):
    """The Redis list a task waits on, most urgent first."""

    CRITICAL = 0
    HIGH = 1
    NORMAL = 2
    LOW = 3


# By what the ledger stores: calling the class is five times slower.
TIERS: Final = {int(tier): tier for tier in Tier}
TIER_CEILINGS: Final = {Tier.CRITICAL: 9, Tier.HIGH: 29, Tier.NORMAL: 59, Tier.LOW: 100}
PRIORITY_NAMES: Final = {"CRITICAL": 0, "HIGH": 20, "NORMAL": 50, "LOW": 70, "BACKGROUND": 90}
NAMED_RANGES: Final = {
    "CRITICAL": (0, 9),
    "HIGH": (10, 29),
    "NORMAL": (30, 59),
    "LOW": (60, 100),
    "BACKGROUND": (80, 100),
}
SCALE_OF_TEN: Final = {10: 0, 9: 15, 8: 20, 7: 40, 6: 45, 5: 50, 4: 65, 3: 70, 2: 85, 1: 90}


def tier_of(priority: float) -> Tier:
    """Return the tier of a priority; ageing may have taken it below 0."""
    for tier, ceiling in TIER_CEILINGS.items():
        if priority < ceiling + 1:
            return tier
    return Tier.LOW


def rank_of(priority: int, created_minutes: float) -> float:
    """Return the place in the lane of a task created that many minutes after the epoch."""
    return priority + BOOST_PER_MINUTE * created_minutes


def effective_priority(rank: float, now_minutes: float) -> float:
    """Return how urgent a task of this rank has become by now."""
    return rank - BOOST_PER_MINUTE * now_minutes


def shown(priority: float) -> float:
    """Return an effective priority as people are told it: to one digit, and nothing below nothing is just nothing."""
    return round(priority, 1) + 0.0


def deadline_urgency(remaining_seconds: float | None) -> float:
    """Return what a deadline takes off a priority: 100 from then on, half of that for every half hour before."""
    if remaining_seconds is None:
        return 0.0
    seen = min(max(remaining_seconds, 0.0), DEADLINE_SIGHT_SECONDS)
    return DEADLINE_URGENCY_MAX * 2 ** (-seen / DEADLINE_HALVING_SECONDS)


def priority_now(
    priority: int,
    *,
    age_minutes: float,
    boost_per_minute: float = BOOST_PER_MINUTE,
    remaining_seconds: float | None = None,
    path_boost: float = 0.0,
) -> float:
    """Return how urgent a task of that age is by itself, the lower the more."""
    return priority - age_minutes * boost_per_minute - deadline_urgency(remaining_seconds) - path_boost


class Urgency(NamedTuple):
    """What makes a task urgent, whenever that is asked."""

    priority: int
    deadline: datetime | None = None
    boost_per_minute: float | None = None

    def may_exceed(self, other: "Urgency") -> bool:
        """Tell whether there may be a time at which it is more urgent than the other of the same age."""
        is_due_first = self.deadline is not None and (other.deadline is None or self.deadline < other.deadline)
        return self.priority < other.priority or is_due_first or self.boost > other.boost

    def at_least(self, other: "Urgency") -> "Urgency":
        """Return what either of them is at least."""
        deadlines = [one.deadline for one in (self, other) if one.deadline is not None]
        return Urgency(
            max(self.priority, other.priority),
            max(deadlines) if len(deadlines) == 2 else None,
            min(self.boost, other.boost),
        )

    @property
    def boost(self) -> float:
        """How fast it ages."""
        return BOOST_PER_MINUTE if self.boost_per_minute is None else self.boost_per_minute
