"""Laws of the claims that agents have."""

from typing import Final, cast

from officeplane.domain.agent_claim import Answer, ClaimEndedError, ClaimNotFoundError, ClaimSettledError
from officeplane.domain.lifecycle import ACTIVE, CLAIMABLE
from tests.model.laws import changed, named
from tests.model.rows import PAST, Fact, short
from tests.model.steps import Law, Step, claim_of, task_of

ENDING: Final = {"complete": "complete", "fail": "fail", "decline": "release"}
"""The verbs that end a claim, as the ledger calls them."""


def claims_last_as_long_as_attempts(step: Step) -> str | None:
    """A claim is open exactly while its task is in the hands of its agent."""
    tasks = {row["id"]: row for row in step.after["tasks"]}
    for claim in step.after["agent_claims"]:
        task = tasks[claim["task_id"]]
        holds = task["state"] in ACTIVE and task["claim_id"] == claim["claim_id"]
        if holds != (claim["ended_at"] is None):
            return f"{_named(claim)} is {'held and has ended' if holds else 'open and lost'}"
        if holds and (task["attempt"], task["worker_id"]) != (claim["attempt"], f"agent:{claim['agent_id']}"):
            return f"{_named(claim)} is of attempt {claim['attempt']}, and {task['worker_id']} has {task['attempt']}"
    claimed = {row["claim_id"] for row in step.after["agent_claims"]}
    lost = [task for task in tasks.values() if task["state"] in ACTIVE and task["claim_id"] not in claimed]
    return f"{named(lost[0])} is {lost[0]['state']} and nobody has a claim" if lost else None


def claims_end_once(step: Step) -> str | None:
    """A claim ends once; only a late completion takes another end's place, if neither task nor lane have gone on."""
    for before in step.before["agent_claims"]:
        after = claim_of(step.after, before["claim_id"])
        if before["ended_at"] is None or _end(before) == _end(after):
            continue
        if not (step.by is not None and step.by.verb == "complete" and step.by.about == before["claim_id"]):
            return f"the end of {_named(before)} was changed from {_end(before)} to {_end(after)}"
        if not after["late"] or before["verb"] is not None or not _may_come_late(step, before):
            return f"{_named(before)}, {_end(before)}, was completed as if it had not ended"
    return None


def answers_are_kept(step: Step) -> str | None:
    """What ends a claim is answered with what is kept of it, and always the same."""
    if step.by is None or not step.is_over or step.by.verb not in ENDING or step.by.about is None:
        return None
    claim, verb = claim_of(step.after, step.by.about), ENDING[step.by.verb]
    kept = f"{claim['verb']}, which was answered {claim['answer']}"
    match step.answer:
        case Answer(state=state, late=late):
            same = claim["answer"] is not None and (claim["answer"]["state"], claim["answer"]["late"]) == (state, late)
            if claim["verb"] != verb or not same or claim["ended_as"] != state:
                return (
                    f"{verb} of {_named(claim)} was answered {state}; it was ended with {kept}, as {claim['ended_as']}"
                )
        case ClaimSettledError():
            if claim["verb"] in {None, verb}:
                return f"{verb} of {_named(claim)} was answered {step.answer.code}; it was ended with {kept}"
        case ClaimEndedError():
            if claim["verb"] is not None or claim["ended_at"] is None:
                return f"{verb} of {_named(claim)} was answered {step.answer.code}; it was ended with {kept}"
        case _:
            return f"{verb} of {_named(claim)} was answered {step.answer!r}"
    return None


def answers_mean_what_happened(step: Step) -> str | None:
    """Who is told that a task is completed has completed it; who failed, or let go, has not."""
    if isinstance(step.answer, Answer) and step.answer.state is not None and step.by is not None and step.by.about:
        claim = claim_of(step.after, step.by.about)
        task = task_of(step.after, claim["task_id"])
        is_completed = task["state"] == "COMPLETED" and task["claim_id"] == claim["claim_id"]
        if (step.by.verb == "complete") != is_completed or (is_completed and step.answer.state != "COMPLETED"):
            told = f"{step.by.verb} of {_named(claim)} was answered {step.answer.state}"
            return f"{told}, and {named(task)} is {task['state']}"
    return None


def money_is_booked(step: Step) -> str | None:
    """What was spent is booked whatever the answer, and never less later."""
    for before in step.before["agent_claims"]:
        after = claim_of(step.after, before["claim_id"])
        if before["cost_micros"] is not None and (after["cost_micros"] or 0) < before["cost_micros"]:
            return f"{_named(before)} had cost {before['cost_micros']}, and then {after['cost_micros']}"
        is_about = step.by is not None and step.by.about == before["claim_id"]
        told = step.by.cost if step.by is not None and is_about else None
        if told is None:
            if before["cost_micros"] != after["cost_micros"]:
                return f"{_named(before)} costs {after['cost_micros']}, which nobody has said"
        elif step.is_over and not isinstance(step.answer, ClaimNotFoundError) and (after["cost_micros"] or 0) < told:
            return f"{_named(before)} has cost {told}, and {after['cost_micros']} is booked"
    return None


def offers_respect_agents(step: Step) -> str | None:
    """An agent gets no more than it wants at once, and nothing that it has just declined."""
    for before, after in changed(step):
        if after["attempt"] > before["attempt"]:
            agent_id = after["worker_id"].removeprefix("agent:")
            declines = [row for row in step.before["agent_declines"] if row["task_id"] == after["id"]]
            if any(row["agent_id"] == agent_id and row["declined_at"] == PAST for row in declines):
                return f"{agent_id} was given {named(after)}, which it has just declined"
    for agent in step.after["agents"]:
        held = [row for row in step.after["agent_claims"] if row["agent_id"] == agent["id"] and row["ended_at"] is None]
        if len(held) > agent["max_concurrent_tasks"]:
            return f"{agent['id']} has {len(held)} tasks and wants {agent['max_concurrent_tasks']}"
    return None


def only_what_started_is_charged(step: Step) -> str | None:
    """Who lets a claim lapse is charged only if he was heard of, and beats do not keep what was not started."""
    for before, after in changed(step):
        is_reaped = step.by is not None and step.by.who == "the reaper"
        is_charged = after["attempts_charged"] > before["attempts_charged"]
        if is_reaped and is_charged and (before["state"] == "CLAIMED" or not before["handler_seen"]):
            return f"{named(before)}, of which nobody had been heard, was charged"
        if before["state"] == after["state"] == "CLAIMED" and before["lease_until"] != after["lease_until"]:
            lease = f"{before['lease_until']} and is {after['lease_until']}"
            return f"{named(before)} was not started, and its lease was {lease}"
    return None


def requests_are_answered_once(step: Step) -> str | None:
    """A request that comes again is given what it was given, as far as that is still open, and nothing else."""
    if step.by is None or not step.by.key or not isinstance(step.answer, tuple):
        return None
    kept = [
        row for row in step.before["agent_claim_keys"] if (row["agent_id"], row["key"]) == (step.by.who, step.by.key)
    ]
    if not kept:
        return None
    is_open = {row["claim_id"] for row in step.before["agent_claims"] if row["ended_at"] is None}
    wanted = tuple(one for one in kept[0]["claim_ids"] if one in is_open)
    given = cast("tuple[str, ...]", step.answer)
    if given != wanted or any(True for _ in changed(step)):
        return f"{step.by.key} of {step.by.who} was given {given}, and had been given {wanted}"
    return None


def poison_is_proved(step: Step) -> str | None:
    """A task is called poison after three charged attempts failed by two agents at least, and then it is."""
    for task in step.after["tasks"]:
        failed_at = {row["attempt"]: row["kind"] for row in step.after["task_failures"] if row["task_id"] == task["id"]}
        claims = [
            row for row in step.after["agent_claims"] if row["task_id"] == task["id"] and row["attempt"] in failed_at
        ]
        # What was never heard of was not charged.
        by = {row["agent_id"] for row in claims if failed_at[row["attempt"]] != "crash" or row["beaten_at"] is not None}
        is_due = task["attempts_charged"] >= 3 and len(by) > 1
        if task["poison_pill"] and not is_due:
            return f"{named(task)} is called poison after {task['attempts_charged']} attempts of {sorted(by)}"
        if is_due and task["state"] in CLAIMABLE:
            return f"{named(task)} goes on after {task['attempts_charged']} attempts of {sorted(by)}"
    return None


OF_AGENTS: Final[tuple[Law, ...]] = (
    claims_last_as_long_as_attempts,
    claims_end_once,
    answers_are_kept,
    answers_mean_what_happened,
    money_is_booked,
    offers_respect_agents,
    only_what_started_is_charged,
    requests_are_answered_once,
    poison_is_proved,
)


def _end(claim: Fact) -> tuple[object, ...]:
    return (
        claim["ended_as"],
        claim["verb"],
        None if claim["answer"] is None else claim["answer"]["state"],
        claim["late"],
    )


def _may_come_late(step: Step, claim: Fact) -> bool:
    task = task_of(step.before, claim["task_id"])
    lane = [row for row in step.before["tasks"] if row["document_id"] and row["document_id"] == task["document_id"]]
    is_free = not any(row["state"] in ACTIVE for row in lane)
    return task["state"] in CLAIMABLE and task["attempt"] == claim["attempt"] and is_free


def _named(claim: Fact) -> str:
    return short(claim["claim_id"])
