"""I10: when all is over, nothing is left behind."""

from collections.abc import Iterator
from typing import Final

from tests.chaos.checker.lives import Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence

# A pool of eight and the lease keeper's one, for each process, and a little for one that is just leaving.
SESSIONS_MAX: Final = 5 * 9 + 10


def check_leaks(evidence: Evidence, _lives: Lives) -> Iterator[Violation]:
    """Yield what is still there after every lock's time has run out."""
    remains = evidence.remains
    if remains.hints:
        yield Violation("I10", f"{remains.hints} hints are left on the lists and nobody takes them")
    for key in (*remains.locks, *remains.parked):
        yield Violation("I10", f"{key} is left behind")
    for key in remains.without_ttl:
        yield Violation("I10", f"{key} would stay for ever")
    if remains.sessions > SESSIONS_MAX:
        yield Violation(
            "I10", f"{remains.sessions} sessions are open on Postgres, {SESSIONS_MAX} at most are accounted for"
        )
    if remains.sessions_in_transaction:
        yield Violation("I10", f"{remains.sessions_in_transaction} sessions sit in a transaction")
