"""Explanation: why a task waits, in words that a program can read too."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from officeplane.domain.blockage import Blockage
from officeplane.domain.demand import Demand
from officeplane.domain.ids import TaskId, WorkerId
from officeplane.domain.lifecycle import FINAL, REOPENABLE, WAITING, TaskState
from officeplane.domain.principal import Principal
from officeplane.domain.priority import shown
from officeplane.domain.space import bare, qualified_type
from officeplane.domain.task import Task, TaskDetails
from officeplane.domain.valve import BreakerState, Limits, Valve
from officeplane.services.observe.tasks import Tasks
from officeplane.store import dependencies, tasks, valves, workers
from officeplane.store.connection import Ledger
from officeplane.store.dependencies import Edge
from officeplane.store.tasks import LanePosition
from officeplane.store.workers import WorkerInfo

DEPENDENCIES_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing a task waits for; `facts` are its details by name."""

    code: str
    detail: str
    facts: dict[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a task could be claimed now, and what stands in the way or what it does instead."""

    runnable: bool
    reasons: tuple[Reason, ...]
    effective_priority: float | None = None
    """How urgent it is by now, while it waits."""


class Explanations:
    """Answers to "why does it not run?"."""

    def __init__(self, ledger: Ledger, tasks: Tasks, lease_seconds: float) -> None:
        self._ledger = ledger
        self._tasks = tasks
        self._lease_seconds = lease_seconds

    async def explain(self, caller: Principal, task_id: TaskId) -> Explanation:
        """Return why a task waits, or what else it is doing."""
        details = await self._tasks.find(caller, task_id)
        task = details.task
        if task.state in FINAL:
            return Explanation(runnable=False, reasons=(Reason("final", f"It has ended {task.state}."),))
        if task.state not in WAITING:
            reasons = tuple([reason async for reason in self._going_on(task, caller)])
            return Explanation(runnable=False, reasons=reasons)
        return Explanation(*await self._waiting(details, caller), shown(task.effective_priority(datetime.now(UTC))))

    async def _waiting(self, details: TaskDetails, caller: Principal) -> tuple[bool, tuple[Reason, ...]]:
        task = details.task
        if _runs_by_its_children(task) and not task.unmet:
            # Its children are read after it, and may have ended in between.
            waiting = [child.id for child in details.children or () if child.state not in FINAL]
            if not waiting:
                return False, (_under_way(task),)
            return False, (Reason("children", "It begins with its first child.", {"nextChild": waiting[0]}),)
        obstacles = tuple([reason async for reason in self._obstacles(task, caller)])
        if obstacles:
            return False, obstacles
        if task.demand is not None:
            return True, (_waits_for_an_agent(task.demand, task.attempts_charged),)
        return True, (Reason("next", "A free worker slot will take it."),)

    async def _going_on(self, task: Task, caller: Principal) -> AsyncIterator[Reason]:
        if task.demand is not None:
            yield Reason("running", "An agent has it.")
            return
        alive = {worker.id: worker for worker in await workers.alive(self._ledger, self._lease_seconds)}
        worker_id = task.worker_id
        if not caller.sees_the_whole:
            # How long it has been silent is no secret, only which it is.
            found = (await tasks.fetch(self._ledger, [task.id])).get(task.id)
            worker_id = None if found is None else found.worker_id
        worker = None if worker_id is None else alive.get(worker_id)
        yield _under_way(task, worker)
        if worker is not None and worker.blocked is not None:
            yield _worker_blocked(worker.id, worker.blocked, caller)

    async def _obstacles(self, task: Task, caller: Principal) -> AsyncIterator[Reason]:
        place = await tasks.lane_position(self._ledger, task)
        if task.unmet:
            unmet = [edge for edge in await dependencies.of_tasks(self._ledger, [task.id]) if edge.is_unmet]
            for edge in unmet[:DEPENDENCIES_SHOWN]:
                yield _dependency(edge)
        if task.blockers > task.unmet:
            yield await self._earlier_sibling(task)
        elif task.state is TaskState.PENDING and not task.unmet:
            yield Reason("scheduled", f"It is to run at {_text(task.run_at)}.", {"runAt": _text(task.run_at)})
        elif task.state is TaskState.RETRYING and not place.is_due:
            yield Reason("retry_delay", f"It is tried again at {_text(task.run_at)}.", {"retryAt": _text(task.run_at)})
        if task.document_id is not None and task.state is not TaskState.PENDING:
            for reason in _lane(task, place, caller):
                yield reason
            if await valves.is_paused(self._ledger, task.document_id):
                detail = f"Document {bare(task.document_id or '')!r} is paused."
                yield Reason("paused", detail, {"documentId": bare(task.document_id)})
        of_space = qualified_type(task.space, task.task_type)
        valve = await valves.fetch(self._ledger, of_space)
        for reason in () if valve is None else _held(valve):
            yield reason
        if valve is not None and valve.limits != Limits():
            room = (await valves.rooms(self._ledger, [of_space])).get(of_space)
            if room is not None and not room.tasks:
                yield _limit_reached(valve)
        if task.demand is None:
            async for reason in self._no_room(task, caller):
                yield reason

    async def _no_room(self, task: Task, caller: Principal) -> AsyncIterator[Reason]:
        """Yield why no worker takes a task that could be claimed."""
        alive = await workers.alive(self._ledger, self._lease_seconds)
        able = [worker for worker in alive if task.task_type in worker.task_types]
        if not able:
            detail = f"No live worker knows task type {task.task_type!r}"
            counted = f"{detail}; {len(alive)} are alive." if caller.sees_the_whole else f"{detail}."
            yield Reason("no_worker", counted, {"workers": _unless_hidden(len(alive), caller)})
        elif all(worker.running >= worker.concurrency or worker.blocked for worker in able):
            if any(worker.running >= worker.concurrency for worker in able):
                facts: dict[str, object] = {"workers": _unless_hidden(len(able), caller)}
                yield Reason("workers_busy", "Every slot that could run it is taken.", facts)
            # Whoever is not told which they are is told once.
            blocked = [worker for worker in able if worker.blocked is not None]
            for worker in blocked if caller.sees_the_whole else blocked[:1]:
                if worker.blocked is not None:
                    yield _worker_blocked(worker.id, worker.blocked, caller)

    async def _earlier_sibling(self, task: Task) -> Reason:
        sibling = await tasks.earlier_sibling(self._ledger, task)
        if sibling is None:
            return Reason("batch_turn", "Its batch waits for its own turn.", {"parentId": task.parent_id})
        sibling_id, state = sibling
        detail = f"It follows task {sibling_id}, which is {state}."
        return Reason("earlier_sibling", detail, {"taskId": sibling_id, "state": state})


def _waits_for_an_agent(demand: Demand, failures: int) -> Reason:
    models = demand.models_after(failures)
    able = f" and is capable of {', '.join(demand.capabilities)}" if demand.capabilities else ""
    by = f", by {' or '.join(models)}" if models else ""
    facts: dict[str, object] = {
        "taskType": demand.task_type,
        "requiredCapabilities": list(demand.capabilities),
        "models": list(models),
    }
    return Reason("agent", f"It waits for an agent that does {demand.task_type!r}{able}{by}.", facts)


def _dependency(edge: Edge) -> Reason:
    facts: dict[str, object] = {"taskId": edge.depends_on, "state": edge.state}
    if edge.state in REOPENABLE:
        detail = f"It depends on task {edge.depends_on}, which ended {edge.state}; retry that one."
        return Reason("dependency_failed", detail, facts)
    return Reason("dependency", f"It depends on task {edge.depends_on}, which is {edge.state}.", facts)


def _lane(task: Task, place: LanePosition, caller: Principal) -> Iterator[Reason]:
    if place.occupant is not None:
        detail = f"Task {place.occupant} is in document {bare(task.document_id or '')!r}."
        facts: dict[str, object] = {"taskId": place.occupant, "workerId": _unless_hidden(place.occupied_by, caller)}
        yield Reason("lane_occupied", detail, facts)
    if place.ahead:
        detail = f"{place.ahead} tasks of document {bare(task.document_id or '')!r} come before it."
        if place.ahead == 1:
            detail = f"One task of document {bare(task.document_id or '')!r} comes before it."
        yield Reason("lane_position", detail, {"position": place.ahead + 1, "head": place.head})


def _held(valve: Valve) -> Iterator[Reason]:
    facts: dict[str, object] = {"taskType": valve.task_type}
    if valve.is_paused:
        yield Reason("paused", f"Task type {valve.task_type!r} is paused.", facts)
    if valve.breaker.retry_at is not None:
        breaker, tried = valve.breaker, _text(valve.breaker.retry_at)
        cause = f"{breaker.failures} attempts of type {valve.task_type!r} failed in a row"
        if not breaker.failures:
            cause = f"The breaker of type {valve.task_type!r} was opened by hand"
        detail = f"{cause}; one is tried from {tried}."
        if breaker.state is BreakerState.HALF_OPEN:
            detail = f"Type {valve.task_type!r} goes on when the one task that is tried succeeds."
        yield Reason("breaker_open", detail, {**facts, "state": breaker.state, "retryAt": tried})
    if valve.slow_until is not None and valve.slow_until > datetime.now(UTC):
        until = _text(valve.slow_until)
        yield Reason(
            "rate_limited", f"Task type {valve.task_type!r} is slowed down until {until}.", {**facts, "until": until}
        )


def _limit_reached(valve: Valve) -> Reason:
    limits = valve.limits
    facts: dict[str, object] = {
        "taskType": valve.task_type,
        "concurrency": limits.concurrency,
        "ratePerSecond": limits.rate_per_second,
    }
    return Reason("limit_reached", f"As many tasks of type {valve.task_type!r} as it may have are started.", facts)


def _under_way(task: Task, worker: WorkerInfo | None = None) -> Reason:
    if _runs_by_its_children(task):
        return Reason("children", "It ends with its last child.")
    silent = None if worker is None else round(worker.silent_seconds, 1)
    facts: dict[str, object] = {"workerId": task.worker_id, "silentSeconds": silent}
    heard = (
        "not heard of any more: when its lease is over, the task is tried again"
        if silent is None
        else f"last heard {silent:g} s ago"
    )
    who = "a worker" if task.worker_id is None else f"worker {task.worker_id}"
    if task.cancel_requested_at is not None:
        detail = f"It was asked to stop and is about to end; {who} has it, {heard}."
        return Reason("cancelling", detail, facts)
    return Reason("running", f"{who[0].upper()}{who[1:]} is running it, {heard}.", facts)


def _worker_blocked(worker_id: WorkerId, blocked: Blockage, caller: Principal) -> Reason:
    if not caller.sees_the_whole:
        # By what may be another space's task.
        hidden: dict[str, object] = {"workerId": None, "taskId": None, "taskType": None, "at": None}
        detail = f"The event loop of a worker is blocked for {blocked.seconds:.0f} s."
        return Reason("worker_blocked", detail, {**hidden, "seconds": round(blocked.seconds, 1)})
    facts: dict[str, object] = {
        "workerId": worker_id,
        "seconds": round(blocked.seconds, 1),
        "taskId": blocked.task_id,
        "taskType": blocked.task_type,
        "at": blocked.at,
    }
    return Reason("worker_blocked", f"The event loop of worker {worker_id} is {blocked}.", facts)


def _unless_hidden(fact: object, caller: Principal) -> object:
    """Return what is known of workers to those who may know it."""
    return fact if caller.sees_the_whole else None


def _runs_by_its_children(task: Task) -> bool:
    return task.is_batch and not task.is_atomic


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
