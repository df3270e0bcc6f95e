"""I14: a key of a task spawns once; who waits for what it spawned goes on after that, and with its result.

The workload's handlers spawn all they are told to, then wait for one after the
other. So what a suspended task waits for is the first that has not completed.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from tests.chaos.checker.lives import FINAL, Life, Lives, Step
from tests.chaos.checker.violation import Violation
from tests.chaos.evidence import Evidence
from tests.chaos.history import Wanted

Families: TypeAlias = Mapping[str, Sequence[Life]]
"""What one task has spawned under each key, in the order of spawning."""


def check_spawns(evidence: Evidence, lives: Lives) -> Iterator[Violation]:
    """Yield what was spawned twice or by nobody, and who did not wait for it."""
    spawned: defaultdict[str, defaultdict[str, list[Life]]] = defaultdict(lambda: defaultdict(list))
    for life in sorted(lives.values(), key=lambda life: life.task.seq):
        if life.task.spawned_by is not None and life.steps:
            spawned[life.task.spawned_by][life.task.spawn_key or ""].append(life)
    leads_to = {(row.spawned_by, row.key): row.task_id for row in evidence.spawns}
    edges = {(edge.task_id, edge.depends_on) for edge in evidence.edges}
    asked = {one.token: one for operation in evidence.history for one in _tasks(operation.wanted)}
    for spawner_id, families in spawned.items():
        spawner = lives.get(spawner_id)
        if spawner is None:
            yield Violation("I14", f"{spawner_id} spawned {sorted(families)} and does not exist")
            continue
        for key, family in families.items():
            yield from _once(spawner, key, family)
            if leads_to.get((spawner_id, key)) != family[-1].task.id:
                yield Violation("I14", f"the key {key} of {spawner_id} does not lead to what it spawned last")
    for life in lives.values():
        wanted = asked.get(life.task.title or "")
        if life.task.may_spawn and wanted is not None:
            yield from _spawner(life, wanted, spawned.get(life.task.id, {}), edges)


def _tasks(wanted: Sequence[Wanted]) -> Iterator[Wanted]:
    for one in wanted:
        yield one
        yield from _tasks(one.children)


def _once(spawner: Life, key: str, family: Sequence[Life]) -> Iterator[Violation]:
    """Yield a second task of a key, unless the first was cancelled and its spawner retried after that."""
    began = next(iter(spawner.entered("RUNNING")), None)
    for life in family:
        if began is None or life.steps[0].id < began.id:
            yield Violation("I14", f"{life.task.id} was spawned by {spawner.task.id} before that ran")
        if life.task.dag_id != spawner.task.dag_id:
            yield Violation("I14", f"{life.task.id} is in another DAG than {spawner.task.id}, which spawned it")
    for earlier, later in pairwise(family):
        then = earlier.before(later.steps[0].id)
        spawning = [spawner.before(life.steps[0].id) for life in (earlier, later)]
        generations = {None if step is None else step.generation for step in spawning}
        if then is None or then.state != "CANCELLED" or len(generations) == 1:
            yield Violation("I14", f"{spawner.task.id} spawned {earlier.task.id} and {later.task.id} under {key}")


def _spawner(life: Life, wanted: Wanted, families: Families, edges: set[tuple[str, str]]) -> Iterator[Violation]:
    task = life.task
    for key, family in families.items():
        if key not in wanted.spawns or any(child.task.title != key for child in family):
            yield Violation("I13", f"{task.id} spawned {key}, which nobody asked for")
    for suspended, following in _waits(life):
        awaited = _awaited(wanted, families, suspended)
        if not wanted.waits or awaited is None:
            yield Violation("I14", f"{task.id} waits and has spawned nothing to wait for")
            continue
        if suspended.generation == life.generations and (task.id, awaited.task.id) not in edges:
            yield Violation("I14", f"{task.id} waits for {awaited.task.id}, and no edge says so")
        if following is not None:
            yield from _resumed(life, awaited, following)
    if task.state == "COMPLETED":
        yield from _results(life, wanted, families)


def _waits(life: Life) -> Iterator[tuple[Step, Step | None]]:
    """Yield each wait for something spawned, and how it ended."""
    for before, then, after in zip(life.steps, life.steps[1:], [*life.steps[2:], None], strict=False):
        if (before.state, then.state) == ("RUNNING", "PENDING"):
            yield then, after


def _awaited(wanted: Wanted, families: Families, suspended: Step) -> Life | None:
    for key in wanted.spawns:
        spawned = [life for life in families.get(key, ()) if life.steps[0].id < suspended.id]
        if spawned and not any(step.id < suspended.id for step in spawned[-1].entered("COMPLETED")):
            return spawned[-1]
    return None


def _resumed(life: Life, awaited: Life, following: Step) -> Iterator[Violation]:
    """Yield a wait that ended otherwise than what it was for."""
    then = awaited.before(following.id)
    ended = None if then is None else then.state
    if following.state == "QUEUED" and ended != "COMPLETED":
        yield Violation("I14", f"{life.task.id} went on while {awaited.task.id}, for which it waited, was {ended}")
    if following.state != "CANCELLED" or ended in FINAL:
        return
    # Who is cancelled while it waits takes along what it waits for: at once, or as soon as that stops.
    end = next((step for step in awaited.steps if step.state in FINAL and step.id >= following.id), None)
    if end is None or end.state != "CANCELLED":
        how = "never ended" if end is None else f"ended {end.state}"
        yield Violation("I14", f"{awaited.task.id} {how} although {life.task.id}, which waited for it, was cancelled")


def _results(life: Life, wanted: Wanted, families: Families) -> Iterator[Violation]:
    missing = [key for key in wanted.spawns if not families.get(key)]
    if missing:
        yield Violation("I14", f"{life.task.id} is COMPLETED and never spawned {missing}")
        return
    results = [families[key][-1].task for key in wanted.spawns] if wanted.waits else []
    due = [f"{child.result_token}#{child.result_attempt}" for child in results]
    if any(child.state != "COMPLETED" for child in results) or list(life.task.given) != due:
        yield Violation("I14", f"{life.task.id} was given {list(life.task.given)}, what it waited for has {due}")
