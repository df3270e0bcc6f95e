"""Dependencies: what a new task waits for is locked and looked at before the task is inserted."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from officeplane.domain.errors import FieldError, InvalidReferenceError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import GAVE_UP, TaskState
from officeplane.domain.principal import Principal
from officeplane.domain.priority import Urgency
from officeplane.domain.task import NewTask
from officeplane.services.submit.intake import Dependency, Intake
from officeplane.store import dependencies, ranks
from officeplane.store.connection import Executor
from officeplane.store.dependencies import Locked


async def waiting(executor: Executor, intakes: Sequence[Intake]) -> tuple[list[Intake], list[TaskId]]:
    """Return the intakes with the blockers of what has not completed, and what of that has failed.

    What will never complete is refused. The dependencies stay locked until the transaction ends: none of them ends
    before the edges that lead to it are there for its settlement to see.
    """
    wanted = [(intake.caller, dependency) for intake in intakes for dependency in intake.dependencies]
    new = {intake.root_id for intake in intakes}
    locked = await dependencies.lock(executor, {dependency.depends_on for _, dependency in wanted} - new)
    states = {task_id: one.state for task_id, one in locked.items()}
    failed = [task_id for task_id, state in states.items() if state in GAVE_UP]
    given_up = await dependencies.given_up(executor, failed) if failed else set[TaskId]()
    unmet: Counter[TaskId] = Counter()
    for caller, dependency in wanted:
        is_new = dependency.depends_on in new
        state = _state_for(caller, locked.get(dependency.depends_on))
        unmet[dependency.task_id] += is_new or _blocks(dependency, state, given_up)
    urgencies = {intake.root_id: intake.rows[0].urgency for intake in intakes}
    if states:
        urgencies |= await ranks.urgencies(executor, states)
    blocked = [
        intake._replace(rows=tuple(_lifting(_blocked(intake.rows, unmet), intake.depends_on, urgencies)))
        for intake in intakes
    ]
    return blocked, failed


def _state_for(caller: Principal, found: Locked | None) -> TaskState | None:
    """Return how a task stands that a caller would have others depend on; None when it is not there for it."""
    if found is None or found.space != caller.space or not caller.sees(found.document_id, found.task_type):
        return None
    return found.state


def _blocks(dependency: Dependency, state: TaskState | None, given_up: Collection[TaskId]) -> bool:
    if state is None or state is TaskState.CANCELLED or dependency.depends_on in given_up:
        what = "There is no task" if state is None else "Cancelled is task"
        if dependency.depends_on in given_up:
            what = "Given up for good is task"
        message = f"{what} {dependency.depends_on}: nothing can depend on it."
        raise InvalidReferenceError(message, [FieldError(dependency.field, message)])
    return state is not TaskState.COMPLETED


def _blocked(rows: Sequence[NewTask], unmet: Counter[TaskId]) -> list[NewTask]:
    """Return rows with the blockers of their dependencies; the first leaf of a batch that waits has to wait for it."""
    waits: set[TaskId] = set()
    blocked: list[NewTask] = []
    for row in rows:
        own = unmet[row.id]
        blockers = row.blockers + own + (row.blockers == 0 and row.parent_id in waits)
        if blockers:
            waits.add(row.id)
        blocked.append(row._replace(blockers=blockers, unmet=own))
    return blocked


def _lifting(
    rows: Iterable[NewTask], depends_on: Mapping[TaskId, Iterable[TaskId]], urgencies: Mapping[TaskId, Urgency]
) -> Iterator[NewTask]:
    """Yield rows; what is more urgent than something that it or its batch depends on lifts that."""
    for row in rows:
        ahead = (urgencies[task_id] for behind in (row.id, *row.ancestors) for task_id in depends_on.get(behind, ()))
        yield row._replace(lifts=True) if row.runnable and any(row.urgency.may_exceed(one) for one in ahead) else row
