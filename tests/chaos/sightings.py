"""Sightings: what callers were told that was not for them, known by the words that stand in it.

Each space has a word of its own in all that it submits, and its keys are named after
it, so that it stands in what was done as well. A breaker holds no words: each space
gives its own a threshold that nobody else has. Figures hold none either: they are of
more than one space when they are higher than what the space has asked for.
"""

from dataclasses import dataclass, field
from typing import Final

SPACES: Final = ("north", "south")
THRESHOLDS: Final = {"north": 999_983, "south": 999_979}
"""After how many failures in a row the breaker of a space opens: more than there ever are."""


@dataclass(slots=True)
class Sightings:
    """What nobody should ever have seen."""

    across: list[str] = field(default_factory=list[str])
    """Something of one space that was seen in the other."""
    revived: list[str] = field(default_factory=list[str])
    """Something that a revoked key was given."""
    beyond: list[str] = field(default_factory=list[str])
    """Something that a guest saw, or was let do, beyond what its key is for."""
    looks: int = 0
    """How often somebody looked."""
    revocations: int = 0
    """How many keys were revoked, and tried again."""

    def judge(self, space: str, what: str, text: str) -> None:
        """Note it when an answer told a space of the other."""
        self.looks += 1
        other = other_than(space)
        if word_of(other) in text or f'"failureThreshold":{THRESHOLDS[other]}' in text:
            self.across.append(f"{what} told {space} of {other}: {text[:200]}")

    def judge_figures(self, space: str, counted: int, asked: int) -> None:
        """Note it when more tasks were counted in a space than it has asked for."""
        if counted > asked:
            self.across.append(f"GET /api/stats told {space}, which has asked for {asked} tasks, of {counted}")

    def judge_guest(self, space: str, what: str, text: str) -> None:
        """Note it when an answer told a space's guest of what it is not to see."""
        self.looks += 1
        if concealed_in(space) in text:
            self.beyond.append(f"{what} told a guest of {space} of what is concealed: {text[:200]}")

    def judge_heard(self, space: str, heard: set[str], of_other: set[str]) -> None:
        """Note it when events told a space of tasks and DAGs of the other."""
        other = other_than(space)
        self.across += [f"the stream told {space} of {one} of {other}" for one in sorted(heard & of_other)]


def other_than(space: str) -> str:
    """Return the other space."""
    return next(one for one in SPACES if one != space)


def word_of(space: str) -> str:
    """Return what stands in everything of a space and in nothing else."""
    return f"secret-of-{space}"


def concealed_in(space: str) -> str:
    """Return what stands in everything of a space that its guest does not see."""
    return f"concealed-{word_of(space)}"
