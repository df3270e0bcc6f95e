"""The `officeplane dags` commands: their arguments, and nothing heavy before one is chosen."""

import asyncio
from typing import Annotated

import typer

from officeplane.cli.options import DEFAULT_URL, AsJson, DagId, Url

app = typer.Typer(help="Submit tasks that depend on each other, and follow them as one.", no_args_is_help=True)


@app.command()
def submit(
    body: Annotated[str, typer.Argument(metavar="JSON", help="The DAG: JSON, @FILE, or - for stdin.")],
    *,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same key submits once.")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Submit a DAG, all of it or nothing."""
    from officeplane.cli.dags.actions import submit_dag
    from officeplane.cli.tasks.bodies import read_argument

    asyncio.run(submit_dag(url, read_argument(body), key, as_json=as_json))


@app.command()
def show(dag_id: DagId, *, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Show a DAG with its tasks."""
    from officeplane.cli.dags.showing import show_dag

    asyncio.run(show_dag(url, dag_id, as_json=as_json))


@app.command("list")
def list_(
    *,
    status: Annotated[str | None, typer.Option(help="Only running, completed, failed or cancelled ones.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List DAGs, the newest first."""
    from officeplane.cli.dags.showing import list_dags

    asyncio.run(list_dags(url, {} if status is None else {"status": status.lower()}, limit, as_json=as_json))


@app.command()
def cancel(
    dag_id: DagId,
    *,
    reason: Annotated[str | None, typer.Option(help="Why, for whoever asks later.")] = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Cancel what is unfinished of a DAG; what runs is asked to stop."""
    from officeplane.cli.dags.actions import cancel_dag

    asyncio.run(cancel_dag(url, dag_id, reason, as_json=as_json))
