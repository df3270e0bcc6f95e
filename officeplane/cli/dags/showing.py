"""`officeplane dags show` and `list`: how DAGs stand."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from rich.console import RenderableType

from officeplane.cli.answers import DAGS, Dag
from officeplane.cli.client import Client, Query, dag_path
from officeplane.cli.console import out, remarks, show, write_json
from officeplane.cli.details import fact_table, moment
from officeplane.cli.pages import read_pages
from officeplane.cli.tables import Row, lay_out
from officeplane.cli.texts import age, one_line, printable, utc_now


async def show_dag(url: str, dag_id: str, *, as_json: bool) -> None:
    """Print a DAG with its tasks."""
    async with Client(url) as client:
        answer = await client.get(dag_path(dag_id))
    if as_json:
        write_json(answer.text)
        return
    dag = Dag.model_validate_json(answer.content)
    show(fact_table(_facts(dag, utc_now())))
    show("")
    show(dag_tasks_table(dag, out().width), [task.id for task in dag.tasks])


async def list_dags(url: str, filters: Query, limit: int, *, as_json: bool) -> None:
    """Print up to `limit` DAGs, newest first."""
    items, there_is_more = await read_pages(url, "/api/dags", filters, limit)
    if as_json:
        write_json(json.dumps(items, ensure_ascii=False))
        return
    dags = DAGS.validate_python(items)
    if dags:
        show(dag_table(dags, utc_now(), out().width), [dag.id for dag in dags])
    else:
        remarks().print("No DAGs match.")
    if there_is_more:
        remarks().print(f"These are the newest {limit}; --limit shows more.")


def dag_table(dags: Iterable[Dag], now: datetime, width: int) -> RenderableType:
    """Lay out DAGs a line each."""
    rows: list[Row] = [
        {"id": dag.id, "status": dag.status, "made": age(dag.created_at, now), "title": one_line(dag.title or "")}
        for dag in dags
    ]
    return lay_out(rows, width, expendable=("made", "title"))


def dag_tasks_table(dag: Dag, width: int) -> RenderableType:
    """Lay out the tasks of a DAG in order, with what each of them depends on by key."""
    names = {task.id: task.key or task.id for task in dag.tasks}
    rows: list[Row] = [
        {
            "key": printable(task.key or ""),
            "state": task.state,
            "id": task.id,
            "type": task.task_type,
            "after": one_line(", ".join(names.get(one, one) for one in task.depends_on)),
        }
        for task in dag.tasks
    ]
    return lay_out(rows, width, expendable=("type", "after"))


def _facts(dag: Dag, now: datetime) -> Iterator[tuple[str, str]]:
    names = {task.id: printable(task.key or task.id) for task in dag.tasks}
    yield "id", dag.id
    yield "title", printable(dag.title or "")
    yield "status", dag.status
    yield "tasks", ", ".join(f"{count} {state}" for state, count in sorted(dag.task_counts.items()))
    yield "longest way", " -> ".join(names.get(one, one) for one in dag.critical_path)
    yield "made", moment(dag.created_at, now)
    yield "ended", moment(dag.finished_at, now)
