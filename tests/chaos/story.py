"""Stories: evidence made by hand, one moment after the other, for testing the checker."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.chaos.checker.lives import FINAL
from tests.chaos.evidence import (
    DagEventRow,
    DagRow,
    EdgeRow,
    EventRow,
    Evidence,
    FailureRow,
    RevisionRow,
    SpawnRow,
    TaskRow,
)
from tests.chaos.graph_orders import SPAWNERS
from tests.chaos.history import Operation, Verb, Wanted
from tests.chaos.marks import Mark, Moment
from tests.chaos.orders import EDIT
from tests.chaos.terms import Terms
from tests.chaos.watcher import Sighting

MOMENT_SECONDS = 0.01
WORKER = "worker:here:1:abcdef01"


class Story:
    """Tells what happened, in order; the tables follow. Every task is acknowledged under its own name."""

    def __init__(self) -> None:
        self.evidence = Evidence(terms=Terms(), tasks={}, events=[], heard=set(), ready_after=0.1)
        self.now = 1_000_000.0

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def task(self, name: str, document: str | None = None, **row: Any) -> str:
        """A task is accepted, and may run unless it is told to be PENDING."""
        state = row.pop("state", "QUEUED")
        seq = len(self.evidence.tasks) + 1
        given: dict[str, Any] = {"task_type": "chaos.work", "rank": 50.0, "runnable": True, "yields": False} | row
        self.evidence.tasks[name] = TaskRow(id=name, seq=seq, document_id=document, title=name, state=state, **given)
        self.event(name, state)
        if not {"parent_id", "dag_id", "spawned_by"} & given.keys():
            self.evidence.keys[name] = name
            self.operation("submit", status=201, wanted=(Wanted(name),), task_ids=(name,))
        return name

    def batch(self, name: str, children: int, **row: Any) -> list[str]:
        """A batch is accepted; give back its children's names."""
        names = [f"{name}/{position}" for position in range(children)]
        self.task(name, runnable=False, on_child_failure="abort", **row)
        self.evidence.history[-1].wanted = (Wanted(name, tuple(Wanted(child) for child in names)),)
        for position, child in enumerate(names):
            self.task(child, parent_id=name, position=position, state="PENDING" if position else "QUEUED")
        return names

    def dependent(self, name: str, *needed: str, **row: Any) -> str:
        """A task is accepted that depends on others."""
        self.task(name, **self._waiting(needed), **row)
        self.evidence.history[-1].wanted = (Wanted(name, needs=needed),)
        self._edges(name, needed)
        return name

    def dag(self, name: str, needs: Mapping[str, tuple[str, ...]]) -> str:
        """A DAG is accepted whose tasks depend on each other."""
        self.evidence.dags[name] = DagRow(name, name, "running")
        for task, needed in needs.items():
            self.task(task, dag_id=name, **self._waiting(needed))
            self._edges(task, needed)
        first, *_ = needs
        self.evidence.keys[name] = first
        nodes = tuple(Wanted(task, needs=needed) for task, needed in needs.items())
        self.operation("dag", status=201, wanted=(Wanted(name, nodes),), task_ids=tuple(needs), dag_id=name)
        return name

    def judged(self, dag: str, status: str) -> None:
        """A DAG has ended."""
        self.wait(MOMENT_SECONDS)
        # Followers hear of the tasks only.
        self.evidence.dag_events.append(DagEventRow(self._number(), dag, status))
        self.evidence.dags[dag] = replace(self.evidence.dags[dag], status=status)

    def spawner(self, name: str, *spawns: str, waits: bool = True, **row: Any) -> str:
        """A task is accepted that will spawn others."""
        self.task(name, task_type=SPAWNERS[0], **row)
        self.evidence.history[-1].wanted = (Wanted(name, spawns=spawns, waits=waits),)
        return name

    def spawned(self, name: str, by: str, key: str | None = None) -> str:
        """The handler of a task spawns another, under its name unless told otherwise."""
        spawn = SpawnRow(by, key or name, name)
        self.task(name, spawned_by=by, spawn_key=spawn.key, dag_id=self.evidence.tasks[by].dag_id)
        known = [row for row in self.evidence.spawns if (row.spawned_by, row.key) != (by, spawn.key)]
        self.evidence.spawns = [*known, spawn]
        return name

    def suspended(self, name: str, awaited: str) -> None:
        """The handler waits for what it spawned."""
        self.mark("end", name, self.evidence.tasks[name].attempt)
        self.event(name, "PENDING")
        self.change(name, blockers=1, unmet=1)
        self._edges(name, (awaited,))
        self._count("pending")

    def released(self, name: str) -> None:
        """Nothing that a task waits for is left."""
        self.event(name, "QUEUED")
        self.change(name, blockers=0, unmet=0)

    def cancelled_together(self, *names: str) -> None:
        """Tasks are cancelled in one transaction."""
        self.cancelled(names[0])
        first = self.evidence.events[-1]
        for name in names[1:]:
            self.cancelled(name)
            last = self.evidence.events[-1]
            _, number, index = last.position.split("-")
            self.evidence.events[-1] = replace(last, position=f"{first.xid}-{number}-{index}")
            assert self.evidence.heard is not None
            self.evidence.heard.add(self.evidence.events[-1].position)

    def event(self, name: str, state: str, *, committed_after: float = 0.0) -> None:
        """A task enters a state, as the ledger tells it."""
        self.wait(MOMENT_SECONDS)
        self.event_besides(f"task.{state.lower()}", name, committed_after=committed_after)
        task = self.evidence.tasks[name]
        if state in {"FAILED", "TIMEOUT"} and task.runnable:
            self.event_besides("task.dead_lettered", name)
        if task.state in FINAL:
            self.change(name, generation=task.generation + 1, attempts_charged=0)
        self.change(name, state=state)

    def event_besides(self, kind: str, name: str, *, committed_after: float = 0.0) -> None:
        """Something is told of a task."""
        number = self._number()
        position = f"{700 + number}-{number}-0"
        self.evidence.events.append(EventRow(position, number, kind, name, self.now, self.now + committed_after))
        assert self.evidence.heard is not None
        self.evidence.heard.add(position)

    def claimed(self, name: str) -> int:
        """An attempt begins and its handler with it."""
        attempt = self.evidence.tasks[name].attempt + 1
        self.change(name, attempt=attempt)
        self.event(name, "RUNNING")
        self.mark("start", name, attempt)
        return attempt

    def completed(self, name: str, **row: Any) -> None:
        """The handler returns and its result is settled."""
        attempt = self.evidence.tasks[name].attempt
        self.mark("end", name, attempt)
        given: dict[str, Any] = {"result_token": name, "result_attempt": attempt} | row
        self.change(name, **given)
        self.event(name, "COMPLETED")
        self._count("completed")

    def failed(self, name: str, kind: str = "error", *, then: str = "RETRYING", message: str = "it failed") -> None:
        """The attempt fails, is charged, and is settled like this."""
        task = self.evidence.tasks[name]
        self.mark("end", name, task.attempt)
        self.event(name, then)
        self.change(name, attempts_charged=task.attempts_charged + 1, error_kind=kind)
        self.evidence.failures.append(FailureRow(name, task.attempt, WORKER, kind, message, self.now))
        self._count(then.lower())

    def cancelled(self, name: str, **row: Any) -> None:
        """The task ends CANCELLED."""
        self.event(name, "CANCELLED")
        self.change(name, cancel_requested=True, **row)
        self._count("cancelled")

    def text(self, document: str) -> None:
        """An empty document is made."""
        self.evidence.heads[document] = 1
        self.evidence.chapters[document] = []
        self.evidence.revisions.append(RevisionRow(document, 1, 0, None))

    def edit(self, name: str, document: str, **row: Any) -> str:
        """An edit is accepted."""
        return self.task(name, document, task_type=EDIT, **row)

    def begun(self, name: str) -> None:
        """An edit is claimed; it leaves no marks."""
        self.change(name, attempt=self.evidence.tasks[name].attempt + 1)
        self.event(name, "RUNNING")

    def edited(self, name: str) -> None:
        """An edit is settled; those that rode are settled with it."""
        self.event(name, "COMPLETED")
        self._revised(name)

    def rode(self, *names: str) -> None:
        """Edits begin and end in one transaction."""
        self.wait(MOMENT_SECONDS)
        number = self._number()
        for moment, state in enumerate(("RUNNING", "COMPLETED")):
            for index, name in enumerate(names):
                position = f"{700 + number}-{number + moment}-{index}"
                kind = f"task.{state.lower()}"
                self.evidence.events.append(EventRow(position, number + moment, kind, name, self.now, self.now))
                assert self.evidence.heard is not None
                self.evidence.heard.add(position)
        for name in names:
            self.change(name, attempt=1, state="COMPLETED")
            self._revised(name)

    def _revised(self, name: str) -> None:
        document = self.evidence.tasks[name].document_id
        assert document is not None
        base = self.evidence.heads[document]
        self.evidence.heads[document] = base + 1
        self.evidence.revisions.append(RevisionRow(document, base + 1, base, name))
        self.evidence.chapters[document].append(name)
        self._count("completed")

    def done(self, name: str) -> None:
        """The task runs and completes."""
        self.claimed(name)
        self.completed(name)

    def mark(self, moment: Moment, name: str, attempt: int) -> None:
        """A handler writes a mark; here both clocks are one."""
        self.wait(MOMENT_SECONDS)
        self.evidence.marks.append(Mark(moment, name, attempt, self.now, 1))

    def seen(self, name: str, **sighting: Any) -> None:
        """The watcher sees the attempt that runs."""
        task = self.evidence.tasks[name]
        given: dict[str, Any] = {
            "at": self.now,
            "worker_id": WORKER,
            "document_id": task.document_id,
            "hold_id": "hold",
            "lease_until": self.now + self.evidence.terms.lease_seconds,
            "claimed_at": self.now,
            "lock_seen": True,
            "lock_value": f"{WORKER}:hold",
        } | sighting
        self.evidence.sightings.append(Sighting(task_id=name, attempt=task.attempt, **given))

    def operation(self, verb: Verb, **facts: Any) -> None:
        """A client asks for something and is answered."""
        operation = Operation(
            len(self.evidence.history) + 1, verb, self.now, tries=1, answered=self.now + MOMENT_SECONDS
        )
        for name, value in facts.items():
            setattr(operation, name, value)
        self.evidence.history.append(operation)

    def change(self, name: str, **row: Any) -> None:
        """Something else is in the table."""
        self.evidence.tasks[name] = replace(self.evidence.tasks[name], **row)

    def _number(self) -> int:
        """The number of the next event."""
        events = [event.id for event in self.evidence.events[-1:]] + [one.id for one in self.evidence.dag_events[-1:]]
        return max(events, default=0) + 1

    @staticmethod
    def _waiting(needed: tuple[str, ...]) -> dict[str, Any]:
        return {"state": "PENDING", "blockers": len(needed), "unmet": len(needed)} if needed else {}

    def _edges(self, name: str, needed: tuple[str, ...]) -> None:
        self.evidence.edges += [EdgeRow(name, one) for one in needed]

    def _count(self, outcome: str) -> None:
        self.evidence.counters[outcome] = self.evidence.counters.get(outcome, 0) + 1
