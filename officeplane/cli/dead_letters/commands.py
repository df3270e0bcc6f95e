"""The `officeplane dead-letters` commands: their arguments, and nothing heavy before one is chosen."""

import asyncio
from typing import Annotated

import typer

from officeplane.cli.exits import UsageError
from officeplane.cli.options import DEFAULT_URL, AsJson, By, TaskId, Url, whole

app = typer.Typer(help="See what gave up, and decide what becomes of it.", no_args_is_help=True)


@app.command("list")
def list_(
    *,
    everything: Annotated[bool, typer.Option("--all", help="Those that are resolved, too.")] = False,
    task_type: Annotated[str | None, typer.Option("--type", help="Only of tasks of this type.")] = None,
    document: Annotated[str | None, typer.Option(help="Only of tasks of this document.")] = None,
    fingerprint: Annotated[str | None, typer.Option(help="Only of this cause.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """List unresolved dead letters, the newest first."""
    from officeplane.cli.dead_letters.showing import list_letters

    filters = {
        "resolved": None if everything else "false",
        "taskType": task_type,
        "documentId": document,
        "fingerprint": fingerprint,
    }
    asyncio.run(list_letters(url, {name: value for name, value in filters.items() if value}, limit, as_json=as_json))


@app.command()
def show(task_id: TaskId, *, as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Show a dead letter with the failed attempts of its task and what was decided about it."""
    from officeplane.cli.dead_letters.showing import show_letter

    asyncio.run(show_letter(url, task_id, as_json=as_json))


@app.command()
def resolve(
    task_id: Annotated[
        str | None,
        typer.Argument(metavar="TASK_ID", help="The id of the task that gave up, or its end.", callback=whole),
    ] = None,
    *,
    fingerprint: Annotated[str | None, typer.Option(help="All unresolved letters of this cause instead.")] = None,
    resolution: Annotated[
        str | None,
        typer.Option("--as", help="retry, modify_and_retry, cancel, escalate or delete.", metavar="RESOLUTION"),
    ] = None,
    payload: Annotated[
        str | None, typer.Option(help="For modify_and_retry: JSON, @FILE, or - for stdin.", metavar="JSON")
    ] = None,
    note: Annotated[str | None, typer.Option(help="Why, for whoever asks later; alone, it decides nothing.")] = None,
    by: By = None,
    as_json: AsJson = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Decide what becomes of a dead letter, or of all of one cause; exit 1 if some could not be done."""
    if (task_id is None) == (fingerprint is None):
        raise UsageError("Give either a TASK_ID or a --fingerprint.")
    if resolution is None and note is None:
        raise UsageError("Say what to do --as, or at least a --note.")
    from officeplane.cli.dead_letters.resolving import resolve_alike, resolve_one
    from officeplane.cli.tasks.bodies import parse_payload, without_nothing
    from officeplane.cli.user import user_name

    body = without_nothing(
        {
            "resolution": resolution and resolution.replace("-", "_"),
            "payload": None if payload is None else parse_payload(payload),
            "note": note,
            "resolvedBy": by or user_name(),
        }
    )
    if task_id is not None:
        asyncio.run(resolve_one(url, task_id, body, as_json=as_json))
    elif fingerprint is not None:
        raise typer.Exit(asyncio.run(resolve_alike(url, {"fingerprint": fingerprint, **body}, as_json=as_json)))
