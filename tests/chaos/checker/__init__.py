"""The checker: a pure function from evidence to violations of the promises, each named by its invariant.

Its oracle is its own: the states' table, the back-off, the order of lanes are
written down here once more, so that a mistake in the product's tables is not
believed.

| name | promise |
|------|---------|
| I1 | a task goes only from a state to one that may follow; a final state is left by an explicit retry only |
| I2 | one attempt of a task and one task of a document at a time; handlers overlap only when a lease had run out |
| I3 | what is COMPLETED completed once, by a handler that ran to its end |
| I4 | the attempt that wrote the result is the last one: a stale one writes nothing |
| I5 | the revisions of a document are one chain, and each completed edit has made one of them |
| I6 | tasks of a document are taken by rank, then in the order accepted |
| I7 | a batch is COMPLETED exactly when its children are; these run one after the other |
| I8 | a document's file says what its edits did, in their order |
| I10 | nothing is left behind: leases, locks, hints, transactions |
| I11 | poison takes at most so many processes |
| I12 | attempts are charged as agreed, and giving up has a reason |
| I13 | what was acknowledged is there, whole, and once for each key |
| I14 | what depends on others begins after all of them, once, and shares their fate; a key spawns once |
| I15 | a retry waits for its delay, a delayed task for its time |
| I16 | counters, streams and answers tell what happened |
| I18 | with Redis in health, who works on a document has its lock |
| I40 | nothing of one space is ever seen in another |
| I41 | a key does nothing a second after it was revoked |
| I42 | a key does and sees nothing beyond its scopes and the documents that it is narrowed to |
| L1 | everything ends |
| L2 | the service answers, and refuses only as agreed; its processes do not die by themselves |
"""

from collections.abc import Callable, Iterator
from typing import Final

from tests.chaos.checker.answers import check_answers
from tests.chaos.checker.attempts import check_attempts
from tests.chaos.checker.backoff import check_waiting
from tests.chaos.checker.batches import check_batches
from tests.chaos.checker.dags import check_dags
from tests.chaos.checker.documents import check_documents
from tests.chaos.checker.durability import check_durability
from tests.chaos.checker.graphs import check_graphs
from tests.chaos.checker.lanes import check_lanes
from tests.chaos.checker.leaks import check_leaks
from tests.chaos.checker.liveness import check_liveness
from tests.chaos.checker.lives import Lives, lives_of
from tests.chaos.checker.locks import check_locks
from tests.chaos.checker.overlaps import check_overlaps
from tests.chaos.checker.spaces import check_spaces
from tests.chaos.checker.spawns import check_spawns
from tests.chaos.checker.transitions import check_transitions
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence

__all__ = ["Violation", "check"]

CHECKS: Final[tuple[Callable[[Evidence, Lives], Iterator[Violation]], ...]] = (
    check_transitions,
    check_overlaps,
    check_attempts,
    check_lanes,
    check_documents,
    check_batches,
    check_graphs,
    check_dags,
    check_spawns,
    check_leaks,
    check_durability,
    check_waiting,
    check_answers,
    check_locks,
    check_spaces,
    check_liveness,
)


def check(evidence: Evidence) -> list[Violation]:
    """Return every violation, in the order of the checks."""
    lives = lives_of(evidence)
    return [violation for one in CHECKS for violation in one(evidence, lives)]
