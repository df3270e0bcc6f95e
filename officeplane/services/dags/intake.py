"""DAG intake: from tasks that call each other by keys to rows and edges, or to the reason why they are refused."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from officeplane.domain.dag import EDGES_MAX, PATH_BOOST, TASKS_MAX, DagTask
from officeplane.domain.errors import CycleError, FieldError, InvalidReferenceError, InvalidRequestError
from officeplane.domain.graph import Predecessors, find_cycle, longest_path, told
from officeplane.domain.ids import DagId, TaskId, parse_task_id
from officeplane.domain.principal import Principal
from officeplane.domain.request import TaskRequest
from officeplane.handlers.catalogue import Catalogue
from officeplane.services.submit.intake import Dependency, Intake, named_dependencies, take_in
from officeplane.services.submit.position_rules import DagPlace

Needs = Mapping[str, Collection[str]]
"""By name, which is a task's key or, of one that has none, its id."""


def take_in_dag(
    caller: Principal,
    requests: Sequence[TaskRequest],
    existing: Sequence[DagTask],
    dag_id: DagId,
    catalogue: Catalogue,
) -> list[Intake]:
    """Return the rows of tasks that are added to those a DAG has, with what each of them waits for."""
    needed = sum(len(_needed(request)) for request in requests) + sum(len(task.depends_on) for task in existing)
    if needed > EDGES_MAX:
        message = f"In a DAG tasks depend on each other at most {EDGES_MAX:,} times in all."
        raise InvalidRequestError(message, [FieldError("tasks", message)])
    graph = _Graph(requests, existing)
    rows = [
        _taken_in(caller, index, request, graph.place(request, dag_id), catalogue)
        for index, request in enumerate(requests)
    ]
    if len(existing) + sum(len(intake.rows) for intake in rows) > TASKS_MAX:
        message = f"A DAG holds at most {TASKS_MAX:,} tasks in all."
        raise InvalidRequestError(message, [FieldError("tasks", message)])
    ids = graph.ids | {request.key or "": intake.root_id for request, intake in zip(requests, rows, strict=True)}
    return [
        intake._replace(dependencies=tuple(_dependencies(f"tasks.{index}.", request, intake, ids)))
        for index, (request, intake) in enumerate(zip(requests, rows, strict=True))
    ]


class _Graph:
    """What new and existing tasks of a DAG need, by name."""

    def __init__(self, requests: Sequence[TaskRequest], existing: Sequence[DagTask]) -> None:
        self.ids = {task.key or task.id: task.id for task in existing}
        self._names = {task.id: task.key or task.id for task in existing}
        places = _places(requests, self.ids)
        needs: dict[str, Collection[str]] = {
            self._names[task.id]: [self._names.get(needed, needed) for needed in task.depends_on] for task in existing
        }
        needs |= {key: self._named(_needed(requests[place])) for key, place in places.items()}
        cycle = find_cycle(needs)
        if cycle is not None:
            message = f"Tasks wait for each other in a circle: {told(cycle)}."
            raise CycleError(message, [FieldError(f"tasks.{places[cycle[0]]}.dependsOn", message)])
        path = longest_path(needs)
        # A single task is no path, and holds nobody up.
        self._on_path = frozenset(path) if len(path) > 1 else frozenset[str]()
        self._needs = needs
        self._predecessors: Predecessors | None = None

    def place(self, request: TaskRequest, dag_id: DagId) -> DagPlace:
        """Return what a task of the DAG has to know of it."""
        return DagPlace(dag_id, PATH_BOOST if request.key in self._on_path else 0.0, self._before)

    def _before(self, waits_for: Collection[str]) -> Callable[[str], bool]:
        """Return what tells whether a task comes before any of some others, or is one of them; few payloads ask."""
        if self._predecessors is None:
            self._predecessors = Predecessors(self._needs)
        is_before = self._predecessors.before(self._named(waits_for))
        return lambda name: is_before(self._names.get(TaskId(name), name))

    def _named(self, names: Collection[str]) -> list[str]:
        """Return the names by which the graph knows tasks that may be called by their ids, too."""
        return [self._names.get(TaskId(name), name) for name in names]


def _places(requests: Sequence[TaskRequest], taken: Collection[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, request in enumerate(requests):
        # One without a key is refused when it is taken in.
        key = request.key or f"\x00{place}"
        if key in places or key in taken:
            message = f"The key {key!r} is used twice in this DAG."
            raise InvalidRequestError(message, [FieldError(f"tasks.{place}.key", message)])
        places[key] = place
    return places


def _needed(request: TaskRequest) -> list[str]:
    """Return what a task needs to be complete: a batch also what its children wait for."""
    needed = list(request.depends_on or ())
    for child in request.children or ():
        needed += _needed(child)
    return needed


def _taken_in(caller: Principal, index: int, request: TaskRequest, place: DagPlace, catalogue: Catalogue) -> Intake:
    try:
        return take_in(caller, request, catalogue, place)
    except InvalidRequestError as error:
        raise error.within(f"tasks.{index}") from None


def _dependencies(field: str, request: TaskRequest, intake: Intake, ids: Mapping[str, TaskId]) -> Iterator[Dependency]:
    seen: set[tuple[TaskId, TaskId]] = set()
    for row, name, where in named_dependencies(request, intake.rows):
        depends_on = ids.get(name) or parse_task_id(name)
        if depends_on is None:
            message = f"No task of this DAG has the key {name!r}, and it is no id of a task."
            raise InvalidReferenceError(message, [FieldError(field + where, message)])
        if (row.id, depends_on) not in seen:
            seen.add((row.id, depends_on))
            yield Dependency(row.id, depends_on, field + where)
