"""I6: a document's tasks are taken by rank, then in the order accepted; nobody is overtaken.

A task was overtaken if it had been visible as claimable for a while when a
later one of its document was claimed, and was so still. Visible is what is
committed; the claim's own statement is given half a second to run, and what
happened around a stalled Postgres is not judged.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tests.chaos.checker.lives import CLAIMABLE, Life, Lives, Step
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence

STATEMENT_SECONDS = 0.5
FOREVER = float("inf")


def check_lanes(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield claims that passed over an earlier task."""
    stalls = [(one.since - 1, one.until + 1) for one in evidence.struck if one.name.startswith("freeze Postgres")]
    lanes: defaultdict[str, list[Life]] = defaultdict(list)
    for life in lives.values():
        if life.task.runnable and life.task.document_id is not None:
            lanes[life.task.document_id].append(life)
    for document, lane in lanes.items():
        lane.sort(key=lambda life: (life.task.rank, life.task.seq))
        waits = [(life, since, until) for life in lane for since, until in _waits(life)]
        for life in lane:
            for claim in life.entered("RUNNING"):
                if not any(since < claim.at < until for since, until in stalls):
                    yield from _overtaken(document, life, claim, waits)


def _overtaken(document: str, life: Life, claim: Step, waits: list[tuple[Life, float, float]]) -> Iterator[Violation]:
    place = (life.task.rank, life.task.seq)
    for other, since, until in waits:
        if (other.task.rank, other.task.seq) >= place:
            return
        if since + STATEMENT_SECONDS < claim.at < until:
            yield Violation("I6", f"in {document} {life.task.id} was claimed although {other.task.id} was before it")
            return


def _waits(life: Life) -> Iterator[tuple[float, float]]:
    """Yield when the task was visibly claimable, or blocked its lane while it waited for its retry."""
    if not life.steps:
        return
    for step, following in pairwise([*life.steps, None]):
        assert step is not None
        if step.state in CLAIMABLE and not (step.state == "RETRYING" and life.task.yields):
            yield step.committed, FOREVER if following is None else following.at
