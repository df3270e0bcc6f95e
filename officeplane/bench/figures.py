"""Figures: single numbers with a unit, and how they are made from many."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Unit = Literal[
    "tasks/s",
    "rows/s",
    "pairs/s",
    "cycles/s",
    "requests/s",
    "edits/s",
    "ms",
    "MB",
    "us/task",
    "x",
    "/task",
    "/s",
    "%",
    "",
]

HIGHER_IS_BETTER: Final[frozenset[Unit]] = frozenset(
    {"tasks/s", "rows/s", "pairs/s", "cycles/s", "requests/s", "edits/s"}
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a scenario, and the limit of the servers that it is to be compared with."""

    name: str
    value: float
    unit: Unit
    limit: str | None = None


def percentile(values: Sequence[float], fraction: float) -> float:
    """Return the value below which that fraction of the values lies; 0 when there are none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return statistics.median(values)


def spread(values: Sequence[float]) -> float:
    """Return how far apart repeats are, as a fraction of their median."""
    middle = median(values)
    return (max(values) - min(values)) / middle if middle else 0.0
