"""I2: one at a time. Handlers of a task, and of a document's tasks, overlap only where a lease had run out.

Execution is at least once: a worker that was frozen beyond its lease finds that
another has gone on without it. That overlap is allowed; its effect is not (I4).
So an overlap is a violation if the earlier attempt's lease is known to have
been good when the later attempt was claimed. What is known of a lease is when
it began and what the watcher saw of it; it may have been longer, never shorter.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tests.chaos.checker.lives import FINAL, TOLD_SECONDS, Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import EventRow, Evidence

CLOCK_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class _Run:
    """One handler's run, by its own marks, and the claim it ran under."""

    life: Life
    attempt: int
    start: float
    end: float | None
    claimed: float
    leased_until: float


def check_overlaps(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield what occupied one place at once."""
    yield from _occupants(evidence, lives)
    places: defaultdict[str, list[_Run]] = defaultdict(list)
    for run in _runs(evidence, lives):
        places[run.life.task.document_id or run.life.task.id].append(run)
    for place, runs in places.items():
        runs.sort(key=lambda run: run.start)
        # The few that might still run when the next starts; one that left no end died there.
        open_runs: list[_Run] = []
        for run in runs:
            open_runs = [earlier for earlier in open_runs if earlier.end is not None and earlier.end > run.start]
            for earlier in open_runs:
                if earlier.claimed < run.claimed < earlier.leased_until - CLOCK_SECONDS:
                    yield Violation(
                        "I2",
                        f"in {place} attempt {run.attempt} of {run.life.task.id} was claimed and ran while attempt"
                        f" {earlier.attempt} of {earlier.life.task.id} ran under a good lease",
                    )
            open_runs.append(run)


def _occupants(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    occupants: dict[str, str] = {}
    # An edit that begins and ends in one transaction was done ahead of its turn: nobody else ever saw it running.
    ends = {(event.xid, event.task_id) for event in evidence.events if _state(event) in FINAL}
    for event in sorted(evidence.events, key=lambda event: event.id):
        life = lives.get(event.task_id)
        if life is None or not life.task.runnable or life.task.document_id is None:
            continue
        document, state = life.task.document_id, _state(event)
        if state == "RUNNING":
            other = occupants.get(document)
            if other is not None and other != event.task_id:
                yield Violation("I2", f"{event.task_id} began to run in {document} while {other} occupied it")
            if (event.xid, event.task_id) not in ends:
                occupants[document] = event.task_id
        elif occupants.get(document) == event.task_id and state in FINAL | {"QUEUED", "RETRYING", "PENDING"}:
            del occupants[document]


def _state(event: EventRow) -> str:
    return event.kind.removeprefix("task.").upper()


def _runs(evidence: Evidence, lives: Lives) -> Iterator[_Run]:
    leases: defaultdict[tuple[str, int], float] = defaultdict(float)
    for seen in evidence.sightings:
        key = (seen.task_id, seen.attempt)
        leases[key] = max(leases[key], seen.lease_until)
    ends = {(mark.task_id, mark.attempt): mark.at for mark in evidence.marks if mark.moment == "end"}
    for mark in evidence.marks:
        life = lives.get(mark.task_id)
        if mark.moment != "start" or life is None:
            continue
        key = (mark.task_id, mark.attempt)
        claim = life.claim_of(mark.attempt)
        if claim is None:
            yield from ()
            continue
        until = max(leases[key], claim.at + evidence.terms.lease_seconds - TOLD_SECONDS)
        yield _Run(life, mark.attempt, mark.at, ends.get(key), claim.at, until)
