"""The report of a run, for people and as JSON."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from typing import Any, Final

from tests.chaos.checker import Violation
from tests.chaos.checker.edges import held_up
from tests.chaos.checker.lives import FINAL, lives_of
from tests.chaos.figures import by_kind
from tests.chaos.run import Outcome

SHOWN_MAX: Final = 25


def acknowledged(outcome: Outcome) -> int:
    """How many tasks, with everything below them, were acknowledged to the clients."""
    tasks = outcome.evidence.tasks
    below: Counter[str] = Counter(task.parent_id for task in tasks.values() if task.parent_id is not None)
    roots = {
        task_id
        for operation in outcome.evidence.history
        if operation.verb in ("submit", "bulk", "dag") and operation.status in (200, 201)
        for task_id in operation.task_ids
    }
    return sum(1 + _whole_tree(root, below, outcome) for root in roots)


def _whole_tree(root: str, below: Counter[str], outcome: Outcome) -> int:
    if not below[root]:
        return 0
    children = [task.id for task in outcome.evidence.tasks.values() if task.parent_id == root]
    return len(children) + sum(_whole_tree(child, below, outcome) for child in children)


def lost(outcome: Outcome) -> int:
    """How many acknowledged tasks are not there or, but for those behind a failure, never ended."""
    held = held_up(outcome.evidence)
    return sum("is lost" in one.what for one in outcome.violations) + sum(
        task.state not in FINAL and task.id not in held for task in outcome.evidence.tasks.values()
    )


def suspended(outcome: Outcome) -> int:
    """How often a task gave back its slot to wait for one that it had spawned."""
    lives = lives_of(outcome.evidence).values()
    steps = [pair for life in lives for pair in pairwise(life.steps)]
    return sum((before.state, then.state) == ("RUNNING", "PENDING") for before, then in steps)


def ended_ahead(outcome: Outcome) -> int:
    """How many edits were settled with the one before them: they began and ended in one transaction."""
    events = outcome.evidence.events
    began, ended = (
        {(event.xid, event.task_id) for event in events if event.kind == kind}
        for kind in ("task.running", "task.completed")
    )
    return len(began & ended)


def lines(outcome: Outcome) -> Iterator[str]:
    """Yield the report line by line."""
    evidence = outcome.evidence
    states = Counter(task.state for task in evidence.tasks.values())
    doubtful = sum(operation.tries > 1 for operation in evidence.history)
    attempts = sum(task.attempt for task in evidence.tasks.values())
    yield f"seed {outcome.plan.seed}, {outcome.plan.nemesis_seconds:g} s of faults, {outcome.seconds:.0f} s in all"
    yield f"tasks acknowledged: {acknowledged(outcome)}, lost: {lost(outcome)}; in the ledger {dict(states)}"
    yield f"attempts: {attempts}; operations: {len(evidence.history)}, repeated in doubt: {doubtful}"
    yield f"revisions: {len(evidence.revisions)}, of edits that ended ahead of their turn: {ended_ahead(outcome)}"
    dags = Counter(dag.status for dag in evidence.dags.values())
    spawned = sum(task.spawned_by is not None for task in evidence.tasks.values())
    yield f"DAGs: {dict(dags)}; edges: {len(evidence.edges)}; behind a failure: {len(held_up(evidence))}"
    yield f"spawned: {spawned}; waits for what was spawned: {suspended(outcome)}"
    strangers = evidence.strangers
    yield f"looks across spaces: {strangers.looks}; keys revoked and tried again: {strangers.revocations}"
    kinds = by_kind(evidence.struck)
    yield f"faults: {sum(kinds.values())} of {len(kinds)} kinds: " + ", ".join(f"{k} {n}" for k, n in kinds.items())
    ends = Counter(f"{death.name.split('-')[0]} {death.status}" for death in evidence.deaths)
    yield f"ends of processes: {dict(ends)}"
    for figure in outcome.figures:
        yield str(figure)
    if outcome.complaints:
        yield f"errors in the logs: {dict(outcome.complaints)}"
    yield f"violations: {len(outcome.violations)} {dict(Counter(one.invariant for one in outcome.violations)) or ''}"
    for violation in _some(outcome.violations):
        yield f"  {violation}"


def _some(violations: list[Violation]) -> list[Violation]:
    """A few of each invariant."""
    seen: Counter[str] = Counter()
    chosen: list[Violation] = []
    for violation in violations:
        seen[violation.invariant] += 1
        if seen[violation.invariant] <= 5:
            chosen.append(violation)
    return chosen[:SHOWN_MAX]


def record(outcome: Outcome) -> dict[str, Any]:
    """Return the report as a JSON object."""
    return {
        "seed": outcome.plan.seed,
        "nemesisSeconds": outcome.plan.nemesis_seconds,
        "mutant": outcome.plan.mutant,
        "acknowledged": acknowledged(outcome),
        "lost": lost(outcome),
        "ended_ahead": ended_ahead(outcome),
        "dags": dict(Counter(dag.status for dag in outcome.evidence.dags.values())),
        "suspended": suspended(outcome),
        "faults": by_kind(outcome.evidence.struck),
        "figures": {figure.name: [round(one, 3) for one in figure.seconds] for figure in outcome.figures},
        "violations": [list(violation) for violation in outcome.violations],
        "complaints": dict(outcome.complaints),
        "terms": asdict(outcome.plan.terms),
        "seconds": round(outcome.seconds, 1),
    }
