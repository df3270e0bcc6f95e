"""Stories: evidence made by hand, one moment after the other, for testing the checker."""

from dataclasses import replace
from typing import Any

from tests.chaos.checker.lives import FINAL
from tests.chaos.evidence import EventRow, Evidence, FailureRow, RevisionRow, TaskRow
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
        """An edit is settled; those done behind it are settled with it."""
        self.event(name, "COMPLETED")
        self._revised(name)

    def ended_ahead(self, *names: str) -> None:
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

    def _count(self, outcome: str) -> None:
        self.evidence.counters[outcome] = self.evidence.counters.get(outcome, 0) + 1
