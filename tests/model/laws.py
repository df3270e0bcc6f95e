"""Laws: what must be true of every step, whoever took it and whatever came before.

The first line of each is the law; what it returns is how it was broken. They know of the product
only its tables and the states of `domain/lifecycle.py`.
"""

from collections.abc import Iterator
from typing import Final

from officeplane.domain.errors import DatabaseUnavailableError, OfficePlaneError
from officeplane.domain.lifecycle import ACTIVE, CLAIMABLE, FINAL, TaskState, is_legal
from tests.model.rows import PAST, TO_COME, Fact, claim_name, short
from tests.model.steps import Law, Step


def refusals_are_answers(step: Step) -> str | None:
    """What is asked in a bad moment is refused in words, and breaks nothing."""
    answer = step.answer
    is_refused = isinstance(answer, OfficePlaneError) and not isinstance(answer, DatabaseUnavailableError)
    return f"{type(answer).__name__}: {answer}" if isinstance(answer, Exception) and not is_refused else None


def final_is_final(step: Step) -> str | None:
    """What has ended stays as it ended."""
    for before, _ in changed(step):
        if before["state"] in FINAL:
            return f"{named(before)} was {before['state']} and is changed"
    return None


def states_follow_the_table(step: Step) -> str | None:
    """A task goes from one state to another only as the table of states allows."""
    for before, after in changed(step):
        source, target = TaskState(before["state"]), TaskState(after["state"])
        # Whoever ends what was only reserved starts it first.
        starts = step.is_whole and source is TaskState.CLAIMED and is_legal(TaskState.RUNNING, target)
        if source is not target and not (starts or is_legal(source, target) or comes_late(step, before, after)):
            return f"{named(before)} went from {source} to {target}"
    return None


def one_at_a_time_in_a_document(step: Step) -> str | None:
    """At most one task of a document is in hand."""
    held = [row["document_id"] for row in step.after["tasks"] if row["document_id"] and row["state"] in ACTIVE]
    twice = {one for one in held if held.count(one) > 1}
    return f"two tasks of {', '.join(twice)} are in hand" if twice else None


def held_under_a_lease(step: Step) -> str | None:
    """A lease lasts exactly as long as somebody holds the task."""
    for row in step.after["tasks"]:
        if (row["state"] in ACTIVE) != (row["lease_until"] is not None):
            return f"{named(row)} is {row['state']} and its lease is {row['lease_until']}"
    return None


def attempts_are_counted(step: Step) -> str | None:
    """A claim is the next attempt, of a task that nobody has; an attempt is charged at most once, when it ends."""
    for before, after in changed(step):
        begun, charged = after["attempt"] - before["attempt"], after["attempts_charged"] - before["attempts_charged"]
        if begun not in {0, 1} or (begun and before["state"] in ACTIVE):
            return (
                f"attempt {before['attempt']} of {named(before)}, {before['state']}, was followed by {after['attempt']}"
            )
        if charged not in {0, 1} or (charged and (before["state"] not in ACTIVE or after["state"] in ACTIVE)):
            return f"{named(before)} was charged {charged} times, from {before['state']} to {after['state']}"
        if after["attempts_charged"] > after["attempt"]:
            return f"{named(before)} has {after['attempt']} attempts and was charged for {after['attempts_charged']}"
    return None


def others_attempts_are_let_alone(step: Step) -> str | None:
    """Whoever speaks of a claim that does not stand changes no task."""
    if step.by is None or step.by.about is None:
        return None
    for before, after in changed(step):
        stands = before["state"] in ACTIVE and before["claim_id"] == step.by.about
        if not stands and not comes_late(step, before, after):
            return f"{named(before)}, {before['state']}, was changed by {short(step.by.about)}"
    return None


def leases_that_run_are_respected(step: Step) -> str | None:
    """The reaper ends only attempts whose lease has run out."""
    if step.by is None or step.by.who != "the reaper":
        return None
    for before, after in changed(step):
        if before["lease_until"] == TO_COME and after["state"] != before["state"]:
            return f"{named(before)} was taken from its holder before its lease was over"
    return None


def what_lapsed_is_let_go(step: Step) -> str | None:
    """Once the reaper has looked, nothing is held under a lease that was over."""
    if step.by is None or step.by.who != "the reaper" or not step.is_whole:
        return None
    for before, after in zip(step.before["tasks"], step.after["tasks"], strict=True):
        if before["lease_until"] == PAST and after["state"] in ACTIVE:
            return f"{named(after)} is still {after['state']}"
    return None


def times_are_kept(step: Step) -> str | None:
    """Nothing is claimed before its time."""
    for before, after in changed(step):
        if after["attempt"] > before["attempt"] and before["run_at"] != PAST:
            return f"{named(before)} was claimed and is not due"
    return None


def results_are_their_makers(step: Step) -> str | None:
    """A result is that of the attempt that completed the task, and of no other."""
    for row in step.after["tasks"]:
        if row["state"] == "COMPLETED" and row["result"] != {"by": row["claim_id"]}:
            return f"{named(row)}, attempt {row['attempt']}, has the result {row['result']}"
        if row["state"] != "COMPLETED" and row["result"] is not None:
            return f"{named(row)} is {row['state']} and has a result"
    return None


def ends_are_told_once(step: Step) -> str | None:
    """What a task becomes is told once, in the step in which it becomes so."""
    for before, after in zip(step.before["tasks"], step.after["tasks"], strict=True):
        for state in FINAL:
            told = step.events.count((f"task.{state.lower()}", after["id"]))
            became = int(after["state"] == state and before["state"] != state)
            if told != became:
                return f"{named(after)} became {state} {became} times, which was told {told} times"
    return None


EVERYWHERE: Final[tuple[Law, ...]] = (
    refusals_are_answers,
    final_is_final,
    states_follow_the_table,
    one_at_a_time_in_a_document,
    held_under_a_lease,
    attempts_are_counted,
    others_attempts_are_let_alone,
    leases_that_run_are_respected,
    what_lapsed_is_let_go,
    times_are_kept,
    results_are_their_makers,
    ends_are_told_once,
)


def changed(step: Step) -> Iterator[tuple[Fact, Fact]]:
    """Give the tasks that a deed has changed, before and after."""
    if step.by is not None:
        for before, after in zip(step.before["tasks"], step.after["tasks"], strict=True):
            if before != after:
                yield before, after


def named(row: Fact) -> str:
    """Return how people call a task."""
    return short(row["id"])


def comes_late(step: Step, before: Fact, after: Fact) -> bool:
    """Tell whether a task is completed by the last who had it, whose lease ran out, before anybody began anew."""
    return (
        step.by is not None
        and step.by.verb == "complete"
        and before["state"] in CLAIMABLE
        and before["claim_id"] is None
        and before["attempt"] == after["attempt"]
        and claim_name(before["id"], before["attempt"]) == step.by.about
    )
