"""Observations: how long things took, counted by how long."""

from enum import StrEnum
from math import inf
from typing import Final, NamedTuple

BOUNDS_SECONDS: Final = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
    1800.0, 3600.0, inf,
)  # fmt: skip


class Measure(StrEnum):
    """What is observed."""

    WAIT = "wait"
    """From when a task could run until it was claimed."""
    RUN = "run"
    """From the start of an attempt to its end."""
    WASTED_POP = "wasted_pop"
    """A hint that was taken and led to no claim; it takes no time and is of no type."""


class Bucket(NamedTuple):
    """What is counted together: `up_to` is the longest time in it."""

    measure: Measure
    task_type: str
    up_to: float


class Observed(NamedTuple):
    """How often something was seen in a bucket, and for how long in all."""

    bucket: Bucket
    times: int
    seconds: float
