"""I3, I4, I11 and I12: what attempts did, what they cost, and why a task gave up."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

from tests.chaos.checker.lives import TOLD_SECONDS, Life, Lives
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence, FailureRow

_KINDS: Final = frozenset(
    {"error", "timeout", "crash", "rate_limited", "invalid_output", "permanent", "infrastructure", "cancelled"}
)
_FREE: Final = frozenset({"rate_limited", "cancelled", "infrastructure"})
_HOPELESS: Final = frozenset({"permanent", "cancelled"})
# A worker that was not alone in its death convicts nobody; after it the task is run as the one suspect.
_UNEXPLAINED_DEATHS: Final = 1


def check_attempts(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield attempts and charges that do not add up."""
    moments: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for mark in evidence.marks:
        moments[mark.task_id, mark.attempt].add(mark.moment)
        life = lives.get(mark.task_id)
        if life is None or life.claim_of(mark.attempt) is None:
            yield Violation("I2", f"a handler ran attempt {mark.attempt} of {mark.task_id}, which nobody claimed")
    for life in lives.values():
        if life.task.runnable:
            yield from _effect(life, moments)
            yield from _charge(life)
            yield from _reason(life)
    yield from _early_reaping(evidence, lives)
    yield from _poison(evidence, lives)


def _effect(life: Life, moments: dict[tuple[str, int], set[str]]) -> Iterator[Violation]:
    task = life.task
    claims = len(life.entered("RUNNING"))
    if task.attempt != claims:
        yield Violation("I4", f"task {task.id} was claimed {claims} times, its row counts {task.attempt}")
    if task.state != "COMPLETED" or task.is_edit:
        return
    if task.result_attempt != task.attempt:
        yield Violation(
            "I4", f"task {task.id} has the result of attempt {task.result_attempt}, and {task.attempt} was the last"
        )
    if task.result_token != task.title:
        yield Violation("I3", f"task {task.id} has the result of {task.result_token}")
    if "end" not in moments.get((task.id, task.attempt), ()):
        yield Violation("I3", f"task {task.id} is COMPLETED by attempt {task.attempt}, which never ran to its end")


def _charge(life: Life) -> Iterator[Violation]:
    task = life.task
    recent = life.failures_in(life.generations)
    certain = [failure for failure in recent if failure.kind not in _FREE and failure.kind != "crash"]
    at_most = len([failure for failure in recent if failure.kind not in _FREE])
    # A cancelled attempt leaves no failure, and may have been charged all the same.
    at_most += len([step for step in life.entered("CANCELLED") if step.generation == life.generations])
    if not len(certain) <= task.attempts_charged <= at_most:
        yield Violation(
            "I12",
            f"task {task.id} was charged {task.attempts_charged} attempts; its failures account for"
            f" {len(certain)} to {at_most}",
        )
    if task.attempts_charged > task.max_retries + 1:
        yield Violation("I12", f"task {task.id} was charged {task.attempts_charged} of {task.max_retries + 1} attempts")
    told = len(life.entered("RETRYING", "FAILED", "TIMEOUT"))
    if len(life.failures) != told:
        yield Violation("I12", f"task {task.id} failed {told} times and has {len(life.failures)} failures on record")
    for failure in life.failures:
        if failure.kind not in _KINDS:
            yield Violation("I12", f"task {task.id} failed of {failure.kind!r}, which is no reason")


def _reason(life: Life) -> Iterator[Violation]:
    task = life.task
    gave_up = len(life.entered("FAILED", "TIMEOUT"))
    if life.letters != gave_up:
        yield Violation("I12", f"task {task.id} gave up {gave_up} times and has {life.letters} dead letters")
    if task.state not in ("FAILED", "TIMEOUT"):
        return
    recent = life.failures_in(life.generations)
    if not recent:
        yield Violation("I12", f"task {task.id} is {task.state} without a failure in its last generation")
        return
    last = recent[-1]
    crashes = Counter(failure.kind for failure in recent)["crash"]
    if task.poison_pill and crashes < 2:
        yield Violation("I11", f"task {task.id} is called poison after {crashes} crashes")
    has_cause = task.poison_pill or last.kind in _HOPELESS or task.attempts_charged > task.max_retries
    if not has_cause:
        used = f"{task.attempts_charged} of {task.max_retries + 1} attempts used"
        yield Violation("I12", f"task {task.id} gave up after {last.kind}, {used}")
    if (task.state == "TIMEOUT") != (last.kind == "timeout"):
        yield Violation("I12", f"task {task.id} is {task.state} after a last attempt that ended as {last.kind}")


def _early_reaping(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    leases: defaultdict[tuple[str, int], float] = defaultdict(float)
    for seen in evidence.sightings:
        leases[seen.task_id, seen.attempt] = max(leases[seen.task_id, seen.attempt], seen.lease_until)
    for life in lives.values():
        for failure in life.failures:
            claim = life.claim_of(failure.attempt)
            if not _was_reaped(failure) or claim is None:
                continue
            until = max(leases[life.task.id, failure.attempt], claim.at + evidence.terms.lease_seconds - TOLD_SECONDS)
            if failure.ended < until - 0.005:
                early = f"{until - failure.ended:.2f} s before its lease ran out"
                yield Violation("I4", f"attempt {failure.attempt} of {life.task.id} was taken away {early}")


def _was_reaped(failure: FailureRow) -> bool:
    return failure.kind == "crash" and "stopped answering" in failure.message


def _poison(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    deaths: Counter[tuple[str, int]] = Counter()
    unheard = {(failure.task_id, failure.attempt) for failure in evidence.failures if _was_reaped(failure)}
    for mark in evidence.marks:
        life = lives.get(mark.task_id)
        if mark.moment != "exit" or life is None:
            continue
        # A worker that died before it could tell of its child's death convicts nobody either.
        if life.task.task_type != "chaos.child" or (mark.task_id, mark.attempt) not in unheard:
            deaths[mark.task_id, life.generation_of(mark.attempt)] += 1
    for (task_id, generation), count in deaths.items():
        in_child = lives[task_id].task.task_type == "chaos.child"
        bound = evidence.terms.poison_crashes + (0 if in_child else _UNEXPLAINED_DEATHS)
        if count > bound:
            yield Violation("I11", f"task {task_id} took {count} processes in generation {generation}, {bound} at most")
