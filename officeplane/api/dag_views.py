"""DAGs as the API shows them."""

from collections import Counter

from officeplane.api.views import Time, View
from officeplane.domain.dag import Dag, DagStatus, DagTask
from officeplane.domain.graph import leaves, longest_path, roots
from officeplane.domain.lifecycle import TaskState
from officeplane.services.dags.dags import DagDetails


class DagTaskView(View):
    """A task of a DAG."""

    id: str
    key: str | None
    task_type: str
    state: TaskState
    depends_on: tuple[str, ...]


class DagSummaryView(View):
    """A DAG without its tasks."""

    id: str
    title: str | None
    status: DagStatus
    created_by: str | None
    on_behalf_of: str | None
    created_at: Time
    finished_at: Time | None
    cancel_requested_at: Time | None


class DagView(DagSummaryView):
    """A DAG. Roots, leaves and the critical path are ids of tasks."""

    task_counts: dict[TaskState, int]
    roots: tuple[str, ...]
    leaves: tuple[str, ...]
    critical_path: tuple[str, ...]
    tasks: tuple[DagTaskView, ...]


def summary_view(dag: Dag) -> DagSummaryView:
    """Return a DAG as lists show it."""
    return DagSummaryView(
        id=dag.id,
        title=dag.title,
        status=dag.status,
        created_by=dag.created_by,
        on_behalf_of=dag.on_behalf_of,
        created_at=dag.created_at,
        finished_at=dag.finished_at,
        cancel_requested_at=dag.cancel_requested_at,
    )


def dag_view(details: DagDetails) -> DagView:
    """Return a DAG as it is shown."""
    needs = {task.id: task.depends_on for task in details.tasks}
    return DagView(
        **dict(summary_view(details.dag)),
        task_counts=Counter(task.state for task in details.tasks),
        roots=tuple(roots(needs)),
        leaves=tuple(leaves(needs)),
        critical_path=tuple(longest_path(needs)),
        tasks=tuple(map(_task_view, details.tasks)),
    )


def _task_view(task: DagTask) -> DagTaskView:
    return DagTaskView(id=task.id, key=task.key, task_type=task.task_type, state=task.state, depends_on=task.depends_on)
