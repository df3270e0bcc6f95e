"""I40 to I42: spaces see nothing of each other, a revoked key is dead, and a key is good for what it was given."""

from collections.abc import Iterator

from tests.chaos.checker.lives import Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence


def check_spaces(evidence: Evidence, _lives: Lives) -> Iterator[Violation]:
    """Yield what was seen across spaces, and what a key was given that was revoked or is narrower."""
    for what in evidence.strangers.across:
        yield Violation("I40", what)
    for what in evidence.strangers.revived:
        yield Violation("I41", f"a revoked key was answered {what}")
    for what in evidence.strangers.beyond:
        yield Violation("I42", what)
