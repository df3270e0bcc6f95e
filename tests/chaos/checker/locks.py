"""I18: with Redis in health, who works on a document has its lock, under a value that never comes back.

Judged in the calm after the last healing only: a lock that was lost in a storm
is taken again when it is renewed, and what was entered without Redis is left
without it. A process that did not get its answer in time, as on a busy machine,
is in a storm of its own; and one that is so slow that it seems to be gone loses
its locks until it renews them.
"""

from collections.abc import Iterator
from typing import Final

from tests.chaos.checker.lives import Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence
from tests.chaos.watcher import Sighting

# A process notices within about a second that Redis is back, and stays five in a lane that it entered before.
CALM_AFTER_SECONDS: Final = 8.0


def check_locks(evidence: Evidence, _lives: Lives) -> Iterator[Violation]:
    """Yield attempts on documents whose lock is not their own."""
    if evidence.healed_at is None:
        return
    judged: set[tuple[str, int]] = set()
    for seen in evidence.sightings:
        key = (seen.task_id, seen.attempt)
        if not seen.lock_seen or key in judged or seen.claimed_at < evidence.healed_at + CALM_AFTER_SECONDS:
            continue
        if _is_excused(seen, evidence):
            continue
        wanted = f"{seen.worker_id}:{seen.hold_id}"
        if seen.lock_value != wanted:
            judged.add(key)
            found = f"under the lock {seen.lock_value} instead of {wanted}"
            yield Violation("I18", f"attempt {seen.attempt} of {seen.task_id} ran on {seen.document_id} {found}")


def _is_excused(seen: Sighting, evidence: Evidence) -> bool:
    renewed = evidence.terms.lock_ttl_seconds / 3 + 1
    return any(lost - 0.5 < seen.claimed_at < lost + CALM_AFTER_SECONDS for lost in evidence.redis_lost_at) or any(
        seen.claimed_at - 1 < taken < seen.at + 0.5 and seen.at < taken + renewed
        for taken in evidence.locks_taken_away_at
    )
